"""The editor of a prompt: one finding's guidance, the cues, the instructions, all into one unsaved draft."""

from collections.abc import Sequence
from dataclasses import replace

import streamlit as st

from workbench.domain.prompts import Cues, CueSet, FindingGuidance, Prompt
from workbench.ui import state, widgets
from workbench.workflow import browse, revise
from workbench.workflow.revise import Flip, Trial

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


def key_of(base: Prompt, *parts: str) -> str:
    """Return the key of an editor's field; it counts up when edits are thrown away, so that fields start afresh."""
    version = st.session_state.get(f"edit.version.{base.hash}", 0)
    return ".".join(["edit", base.hash[:12], str(version), *parts])


def forget(base: Prompt) -> None:
    """Throw the unsaved edits of a revision away."""
    state.keep_draft(base, None)
    name = f"edit.version.{base.hash}"
    st.session_state[name] = st.session_state.get(name, 0) + 1


def carry_phrase(base: Prompt, finding: str, phrase: str) -> None:
    """Add a phrase to a finding's synonyms in the draft, ahead of the editor being drawn."""
    draft = state.draft(base)
    guidance = draft.guidance.findings.get(finding, FindingGuidance())
    mended = replace(guidance, synonyms=(*guidance.synonyms, phrase))
    draft = revise.with_finding(draft, finding, mended)
    state.keep_draft(base, draft)
    st.session_state[key_of(base, finding, "synonyms")] = "\n".join(draft.guidance.findings[finding].synonyms)


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
        st.markdown(f"- {widgets.plain(widgets.named(str(change), here.study.label_set))}")


def trial(here: state.Here, result: Trial) -> None:
    """Draw what an unsaved edit would change."""
    after, before = result.after.value, result.before.value
    delta = None if after is None or before is None else f"{after - before:+.4f}"
    one, two, three = st.columns(3, gap="small")
    one.metric("Macro-F1", "—" if after is None else f"{after:.3f}", delta)
    two.metric("Becomes right", result.fixed)
    three.metric("Becomes wrong", result.broken)
    st.caption(
        f"Before: {widgets.figure_text(result.before)}. After: {widgets.figure_text(result.after)}. "
        f"n = {result.after.n} findings. {result.looks} looks at this cohort so far, this one included."
    )
    if not result.flips:
        st.info("No label that counts changes on this cohort.")
    for flip in result.flips[:40]:
        _flip(here, flip)
    if len(result.flips) > 40:
        st.caption(f"{len(result.flips) - 40} more are not shown.")


def _flip(here: state.Here, flip: Flip) -> None:
    name = widgets.plain(here.study.label_set.get(flip.finding_id).name)
    states = f"{widgets.STATE_NAMES[flip.before]} → {widgets.STATE_NAMES[flip.after]}"
    word, icon = ("right now", ":material/check:") if flip.fixed else ("wrong now", ":material/close:")
    with st.expander(f"{name} in {widgets.plain(flip.report_id)}: {word} ({states})", icon=icon), widgets.explained():
        report = browse.read_report(here.study, here.actor, flip.report_id)
        widgets.report_text(report, here.study.settings.sections)
