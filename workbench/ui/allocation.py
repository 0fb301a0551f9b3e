"""Drawing a cohort: what it would hold is seen before it is fixed."""

from collections.abc import Mapping

import streamlit as st

from workbench.domain.cohorts import Purpose
from workbench.ui import figures, state, widgets
from workbench.workflow import cohorts
from workbench.workflow.cohorts import Allocation

USES = {
    Purpose.TAXONOMY: "to settle findings and guidelines",
    Purpose.DEVELOPMENT: "prompts are tuned on it",
    Purpose.VALIDATION: "locked until the prompt is final",
    Purpose.EVALUATION: "report generators are scored on it",
    Purpose.EXTERNAL: "another hospital or language",
}
ENRICH = "How many times likelier a report with a phrase of a rare finding is drawn; 1 for a plain draw."


def form(here: state.Here) -> Allocation | None:
    """Draw the form; return what a cohort would hold when one asks to see that, and fix it when one says so."""
    with st.form("cohorts.allocate", border=False):
        name, purpose = st.columns([2, 3])
        named = name.text_input("Name", placeholder="development")
        kind = purpose.selectbox("Purpose", list(Purpose), index=1, format_func=lambda p: f"{p}: {USES[p]}")
        size, seed, enrich = st.columns(3)
        many = size.number_input("Reports", min_value=1, value=300, help="At most so many: patients are drawn whole.")
        seeded = seed.number_input("Seed", min_value=0, value=1, help="The same seed draws the same reports.")
        factor = enrich.number_input(
            "Enrich rare findings", min_value=1.0, max_value=50.0, value=1.0, step=1.0, help=ENRICH
        )
        place = st.container()
        with st.container(horizontal=True):
            fix = st.form_submit_button("Allocate the cohort", type="primary")
            look = st.form_submit_button("See first what it would hold")
    if not fix and not look:
        return None
    drawn: Allocation | None = None
    with place, widgets.explained(), st.spinner("Drawing patients"):
        drawn = cohorts.allocate(
            here.study,
            here.actor,
            named or ("preview" if look else ""),
            kind or Purpose.DEVELOPMENT,
            size=int(many),
            seed=int(seeded),
            enrich=float(factor),
            preview=look,
        )
        if fix:
            state.say(
                f"Cohort {drawn.cohort.name}: {len(drawn.cohort.members)} reports of {drawn.patients} patients. "
                f"{drawn.fewer}".strip()
            )
            st.rerun()
    return drawn


def expectation(here: state.Here, counts: Mapping[str, float] | None) -> None:
    """Draw how many positives to expect per finding."""
    if counts is None:
        st.info("Accept a prompt first: its phrases tell which reports are likely to hold a finding.")
        return
    shown = {here.study.label_set.get(finding).name: n for finding, n in counts.items()}
    few = sum(n < figures.TOO_FEW for n in shown.values())
    st.markdown(
        f"By the accepted prompt's phrases {few} of {len(shown)} findings have under {figures.TOO_FEW} "
        "positives here: this cohort cannot assess them."
    )
    widgets.chart(figures.expected_bars(shown), key="cohorts.expected", alt="Positives to expect per finding")
