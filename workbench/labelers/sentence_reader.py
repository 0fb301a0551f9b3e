"""What one sentence says of each finding, by the phrases and cues of a prompt."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum

from workbench.domain.findings import State
from workbench.domain.prompts import Guidance
from workbench.text.normalise import words
from workbench.text.phrases import Hit, PhraseFinder
from workbench.text.scope import Cue, CueRole, Named, Scopes, Side, cue_phrases, longest_cues


class Use(IntEnum):
    """What a phrase of a finding is for."""

    SYNONYM = 0
    EXCLUSION = 1
    NORMAL = 2


@dataclass(frozen=True, slots=True)
class FindingRole:
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


_ORDER = (State.NOT_MENTIONED, State.ABSENT, State.UNCERTAIN, State.PRESENT)


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
        states: dict[int, State] = {}
        for finding, state, _ in self._findings(words(sentence))[0]:
            if state is not State.NOT_MENTIONED and _ORDER.index(state) > _ORDER.index(
                states.get(finding, State.NOT_MENTIONED)
            ):
                states[finding] = state
        return states

    def read(self, sentence: Sequence[str]) -> list[Found]:
        """Return the findings and cues found in the words of a sentence."""
        findings, cues = self._findings(sentence)
        found = [
            Found(hit.start, hit.end, "normal" if _use(hit) is Use.NORMAL else "finding", finding, state)
            for finding, state, hit in findings
        ]
        for cue in cues:
            kinds = [role.kind.name.lower() for role in cue.roles if role.side is not Side.TERMINATOR]
            found += [Found(cue.start, cue.end, kind) for kind in dict.fromkeys(kinds)]
        return found

    def _findings(self, sentence: Sequence[str]) -> tuple[list[tuple[int, State, Hit[Role]]], list[Cue]]:
        """Return what is said of each finding with where, and the cues that count."""
        hits = self._finder.find(sentence)
        named = [hit for hit in hits if isinstance(hit.phrase.payload, FindingRole)]
        if not named:
            return [], []
        scopes, cues = self._scopes(sentence, hits)
        kept = _without_excluded(named)
        return [(_finding(hit), _state(hit, scopes), hit) for hit in kept], cues

    def _scopes(self, sentence: Sequence[str], hits: list[Hit[Role]]) -> tuple[Scopes, list[Cue]]:
        cues = longest_cues(
            (hit.start, hit.end, hit.phrase.payload) for hit in hits if isinstance(hit.phrase.payload, CueRole)
        )
        return Scopes(sentence, cues), cues


def _use(hit: Hit[Role]) -> Use | None:
    return hit.phrase.payload.use if isinstance(hit.phrase.payload, FindingRole) else None


def _finding(hit: Hit[Role]) -> int:
    role = hit.phrase.payload
    return role.finding if isinstance(role, FindingRole) else -1


def _without_excluded(hits: list[Hit[Role]]) -> list[Hit[Role]]:
    """Return the synonyms and normal statements that no exclusion (or, inside it, normal statement) silences."""
    silencing: dict[int, list[Hit[Role]]] = {}
    for hit in hits:
        if _use(hit) is not Use.SYNONYM:
            silencing.setdefault(_finding(hit), []).append(hit)
    if not silencing:
        return hits
    return [
        hit
        for hit in hits
        if _use(hit) is not Use.EXCLUSION
        and not any(_silences(other, hit) for other in silencing.get(_finding(hit), ()))
    ]


def _silences(other: Hit[Role], hit: Hit[Role]) -> bool:
    if other is hit:
        return False
    if _use(other) is Use.EXCLUSION:
        return other.start < hit.end and hit.start < other.end
    return _use(hit) is Use.SYNONYM and other.start <= hit.start and hit.end <= other.end


def _state(hit: Hit[Role], scopes: Scopes) -> State:
    named = Named(hit.start, hit.head_end, hit.tail_start, hit.end)
    if _use(hit) is Use.NORMAL:
        return State.PRESENT if scopes.negated_inside(named) else State.ABSENT
    return scopes.state_of(named)
