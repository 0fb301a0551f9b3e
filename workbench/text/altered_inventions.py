"""The error that a finding is invented: told of in every section that would contradict it, and nowhere contradicted."""

import random
import re
from dataclasses import dataclass
from itertools import groupby

from workbench.text.alteration_words import pattern, plain
from workbench.text.altered_report import DENIED_AFTER, ENUMERATOR, Change, ReadReport, Sentence, shown

_Edit = tuple[str, str] | None
_NONE = re.compile(r"\b(?:no|without|negative|free of|free from|nothing|none)\b", re.IGNORECASE)
_VERB = re.compile(r"\b(?:is|are|appears?|remains?|demonstrates?|shows?|and|with)\s*$", re.IGNORECASE)


def invented(report: ReadReport, chance: random.Random) -> _Edit:
    """Add a finding of which the report says nothing, under no name; what says that all is well there gives way to it.

    No finding is added where a sentence would contradict it that also says something else.
    """
    whole = plain(report.text)
    found: dict[int, list[Change]] = {}
    for at, finding in enumerate(report.words.findings):
        known = pattern((*finding.words, *finding.traces)).search(whole)
        spoken = any(report.speaks_of(sentence, at) for sentence in report.sentences)
        changes = None if finding.minor or known or spoken else _changes(report, at)
        if changes is not None:
            found[at] = changes
    if not found:
        return None
    at = chance.choice(sorted(found))
    text, finding = _applied(report, found[at]), report.words.findings[at]
    gone = [
        s
        for s in report.sentences
        if any(s.start <= start and end <= s.end and end > start for start, end, _ in found[at])
    ]
    instead = f", in place of {shown([sentence.text for sentence in gone])}" if gone else ""
    return text, f"invented {finding.name}: {shown([finding.invented])}{instead}"


def _applied(report: ReadReport, changes: list[Change]) -> str:
    pieces, at = [], 0
    for start, end, said in sorted(changes):
        pieces += [report.text[at:start], report.written(said)]
        blanks = re.compile(r"[^\S\n]*").match(report.text, end)
        at = blanks.end() if blanks and end > start and not said else end
    return "".join([*pieces, report.text[at:]]).rstrip()


def _changes(report: ReadReport, finding: int) -> list[Change] | None:
    """Return the changes that tell of a finding; None where something that has to stay would contradict it."""
    said = report.words.findings[finding].invented
    changes: list[Change] = []
    for number, (_, group) in enumerate(groupby(report.sentences, key=lambda sentence: sentence.section)):
        sentences = list(group)
        here: list[Change] = []
        for sentence in sentences:
            parts = _parts(sentence)
            if not any(parts.wrong(report, finding)):
                continue
            change = _gives_way(report, parts, finding, "" if here else said)
            if change is None:
                return None
            here.append(change)
        if not here and number == 0:
            last = sentences[-1]
            stop = "" if last.text.rstrip().endswith((".", "!", "?", ":")) else "."
            here = [(last.end, last.end, f"{stop} {said}")]
        changes += here
    return changes or None


def _contradicts(report: ReadReport, text: str, finding: int, of: str = "") -> bool:
    """Return whether words say that all is well where a finding would be; ``of`` tells where, too."""
    words = report.words
    well = pattern(words.well).search(text) is not None
    no_disease = _NONE.search(text) is not None and pattern(words.disease).search(text) is not None
    if not well and not no_disease:
        return False
    regions = _regions(report, f"{text} {of}")
    general = pattern(words.general).search(text) is not None
    if regions & set(words.findings[finding].regions):
        return well or no_disease
    return not regions and ((well and general) or no_disease)


def _regions(report: ReadReport, text: str) -> set[str]:
    return {name for name, said in report.words.regions.items() if pattern(said).search(text)}


def _gives_way(report: ReadReport, parts: "_Parts", finding: int, said: str) -> Change | None:
    """Return a sentence with the finding instead of its part that contradicts; None where it says other things too."""
    sentence, start = parts.sentence, parts.start
    if (start and not said) or pattern(report.words.blockers).search(sentence.text):
        return None  # a number would be left, or what the sentence makes an exception of is lost
    mine = set(report.words.findings[finding].regions)
    wrong = parts.wrong(report, finding)
    for is_wrong, named, text in zip(wrong, parts.named, (parts.head, parts.tail), strict=True):
        if is_wrong and (named or not _regions(report, text) <= mine):
            return None
    if wrong[0]:
        rest = f" No {sentence.text[parts.after :]}" if parts.tail and not wrong[1] else ""
        return sentence.start + start, sentence.end, f"{said}{rest}".strip()
    head = sentence.text[start : parts.at]
    return None if _VERB.search(head) else (sentence.start + start, sentence.end, f"{head}. {said}".strip())


@dataclass(frozen=True, slots=True)
class _Parts:
    """A sentence in two: up to ``at``, and what is denied from ``after`` on; findings it names are blank in both."""

    sentence: Sentence
    start: int
    at: int
    after: int
    head: str
    tail: str

    @property
    def named(self) -> tuple[bool, bool]:
        """Return whether either part names a finding."""
        mentions = self.sentence.mentions
        return any(m.start < self.at for m in mentions), any(m.start >= self.after for m in mentions)

    def wrong(self, report: ReadReport, finding: int) -> tuple[bool, bool]:
        """Return whether either part contradicts a finding. "Bones are without disease" denies that of the bones."""
        of = "" if self.named[0] else self.head
        tail = bool(self.tail) and _contradicts(report, f"no {self.tail}", finding, of)
        return _contradicts(report, self.head, finding), tail


def _parts(sentence: Sentence) -> _Parts:
    listed = ENUMERATOR.match(sentence.text)
    start = listed.end() if listed else 0
    blank = sentence.around(sentence.mentions)
    denied = DENIED_AFTER.search(sentence.text, start + 1)
    at, after = denied.span() if denied else (len(blank), len(blank))
    return _Parts(sentence, start, at, after, blank[start:at], blank[after:])
