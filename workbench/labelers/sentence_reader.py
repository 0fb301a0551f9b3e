"""What one sentence says of each finding, by the phrases and cues of a prompt."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import NamedTuple

from workbench.domain.findings import State
from workbench.domain.prompts import Guidance
from workbench.text.normalise import words
from workbench.text.phrases import Hit, PhraseFinder
from workbench.text.scope import AND, Cue, CueRole, Named, Scopes, Side, cue_phrases, longest_cues, two_clauses


class Use(IntEnum):
    """What a phrase of a finding is for."""

    SYNONYM = 0
    EXCLUSION = 1
    NORMAL = 2


class FindingRole(NamedTuple):
    """What a phrase says of the finding with this number in the label set."""

    finding: int
    use: Use


Role = FindingRole | CueRole


@dataclass(frozen=True, slots=True)
class Found:
    """Words ``start`` to ``end`` of a sentence that name a finding, say it is normal, or are a cue."""

    start: int
    end: int
    kind: str
    finding: int | None = None
    state: State | None = None


class _NamedFinding(NamedTuple):
    role: FindingRole
    at: Named


# What may follow a description without being what is described.
_GOING_ON = frozenset(
    {"in", "of", "at", "on", "for", "as", "by", "to", "with", "without", "but", "or", "and", "is", "are"}
)

# Of what is said of a finding in several places the strongest counts: denied here and described there, it is there.
STRENGTH = {State.NOT_MENTIONED: 0, State.ABSENT: 1, State.UNCERTAIN: 2, State.PRESENT: 3}


class SentenceReader:
    """Reads single sentences.

    Args:
        guidance: the phrases and cues.
        finding_ids: the findings by number; guidance for others is not used.
    """

    def __init__(self, guidance: Guidance, finding_ids: Sequence[str]) -> None:
        entries: list[tuple[str, Role]] = list(cue_phrases(guidance.cues))
        for number, finding_id in enumerate(finding_ids):
            finding = guidance.findings.get(finding_id)
            if finding is None:
                continue
            for use, phrases in (
                (Use.SYNONYM, finding.synonyms),
                (Use.EXCLUSION, finding.exclusions),
                (Use.NORMAL, finding.normal),
            ):
                entries += [(phrase, FindingRole(number, use)) for phrase in phrases]
        self._finder: PhraseFinder[Role] = PhraseFinder(entries)

    def states(self, sentence: str) -> dict[int, State]:
        """Return the strongest thing a sentence says of each finding in it: present, then uncertain, then absent.

        What is only named as past is left out.
        """
        listed = words(sentence)
        return self.states_by(listed, self.hits(listed))

    def hits(self, sentence: Sequence[str]) -> list[Hit[Role]]:
        """Return every phrase and cue found in the words of a sentence, by start, then end."""
        return self._finder.find(sentence)

    @staticmethod
    def states_by(sentence: Sequence[str], hits: Sequence[Hit[Role]]) -> dict[int, State]:
        """Return what ``states`` returns where a sentence holds these phrases, which need not be the prompt's own."""
        states: dict[int, State] = {}
        for named, state in _judged(sentence, hits)[0]:
            finding = named.role.finding
            if STRENGTH[state] > STRENGTH[states.get(finding, State.NOT_MENTIONED)]:
                states[finding] = state
        return states

    def read(self, sentence: Sequence[str]) -> list[Found]:
        """Return the findings and cues found in the words of a sentence."""
        findings, cues = _judged(sentence, self._finder.find(sentence))
        found = [
            Found(at.start, at.end, "normal" if role.use is Use.NORMAL else "finding", role.finding, state)
            for (role, at), state in findings
        ]
        for cue in cues:
            kinds = [role.kind.name.lower() for role in cue.roles if role.side is not Side.TERMINATOR]
            found += [Found(cue.start, cue.end, kind) for kind in dict.fromkeys(kinds)]
        return found


def _judged(sentence: Sequence[str], hits: Sequence[Hit[Role]]) -> tuple[list[tuple[_NamedFinding, State]], list[Cue]]:
    """Return the findings named in a sentence with what is said of them, and the cues that count."""
    named: list[_NamedFinding] = []
    cue_hits: list[Hit[Role]] = []
    for hit in hits:
        start, end, phrase = hit
        role = phrase.payload
        if isinstance(role, FindingRole):
            if not phrase.head:
                named.append(_NamedFinding(role, Named(start, end, start, end)))
            elif not _overstretched(at := Named(start, start + phrase.head, end - phrase.tail, end), sentence):
                named.append(_NamedFinding(role, at))
        else:
            cue_hits.append(hit)
    if not named:
        return [], []
    if ":" in sentence:
        named = _without_headings(named, sentence)
    cues = _cues(cue_hits, named) if cue_hits else []
    scopes = Scopes(sentence, cues, [one.at for one in named])
    return [(one, _state(one, scopes)) for one in _without_excluded(named, sentence)], cues


def _overstretched(at: Named, sentence: Sequence[str]) -> bool:
    """Return whether a gap takes words of two clauses ("heart is stable and the aorta is enlarged") or things together.

    Of two things ("stable heart and enlarged aorta") the gap is a mere "and", and the last word tells of another one.
    """
    if two_clauses(sentence[max(0, at.start - 1) : at.end + 1]):
        return True
    if at.tail_start - at.head_end != 1 or sentence[at.head_end].lower() not in AND:
        return False
    after = "".join(sentence[at.end : at.end + 1]).lower()
    return after.isalpha() and after not in _GOING_ON


def _cues(hits: list[Hit[Role]], named: list[_NamedFinding]) -> list[Cue]:
    """Return the cues that count; one with a finding in its gap is none ("no effusion or change in")."""
    found: list[tuple[int, int, CueRole]] = []
    for hit in hits:
        role = hit.phrase.payload
        if hit.phrase.head and any(hit.head_end < one.at.end and one.at.start < hit.tail_start for one in named):
            continue
        if isinstance(role, CueRole):
            found.append((hit.start, hit.end, role))
    return longest_cues(found)


def _without_headings(named: list[_NamedFinding], sentence: Sequence[str]) -> list[_NamedFinding]:
    """Return what is named, without headings taken up again after them ("Fracture: no acute fracture")."""
    return [
        one
        for one in named
        if "".join(sentence[one.at.end : one.at.end + 1]) != ":"
        or all(other.role != one.role or other.at.start < one.at.end for other in named)
    ]


def _without_excluded(named: list[_NamedFinding], sentence: Sequence[str]) -> list[_NamedFinding]:
    """Return the synonyms and normal statements that nothing silences.

    An exclusion silences what it overlaps. A normal statement silences the synonyms it overlaps ("lung markings are
    normal"), unless one of them stands in its gap ("heart enlarged and lungs normal") or only shares a word at its edge
    ("enlarged heart and normal lungs"): then the statement is none.
    """
    if all(one.role.use is Use.SYNONYM for one in named):
        return named
    exclusions = [one for one in named if one.role.use is Use.EXCLUSION]
    kept = [
        one
        for one in named
        if one.role.use is not Use.EXCLUSION and not any(_overlap(one, other) for other in exclusions)
    ]
    synonyms = [one for one in kept if one.role.use is Use.SYNONYM]
    normal = [
        one
        for one in kept
        if one.role.use is Use.NORMAL
        and not any(_in_gap(other, one) or _at_edge(other, one, sentence) for other in synonyms)
    ]
    return normal + [one for one in synonyms if not any(_overlap(one, other) for other in normal)]


def _overlap(one: _NamedFinding, other: _NamedFinding) -> bool:
    return one.role.finding == other.role.finding and one.at.start < other.at.end and other.at.start < one.at.end


def _in_gap(one: _NamedFinding, other: _NamedFinding) -> bool:
    """Return whether ``one`` has its own words, first or last, in the gap of ``other``."""
    if not _overlap(one, other):
        return False
    return any(
        other.at.head_end < end and start < other.at.tail_start
        for start, end in ((one.at.start, one.at.head_end), (one.at.tail_start, one.at.end))
    )


def _at_edge(one: _NamedFinding, other: _NamedFinding, sentence: Sequence[str]) -> bool:
    """Return whether ``one`` ends in the head of ``other`` or begins in its tail, and an "and" parts that one."""
    at, edge = one.at, other.at
    if one.role.finding != other.role.finding or AND.isdisjoint(
        map(str.lower, sentence[edge.head_end : edge.tail_start])
    ):
        return False
    return at.start < edge.start < at.end <= edge.head_end or edge.tail_start <= at.start < edge.end < at.end


def _state(named: _NamedFinding, scopes: Scopes) -> State:
    if named.role.use is Use.NORMAL:
        return State.PRESENT if scopes.negated_inside(named.at) else State.ABSENT
    return scopes.state_of(named.at)
