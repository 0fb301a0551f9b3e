"""The worked examples of a prompt: a text, what it stands for, and whose report it quotes."""

from dataclasses import replace
from typing import Any

import streamlit as st

from workbench.domain.findings import State
from workbench.domain.prompts import Example, FindingGuidance, Prompt
from workbench.domain.references import Outcome, SealedItems
from workbench.ui import data, state, unsaved, widgets
from workbench.ui.prompt_fields import Fields, Put
from workbench.workflow import revise

_STATES = (
    (State.PRESENT, "Present"),
    (State.ABSENT, "Absent"),
    (State.UNCERTAIN, "Uncertain"),
)
_BLANK = "Write the text here."
_LEAST_TO_TELL = 25  # characters: shorter ones stand in many reports


def _right_label(here: state.Here, report: str, finding: str) -> State:
    """Return what the reference says of a finding in a report; absent where it says not present or nothing."""
    name = st.session_state.get(state.REFERENCE)
    cards = data.reference_cards(here)
    if cards:
        reference = data.get_reference(here, data.need_reference(cards, name).name)
        sealed = isinstance(reference.items, SealedItems)  # nobody has looked at it yet
        item = None if sealed else reference.items.get((report, finding))
        if item is not None and item.outcome is Outcome.PRESENT:
            return State.PRESENT
    return State.ABSENT


def carry(here: state.Here, base: Prompt, intent: state.Intent) -> None:
    """Add the words that another page sent to the draft, ahead of the editor being drawn."""
    draft = unsaved.draft(here, base)
    if intent.field == "examples":
        made = Example(
            intent.phrase, {intent.finding: _right_label(here, intent.report, intent.finding)}, intent.report
        )
        if made not in draft.guidance.examples:
            draft = revise.with_guidance(draft, examples=(*draft.guidance.examples, made))
    else:
        held = draft.guidance.findings.get(intent.finding, FindingGuidance())
        changed: dict[str, Any] = {intent.field: (*getattr(held, intent.field), intent.phrase)}
        draft = revise.with_finding(draft, intent.finding, replace(held, **changed))
    unsaved.take(here, base, draft)


def editor(fields: Fields, draft: Prompt) -> Prompt:
    """Draw the worked examples and return the draft with what they hold."""
    held, here, base = draft.guidance.examples, fields.here, fields.base
    st.markdown("A worked example shows a language model a text with its right labels. The rules labeler uses none.")
    edited: list[Example] = []
    for number, example in enumerate(held):
        with st.container(border=True):
            made, stays = _one(fields, example, number)
        if stays:
            edited.append(made)
    if st.button("Add a worked example", icon=":material/add:"):
        edited.append(Example(_BLANK, {}))
    if tuple(edited) == held:
        return draft
    mended = revise.with_guidance(draft, examples=tuple(edited))
    if len(edited) != len(held):  # the fields of those behind it move up
        unsaved.take(here, base, mended)
        st.rerun()
    return mended


def _put(number: int, name: str) -> Put:
    def into(draft: Prompt, written: str) -> Prompt:
        said: dict[str, Any] = {name: written.strip() if name == "report_id" else written or _BLANK}
        held = draft.guidance.examples
        if number >= len(held):
            return draft
        made = (*held[:number], replace(held[number], **said), *held[number + 1 :])
        return revise.with_guidance(draft, examples=made)

    return into


def _one(fields: Fields, example: Example, number: int) -> tuple[Example, bool]:
    here, key = fields.here, unsaved.key_of(fields.base, "example", str(number))
    text_column, label_column = st.columns(2, gap="small")
    with text_column:
        label = f"Text of example {number + 1}"
        text = fields.area(label, example.text, f"{key}.text", _put(number, "text"), height=120) or _BLANK
        told = "Left out of this prompt's scores."
        quoted = fields.line(
            "Report it quotes", example.report_id, f"{key}.report", _put(number, "report_id"), told=told
        )
    labels: dict[str, State] = {}
    names = {finding.id: finding.name for finding in here.study.label_set.findings}
    with label_column:
        for one, label in _STATES:
            said = [finding for finding, value in example.labels.items() if value is one and finding in names]
            picked = st.multiselect(
                label, list(names), default=said, format_func=names.__getitem__, key=f"{key}.{one.value}"
            )
            labels.update(dict.fromkeys(picked, one))
    report = quoted.strip()
    source = report or _source(here, text)
    _told(here, source, named=bool(report))
    stays = not st.button("Take this example out", key=f"{key}.out", icon=":material/delete:")
    other = {f: s for f, s in example.labels.items() if s not in dict(_STATES) or f not in names}
    in_order = {f: labels[f] for f in [*example.labels, *labels] if f in labels}
    return Example(text, {**in_order, **other}, source), stays


def _source(here: state.Here, text: str) -> str:
    """Return the report that holds the text word for word, as far as this person may read; empty where none does."""
    words = " ".join(text.lower().split())
    if len(words) < _LEAST_TO_TELL:
        return ""
    return next((line.id for line in data.shelf(here).lines if words in " ".join(line.search.split())), "")


def _told(here: state.Here, report: str, *, named: bool) -> None:
    """Say what follows from quoting a report of the study."""
    if not report:
        return
    found = "" if named else "These words stand in a report of this study, so it is named as their source. "
    lock = (
        "The reports of this study are restricted: a prompt that quotes one goes to this computer and to hosts opened "
        "for reports, nowhere else, and its file must not leave the study. "
        if here.study.settings.data_use.restricted
        else ""
    )
    st.warning(
        f"{found}{lock}Report {widgets.plain(report)} is left out of this prompt's scores.", icon=":material/lock:"
    )
