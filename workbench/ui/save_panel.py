"""Saving an edited prompt as a candidate, or throwing the edits away."""

from collections.abc import Sequence

import streamlit as st

from workbench.domain.prompts import Prompt, Revision, RevisionStatus
from workbench.ui import state, unsaved, widgets
from workbench.workflow import browse, prompts


def draw(here: state.Here, base: Revision, base_prompt: Prompt, draft: Prompt, known: Sequence[Revision]) -> None:
    """Draw the message and the two buttons; what was saved is run next."""
    unchanged = draft.hash == base_prompt.hash
    changes = len(browse.changes(base_prompt, draft)) or 1
    told = f"**{changes} {'change' if changes == 1 else 'changes'}**, not saved yet"
    # It has the same height before the first change, so that nothing below moves under a click.
    with st.container(border=True):
        st.markdown(f"Revision {base.number} as it stands" if unchanged else told)
        message = st.text_input(
            "What changed and why", key=f"revise.message.{base.prompt_hash}", placeholder="in a sentence"
        )
        place = st.container()
        with st.container(horizontal=True):
            save = st.button("Save as candidate", type="primary", disabled=unchanged)
            drop = st.button("Throw the edits away", disabled=unchanged)
    if save:
        with place, widgets.explained():
            saved = prompts.save_candidate(here.study, here.actor, draft, message=message, parent=base.prompt_hash)
            unsaved.forget(here, base_prompt)
            state.say(
                f"Saved as revision {saved.number}, a candidate. Run it to see what it is worth."
                f"{_beside(base, saved, known)}"
            )
            state.ask(state.Intent("run", revision=saved.number))
            st.switch_page(state.page("run"))
    if drop:
        unsaved.forget(here, base_prompt)
        st.rerun()


def _beside(base: Revision, saved: Revision, known: Sequence[Revision]) -> str:
    """Say which other candidate starts from the same revision: neither edit is lost."""
    others = [
        r.number
        for r in known
        if r.parent_hash == base.prompt_hash and r.number != saved.number and r.status is RevisionStatus.CANDIDATE
    ]
    return f" Revision {others[-1]} starts from revision {base.number} too: both stay, side by side." if others else ""


def tell_of_files(known: Sequence[Revision]) -> None:
    """Say which candidates came from prompt files that somebody changed by hand."""
    for made in known:
        if made.author == prompts.FILE_AUTHOR and made.status is RevisionStatus.CANDIDATE:
            told = f"A prompt file was changed by hand: {made.message}. It is revision {made.number}, a candidate."
            st.info(widgets.plain(told), icon=":material/draft:")
