"""The editor of a prompt: one finding's guidance, the cues, the instructions, all into one unsaved draft."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import streamlit as st

from workbench.domain.findings import LabelSet
from workbench.domain.prompts import Cues, CueSet, FindingGuidance, Prompt
from workbench.prompting.diff import Change, ChangeKind
from workbench.ui import state, widgets
from workbench.ui.prompt_fields import Fields
from workbench.ui.unsaved import key_of
from workbench.workflow import browse, revise

LISTS = (
    ("synonyms", "Synonyms", "Phrases that name the finding, one per line."),
    ("exclusions", "Exclusions", "Phrases that look like it and are not, one per line."),
    ("normal", "Normal phrases", "Phrases that say it is absent, one per line: heart size normal."),
)
CUE_SETS = (("negation", "Negation"), ("uncertainty", "Uncertainty"), ("history", "History"))
SIDES = (
    ("before", "Before the finding"),
    ("after", "After the finding"),
    ("terminators", "What ends its reach"),
)
LANGUAGE = (
    "A phrase is words next to each other in any case, plurals come by themselves. `heart ... enlarged` leaves a gap, "
    "`calcif*` begins so, `heart/cardiac size` is either word, and a hyphen also stands for a space or nothing."
)


def finding_editor(fields: Fields, draft: Prompt, finding: str) -> Prompt:
    """Draw the fields of one finding and return the draft with what they hold."""
    guidance = draft.guidance.findings.get(finding, FindingGuidance())

    def put(name: str) -> Callable[[Prompt, str | tuple[str, ...]], Prompt]:
        def into(draft: Prompt, written: str | tuple[str, ...]) -> Prompt:
            said: dict[str, Any] = {name: written}
            held = draft.guidance.findings.get(finding, FindingGuidance())
            return revise.with_finding(draft, finding, replace(held, **said))

        return into

    told = "What a language model is told it means."
    key = key_of(fields.base, finding, "definition")
    definition = fields.area("Definition", guidance.definition, key, put("definition"), height=80, told=told)
    columns = st.columns(3, gap="small")
    lists = {}
    for (name, label, told), column in zip(LISTS, columns, strict=True):
        with column:
            held, key = getattr(guidance, name), key_of(fields.base, finding, name)
            lists[name] = fields.phrases(label, held, key, put(name), told=told, height=260)
    st.caption(LANGUAGE)
    edited = FindingGuidance(definition=definition, **lists)
    if finding not in draft.guidance.findings and edited == FindingGuidance():
        return draft
    return revise.with_finding(draft, finding, edited) if edited != guidance else draft


def cue_editor(fields: Fields, draft: Prompt) -> Prompt:
    """Draw the cues and return the draft with what they hold."""
    cues = draft.guidance.cues

    def put(name: str, side: str) -> Callable[[Prompt, tuple[str, ...]], Prompt]:
        def into(draft: Prompt, written: tuple[str, ...]) -> Prompt:
            said: dict[str, Any] = {name: replace(getattr(draft.guidance.cues, name), **{side: written})}
            return revise.with_guidance(draft, cues=replace(draft.guidance.cues, **said))

        return into

    edited: dict[str, CueSet] = {}
    for name, label in CUE_SETS:
        with st.expander(f"{label} cues", expanded=name == "negation"):
            columns = st.columns(3, gap="small")
            held: CueSet = getattr(cues, name)
            sides = {}
            for (side, told), column in zip(SIDES, columns, strict=True):
                with column:
                    key = key_of(fields.base, "cues", name, side)
                    sides[side] = fields.phrases(told, getattr(held, side), key, put(name, side), height=220)
            edited[name] = CueSet(**sides)

    def put_pseudo(draft: Prompt, written: tuple[str, ...]) -> Prompt:
        return revise.with_guidance(draft, cues=replace(draft.guidance.cues, pseudo_negation=written))

    key = key_of(fields.base, "cues", "pseudo")
    label = "Looks like a negation and is none"
    pseudo = fields.phrases(label, cues.pseudo_negation, key, put_pseudo, told="no change in", height=120)
    new = Cues(edited["negation"], pseudo, edited["uncertainty"], edited["history"])
    return revise.with_guidance(draft, cues=new) if new != cues else draft


def instruction_editor(fields: Fields, draft: Prompt) -> Prompt:
    """Draw title and instructions and return the draft with what they hold."""
    guidance = draft.guidance

    def put_title(draft: Prompt, written: str) -> Prompt:
        return revise.with_guidance(draft, title=written)

    def put_instructions(draft: Prompt, written: str) -> Prompt:
        return revise.with_guidance(draft, instructions=written)

    title = fields.line("Title", guidance.title, key_of(fields.base, "title"), put_title)
    key = key_of(fields.base, "instructions")
    instructions = fields.area("Instructions", guidance.instructions, key, put_instructions, height=260)
    if (title, instructions) == (guidance.title, guidance.instructions):
        return draft
    return revise.with_guidance(draft, title=title, instructions=instructions)


def changes(here: state.Here, old: Prompt, new: Prompt) -> None:
    """Draw what changed, in words."""
    for change in browse.changes(old, new):
        st.markdown(f"- {widgets.plain(in_words(change, here.study.label_set))}")


def in_words(change: Change, label_set: LabelSet) -> str:
    """Return a change with its finding by name; a phrase stays as written, also one that reads like a finding's id."""
    if change.subject == "examples" and change.kind is ChangeKind.CHANGED:  # what is quoted are labels
        return widgets.named(str(change), label_set)
    return str(replace(change, subject=widgets.named(change.subject, label_set)))
