"""Errors about a finding that is there: on the other side, or worse. Each returns the text and what was done."""

import random
import re

from workbench.text.alteration_words import SIDES, pattern, plain
from workbench.text.altered_findings import matter, told
from workbench.text.altered_report import Change, Mention, ReadReport, Sentence, is_denied

_Edit = tuple[str, str] | None
_SIDED = re.compile(
    r"(?<![a-z])(?:left|right|lingula|[rl](?:[uml]l|t)?\b)", re.IGNORECASE
)  # "RUL", "rt", "leftward" too
_SIDE = re.compile(r"(?<![\w-])(left|right)(?!\w)", re.IGNORECASE)
_BOTH = re.compile(r"\b(?:bilateral|bilaterally|both|bibasilar|bibasal|biapical)\b", re.IGNORECASE)
_WELL = ("normal", "borderline", "within normal limits", "unremarkable")
_MEASURE = re.compile(r"\d\s*-?(?:mm|cm|millimet|centimet)", re.IGNORECASE)


def side_swapped(report: ReadReport, chance: random.Random) -> _Edit:
    """Put a finding on the other side wherever the report speaks of it, under whatever name.

    What is said of the same side in the same breath goes with it. Other sentences may name a side only if they are
    about something else.
    """
    found = {}
    for finding in matter(report):
        moved = _moved(report, finding)
        changes = [
            (sentence.start + match.start(), sentence.start + match.end(), SIDES[match.group().lower()])
            for sentence in moved
            for match in _SIDE.finditer(sentence.text)
        ]
        if changes:
            found[finding] = changes
    return _changed(report, chance, found, "put on the other side")


def _moved(report: ReadReport, finding: int) -> list[Sentence]:
    """Return the sentences whose sides change with a finding; none where they cannot, or another would not fit."""
    sided = [sentence for sentence in report.sentences if _SIDED.search(sentence.text)]
    if not any(finding in sentence.stated for sentence in sided):
        return []
    findings, about = {finding}, list[Sentence]()
    grown = True
    while grown:
        about = [s for s in sided if any(at in s.findings or report.speaks_of(s, at) for at in findings)]
        more = {mention.finding for sentence in about for mention in sentence.mentions} | findings
        grown, findings = more != findings, more
    minor = {at for at in findings if report.words.findings[at].minor}
    slight = pattern(report.words.slight)
    stated = [sentence for sentence in about if finding in sentence.stated and not sentence.findings & minor]
    if not stated or any(slight.search(sentence.text) for sentence in about):
        return []
    sides = {match.group().lower() for sentence in about for match in _SIDE.finditer(sentence.text)}
    spoken = [s for s in report.sentences if any(report.speaks_of(s, at) for at in findings)]
    fits = all(pattern(report.words.never_swapped).search(sentence.text) is None for sentence in about)
    both = any(_BOTH.search(sentence.text) for sentence in spoken)
    stays = all(_can_stay(report, sentence, findings) for sentence in sided if sentence not in about)
    return about if len(sides) == 1 and fits and stays and not both else []


def _can_stay(report: ReadReport, sentence: Sentence, findings: set[int]) -> bool:
    """Return whether a sentence is about something else: other findings, or what is no finding."""
    words = tuple(dict.fromkeys(word for finding in sorted(findings) for word in report.words.about[finding]))
    other = bool(sentence.mentions) or pattern(report.words.elsewhere).search(sentence.text) is not None
    return other and pattern(words).search(sentence.text) is None


def severity_raised(report: ReadReport, chance: random.Random) -> _Edit:
    """Make a mild or moderate finding severe wherever it is graded."""
    found = {}
    degree = pattern(tuple(report.words.severity))
    for finding in matter(report):
        named = [sentence for sentence in report.sentences if finding in sentence.findings]
        graded = [sentence for sentence in named if finding in sentence.stated and degree.search(sentence.text)]
        changes = [_raised(report, sentence, finding) for sentence in graded]
        if not changes or None in changes:
            continue
        rest = [sentence for sentence in report.sentences if sentence not in graded]
        measured = any(_MEASURE.search(sentence.text) for sentence in named)
        fits = not measured and not any(_grades(report, sentence, finding) for sentence in rest)
        if fits:
            found[finding] = [change for change in changes if change is not None]
    return _changed(report, chance, found, "made severe")


def _grades(report: ReadReport, sentence: Sentence, finding: int) -> bool:
    """Return whether another sentence denies a finding, grades it, or says that all is well: no worse one would fit."""
    denied = any(is_denied(sentence.text, mention.start) for mention in sentence.of(frozenset({finding})))
    worst = (*report.words.severity, *report.words.severity.values(), *_WELL)
    return denied or (pattern(worst).search(sentence.text) is not None and report.speaks_of(sentence, finding))


def _raised(report: ReadReport, sentence: Sentence, finding: int) -> Change | None:
    """Return the worse degree for the only one before a finding; None where it is not its degree, or was measured."""
    named = sentence.of(frozenset({finding}))
    if len(named) != 1:
        return None
    graded = list(pattern(tuple(report.words.severity)).finditer(sentence.text))
    degrees = [match for match in graded if not _is_of_another(report, sentence, match, named[0])]
    # "Severe opacity, which may represent mild edema" or "large effusions, small on the left" would be two degrees of
    # one thing.
    twice = any(_is_of_the_same(report, sentence, match, named[0]) for match in graded)
    if len(degrees) != 1 or twice:
        return None
    worse = report.words.severity[plain(degrees[0].group())]
    return sentence.start + degrees[0].start(), sentence.start + degrees[0].end(), worse


def _is_of_another(report: ReadReport, sentence: Sentence, degree: "re.Match[str]", named: Mention) -> bool:
    """Return whether a degree does not stand directly before the finding, or in its verb."""
    if named.start <= degree.start() < named.end:
        return False
    between = sentence.text[degree.end() : named.start].lower().split() if degree.end() <= named.start else ["?"]
    known = report.words.places | report.words.degrees | {"and"}
    return any(word.strip(",") not in known for word in between)


def _is_of_the_same(report: ReadReport, sentence: Sentence, degree: "re.Match[str]", named: Mention) -> bool:
    """Return whether a degree after the finding may be its own: it stands after a guess, or before no other finding."""
    if degree.start() < named.end:
        return False
    other = any(mention.start >= degree.end() for mention in sentence.mentions)
    return not other or report.hedge(sentence.text[named.end : degree.start()]) is not None


def _changed(report: ReadReport, chance: random.Random, found: dict[int, list[Change]], done: str) -> _Edit:
    """Carry out the changes of one of the findings."""
    if not found:
        return None
    finding = chance.choice(sorted(found))
    return report.changed(found[finding]), told(report, finding, found[finding], done)
