"""What a page says to somebody who rates in an open round, in place of what they must not see yet."""

import streamlit as st

from workbench.ui import data, state, widgets


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
