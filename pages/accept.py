"""Accept: the gate's checks for a scored revision, signed or overridden, and the decision."""

from typing import Literal

import streamlit as st

from workbench.domain.actors import Role
from workbench.domain.prompts import RevisionStatus
from workbench.ui import blind, data, gates, scoring, state, validating, widgets
from workbench.workflow import accept
from workbench.workflow.accept import Gate

here = state.here()
intent = state.take_intent("accept")
widgets.head("Accept", "Check a scored revision against the gate, sign what needs a name, and decide.")
blind.stop(here)


def decide(gate: Gate, signed: list[str], number: int) -> None:
    override = ""
    if gate.blocked:
        st.markdown(":red[The gate is closed.] Mend the prompt for what it names, or say why you pass over it.")
        override = st.text_input("Override: why closed checks are passed over", key=f"accept.override.{number}")
    reason = st.text_input("Reason for the decision", key=f"accept.reason.{number}")
    main: Literal["primary", "secondary"] = "secondary" if gate.blocked else "primary"
    place = st.container()  # a refusal stands above the buttons, where it is seen
    with st.container(horizontal=True):
        yes = st.button(f"Accept revision {number}", type=main, icon=":material/verified:")
        no = st.button(f"Reject revision {number}", icon=":material/thumb_down:")
    with place, widgets.explained():
        if yes:
            made = accept.accept(here.study, here.actor, gate, reason=reason, signed=signed, override=override)
            state.say(f"Revision {made.number} is accepted; its file is in {here.study.prompts_folder}.")
            st.switch_page(state.page("history"))
        if no:
            reject(number, reason)


def reject(number: int, reason: str) -> None:
    made = accept.reject(here.study, here.actor, by_number[number], reason=reason)
    state.say(f"Revision {made.number} is rejected and stays on record.")
    st.switch_page(state.page("history"))


def reject_unscored(number: int) -> None:
    """Let a candidate go that nobody wants to run, or that cannot be read."""
    with st.expander(f"Reject revision {number} without a score"):
        reason = st.text_input("Reason for the decision", key=f"accept.reason.{number}")
        if st.button(f"Reject revision {number}", icon=":material/thumb_down:"):
            with widgets.explained():
                reject(number, reason or "")


def draw_rejected() -> None:
    rejected = [r for r in data.revisions(here) if r.status is RevisionStatus.REJECTED]
    if rejected:
        with st.expander(f"Rejected so far: {len(rejected)}"):
            for r in reversed(rejected):
                why = "; ".join(said.reason for said in data.decisions(here, r.prompt_hash))
                st.markdown(widgets.plain(f"Revision {r.number}: {r.message}. Rejected: {why}."))
            st.caption("History shows what each scored, and the page Revise its text.")


can = here.may(Role.LEAD)
cards = data.reference_cards(here)
candidates = [r for r in reversed(data.revisions(here)) if r.status is RevisionStatus.CANDIDATE]
if not candidates:
    st.info("No candidate is waiting for a decision. Mend the prompt and save a candidate.")
    st.page_link(state.page("revise"), label="Revise the prompt", icon=":material/arrow_forward:")
    draw_rejected()
    if cards:
        validating.draw(here, data.need_reference(cards, st.session_state.get(state.REFERENCE)).name)
    st.stop()
if not cards:
    widgets.missing("No reference is frozen yet, so no candidate can be scored.", "reference", "Freeze a reference")
card = data.need_reference(cards, st.session_state.get(state.REFERENCE))
by_number = {r.number: r for r in candidates}
if intent and intent.revision in by_number:
    st.session_state["accept.revision"] = intent.revision
number = st.selectbox(
    "Candidate",
    list(by_number),
    format_func=lambda n: data.revision_name(by_number[n]),
    key="accept.revision",
    width=420,
)
revision = by_number[number]
st.caption(widgets.plain(f"{revision.message} · by {revision.author}"))
scores = [s for s in data.scored(here, card.name) if s.prepared.run.prompt_hash == revision.prompt_hash]
if not scores:
    st.info(widgets.plain(f"Revision {number} has not been scored on {card.name} yet; run it first."))
    if st.button("Run it", type="primary", icon=":material/play_circle:"):
        state.ask(state.Intent("run", revision=number))
        st.switch_page(state.page("run"))
    if can:
        reject_unscored(number)
    st.stop()
labelers = {s.prepared.run.labeler.name: s for s in scores}
score = labelers[st.selectbox("Labeler", list(labelers), width=260)] if len(labelers) > 1 else scores[0]
scoring.headline(score)
widgets.score_facts(here, score)
gate = data.gate(here, score)
if gate.parent is None:
    st.caption("There is no accepted revision to compare with.")
else:
    parent = gate.parent
    st.caption(
        f"Compared with accepted revision {parent.prepared.number}: macro-F1 "
        f"{widgets.figure_text(parent.evaluation.macro_f1)} over {parent.evaluation.macro_f1.n} findings."
    )
checks, decision = st.columns([5, 3], gap="large")
with checks:
    st.subheader("The gate", anchor=False)
    signed = gates.draw(here, gate, may_sign=can)
with decision:
    st.subheader("The decision", anchor=False)
    if can:
        decide(gate, signed, number)
    else:
        st.info("Only the study lead accepts or rejects a revision.")
draw_rejected()
validating.draw(here, card.name)
