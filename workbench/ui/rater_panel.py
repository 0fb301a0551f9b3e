"""The raters of a frozen reference: each two, each with themselves, each against the others with the model beside."""

import pandas as pd
import streamlit as st

from workbench.domain.references import Reference
from workbench.evaluation.numbers import Figure
from workbench.ui import data, rater_figures, state, tables, widgets
from workbench.workflow.raters import RaterStatistics


def draw(here: state.Here, chosen: Reference) -> None:
    """Draw how the raters compare; nothing for a single rater."""
    if len(chosen.raters) < 2:
        st.info("A single rater made this reference, so there is nobody to compare with.")
        return
    with st.spinner("Comparing the raters"):
        found, revision = data.raters(here, chosen.name)
    left, right = st.columns([5, 6], gap="large")
    with left:
        st.markdown("**How each two agree**: Cohen's kappa, the mean over the findings where it is defined.")
        heat = rater_figures.kappa_heat(found.pairs.raters, found.pairs.matrix())
        widgets.chart(heat, key="raters.kappa", alt="Mean Cohen kappa of each two raters")
    with right:
        beside = f"; revision {revision} beside each, on the same cells" if revision else ""
        st.markdown(f"**Each against the vote of the others**{beside}.")
        if found.benchmark is None:
            st.caption("With fewer than three raters no vote of the others remains.")
        else:
            rows = [
                rater_figures.Standing(
                    row.rater, row.scores.macro_f1, row.model.macro_f1 if row.model is not None else None
                )
                for row in found.benchmark.raters
            ]
            widgets.chart(
                rater_figures.standing_dots(rows), key="raters.standing", alt="Each rater against the others' vote"
            )
    st.dataframe(_table(found), hide_index=True, placeholder="—", alt="Each rater in figures")
    st.caption(
        "“Says present” is the share of a rater's answers; “more than others” is above 0 for whoever over-calls. "
        "Reports read twice tell how a rater agrees with themselves; with few of them kappa is mostly undefined."
    )


def _table(found: RaterStatistics) -> pd.DataFrame:
    rows = []
    for rater in found.pairs.raters:
        rates, again = found.rates.of(rater).overall, found.again.of(rater).overall
        rows.append(
            {
                "Rater": rater,
                "Says present": _text(rates.rate),
                "More than others": _text(rates.deviation),
                "Read twice": again.reports,
                "Kappa with themselves": _text(again.kappa),
            }
        )
    return pd.DataFrame(rows)


def _text(figure: Figure) -> str | None:
    if figure.value is None:
        return None
    interval = tables.interval(figure)
    return f"{figure.value:.3f} ({interval})" if interval else f"{figure.value:.3f}"
