"""Fields and boxes that hold what was put into them although their page was left meanwhile, as long as a session lasts.

A widget of Streamlit forgets it as soon as another page is drawn. What is kept goes when somebody else takes the seat.
"""

import streamlit as st


def line(label: str, key: str, *, max_chars: int | None = None) -> str:
    """Draw a field of one line and return what is written in it."""
    written = st.text_input(label, str(_held(key, "")), key=key, max_chars=max_chars) or ""
    st.session_state[_name(key)] = written
    return written


def box(label: str, key: str) -> bool:
    """Draw a box and return whether it is ticked."""
    ticked = st.checkbox(label, value=bool(_held(key, False)), key=key)
    st.session_state[_name(key)] = ticked
    return ticked


def _held(key: str, empty: object) -> object:
    return st.session_state.get(key, st.session_state.get(_name(key), empty))


def _name(key: str) -> str:
    return f"kept.{key}"
