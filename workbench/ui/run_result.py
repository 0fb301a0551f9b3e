"""A finished run on the screen: its score, the rules labeler's beside a model's, and the replies to look at."""

import streamlit as st

from workbench.ui import beside_panel, blind, data, doubt_panel, scoring, stability_panel, state, widgets
from workbench.workflow import score
from workbench.workflow.run import PreparedRun


def draw(here: state.Here, prepared: PreparedRun, cohort: str, *, waiting: bool) -> None:
    """Draw the score of a finished run, scoring it where that is still to do.

    Args:
        here: the study and person.
        prepared: the run.
        cohort: the name of its cohort.
        waiting: whether its revision is a candidate that waits for a decision.
    """
    blind.stop(here)
    model = prepared.run.labeler.kind != "rules"
    cards = [card for card in data.reference_cards(here) if card.cohort == cohort]
    if not cards:
        if model:
            doubt_panel.draw(here, prepared)
        widgets.missing(
            f"The run is finished. The cohort {cohort} has no reference yet: freeze one to score it.",
            "reference",
            "Freeze a reference",
        )
    chosen = st.session_state.get(state.REFERENCE)
    name = chosen if chosen in [card.name for card in cards] else cards[0].name
    found = data.find_score(here, prepared, name)
    if found is None:
        with st.spinner("Scoring"):
            found = score.score_run(here.study, here.actor, prepared.run.hash, data.get_reference(here, name))
    with st.container(horizontal=True):
        if st.button("See its errors", type="primary", icon=":material/troubleshoot:"):
            st.switch_page(state.page("errors"))
        if waiting and st.button("Accept or reject it", icon=":material/verified:"):
            state.ask(state.Intent("accept", revision=prepared.number))
            st.switch_page(state.page("accept"))
    beside_panel.draw(here, found)
    if model:
        doubt_panel.draw(here, prepared)
    stability_panel.draw(here, prepared)
    scoring.draw(here, found)
