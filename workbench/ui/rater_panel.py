"""The raters of a frozen reference: each two, each with themselves, each against the others with the model beside."""

import pandas as pd
import streamlit as st

from workbench.domain.references import Reference
from workbench.evaluation.numbers import Figure
from workbench.ui import data, rater_figures, split_panel, state, tables, widgets
from workbench.workflow.agreed import View
from workbench.workflow.raters import RaterStatistics

_MEAN = ""


def draw(here: state.Here, chosen: Reference, view: View) -> None:
    """Draw how the raters compare; nothing for a single rater. Figures come first and intervals fill in."""
    if len(chosen.raters) < 2:
        st.info("A single rater made this reference, so there is nobody to compare with.")
        return
    slot = st.empty()
    there = f"raters.drawn.{chosen.hash}.{view}"
    if not st.session_state.get(there):
        with slot.container():
            _draw(here, data.raters(here, chosen.name, view, quick=True)[0], None, first=True)
    found, revision = data.raters(here, chosen.name, view)
    st.session_state[there] = True
    with slot.container():
        _draw(here, found, revision, first=False)


def _draw(here: state.Here, found: RaterStatistics, revision: int | None, *, first: bool) -> None:
    """Draw everything; ``first`` says that intervals and the model are still on their way."""
    end = ".first" if first else ""  # an element cannot have the key of the one that takes its place
    left, right = st.columns([5, 6], gap="large")
    with left:
        _pairs(here, found, end)
    with right:
        _standing(found, revision, end)
    if first:
        st.caption("Intervals and the model are being computed.")
        return
    _rates(here, found)
    _twice(found)


def _pairs(here: state.Here, found: RaterStatistics, end: str) -> None:
    names = {_MEAN: "Mean over findings", **{f.id: f.name for f in here.study.label_set.findings}}
    about, which = st.columns([3, 2], vertical_alignment="bottom")
    about.markdown("**How each two agree** (Cohen's kappa). Click a cell for the reports they differ on.")
    finding = which.selectbox(
        "Finding",
        list(names),
        format_func=names.__getitem__,
        key=f"raters.finding{end}",
        label_visibility="collapsed",
        disabled=bool(end),
    )
    heat = rater_figures.kappa_heat(found.pairs.raters, found.pairs.matrix("kappa", finding or None))

    def picked(pair: str) -> None:
        one, two = pair.split("\t")
        if one != two:
            split_panel.go(finding, one, two)

    widgets.chart(heat, key=f"raters.kappa{end}", alt="Cohen kappa of each two raters", on_pick=picked)


def _standing(found: RaterStatistics, revision: int | None, end: str) -> None:
    beside = f"; revision {revision} beside each, on the same cells" if revision else ""
    st.markdown(f"**Each against the vote of the others**{beside}. Click a dot for the reports behind it.")
    if found.benchmark is None:
        st.caption("With fewer than three raters no vote of the others remains.")
        return
    rows = [
        rater_figures.Standing(row.rater, row.scores.macro_f1, row.model.macro_f1 if row.model is not None else None)
        for row in found.benchmark.raters
    ]
    widgets.chart(
        rater_figures.standing_dots(rows),
        key=f"raters.standing{end}",
        alt="Each rater against the others' vote",
        on_pick=lambda rater: split_panel.go(_MEAN, rater),
    )
    single, model = found.benchmark.mean_rater, found.benchmark.mean_model
    told = f"A single rater reaches {widgets.figure_text(single)} in the mean of {single.n} raters"
    st.caption(f"{told}; the model {widgets.figure_text(model)}." if model.defined else f"{told}.")


def _rates(here: state.Here, found: RaterStatistics) -> None:
    st.markdown(
        "**Who over-calls**: by how many points of 100 reports each rater says present more often (orange) or less "
        "often (violet) than the others. Numbers stand where chance alone would not do that; click for the reports."
    )
    findings = [(f.id, f.name) for f in here.study.label_set.findings]
    cells = [[rater_figures.RateOfRater(r.rate, r.deviation) for r in row.findings] for row in found.rates.raters]

    def picked(cell: str) -> None:
        rater, finding = cell.split("\t")
        split_panel.go(finding, rater)

    raters = [row.rater for row in found.rates.raters]
    heat = rater_figures.rate_heat(raters, findings, cells)
    pick = picked if found.benchmark is not None else None
    widgets.chart(heat, key="raters.rates", alt="How often each rater says present on each finding", on_pick=pick)


def _twice(found: RaterStatistics) -> None:
    raters = found.pairs.raters

    def picked() -> None:
        rows = st.session_state["raters.table"].selection.rows
        if rows:
            split_panel.go(_MEAN, raters[rows[0]], again=True)

    st.dataframe(
        _table(found),
        hide_index=True,
        placeholder="—",
        alt="Each rater in figures",
        key="raters.table",
        on_select=picked,
        selection_mode="single-row",
    )
    st.caption(
        "“Says present” is the share of a rater's answers; “more than others” is above 0 for whoever over-calls. "
        "Reports read twice tell how a rater agrees with themselves; with few of them kappa is mostly undefined. "
        "Choose a row for the reports that the rater read twice and saw differently."
    )


def _table(found: RaterStatistics) -> pd.DataFrame:
    rows = []
    for rater in found.pairs.raters:
        rates, again = found.rates.of(rater).overall, found.again.of(rater).overall
        rows.append(
            {
                "Rater": rater,
                "Says present": _text(rates.rate),
                "More than others": _signed(rates.deviation),
                "Read twice": again.reports,
                "Answers alike": _text(again.percent),
                "Kappa with themselves": _text(again.kappa),
            }
        )
    return pd.DataFrame(rows)


def _signed(figure: Figure) -> str | None:
    if figure.value is None or figure.low is None or figure.high is None:
        return None if figure.value is None else f"{figure.value:+.3f}"
    return f"{figure.value:+.3f} ({figure.low:+.3f} to {figure.high:+.3f})"


def _text(figure: Figure) -> str | None:
    if figure.value is None:
        return None
    interval = tables.interval(figure)
    return f"{figure.value:.3f} ({interval})" if interval else f"{figure.value:.3f}"
