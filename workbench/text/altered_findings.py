"""Edits that matter: what the report says of a finding is no longer so. Each returns the text and what was done."""

import random
import re
from collections.abc import Iterable

from workbench.text.alteration_words import SIDES, Change, ReadReport, Sentence, pattern, plain, shown

_Edit = tuple[str, str] | None
_THERE = re.compile(r"(there\s+(?:is|are|remains|remain)\s+)?", re.IGNORECASE)
_ENUMERATOR = re.compile(r"\s*(?:\(?\d{1,2}[.)]\s*|[-*•]\s+)?")
_SIDE = re.compile(r"(?<![\w-])(left|right)(?!\w)", re.IGNORECASE)


def removed(report: ReadReport, chance: random.Random) -> _Edit:
    """Leave out a finding that is not critical."""
    return _left_out(report, chance, critical=False)


def critical_missed(report: ReadReport, chance: random.Random) -> _Edit:
    """Leave out a critical finding."""
    return _left_out(report, chance, critical=True)


def _left_out(report: ReadReport, chance: random.Random, *, critical: bool) -> _Edit:
    def alone(finding: int) -> bool:
        stated = report.stated(finding)
        return len(stated) < len(report.sentences) and all(sentence.findings == {finding} for sentence in stated)

    findings = [f for f in report.only_stated() if report.words.findings[f].critical is critical and alone(f)]
    if not findings:
        return None
    finding = chance.choice(findings)
    stated = report.stated(finding)
    kind = "the critical finding " if critical else ""
    name = report.words.findings[finding].name
    return _without(report, stated), f"left out {kind}{name}: {shown([sentence.text for sentence in stated])}"


def _without(report: ReadReport, sentences: Iterable[Sentence]) -> str:
    """Return the text without sentences and the white space after them."""
    kept, at = [], 0
    for sentence in sentences:
        after = re.compile(r"[^\S\n]*").match(report.text, sentence.end)
        kept.append(report.text[at : sentence.start])
        at = after.end() if after else sentence.end
    return "".join([*kept, report.text[at:]]).rstrip()


def invented(report: ReadReport, chance: random.Random) -> _Edit:
    """Add a finding of which the report says nothing, after what was found."""
    whole = plain(report.text)
    unsaid = [finding for finding in report.words.findings if not pattern(finding.words).search(whole)]
    if not unsaid or not report.sentences:
        return None
    finding = chance.choice(unsaid)
    last = [sentence for sentence in report.sentences if sentence.section == report.sentences[0].section][-1]
    stop = "" if last.text.rstrip().endswith((".", "!", "?", ":")) else report.written(".")
    added = f"{stop} {report.written(finding.invented)}"
    text = report.text[: last.end] + added + report.text[last.end :]
    return text, f"invented {finding.name}: {shown([finding.invented])}"


def negated(report: ReadReport, chance: random.Random) -> _Edit:
    """Deny a finding in every sentence that states it."""
    found = {}
    for finding in report.only_stated():
        changes = [_denied(report, sentence, finding) for sentence in report.stated(finding)]
        if None not in changes:
            found[finding] = [change for change in changes if change is not None]
    return _changed(report, chance, found, "denied")


def _denied(report: ReadReport, sentence: Sentence, finding: int) -> Change | None:
    """Return "there is no" and the place for what a sentence begins with, or None where it does not begin so."""
    if sentence.findings != {finding}:
        return None
    listed = _ENUMERATOR.match(sentence.text)
    start = listed.end() if listed else 0
    there = _THERE.match(sentence.text, start)
    name = pattern(report.words.findings[finding].words).search(sentence.text, start)
    if there is None or name is None:
        return None
    between = sentence.text[there.end() : name.start()].split()
    words = [word.lower().strip(",") for word in between]
    if any(word not in report.words.degrees and word not in report.words.places for word in words):
        return None
    places = [word for word, low in zip(between, words, strict=True) if low in report.words.places]
    said = " ".join([*there.group().split(), "no", *(place.lower() for place in places)])
    return sentence.start + start, sentence.start + name.end(), f"{said} {name.group()[:1].lower()}{name.group()[1:]}"


def side_swapped(report: ReadReport, chance: random.Random) -> _Edit:
    """Put a finding on the other side wherever it is stated with one."""
    found = {}
    for finding in range(len(report.words.findings)):
        changes: list[Change] = []
        sides = set()
        for sentence in report.stated(finding):
            for match in _SIDE.finditer(sentence.text):
                sides.add(match.group().lower())
                at = sentence.start + match.start()
                changes.append((at, at + len(match.group()), SIDES[match.group().lower()]))
        if len(sides) == 1 and not any(_never(report, sentence) for sentence in report.stated(finding)):
            found[finding] = changes
    return _changed(report, chance, found, "put on the other side")


def _never(report: ReadReport, sentence: Sentence) -> bool:
    return pattern(report.words.never_swapped).search(sentence.text) is not None


def severity_raised(report: ReadReport, chance: random.Random) -> _Edit:
    """Make a mild or moderate finding severe wherever it is stated."""
    degrees = report.words.severity
    found = {}
    for finding in range(len(report.words.findings)):
        changes = [
            (sentence.start + match.start(), sentence.start + match.end(), degrees[plain(match.group())])
            for sentence in report.stated(finding)
            for match in pattern(tuple(degrees)).finditer(sentence.text)
        ]
        if changes:
            found[finding] = changes
    return _changed(report, chance, found, "made severe")


def _changed(report: ReadReport, chance: random.Random, found: dict[int, list[Change]], done: str) -> _Edit:
    """Carry out the changes of one of the findings."""
    if not found:
        return None
    finding = chance.choice(sorted(found))
    changes = found[finding]
    touched = [s for s in report.sentences if any(s.start <= start < s.end for start, _, _ in changes)]
    became = [_alone(report, sentence, changes) for sentence in touched]
    name = report.words.findings[finding].name
    pairs = "; ".join(f"{shown([s.text])} became {shown([b])}" for s, b in zip(touched, became, strict=True))
    return report.changed(changes), f"{done}, {name}: {pairs}"


def _alone(report: ReadReport, sentence: Sentence, changes: list[Change]) -> str:
    """Return one sentence after the changes."""
    within = [change for change in changes if sentence.start <= change[0] < sentence.end]
    grown = sum(len(said) - (end - start) for start, end, said in within)
    text = report.changed(within)
    slack = len(text) - len(report.text) - grown  # articles that grew or shrank
    return text[sentence.start : sentence.end + grown + slack]
