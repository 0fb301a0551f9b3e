"""What is being edited of a prompt in this tab: kept on the server with each change, found again after a reload."""

from datetime import datetime

import streamlit as st

from workbench.domain.actors import Role
from workbench.domain.prompts import Prompt
from workbench.errors import WorkbenchError
from workbench.ui import state, widgets
from workbench.workflow import drafts
from workbench.workflow.drafts import Unsaved

_TAB = "wb.tab"
_IN_ADDRESS = "draft"  # the address outlives a reload, which a session does not


def _tab() -> str:
    tab = st.session_state.get(_TAB) or st.query_params.get(_IN_ADDRESS) or drafts.new_tab()
    _name(str(tab))
    return str(tab)


def _name(tab: str) -> None:
    st.session_state[_TAB] = tab
    if st.query_params.get(_IN_ADDRESS) != tab:
        st.query_params[_IN_ADDRESS] = tab


def _key(base: Prompt) -> str:
    return f"wb.draft.{base.hash}"


def key_of(base: Prompt, *parts: str) -> str:
    """Return the key of an editor's field; it counts up with ``refresh``, so that fields start afresh."""
    version = st.session_state.get(f"edit.version.{base.hash}", 0)
    return ".".join(["edit", base.hash[:12], str(version), *parts])


def refresh(base: Prompt) -> None:
    """Let all fields start afresh from the draft, which changed by other means than through them."""
    name = f"edit.version.{base.hash}"
    st.session_state[name] = st.session_state.get(name, 0) + 1


def take(here: state.Here, base: Prompt, edited: Prompt) -> None:
    """Put an edited prompt in the place of the draft."""
    keep(here, base, edited)
    refresh(base)


def draft(here: state.Here, base: Prompt) -> Prompt:
    """Return the unsaved edit of a revision in this tab, which is the revision itself before the first change."""
    if not here.may(Role.LEAD, Role.ADMIN):
        return base
    if _key(base) not in st.session_state:
        tab = _tab()
        found = next((each for each in _of(here, base) if each.tab == tab), None)
        st.session_state[_key(base)] = (found.prompt, found.changed_at) if found else (base, None)
    held: Prompt = st.session_state[_key(base)][0]
    return held


def _of(here: state.Here, base: Prompt) -> list[Unsaved]:
    try:
        return drafts.unsaved(here.study, here.actor, base.hash)
    except WorkbenchError:  # it was kept under another label set, in which it cannot be read any more
        return []


def keep(here: state.Here, base: Prompt, edited: Prompt) -> None:
    """Keep an unsaved edit; the unchanged prompt forgets it."""
    held, seen = st.session_state.get(_key(base), (base, None))
    if edited.hash == held.hash or not here.may(Role.LEAD, Role.ADMIN):
        return
    if edited.hash == base.hash:
        forget(here, base)
        return
    tab, at = drafts.keep(here.study, here.actor, base.hash, edited, tab=_tab(), seen=seen)
    _name(tab)
    st.session_state[_key(base)] = (edited, at)


def forget(here: state.Here, base: Prompt) -> None:
    """Throw the unsaved edits of a revision in this tab away."""
    _, seen = st.session_state.pop(_key(base), (base, None))
    st.session_state[_key(base)] = (base, None)
    if seen is not None:
        drafts.drop(here.study, here.actor, base.hash, _tab())
    refresh(base)


def offer_others(here: state.Here, base: Prompt) -> bool:
    """Offer edits of the same revision that another tab left; return whether one was taken up just now."""
    taken = False
    for each in _of(here, base):
        if each.tab == _tab() or each.prompt.hash == base.hash:
            continue
        with st.container(border=True, horizontal=True, vertical_alignment="center"):
            st.markdown(
                f":material/history: You have edits of this revision that are not saved, last changed "
                f"{each.changed_at:%Y-%m-%d %H:%M} UTC in another tab."
            )
            if st.button("Go on with them here", key=f"revise.take.{each.tab}"):
                _name(each.tab)
                seen: datetime = each.changed_at
                st.session_state[_key(base)] = (each.prompt, seen)
                taken = True
            if st.button("Throw them away", key=f"revise.drop.{each.tab}"):
                with widgets.explained():
                    drafts.drop(here.study, here.actor, base.hash, each.tab)
                    st.rerun()
    return taken
