"""Revise: mend one finding's guidance, see what it would change, save it as a candidate."""

import streamlit as st

from workbench.domain.actors import Role
from workbench.domain.prompts import Prompt, Revision
from workbench.ui import blind, data, editing, state, widgets
from workbench.workflow import prompts, revise
from workbench.workflow.score import Score

here = state.here()
intent = state.take_intent("revise")
widgets.head(
    "Revise", "Change what the labeler is told, try it on the reports already scored, then save it as a candidate."
)


def score_of(prompt_hash: str) -> Score | None:
    cards = data.reference_cards(here)
    if not cards:
        return None
    name = data.need_reference(cards, st.session_state.get(state.REFERENCE)).name
    return next((s for s in data.scored(here, name) if s.prepared.run.prompt_hash == prompt_hash), None)


def try_panel(base: Prompt, draft: Prompt) -> None:
    score = score_of(base.hash)
    if score is None:
        run_first = "To try an edit at once, run and score the revision it starts from; otherwise save it and run it."
        st.caption(widgets.plain(blind.told(here) or run_first))
        return
    key = f"revise.trial.{base.hash}"
    if st.button("Try it", icon=":material/science:", disabled=draft.hash == base.hash, help="Counts as a look"):
        with widgets.explained(), st.spinner("Reading the cohort with the edit"):
            st.session_state[key] = (draft.hash, revise.try_prompt(here.study, here.actor, draft, score))
    tried = st.session_state.get(key)
    if tried and tried[0] == draft.hash:
        editing.trial(here, tried[1])
    elif tried:
        st.caption("The edit has changed since it was tried.")


def save_panel(base: Revision, base_prompt: Prompt, draft: Prompt) -> None:
    message = st.text_input(
        "What changed and why", key=f"revise.message.{base.prompt_hash}", placeholder="in a sentence"
    )
    place = st.container()
    with st.container(horizontal=True):
        save = st.button("Save as candidate", type="primary", disabled=draft.hash == base_prompt.hash)
        drop = st.button("Throw the edits away", disabled=draft.hash == base_prompt.hash)
    if save:
        with place, widgets.explained():
            saved = prompts.save_candidate(here.study, here.actor, draft, message=message, parent=base.prompt_hash)
            editing.forget(base_prompt)
            state.say(f"Saved as revision {saved.number}, a candidate. Run it to see what it is worth.")
            state.ask(state.Intent("run", revision=saved.number))
            st.switch_page(state.page("run"))
    if drop:
        editing.forget(base_prompt)
        st.rerun()


for sentence in here.refused:
    st.warning(widgets.plain(sentence), icon=":material/warning:")
revisions = data.revisions(here)
if not revisions:
    widgets.missing("There is no prompt yet. Bring one in on the command line: workbench prompt import FILE.")
by_number = {r.number: r for r in reversed(revisions)}
start = intent.revision if intent and intent.revision else (data.newest(here) or revisions[-1]).number
findings = {f.id: f.name for f in here.study.label_set.findings}
if intent:
    st.session_state["revise.base"] = start
    st.session_state["revise.finding"] = intent.finding
left, right = st.columns(2)
number = left.selectbox(
    "Start from revision",
    list(by_number),
    index=list(by_number).index(start),
    key="revise.base",
    format_func=lambda n: data.revision_name(by_number[n]),
)
finding = right.selectbox("Finding", list(findings), format_func=findings.__getitem__, key="revise.finding")
base = by_number[number]
base_prompt = data.prompt(here, base.prompt_hash)
if intent and intent.phrase:
    editing.carry_phrase(base_prompt, finding, intent.phrase)
if intent and intent.report:
    st.caption(f"Carried over from report {widgets.plain(intent.report)}.")
can = here.may(Role.LEAD, Role.ADMIN)
if not can:
    st.info("You may read the prompt; revisions are made by the study lead.")
editor, outcome = st.columns([5, 3], gap="large")
with editor:
    guidance, cues, instructions = st.tabs(
        ["This finding", "Cues", "Instructions"], key="revise.tabs", on_change="rerun"
    )
    draft = state.draft(base_prompt)
    with guidance:
        if guidance.open:
            draft = editing.finding_editor(base_prompt, draft, finding)
    with cues:
        if cues.open:
            draft = editing.cue_editor(base_prompt, draft)
    with instructions:
        if instructions.open:
            draft = editing.instruction_editor(base_prompt, draft)
    state.keep_draft(base_prompt, draft)
with outcome:
    st.subheader("What you changed", anchor=False)
    if draft.hash == base_prompt.hash:
        st.caption(f"Nothing yet: this is revision {base.number} as it stands. Edit at the left.")
    else:
        editing.changes(here, base_prompt, draft)
    if can:
        try_panel(base_prompt, draft)
        st.divider()
        save_panel(base, base_prompt, draft)
