"""The form in which an adjudicator says present or not present, with a reason."""

import streamlit as st


def form(key: str, reason: str = "") -> tuple[bool, str] | None:
    """Draw the form and return (present, reason) when one of its two buttons was pressed, None otherwise."""
    with st.form(key, border=False):
        given = st.text_area(
            "Reason", value=reason, placeholder="What in the report decides it", height=90, max_chars=2000
        )
        with st.container(horizontal=True):
            present = st.form_submit_button("Present", type="primary", shortcut="Alt+P")
            absent = st.form_submit_button("Not present", type="primary", shortcut="Alt+N")
    return (present, given or "") if present or absent else None


def next_open(done: list[bool], at: int) -> int:
    """Return the next item after ``at`` that is not decided, from the start again where none follows; else ``at``."""
    following = [*range(at + 1, len(done)), *range(at)]
    return next((i for i in following if not done[i]), at)
