"""What a language model is sent for a report, on the screen."""

from collections.abc import Sequence

import streamlit as st

from workbench.ui import data, state, widgets


def panel(here: state.Here, prompt_hash: str, report_ids: Sequence[str]) -> None:
    """Draw the rendered system and user text of a revision for a report that one chooses, when asked to."""
    told = "The rules labeler is sent nothing: it carries out the same guidance."
    if not st.toggle("Show what a language model is sent", key="sent.show", help=told):
        return
    report_id = st.selectbox("for report", report_ids, key="sent.report", width=260)
    with widgets.explained():
        sent = data.rendered(here, prompt_hash, report_id)
        st.caption(f"About {sent.tokens:,} tokens, an estimate. The system text is the same for every report.")
        left, right = st.columns(2)
        with left:
            st.markdown("**System**")
            st.code(sent.system, language=None, wrap_lines=True, height=320)
        with right:
            st.markdown("**User**")
            st.code(sent.user, language=None, wrap_lines=True, height=320)
