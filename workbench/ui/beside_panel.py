"""A model's score beside the rules labeler's on the same prompt and cohort."""

import streamlit as st

from workbench.domain.actors import Role
from workbench.ui import data, state, widgets
from workbench.workflow.score import Score


def draw(here: state.Here, score: Score) -> None:
    """Draw whether a model adds anything to the rules, which cost nothing; nothing beside the rules labeler's own."""
    if not here.may(Role.LEAD, Role.ADMIN):  # the rules may have to be run for it
        return
    found = data.beside(here, score)
    if found is None:
        return
    change = found.change
    with st.container(border=True):
        one, two, three, four = st.columns([2, 2, 2, 4], gap="medium", vertical_alignment="center")
        with one:
            widgets.metric("This model, macro-F1", found.model.evaluation.macro_f1, "findings")
        with two:
            widgets.metric("Rules labeler, macro-F1", found.rules.evaluation.macro_f1, "findings")
        with three:
            st.metric("Difference", widgets.UNDEFINED if change.value is None else f"{change.value:+.3f}")
            interval = (
                "" if change.low is None else f"{change.low:+.3f} to {change.high:+.3f} · n = {change.n} findings"
            )
            st.caption(widgets.plain(change.reason or interval))
        with four:
            st.markdown(f"**{_verdict(change.low, change.high)}**")
            st.caption(
                f"Same prompt, cohort and reference. Labels that only the model has right: {found.gained:,}; "
                f"only the rules labeler: {found.lost:,}."
            )


def _verdict(low: float | None, high: float | None) -> str:
    if low is None or high is None:
        return "There is nothing to tell them apart by."
    if low > 0:
        return "The model does better than the rules."
    if high < 0:
        return "The rules do better: with this prompt the model adds nothing."
    return "No difference can be told from these reports."
