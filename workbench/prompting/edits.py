"""Small edits of a prompt's guidance: one phrase put in or taken out, and what several of them come to."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from workbench.domain.prompts import Cues, CueSet, FindingGuidance, Prompt


class Part(StrEnum):
    """The list that a phrase stands in: one of a finding's, or one of the cues that all findings share.

    A finding's definition is no list: an edit of it puts other words in its place.
    """

    DEFINITION = "definition"
    SYNONYMS = "synonyms"
    EXCLUSIONS = "exclusions"
    NORMAL = "normal"
    NEGATION_BEFORE = "negation.before"
    NEGATION_AFTER = "negation.after"
    NEGATION_TERMINATORS = "negation.terminators"
    PSEUDO_NEGATION = "pseudo_negation"
    UNCERTAINTY_BEFORE = "uncertainty.before"
    UNCERTAINTY_AFTER = "uncertainty.after"
    UNCERTAINTY_TERMINATORS = "uncertainty.terminators"
    HISTORY_BEFORE = "history.before"
    HISTORY_AFTER = "history.after"
    HISTORY_TERMINATORS = "history.terminators"

    @property
    def of_finding(self) -> bool:
        """Return whether each finding has such a list of its own."""
        return self in {Part.DEFINITION, Part.SYNONYMS, Part.EXCLUSIONS, Part.NORMAL}


_WORDS = {
    Part.DEFINITION: "definition",
    Part.SYNONYMS: "synonym",
    Part.EXCLUSIONS: "exclusion",
    Part.NORMAL: "normal phrase",
    Part.NEGATION_BEFORE: "negation before a finding",
    Part.NEGATION_AFTER: "negation after a finding",
    Part.NEGATION_TERMINATORS: "what ends a negation",
    Part.PSEUDO_NEGATION: "no negation though it looks like one",
    Part.UNCERTAINTY_BEFORE: "uncertainty before a finding",
    Part.UNCERTAINTY_AFTER: "uncertainty after a finding",
    Part.UNCERTAINTY_TERMINATORS: "what ends an uncertainty",
    Part.HISTORY_BEFORE: "history before a finding",
    Part.HISTORY_AFTER: "history after a finding",
    Part.HISTORY_TERMINATORS: "what ends a history",
}


@dataclass(frozen=True, slots=True)
class Edit:
    """A phrase put into a list of the prompt, or taken out of it (``add`` false). ``finding_id`` is empty for cues."""

    finding_id: str
    part: Part
    phrase: str
    add: bool = True

    def __post_init__(self) -> None:
        """Hold to it that a finding's list names its finding and a list of cues names none."""
        if self.part.of_finding != bool(self.finding_id):
            raise ValueError(f"{self.part} and the finding {self.finding_id!r} do not go together")
        if self.part is Part.DEFINITION and not self.add:
            raise ValueError("a definition is replaced, not taken out")

    def __str__(self) -> str:
        """Return the edit in words: 'pneumothorax: add the synonym "ptx"'."""
        subject = f"{self.finding_id}: " if self.finding_id else "cues: "
        if self.part is Part.DEFINITION:
            return f'{subject}define as "{self.phrase}"'
        return f'{subject}{"add" if self.add else "take out"} "{self.phrase}" ({_WORDS[self.part]})'

    def as_json(self) -> dict[str, object]:
        """Return the JSON form."""
        return {"finding": self.finding_id, "part": self.part.value, "phrase": self.phrase, "add": self.add}


def phrases(prompt: Prompt, part: Part, finding_id: str = "") -> tuple[str, ...]:
    """Return the phrases that stand in a list; of a definition its words as one."""
    if part.of_finding:
        guidance = prompt.guidance.findings.get(finding_id, FindingGuidance())
        if part is Part.DEFINITION:
            return (guidance.definition,) if guidance.definition else ()
        return tuple(getattr(guidance, part.value))
    kind, _, side = part.value.partition(".")
    held = getattr(prompt.guidance.cues, kind)
    return tuple(getattr(held, side)) if side else tuple(held)


def edited(prompt: Prompt, edits: Iterable[Edit]) -> Prompt:
    """Return the prompt with the edits made in order; one that is made already changes nothing."""
    for edit in edits:
        prompt = _edited(prompt, edit)
    return prompt


def _edited(prompt: Prompt, edit: Edit) -> Prompt:
    before = phrases(prompt, edit.part, edit.finding_id)
    if edit.add == (edit.phrase in before):
        return prompt
    after = (*before, edit.phrase) if edit.add else tuple(phrase for phrase in before if phrase != edit.phrase)
    guidance = prompt.guidance
    if edit.part.of_finding:
        finding = guidance.findings.get(edit.finding_id, FindingGuidance())
        changed: dict[str, Any] = {edit.part.value: edit.phrase if edit.part is Part.DEFINITION else after}
        mended = replace(finding, **changed)
        return replace(prompt, guidance=replace(guidance, findings={**guidance.findings, edit.finding_id: mended}))
    return replace(prompt, guidance=replace(guidance, cues=_with_cues(guidance.cues, edit.part, after)))


def _with_cues(cues: Cues, part: Part, after: tuple[str, ...]) -> Cues:
    kind, _, side = part.value.partition(".")
    if not side:
        return replace(cues, pseudo_negation=after)
    held: CueSet = replace(getattr(cues, kind), **{side: after})
    if kind == "negation":
        return replace(cues, negation=held)
    return replace(cues, uncertainty=held) if kind == "uncertainty" else replace(cues, history=held)
