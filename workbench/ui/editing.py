"""The editor of a prompt: one finding's guidance, the cues, the instructions, all into one unsaved draft."""

from collections.abc import Sequence
from dataclasses import replace

import streamlit as st

from workbench.domain.findings import LabelSet
from workbench.domain.prompts import Cues, CueSet, FindingGuidance, Prompt
from workbench.prompting.diff import Change, ChangeKind
from workbench.ui import state, widgets
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


def lines(text: str) -> tuple[str, ...]:
    """Return the phrases of a text area, one per line."""
    return tuple(" ".join(line.split()) for line in text.splitlines() if line.strip())


def _area(label: str, phrases: Sequence[str], key: str, help_text: str = "", height: int = 150) -> tuple[str, ...]:
    if key not in st.session_state:
        st.session_state[key] = "\n".join(phrases)
    return lines(st.text_area(label, key=key, help=help_text or None, height=height) or "")


def finding_editor(base: Prompt, draft: Prompt, finding: str) -> Prompt:
    """Draw the fields of one finding and return the draft with what they hold."""
    guidance = draft.guidance.findings.get(finding, FindingGuidance())
    key = key_of(base, finding, "definition")
    if key not in st.session_state:
        st.session_state[key] = guidance.definition
    definition = st.text_area("Definition", key=key, height=80, help="What a language model is told it means.")
    columns = st.columns(3, gap="small")
    lists = {}
    for (name, label, told), column in zip(LISTS, columns, strict=True):
        with column:
            lists[name] = _area(label, getattr(guidance, name), key_of(base, finding, name), told, 260)
    st.caption(LANGUAGE)
    edited = FindingGuidance(definition=definition or "", **lists)
    if finding not in draft.guidance.findings and edited == FindingGuidance():
        return draft
    return revise.with_finding(draft, finding, edited) if edited != guidance else draft


def cue_editor(base: Prompt, draft: Prompt) -> Prompt:
    """Draw the cues and return the draft with what they hold."""
    cues = draft.guidance.cues
    edited: dict[str, CueSet] = {}
    for name, label in CUE_SETS:
        with st.expander(f"{label} cues", expanded=name == "negation"):
            columns = st.columns(3, gap="small")
            held: CueSet = getattr(cues, name)
            sides = {}
            for (side, told), column in zip(SIDES, columns, strict=True):
                with column:
                    sides[side] = _area(told, getattr(held, side), key_of(base, "cues", name, side), height=220)
            edited[name] = CueSet(**sides)
    pseudo = _area(
        "Looks like a negation and is none", cues.pseudo_negation, key_of(base, "cues", "pseudo"), "no change in", 120
    )
    new = Cues(edited["negation"], pseudo, edited["uncertainty"], edited["history"])
    return revise.with_guidance(draft, cues=new) if new != cues else draft


def instruction_editor(base: Prompt, draft: Prompt) -> Prompt:
    """Draw title and instructions and return the draft with what they hold."""
    guidance = draft.guidance
    for name, value in (("title", guidance.title), ("instructions", guidance.instructions)):
        if key_of(base, name) not in st.session_state:
            st.session_state[key_of(base, name)] = value
    title = st.text_input("Title", key=key_of(base, "title")) or ""
    instructions = st.text_area("Instructions", key=key_of(base, "instructions"), height=260) or ""
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
