"""What a page says to somebody who rates in an open round, in place of what they must not see yet."""

import streamlit as st

from workbench.ui import data, state, widgets
from workbench.workflow import blindness


def told(here: state.Here) -> str:
    """Return why something is not shown to this person now, empty where nothing is kept from them."""
    held = data.blinding_round(here)
    if not held:
        return ""
    return (
        f"Not shown to you before the round {held} is closed. Who rates must not be led by others' labels, by "
        "agreement, by a reference or by what a labeler said."
    )


def stop(here: state.Here) -> None:
    """End the page with a sentence where it would show what this person must not see yet."""
    if sentence := told(here):
        st.info(widgets.plain(sentence), icon=":material/visibility_off:")
        st.stop()


def stop_reviewer(here: state.Here) -> None:
    """End a page on systems and their scores for somebody who reviews what they wrote."""
    if held := blindness.reviewing(here.study, here.actor):
        st.info(
            widgets.plain(
                f"Not shown to you before {held} is closed. Who reviews generated reports must not know which system "
                "wrote them, nor any score."
            ),
            icon=":material/visibility_off:",
        )
        st.page_link(state.page("review"), label="Go on reviewing", icon=":material/arrow_forward:")
        st.stop()
