"""Errors about whether a finding is there: left out, or denied, in every place. Each returns text and what was done.

Sentences of other things are not touched. Where a sentence says more than the finding, only its part goes: "mild
cardiomegaly without edema" becomes "no edema", "low lung volumes with atelectasis" becomes "low lung volumes".
"""

import random
import re
from itertools import pairwise

from workbench.text.alteration_words import pattern, plain
from workbench.text.altered_report import DENIED_AFTER, ENUMERATOR, Change, ReadReport, Sentence, shown

_Edit = tuple[str, str] | None
_Kin = frozenset[int]
_THERE = re.compile(r"((?:again\s+)?there\s+(?:is|are|remains|remain)\s+)?", re.IGNORECASE)
_SCRAP = re.compile(r"(?:^|\s)(?:[.,;:]+|\(?\d{1,2}[.)])(?=\s*$|\s+[.,;:\d])", re.MULTILINE)
_ARTICLES = frozenset({"a", "an", "the", "some"})
_JOINT = re.compile(
    r",?\s+(with|and)\s+(?:associated\s+|adjacent\s+|resultant\s+|there\s+(?:is|are)\s+)?", re.IGNORECASE
)
_PLACED = frozenset(
    {"in", "at", "of", "the", "on", "within", "both", "and", "to", "side", "lobes", "bases", "lungs", "zone", "region"}
    | {"aspect", "field", "fields"}
)
_NOT_DENIED = re.compile(
    r"(?:any\s+|significant\s+|interval\s+|much\s+|iv\s+)*(?:change|contrast|lateral|correlate)", re.IGNORECASE
)  # "without change" and "CT without contrast" deny nothing
_NAMING = re.compile(
    r"\b(?:compatible|consistent|keeping|conjunction|correlate|associated|filled|seen|along)$", re.IGNORECASE
)
_MORE = re.compile(r"\b(?:with|but|as|measuring|than)\b", re.IGNORECASE)
_TAIL = re.compile(r"\s*[.!]?\s*$")
_CUT_OFF = re.compile(r"[\s,;(]*(?:\b(?:which|that|and)\b)?(?:\s+(?:is|are)\b)?[\s,;(]*$")
_DEGREE_TAIL = re.compile(
    r"\s*,?\s*(?:but\s+|and\s+|which\s+)?(?:is\s+|are\s+|remains?\s+|appears?\s+)?(?:again\s+|relatively\s+)?"
    r"(?:stable|unchanged|similar)(?:\s+(?:in\s+appearance|from\s+prior|in\s+size|since\s+\w+))?\s*(?=[.,;!]?\s*$)",
    re.IGNORECASE,
)
_SINGULAR = frozenset({"is", "appears", "remains"})


def removed(report: ReadReport, chance: random.Random) -> _Edit:
    """Leave out a finding that is not critical."""
    return _left_out(report, chance, critical=False)


def critical_missed(report: ReadReport, chance: random.Random) -> _Edit:
    """Leave out a critical finding that is not called old or unchanged."""
    return _left_out(report, chance, critical=True)


def matter(report: ReadReport) -> list[int]:
    """Return the findings of the word list that are not minor."""
    return [at for at, finding in enumerate(report.words.findings) if not finding.minor]


def _left_out(report: ReadReport, chance: random.Random, *, critical: bool) -> _Edit:
    found = {}
    for finding in matter(report):
        said = _said(report, finding)
        if (
            not said
            or _is_critical(report, said) is not critical
            or report.words.findings[finding].critical is not critical
        ):
            continue
        cuts = [_cut(report, sentence, report.words.kin[finding]) for sentence in said]
        if None in cuts:
            continue
        text = _without(report, [cut for cut in cuts if cut is not None] + _followers(report, said))
        if text is not None:
            found[finding] = text, shown([sentence.text for sentence in said])
    if not found:
        return None
    finding = chance.choice(sorted(found))
    text, gone = found[finding]
    kind = "the critical finding " if critical else ""
    return text, f"left out {kind}{report.words.findings[finding].name}: {gone}"


def _is_critical(report: ReadReport, said: list[Sentence]) -> bool | None:
    """Return whether sentences state a critical finding; None where one is called old or unchanged."""
    critical = [at for at, finding in enumerate(report.words.findings) if finding.critical]
    if not any(at in sentence.stated for at in critical for sentence in said):
        return False
    stale = pattern(report.words.stale)
    return None if any(stale.search(sentence.text) for sentence in said) else True


def _said(report: ReadReport, finding: int) -> list[Sentence]:
    """Return all sentences that name a finding or its kin without denying it; none where others may speak of it too."""
    if not report.stated(finding):
        return []
    kin, slight = report.words.kin[finding], pattern(report.words.slight)
    minor = {at for at in kin if report.words.findings[at].minor}
    spoken = [
        sentence
        for sentence in report.sentences
        if report.speaks_of(sentence, finding)
        and not (sentence.mentions and sentence.findings <= minor and slight.search(sentence.text))
    ]
    unsuited = any(not sentence.findings & (kin - minor) or slight.search(sentence.text) for sentence in spoken)
    return spoken if not unsuited and _followers_go(report, spoken) else []


def _followers_go(report: ReadReport, said: list[Sentence]) -> bool:
    """Return whether what hangs on the sentences says nothing of its own, so that it can go with them."""
    return all(
        pattern(report.words.followers).match(after.text) and _says_nothing(report, after)
        for after in _hanging(report, said)
    )


def _hanging(report: ReadReport, said: list[Sentence]) -> list[Sentence]:
    """Return the sentences that belong to those before them, which are given."""
    hanging: list[Sentence] = []
    for before, after in pairwise(report.sentences):
        belongs = before in said or before in hanging
        if belongs and after not in said and pattern(report.words.glued).match(after.text):
            hanging.append(after)
    return hanging


def _says_nothing(report: ReadReport, sentence: Sentence) -> bool:
    more = (*report.words.company, *report.words.slight)
    return not sentence.mentions and not pattern(more).search(sentence.text)


def _followers(report: ReadReport, said: list[Sentence]) -> list[Change]:
    return [(sentence.start, sentence.end, "") for sentence in _hanging(report, said)]


def _cut(report: ReadReport, sentence: Sentence, kin: _Kin) -> Change | None:
    """Return a sentence without its part about a finding; None where the part does not come apart from the rest."""
    said = sentence.of(kin)
    if not said:
        return None
    for way in (_cut_whole, _cut_head, _cut_tail):
        change = way(report, sentence, kin)
        if change is not None:
            return change
    return None


def _cut_whole(report: ReadReport, sentence: Sentence, kin: _Kin) -> Change | None:
    alone = sentence.findings <= kin and not pattern(report.words.company).search(sentence.around(sentence.mentions))
    denied = DENIED_AFTER.search(sentence.text)
    if not alone or (denied and not _NOT_DENIED.match(sentence.text, denied.end())):
        return None
    return sentence.start, sentence.end, ""


def _cut_head(report: ReadReport, sentence: Sentence, kin: _Kin) -> Change | None:
    """Return "no edema" for "mild cardiomegaly without edema"."""
    said = sentence.of(kin)
    denied = DENIED_AFTER.search(sentence.text, said[0].end)
    if denied is None or _NOT_DENIED.match(sentence.text, denied.end()):
        return None
    before = sentence.text[: denied.start()]
    others = [mention for mention in sentence.mentions if mention.end <= denied.start() and mention.finding not in kin]
    alone = pattern(report.words.company).search(sentence.around(sentence.mentions), 0, denied.start()) is None
    if others or not alone or pattern(report.words.hedges).search(sentence.text, denied.end()):
        return None
    start = sentence.start + _listed(sentence)
    return start, sentence.start + denied.end(), _cased(before[_listed(sentence) :], "no ")


def _cut_tail(report: ReadReport, sentence: Sentence, kin: _Kin) -> Change | None:
    """Return "low lung volumes" for "low lung volumes with atelectasis"."""
    said = sentence.of(kin)
    joint = _joint_before(report, sentence, said[0].start)
    if joint is None or any(mention.start >= joint[0] and mention.finding not in kin for mention in sentence.mentions):
        return None
    end = _TAIL.search(sentence.text)
    stop = end.start() if end else len(sentence.text)
    hedge = report.hedge(sentence.text[said[-1].end :])
    last = said[-1].end + hedge.start() if hedge else stop
    after = _CUT_OFF.sub("", sentence.text[said[-1].end : last])
    if any(word.strip(",").lower() not in _PLACED | report.words.places for word in after.split()):
        return None
    between = sentence.text[said[0].end : said[-1].start] if len(said) > 1 else ""
    return None if DENIED_AFTER.search(between) else (sentence.start + joint[0], sentence.start + stop, "")


def _joint_before(report: ReadReport, sentence: Sentence, at: int) -> tuple[int, int] | None:
    """Return the "with" or "and" from which on nothing is said but the finding that is named at ``at``."""
    for joint in reversed(list(_JOINT.finditer(sentence.text, 0, at))):
        between = sentence.text[joint.end() : at].lower().split()
        known = report.words.degrees | report.words.places
        head = sentence.text[: joint.start()]
        ends = [mention.end for mention in sentence.mentions]
        ends += [match.end() for match in pattern(report.words.company).finditer(head)]
        # "Midlung and basal edema" is one thing: "and" joins two only where what comes before it is a thing of its own.
        ends_named = joint.start() in ends if joint[1].lower() == "and" else min(ends) <= joint.start()
        if not all(word.strip(",") in known for word in between) or _NAMING.search(head):
            return None
        if len(head.split()) > 1 and ends_named:
            return joint.start(), joint.end()
    return None


def _listed(sentence: Sentence) -> int:
    listed = ENUMERATOR.match(sentence.text)
    return listed.end() if listed else 0


def _cased(before: str, said: str) -> str:
    return said[:1].upper() + said[1:] if before[:1].isupper() else said


def _without(report: ReadReport, changes: list[Change]) -> str | None:
    """Return the text after the changes, without sections that are empty then; None where too little is left."""
    gone = [(start, end) for start, end, said in changes if not said]
    whole = [s for s in report.sentences if (s.start, s.end) in gone]
    left = [sentence for sentence in report.sentences if sentence not in whole]
    if not left:
        return None
    kept, at = [], 0
    for start, end, said in sorted([*changes, *_dropped_headers(report, whole)]):
        if start < at:
            continue
        after = re.compile(r"[^\S\n]*").match(report.text, end)
        kept += [report.text[at:start], report.written(said) if said else ""]
        sentence_goes = not said and any(s.start <= start and s.end == end for s in whole)
        at = after.end() if after and sentence_goes else end
    text = "".join([*kept, report.text[at:]]).rstrip()
    return text if len(_SCRAP.findall(text)) <= len(_SCRAP.findall(report.text)) else None


def _dropped_headers(report: ReadReport, whole: list[Sentence]) -> list[Change]:
    """Return the sections of which nothing is left, with their headers."""
    emptied = {sentence.section for sentence in whole} - {s.section for s in report.sentences if s not in whole}
    spans = report.sections
    return [(spans[at - 1].end if at else 0, spans[at].end, "") for at in sorted(emptied)]


def negated(report: ReadReport, chance: random.Random) -> _Edit:
    """Deny a finding in every sentence that states it; a sentence that only guesses at it goes."""
    found = {}
    for finding in matter(report):
        said = _said(report, finding)
        changes = [_denied(report, sentence, finding) or _cut_guess(report, sentence, finding) for sentence in said]
        if said and None not in changes and not _hanging(report, said):
            made = [change for change in changes if change is not None]
            text = _without(report, made) if any(change[2] for change in made) else None
            if text is not None:
                found[finding] = text, made
    if not found:
        return None
    finding = chance.choice(sorted(found))
    text, made = found[finding]
    return text, told(report, finding, made, "denied")


def _cut_guess(report: ReadReport, sentence: Sentence, finding: int) -> Change | None:
    if sentence.stated or finding not in sentence.findings:
        return None
    return _cut_whole(report, sentence, report.words.kin[finding])


def _denied(report: ReadReport, sentence: Sentence, finding: int) -> Change | None:
    """Return a sentence that denies what one stated; None where that cannot be said simply."""
    kin = report.words.kin[finding]
    denied = DENIED_AFTER.search(sentence.text, sentence.of(kin)[-1].end) if sentence.of(kin) else None
    head = [mention for mention in sentence.mentions if denied is None or mention.start < denied.start()]
    named = [mention for mention in head if mention.finding == finding]
    tail = _denied_tail(report, sentence, named[0].end) if len(named) == 1 and finding in sentence.stated else None
    if tail is None:
        return None
    mention = named[0]
    joint = _joint_before(report, sentence, mention.start)
    begins = _begins(report, sentence, mention.start)
    name = sentence.text[mention.start : mention.end]
    verb = next(
        (said.match(name) for at, said in report.words.predicates_of if at == finding and said.match(name)), None
    )
    alone = all(other is mention or (other.start > mention.end and other.finding in kin) for other in head)
    if verb is not None and alone:
        start = mention.start + verb.start(2)
        said = f"{'is' if verb[2].lower() in _SINGULAR else 'are'} not {name.split()[-1]}{tail}"
    elif verb is None and alone and begins is not None:
        start, there = begins
        places = _places(report, sentence.text[start + len(there) : mention.start])
        said = " ".join([*there.split(), "no", *places, f"{name[:1].lower()}{name[1:]}"]) + tail
    elif verb is None and joint is not None and all(m is mention or m.end <= joint[0] for m in head):
        start = joint[0]
        said = " ".join([" without", *_places(report, sentence.text[joint[1] : mention.start]), name]) + tail
    else:
        return None
    return sentence.start + start, sentence.end, _cased(sentence.text[start:], said)


def _begins(report: ReadReport, sentence: Sentence, at: int) -> tuple[int, str] | None:
    """Return where a sentence begins and its "there is", where nothing but degrees and places comes before ``at``."""
    start = _listed(sentence)
    there = _THERE.match(sentence.text, start)
    said = there.group() if there else ""
    between = sentence.text[start + len(said) : at].lower().split()
    known = report.words.degrees | report.words.places
    return (start, said) if all(word.strip(",") in known for word in between) else None


def _places(report: ReadReport, said: str) -> list[str]:
    words = [word.strip(",").lower() for word in said.split()]
    return [word for word in words if word in report.words.places]


def _denied_tail(report: ReadReport, sentence: Sentence, at: int) -> str | None:
    """Return what follows a denied finding: no guess at what it is, nothing of how it was, and "or" for "without"."""
    rest = sentence.text[at:]
    end = _TAIL.search(rest)
    rest, stop = (rest[: end.start()], end.group()) if end else (rest, "")
    denied = DENIED_AFTER.search(rest)
    other = ""
    if denied is not None and not _NOT_DENIED.match(rest, denied.end()):
        if rest[: denied.start()].strip():
            return None
        other = f" or {rest[denied.end() :]}"
    rest = rest[: denied.start()] if denied else rest
    hedge = report.hedge(rest)
    rest = _CUT_OFF.sub("", rest[: hedge.start()]) if hedge else rest
    rest = _DEGREE_TAIL.sub("", rest)
    left = [word.strip(",.;") for word in plain(rest).split()]
    graded = set(left) & (report.words.degrees - _ARTICLES) or pattern(report.words.stale).search(rest)
    joined = "and" in left and not set(left) <= _PLACED | report.words.places
    if graded or joined or "," in rest or _MORE.search(rest):
        return None  # "no effusion is unchanged" denies nothing
    return f"{rest}{other}{stop}"


def told(report: ReadReport, finding: int, changes: list[Change], done: str) -> str:
    """Return what was done: each sentence that changed, before and after."""
    touched = [s for s in report.sentences if any(s.start <= start < s.end for start, _, _ in changes)]
    became = [_alone(report, sentence, changes) for sentence in touched]
    pairs = "; ".join(
        f"{shown([s.text])} became {shown([b])}" if b.strip() else f"{shown([s.text])} was left out"
        for s, b in zip(touched, became, strict=True)
    )
    return f"{done}, {report.words.findings[finding].name}: {pairs}"


def _alone(report: ReadReport, sentence: Sentence, changes: list[Change]) -> str:
    """Return one sentence after the changes."""
    within = [change for change in changes if sentence.start <= change[0] < sentence.end]
    grown = sum(len(said) - (end - start) for start, end, said in within)
    text = report.changed(within)
    slack = len(text) - len(report.text) - grown  # articles that grew or shrank
    return text[sentence.start : sentence.end + grown + slack]
