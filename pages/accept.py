"""Accept: the gate's checks for a scored revision, signed or overridden, and the decision."""

import streamlit as st

from workbench.domain.actors import Role
from workbench.domain.prompts import RevisionStatus
from workbench.ui import accept_panel, blind, data, gates, scoring, state, validating, widgets

here = state.here()
intent = state.take_intent("accept")
widgets.head("Accept", "Check a scored revision against the gate, sign what needs a name, and decide.")
blind.stop(here)

can = here.may(Role.LEAD)
cards = data.reference_cards(here)
candidates = [r for r in reversed(data.revisions(here)) if r.status is RevisionStatus.CANDIDATE]
if not candidates:
    st.info("No candidate is waiting for a decision. Mend the prompt and save a candidate.")
    st.page_link(state.page("revise"), label="Revise the prompt", icon=":material/arrow_forward:")
    accept_panel.rejected(here)
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
        accept_panel.reject_unscored(here, revision)
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
        accept_panel.decide(here, gate, signed, revision)
    else:
        st.info("Only the study lead accepts or rejects a revision.")
accept_panel.rejected(here)
validating.draw(here, card.name)
