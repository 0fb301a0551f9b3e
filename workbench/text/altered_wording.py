"""Edits that are harmless: the report says the same in other words. Each returns the text and what was done."""

import random
import re
from collections.abc import Mapping, Sequence
from itertools import groupby

from workbench.text.alteration_words import pattern, plain
from workbench.text.altered_report import Change, ReadReport, Sentence

_Edit = tuple[str, str] | None
_END = re.compile(r"\s*[.!]*\s*$")
_ENUMERATOR = re.compile(r"\(?\d{1,2}[.)]|[-*•]\s")
_VERB = re.compile(
    r"\b(?:is|are|was|were|has|have|seen|identified|noted|present|visualized|demonstrated)\b", re.IGNORECASE
)
_DENIAL = re.compile(r"(?:there\s+(?:is|are)\s+)?(?:no|without|negative for)\b", re.IGNORECASE)
_THE = re.compile(r"the\s+", re.IGNORECASE)
_TRIES = 20


def synonym(report: ReadReport, _chance: random.Random) -> _Edit:
    """Exchange words for others that say the same."""
    return _exchanged(report, report.words.exchanged)


def abbreviation(report: ReadReport, _chance: random.Random) -> _Edit:
    """Write long forms for short."""
    return _exchanged(report, report.words.abbreviations)


def _exchanged(report: ReadReport, table: Mapping[str, str]) -> _Edit:
    changes = [
        (sentence.start + match.start(), sentence.start + match.end(), table[plain(match.group())])
        for sentence in report.sentences
        for match in pattern(tuple(table)).finditer(sentence.text)
    ]
    said = dict.fromkeys((plain(report.text[start:end]), new) for start, end, new in changes)
    done = "; ".join(f"\u201c{old}\u201d became \u201c{new}\u201d" for old, new in said)
    return (report.changed(changes), done) if changes else None


def sentence_order(report: ReadReport, chance: random.Random) -> _Edit:
    """Put the sentences of each section into another order; what belongs to the sentence before stays with it."""
    changes: list[Change] = []
    for _, group in groupby(report.sentences, key=lambda sentence: sentence.section):
        units = _units(report, list(group))
        if len(units) > 1 and not any(_ENUMERATOR.match(report.text, start) for start, _ in units):
            changes += _shuffled(report, units, chance)
    if not changes:
        return None
    at, pieces = 0, []
    for start, end, said in changes:
        pieces += [report.text[at:start], said]
        at = end
    return "".join([*pieces, report.text[at:]]), "the same sentences in another order"


def _units(report: ReadReport, sentences: Sequence[Sentence]) -> list[tuple[int, int]]:
    units: list[tuple[int, int]] = []
    for sentence in sentences:
        if units and pattern(report.words.glued).match(sentence.text):
            units[-1] = (units[-1][0], sentence.end)
        else:
            units.append((sentence.start, sentence.end))
    return units


def _shuffled(report: ReadReport, units: Sequence[tuple[int, int]], chance: random.Random) -> list[Change]:
    texts = [report.text[start:end] for start, end in units]
    if not texts[-1].rstrip().endswith((".", "!", "?")):
        texts[-1] += report.written(".")
    order = list(range(len(texts)))
    for _ in range(_TRIES):
        chance.shuffle(order)
        if [texts[i] for i in order] != texts:
            return [(start, end, texts[i]) for (start, end), i in zip(units, order, strict=True)]
    return []


def style(report: ReadReport, _chance: random.Random) -> _Edit:
    """Turn full sentences into telegram style; where there are none, denials in telegram style into full sentences."""
    changes = [change for sentence in report.sentences for change in _telegram(report, sentence)]
    if changes:
        return report.changed(changes), "full sentences became telegram style"
    changes = [
        (sentence.start, sentence.start + 2, "there is no")
        for sentence in report.sentences
        if sentence.text[:3].lower() == "no " and not _VERB.search(sentence.text)
    ]
    return (report.changed(changes), "telegram style became full sentences") if changes else None


def _telegram(report: ReadReport, sentence: Sentence) -> list[Change]:
    changes: list[Change] = []
    opening = pattern(tuple(report.words.openings)).match(sentence.text)
    if opening is not None:
        left = report.words.openings[plain(opening.group())]
        changes.append((sentence.start, *_opened(sentence, opening.end(), left)))
    end = _END.search(sentence.text)
    stop = end.start() if end else len(sentence.text)
    for match in pattern(tuple(report.words.endings)).finditer(sentence.text):
        if match.end() == stop and match.start() > (opening.end() if opening else 0):
            before = len(sentence.text[: match.start()].rstrip())
            changes.append(
                (sentence.start + before, sentence.start + match.end(), report.words.endings[plain(match.group())])
            )
    return changes


def _opened(sentence: Sentence, at: int, left: str) -> tuple[int, str]:
    """Return where the opening ends, and what takes its place; with nothing left the next word begins the sentence."""
    if left:
        return sentence.start + at, left
    following = re.compile(r"\s*(\S*)").match(sentence.text, at)
    return (sentence.start + following.end(), following[1]) if following else (sentence.start + at, "")


def normal_shortened(report: ReadReport, _chance: random.Random) -> _Edit:
    """Say in fewer words that all is well."""
    changes = [
        change
        for sentence in report.sentences
        if not sentence.stated and not pattern(report.words.blockers).search(sentence.text)
        for change in _shortened(report, sentence)
    ]
    return (report.changed(changes), "normal statements were shortened") if changes else None


def _shortened(report: ReadReport, sentence: Sentence) -> list[Change]:
    changes: list[Change] = []
    for match in pattern(tuple(report.words.predicates)).finditer(sentence.text):
        short = report.words.predicates[plain(match.group())]
        changes.append((sentence.start + match.start(), sentence.start + match.end(), short))
    article = _THE.match(sentence.text)
    if changes and article is not None:
        end, said = _opened(sentence, article.end(), "")
        if end <= changes[0][0]:
            changes.append((sentence.start, end, said))
    if _DENIAL.match(sentence.text):
        for match in pattern(report.words.fillers).finditer(sentence.text):
            following = re.compile(r"\s*").match(sentence.text, match.end())
            end = following.end() if following else match.end()
            changes.append((sentence.start + match.start(), sentence.start + end, ""))
    return changes
