"""How steady a model is: on how many reports it says the same when it is asked again."""

import pandas as pd
import streamlit as st

from workbench.ui import data, state, widgets
from workbench.workflow.run import PreparedRun


def draw(here: state.Here, prepared: PreparedRun) -> None:
    """Draw the stability of a run that asked each report more than once; nothing for others."""
    if prepared.run.repeats < 2:
        return
    found = data.steadiness(here, prepared)
    st.subheader("The same again?", anchor=False)
    whole = "undefined" if found.reports.value is None else f"{found.reports.value:.1%}"
    st.markdown(
        f"Each report was asked {found.repeats} times. On **{whole}** of {found.answered:,} reports answered every "
        "time, all answers agree in every finding. The first answer is the score."
    )
    rows = sorted(found.findings, key=lambda row: 2.0 if row.states.value is None else row.states.value)
    names = here.study.label_set
    st.dataframe(
        pd.DataFrame(
            {
                "Finding": [names.get(row.finding_id).name for row in rows],
                "Same state": [row.states.value for row in rows],
                "Same as scored": [row.scored.value for row in rows],
                "n": [row.states.n for row in rows],
            }
        ),
        hide_index=True,
        height=300,
        width=720,
        placeholder=widgets.UNDEFINED,
        column_config={name: st.column_config.NumberColumn(format="%.3f") for name in ("Same state", "Same as scored")},
        alt="Stability per finding, the least steady first",
    )
