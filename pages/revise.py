"""Revise: mend one finding's guidance, see what it would change, save it as a candidate."""

import streamlit as st

from workbench.domain.actors import Role
from workbench.ui import (
    blind,
    data,
    editing,
    examples,
    prompt_view,
    save_panel,
    state,
    suggestion_panel,
    trial_panel,
    typed,
    unsaved,
    widgets,
)
from workbench.ui.prompt_fields import Fields
from workbench.workflow.score import Score

here = state.here()
intent = state.take_intent("revise")
widgets.head(
    "Revise",
    "Mend the prompt at the left or accept a suggestion at the right; try it; then save it as a candidate.",
)


def score_of(prompt_hash: str) -> Score | None:
    cards = data.reference_cards(here)
    if not cards:
        return None
    name = data.need_reference(cards, st.session_state.get(state.REFERENCE)).name
    return next((s for s in data.scored(here, name) if s.prepared.run.prompt_hash == prompt_hash), None)


for sentence in here.refused:
    st.warning(widgets.plain(sentence), icon=":material/warning:")
revisions = data.revisions(here)
if not revisions:
    widgets.missing("There is no prompt yet. Bring one in on the command line: workbench prompt import FILE.")
save_panel.tell_of_files(revisions)
by_number = {r.number: r for r in reversed(revisions)}
start = intent.revision if intent and intent.revision else (data.newest(here) or revisions[-1]).number
findings = {f.id: f.name for f in here.study.label_set.findings}
if intent:
    st.session_state["revise.base"] = start
    st.session_state["revise.finding"] = intent.finding or next(iter(findings))
left, right = st.columns(2)
number = left.selectbox(
    "Start from revision",
    list(by_number),
    index=list(by_number).index(start),
    key="revise.base",
    format_func=lambda n: data.revision_name(by_number[n]),
)
finding = right.selectbox("Finding", list(findings), format_func=findings.__getitem__, key="revise.finding")
base, base_prompt = by_number[number], prompt_view.to_start_from(here, by_number[number])
can = here.may(Role.LEAD, Role.ADMIN)
if not can:
    st.info("You may read the prompt; revisions are made by the study lead.")
elif unsaved.offer_others(here, base_prompt):
    unsaved.refresh(base_prompt)
    st.rerun()
FINDING, CUES, TOLD, EXAMPLES, FILE = "This finding", "Cues", "Instructions", "Worked examples", "Whole file"
CHANGED, SUGGESTED, TRIED, MODEL = "What you changed", "Suggestions", "Try it", "What a model is told"
if intent and intent.phrase and can:
    examples.carry(here, base_prompt, intent)
    st.session_state["revise.tabs"] = EXAMPLES if intent.field == "examples" else FINDING
if intent and intent.report:
    st.caption(f"Carried over from report {widgets.plain(intent.report)}.")
editor, outcome = st.columns([1, 1], gap="large")
with editor:
    guidance, cues, told, worked, file = st.tabs(
        [FINDING, CUES, TOLD, EXAMPLES, FILE], key="revise.tabs", on_change="rerun"
    )
    draft, fields = unsaved.draft(here, base_prompt), Fields(here, base_prompt)
    with guidance:
        if guidance.open:
            draft = editing.finding_editor(fields, draft, finding)
    with cues:
        if cues.open:
            draft = editing.cue_editor(fields, draft)
    with told:
        if told.open:
            draft = editing.instruction_editor(fields, draft)
    with worked:
        if worked.open:
            draft = examples.editor(fields, draft)
    with file:
        if file.open:
            prompt_view.file_editor(here, base_prompt, draft)
    unsaved.keep(here, base_prompt, draft)
typed.hand_in("[class*=st-key-edit-] :is(input[type=text], textarea)", "revise-typed")
with outcome:
    if can:
        save_panel.draw(here, base, base_prompt, draft, revisions)
    changed, suggested, tried, model = st.tabs(
        [CHANGED, SUGGESTED, TRIED, MODEL], key="revise.outcome", on_change="rerun"
    )
    score = score_of(base.prompt_hash) if suggested.open or tried.open else None
    if changed.open:
        with changed:
            prompt_view.changed(here, base, draft, by_number)
    for tab, draw in ((suggested, suggestion_panel.draw), (tried, trial_panel.draw)):
        if tab.open:
            with tab:
                if not can:
                    st.caption("The study lead tries edits and decides on suggestions.")
                elif score is None:
                    run_first = f"Run and score revision {number} first: what it gets wrong is what there is to mend."
                    st.info(widgets.plain(blind.told(here) or run_first))
                else:
                    draw(here, base_prompt, draft, score, finding)
    if model.open:
        with model:
            prompt_view.rendered(here, draft)
