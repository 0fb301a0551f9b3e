"""What changed between two prompts: in words, per finding, and as lines of the file."""

import difflib
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from workbench.domain.prompts import Cues, CueSet, Example, FindingGuidance, Guidance, Prompt
from workbench.prompting.writing import prompt_text

_SHOWN = 60  # characters of a text that are repeated in a sentence
_CONTEXT_WORDS = 2  # that are shown before the first one that differs


class ChangeKind(StrEnum):
    """What happened to a value."""

    ADDED = "added"
    REMOVED = "removed"
    CHANGED = "changed"
    MOVED = "moved"  # the same phrases in another order


@dataclass(frozen=True, slots=True)
class Change:
    """One change. ``subject`` is a finding id, "cues", "examples" or "prompt"; ``part`` says what of it: "synonym"."""

    subject: str
    part: str
    kind: ChangeKind
    old: str = ""
    new: str = ""

    def __str__(self) -> str:
        """Return the change in words: "pneumothorax: synonym 'ptx' added"."""
        match self.kind:
            case ChangeKind.ADDED:
                return f"{self.subject}: {self.part}{_quote(self.new)} added"
            case ChangeKind.REMOVED:
                return f"{self.subject}: {self.part}{_quote(self.old)} removed"
            case ChangeKind.MOVED:
                return f"{self.subject}: {self.part}: order changed"
            case ChangeKind.CHANGED:
                old, new = _differing(self.old, self.new)
                return f"{self.subject}: {self.part} changed from{_quote(old)} to{_quote(new)}"


def diff_guidance(old: Guidance, new: Guidance) -> list[Change]:
    """Return every change from ``old`` to ``new``: first of the prompt as a whole, then per finding in the order of
    ``new`` (removed ones last), then cues and examples. Empty when both are equal.
    """
    return [*_whole(old, new), *_findings(old, new), *_cues(old.cues, new.cues), *_examples(old, new)]


def diff_text(old: Prompt, new: Prompt, *, old_name: str = "old", new_name: str = "new") -> str:
    """Return a unified diff of the two prompts' files; empty when they are equal."""
    lines = difflib.unified_diff(
        prompt_text(old).split("\n"), prompt_text(new).split("\n"), old_name, new_name, lineterm="", n=2
    )
    return "\n".join(lines)


def _whole(old: Guidance, new: Guidance) -> Iterator[Change]:
    for part, before, after in (
        ("label set", old.label_set, new.label_set),
        ("language", old.language, new.language),
        ("title", old.title, new.title),
        ("reply form", old.reply.value, new.reply.value),
        ("instructions", old.instructions, new.instructions),
    ):
        yield from _text("prompt", part, before, after)


def _findings(old: Guidance, new: Guidance) -> Iterator[Change]:
    for finding_id, guidance in new.findings.items():
        if finding_id not in old.findings:
            yield Change(finding_id, "finding", ChangeKind.ADDED)
        yield from _finding(finding_id, old.findings.get(finding_id, FindingGuidance()), guidance)
    for finding_id in old.findings:
        if finding_id not in new.findings:
            yield Change(finding_id, "finding", ChangeKind.REMOVED)


def _finding(finding_id: str, old: FindingGuidance, new: FindingGuidance) -> Iterator[Change]:
    yield from _text(finding_id, "definition", old.definition, new.definition)
    yield from _phrases(finding_id, "synonym", old.synonyms, new.synonyms)
    yield from _phrases(finding_id, "exclusion", old.exclusions, new.exclusions)
    yield from _phrases(finding_id, "normal phrase", old.normal, new.normal)


def _cues(old: Cues, new: Cues) -> Iterator[Change]:
    yield from _cue_set("negation", old.negation, new.negation)
    yield from _phrases("cues", "pseudo-negation", old.pseudo_negation, new.pseudo_negation)
    yield from _cue_set("uncertainty", old.uncertainty, new.uncertainty)
    yield from _cue_set("history", old.history, new.history)


def _cue_set(name: str, old: CueSet, new: CueSet) -> Iterator[Change]:
    yield from _phrases("cues", f"{name} cue before", old.before, new.before)
    yield from _phrases("cues", f"{name} cue after", old.after, new.after)
    yield from _phrases("cues", f"{name} terminator", old.terminators, new.terminators)


def _examples(old: Guidance, new: Guidance) -> Iterator[Change]:
    before, after = {e.text: e for e in old.examples}, {e.text: e for e in new.examples}
    for text, example in after.items():
        if text not in before:
            yield Change("examples", "example", ChangeKind.ADDED, "", text)
        elif before[text] != example:
            yield Change(
                "examples", "labels of an example", ChangeKind.CHANGED, _labels(before[text]), _labels(example)
            )
    for text in before:
        if text not in after:
            yield Change("examples", "example", ChangeKind.REMOVED, text)
    if list(before) != list(after) and set(before) == set(after):
        yield Change("examples", "example", ChangeKind.MOVED)


def _labels(example: Example) -> str:
    labels = ", ".join(f"{finding} {state.value}" for finding, state in sorted(example.labels.items()))
    return f"{labels} (report {example.report_id})" if example.report_id else labels


def _text(subject: str, part: str, old: str, new: str) -> Iterator[Change]:
    if old == new:
        return
    kind = ChangeKind.CHANGED if old and new else ChangeKind.ADDED if new else ChangeKind.REMOVED
    yield Change(subject, part, kind, old, new)


def _phrases(subject: str, part: str, old: tuple[str, ...], new: tuple[str, ...]) -> Iterator[Change]:
    yield from (Change(subject, part, ChangeKind.ADDED, "", p) for p in dict.fromkeys(new) if p not in old)
    yield from (Change(subject, part, ChangeKind.REMOVED, p) for p in dict.fromkeys(old) if p not in new)
    if old != new and set(old) == set(new):
        yield Change(subject, part, ChangeKind.MOVED)


def _differing(old: str, new: str) -> tuple[str, str]:
    """Return two texts from the word on in which they first differ, where they are too long to be shown whole."""
    before, after = old.split(), new.split()
    if max(len(old), len(new)) <= _SHOWN:
        return old, new
    same = next(
        (i for i, (a, b) in enumerate(zip(before, after, strict=False)) if a != b), min(len(before), len(after))
    )
    start = max(0, same - _CONTEXT_WORDS)
    lead = "... " if start else ""
    return lead + " ".join(before[start:]), lead + " ".join(after[start:])


def _quote(value: str) -> str:
    if not value:
        return ""
    one_line = " ".join(value.split())
    return f" '{one_line[:_SHOWN]}...'" if len(one_line) > _SHOWN else f" '{one_line}'"
