"""Edits that matter: what the report says of a finding is no longer so. Each returns the text and what was done."""

import random
import re
from collections.abc import Iterable
from itertools import pairwise

from workbench.text.alteration_words import SIDES, Change, ReadReport, Sentence, pattern, plain, shown

_Edit = tuple[str, str] | None
_THERE = re.compile(r"(there\s+(?:is|are|remains|remain)\s+)?", re.IGNORECASE)
_ENUMERATOR = re.compile(r"\s*(?:\(?\d{1,2}[.)]\s*|[-*•]\s+)?")
_SCRAP = re.compile(r"(?:^|\s)(?:[.,;:]+|\(?\d{1,2}[.)])(?=\s*$|\s+[.,;:\d])", re.MULTILINE)
_CLAUSE = re.compile(r"\bis\b", re.IGNORECASE)  # "no heart is enlarged" denies no enlargement
_ARTICLES = frozenset({"a", "an", "the", "some"})
_SIDED = re.compile(
    r"(?<![a-z])(?:left|right|lingula|[rl](?:[uml]l|t)?\b)", re.IGNORECASE
)  # "RUL", "rt", "leftward" too
_SIDE = re.compile(r"(?<![\w-])(left|right)(?!\w)", re.IGNORECASE)


def removed(report: ReadReport, chance: random.Random) -> _Edit:
    """Leave out a finding that is not critical."""
    return _left_out(report, chance, critical=False)


def critical_missed(report: ReadReport, chance: random.Random) -> _Edit:
    """Leave out a critical finding."""
    return _left_out(report, chance, critical=True)


def _left_out(report: ReadReport, chance: random.Random, *, critical: bool) -> _Edit:
    findings = {
        finding: text
        for finding in _matter(report)
        if report.words.findings[finding].critical is critical and (text := _all_without(report, finding)) is not None
    }
    if not findings:
        return None
    finding = chance.choice(sorted(findings))
    kind = "the critical finding " if critical else ""
    name = report.words.findings[finding].name
    gone = shown([sentence.text for sentence in report.stated(finding)])
    return findings[finding], f"left out {kind}{name}: {gone}"


def _all_without(report: ReadReport, finding: int) -> str | None:
    """Return the text without a finding; None where something of it, or a piece of a sentence, would be left."""
    stated = report.stated(finding)
    emptied = {sentence.section for sentence in stated} - {s.section for s in report.sentences if s not in stated}
    if not _stands_alone(report, finding) or emptied or any(sentence.findings != {finding} for sentence in stated):
        return None
    text = _without(report, stated)
    return text if len(_SCRAP.findall(text)) <= len(_SCRAP.findall(report.text)) else None


def _matter(report: ReadReport) -> list[int]:
    """Return the findings of the word list that are not minor."""
    return [at for at, finding in enumerate(report.words.findings) if not finding.minor]


def _stands_alone(report: ReadReport, finding: int) -> bool:
    """Return whether a finding is stated, and no other sentence speaks of it, doubts it or hangs on those that do."""
    stated = report.stated(finding)
    rest = [sentence for sentence in report.sentences if sentence not in stated]
    hanging = any(
        before in stated and after not in stated and pattern(report.words.glued).match(after.text)
        for before, after in pairwise(report.sentences)
    )
    named = any(finding in sentence.findings or report.speaks_of(sentence, finding) for sentence in rest)
    return bool(stated) and not hanging and not named


def _without(report: ReadReport, sentences: Iterable[Sentence]) -> str:
    """Return the text without sentences and the white space after them."""
    kept, at = [], 0
    for sentence in sentences:
        after = re.compile(r"[^\S\n]*").match(report.text, sentence.end)
        kept.append(report.text[at : sentence.start])
        at = after.end() if after else sentence.end
    return "".join([*kept, report.text[at:]]).rstrip()


def invented(report: ReadReport, chance: random.Random) -> _Edit:
    """Add a finding of which the report says nothing, under no name, after what was found."""
    whole = plain(report.text)
    unsaid = [
        finding
        for at, finding in enumerate(report.words.findings)
        if not finding.minor
        and not pattern((*finding.words, *finding.traces)).search(whole)
        and not any(report.speaks_of(sentence, at) for sentence in report.sentences)
    ]
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
    for finding in _matter(report):
        if not _stands_alone(report, finding):
            continue
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
    if there is None or name is None or _CLAUSE.search(name.group()):
        return None
    between = sentence.text[there.end() : name.start()].split()
    words = [word.lower().strip(",") for word in between]
    if any(word not in report.words.degrees and word not in report.words.places for word in words):
        return None
    after = {word.strip(",.;") for word in sentence.text[name.end() :].lower().split()}
    if after & (report.words.degrees - _ARTICLES):  # "no effusion is unchanged" denies nothing
        return None
    places = [word for word, low in zip(between, words, strict=True) if low in report.words.places]
    said = " ".join([*there.group().split(), "no", *(place.lower() for place in places)])
    return sentence.start + start, sentence.start + name.end(), f"{said} {name.group()[:1].lower()}{name.group()[1:]}"


def side_swapped(report: ReadReport, chance: random.Random) -> _Edit:
    """Put a finding on the other side wherever the report speaks of it, under whatever name.

    Other sentences may name a side only if they name other findings, and nothing that could be this one.
    """
    found = {}
    for finding in _matter(report):
        stated = report.stated(finding)
        sided = [sentence for sentence in report.sentences if _SIDED.search(sentence.text)]
        about = [sentence for sentence in sided if sentence in stated or report.speaks_of(sentence, finding)]
        changes = [
            (sentence.start + match.start(), sentence.start + match.end(), SIDES[match.group().lower()])
            for sentence in about
            for match in _SIDE.finditer(sentence.text)
        ]
        one_side = len({side for _, _, side in changes}) == 1
        moved = all(_can_move(report, sentence, finding) for sentence in about)
        stays = all(_can_stay(report, sentence, finding) for sentence in sided if sentence not in about)
        if one_side and moved and stays and any(sentence in stated for sentence in about):
            found[finding] = changes
    return _changed(report, chance, found, "put on the other side")


def _can_move(report: ReadReport, sentence: Sentence, finding: int) -> bool:
    """Return whether a sentence names no other kind of finding, and no place that only one side has."""
    others = {report.words.about[other] for other in sentence.findings} - {report.words.about[finding]}
    return not others and pattern(report.words.never_swapped).search(sentence.text) is None


def _can_stay(report: ReadReport, sentence: Sentence, finding: int) -> bool:
    """Return whether a sentence names other findings, and has no word for this one."""
    return bool(sentence.findings) and pattern(report.words.about[finding]).search(sentence.text) is None


def severity_raised(report: ReadReport, chance: random.Random) -> _Edit:
    """Make a mild or moderate finding severe wherever it is stated."""
    found = {}
    degree = pattern(tuple(report.words.severity))
    for finding in _matter(report):
        stated = report.stated(finding)
        graded = [sentence for sentence in stated if degree.search(sentence.text)]
        changes = [_raised(report, sentence, finding) for sentence in graded]
        elsewhere = any(
            finding in sentence.findings or (degree.search(sentence.text) and report.speaks_of(sentence, finding))
            for sentence in report.sentences
            if sentence not in stated
        )
        if changes and None not in changes and not elsewhere:
            found[finding] = [change for change in changes if change is not None]
    return _changed(report, chance, found, "made severe")


def _raised(report: ReadReport, sentence: Sentence, finding: int) -> Change | None:
    """Return the worse degree for the only one of a sentence; None where it is not the degree of the finding."""
    degrees = list(pattern(tuple(report.words.severity)).finditer(sentence.text))
    names = list(pattern(report.words.findings[finding].words).finditer(sentence.text))
    if len(degrees) != 1 or len(names) != 1 or names[0].start() < degrees[0].end():
        return None
    between = sentence.text[degrees[0].end() : names[0].start()].lower().split()
    if any(word not in report.words.places and word not in report.words.degrees for word in between):
        return None
    worse = report.words.severity[plain(degrees[0].group())]
    return sentence.start + degrees[0].start(), sentence.start + degrees[0].end(), worse


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
