"""The decision on a candidate: accept or reject it with a reason, and what was rejected so far."""

from typing import Literal

import streamlit as st

from workbench.domain.prompts import Revision, RevisionStatus
from workbench.ui import data, kept, state, widgets
from workbench.ui.gates import Signed
from workbench.workflow import accept
from workbench.workflow.accept import Gate


def decide(here: state.Here, gate: Gate, signed: Signed, revision: Revision) -> None:
    """Draw the reason and the two buttons, and where the gate is closed the reason to pass over it."""
    number, override = revision.number, ""
    if gate.blocked:
        st.markdown(":red[The gate is closed.] Mend the prompt for what it names, or say why you pass over it.")
        override = kept.line("Override: why closed checks are passed over", f"accept.override.{number}")
    reason = _reason(number)
    main: Literal["primary", "secondary"] = "secondary" if gate.blocked else "primary"
    place = st.container()  # a refusal stands above the buttons, where it is seen
    with st.container(horizontal=True):
        yes = st.button(f"Accept revision {number}", type=main, icon=":material/verified:")
        no = _reject_button(number)
    with place, widgets.explained():
        if yes:
            made = accept.accept(
                here.study,
                here.actor,
                gate,
                reason=reason,
                signed=signed.checks,
                missed=signed.missed,
                override=override,
            )
            state.say(f"Revision {made.number} is accepted; its file is in {here.study.prompts_folder}.")
            st.switch_page(state.page("history"))
        if no:
            _reject(here, revision, reason)


def reject_unscored(here: state.Here, revision: Revision) -> None:
    """Let a candidate go that nobody wants to run, or that cannot be read."""
    with st.expander(f"Reject revision {revision.number} without a score"):
        reason = _reason(revision.number)
        if _reject_button(revision.number):
            with widgets.explained():
                _reject(here, revision, reason)


def _reason(number: int) -> str:
    return kept.line("Reason for the decision", f"accept.reason.{number}")


def _reject_button(number: int) -> bool:
    return st.button(f"Reject revision {number}", icon=":material/thumb_down:")


def _reject(here: state.Here, revision: Revision, reason: str) -> None:
    made = accept.reject(here.study, here.actor, revision, reason=reason)
    state.say(f"Revision {made.number} is rejected and stays on record.")
    st.switch_page(state.page("history"))


def rejected(here: state.Here) -> None:
    """Draw the revisions that were rejected, with the reasons; nothing where there is none."""
    found = [r for r in data.revisions(here) if r.status is RevisionStatus.REJECTED]
    if found:
        with st.expander(f"Rejected so far: {len(found)}"):
            for r in reversed(found):
                why = "; ".join(said.reason for said in data.decisions(here, r.prompt_hash))
                st.markdown(widgets.plain(f"Revision {r.number}: {r.message}. Rejected: {why}."))
            st.caption("History shows what each scored, and the page Revise its text.")
