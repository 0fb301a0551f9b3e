"""How far a cue reaches: which of the things named in a sentence are negated, uncertain or past.

A cue *before* reaches forward to the end of its clause: a semicolon, a terminator of its kind, or the end of the
sentence. It passes commas, "and", "or" and "/", so that it holds for a whole list. A cue *after* reaches back, across
commas only where an "and" or "or" shows that they part a list. Neither passes a comma or an "and" that follows a verb
("the effusion has grown and pneumonia is unlikely"), nor does a cue before pass one that opens a clause with a verb of
its own ("no pneumothorax, the effusion has grown"). A cue listed on both sides ("possible") looks forward first.

Where cues overlap, the longest counts. A pseudo-negation denies nothing and silences the cue in it ("no change in"),
but denies what has its words in its own name ("vascularity is not increased", "no enlargement of the heart"). It ends
the reach of a negation before it, as a comma followed by a cue of another kind does ("no effusion, possible
pneumonia"). Of a negation and an uncertainty that hold for the same thing the negation counts ("no effusion, opacity
suspicious for pneumonia"), unless the uncertainty opens a part after a comma, or stands on the far side of the thing:
then the nearer does.
"""

from collections.abc import Iterable, Sequence
from enum import IntEnum
from typing import NamedTuple

from workbench.domain.findings import State
from workbench.domain.prompts import Cues, CueSet

_CLAUSE_ENDS = frozenset({";", "；"})
AND = frozenset({"and", "y", "和", "及"})
_PARTING = AND | {",", "，"}
_VERBS = frozenset({"is", "are", "was", "were", "has", "have", "had"})
# "No effusion, pneumothorax is seen" has lost its "or"; "no effusion, a pneumothorax is seen" opens a clause.
_ARTICLES = frozenset({"a", "an", "the", "this", "these", "there"})
_SEEN = frozenset(
    {"seen", "identified", "visualized", "visualised", "visible", "evident", "appreciated", "detected", "demonstrated"}
)
_OR = frozenset({"or", "nor", "o", "或"})
_JOINING = frozenset({"and", "or", "nor", "&", "y", "o", "和", "或", "及"})


class Kind(IntEnum):
    """What a cue says of the things in its reach."""

    NEGATION = 0
    UNCERTAINTY = 1
    HISTORY = 2
    PSEUDO = 3


class Side(IntEnum):
    """Where the things stand that a cue reaches."""

    BEFORE = 0  # the cue stands before them
    AFTER = 1
    TERMINATOR = 2  # no cue: ends the reach of cues of its kind


class CueRole(NamedTuple):
    """What a cue phrase does."""

    kind: Kind
    side: Side


class Cue(NamedTuple):
    """A cue found at words ``start`` to ``end`` (end not included)."""

    start: int
    end: int
    roles: tuple[CueRole, ...]


class Named(NamedTuple):
    """A thing named at words ``start`` to ``end``; if it has a gap, it lies from ``head_end`` to ``tail_start``."""

    start: int
    head_end: int
    tail_start: int
    end: int

    def inside_gap(self, cue: Cue) -> bool:
        """Return whether a cue ends in the gap, begun there or at the sign before it ("heart: no ...")."""
        return self.start < cue.start and self.head_end < cue.end <= self.tail_start

    def touches(self, cue: Cue) -> bool:
        """Return whether a cue is made of words of the thing itself, which then says nothing of it."""
        return cue.start < self.end and self.start < cue.end and not self.inside_gap(cue)


def cue_phrases(cues: Cues) -> list[tuple[str, CueRole]]:
    """Return the cue phrases of a prompt with what each does, ready for a ``PhraseFinder``."""
    found = [(phrase, CueRole(Kind.PSEUDO, Side.BEFORE)) for phrase in cues.pseudo_negation]
    for kind, cue_set in (
        (Kind.NEGATION, cues.negation),
        (Kind.UNCERTAINTY, cues.uncertainty),
        (Kind.HISTORY, cues.history),
    ):
        found += _of_kind(kind, cue_set)
    return found


def _of_kind(kind: Kind, cue_set: CueSet) -> list[tuple[str, CueRole]]:
    return [
        (phrase, CueRole(kind, side))
        for side, phrases in (
            (Side.BEFORE, cue_set.before),
            (Side.AFTER, cue_set.after),
            (Side.TERMINATOR, cue_set.terminators),
        )
        for phrase in phrases
    ]


def longest_cues(found: Iterable[tuple[int, int, CueRole]]) -> list[Cue]:
    """Return the cues that count, by place: of overlapping ones the longest, the last of equally long ones."""
    roles: dict[tuple[int, int], list[CueRole]] = {}
    for start, end, role in found:
        roles.setdefault((start, end), []).append(role)
    if len(roles) == 1:
        return [Cue(start, end, tuple(here)) for (start, end), here in roles.items()]
    kept: list[Cue] = []
    for start, end in sorted(roles, key=lambda span: (span[0] - span[1], -span[0])):
        if all(end <= cue.start or cue.end <= start for cue in kept):
            kept.append(Cue(start, end, tuple(roles[start, end])))
    kept.sort(key=lambda cue: cue.start)
    return kept


def two_clauses(sentence: Sequence[str]) -> bool:
    """Return whether a verb, an "and", another subject and its verb come in a row ("is stable and the aorta is")."""
    found = 0
    for at, word in enumerate(sentence):
        folded = word.lower()
        if found == 0 and folded in _VERBS:
            found = 1
        elif found == 1 and folded in AND:
            found = 2
        elif found == 2 and folded in _VERBS and sentence[at - 1].lower() not in AND:
            return True
    return False


class Scopes:
    """The reach of the cues of one sentence.

    Args:
        sentence: its words.
        cues: what ``longest_cues`` found in it.
        things: everything named in it.
    """

    def __init__(self, sentence: Sequence[str], cues: Sequence[Cue], things: Sequence[Named]) -> None:
        self._sentence = list(map(str.lower, sentence)) if cues else sentence
        self._things = things
        self._sides: dict[Kind, list[tuple[Side, Cue]]] = {}
        self._stops: dict[Kind, list[int]] = {}
        for cue in cues:
            for role in dict.fromkeys(cue.roles):  # two phrases of one role may have matched the same words
                self._sides.setdefault(role.kind, []).append((role.side, cue))
        for cue in cues:
            if len(cue.roles) > 1:
                self._look_forward_first(cue, things)

    def _look_forward_first(self, cue: Cue, things: Sequence[Named]) -> None:
        """Make a cue that may stand on either side reach back only when a sign or nothing in its reach follows it."""
        signed = not "".join(self._sentence[cue.end : cue.end + 1]).isalnum()
        for role in dict.fromkeys(cue.roles):
            if role.side is Side.AFTER and CueRole(role.kind, Side.BEFORE) in cue.roles:
                ahead = not signed and any(self._reaches_forward(role.kind, cue, named) for named in things)
                self._sides[role.kind].remove((Side.AFTER if ahead else Side.BEFORE, cue))

    def state_of(self, named: Named) -> State:
        """Return present, absent or uncertain; not mentioned for what is only named as past."""
        pseudo = self._sides.get(Kind.PSEUDO)
        if pseudo is not None and any(named.touches(cue) for _, cue in pseudo):
            return State.ABSENT  # "not increased" denies a thing called "increased", "no increase in" one so called
        negation = self._nearest(Kind.NEGATION, named)
        uncertainty = self._nearest(Kind.UNCERTAINTY, named)
        if negation is not None and uncertainty is not None:
            return State.UNCERTAIN if self._outweighs(uncertainty, negation, named) else State.ABSENT
        if negation is not None:
            return State.ABSENT
        if self._nearest(Kind.HISTORY, named) is not None:
            return State.NOT_MENTIONED
        return State.PRESENT if uncertainty is None else State.UNCERTAIN

    def negated_inside(self, named: Named) -> bool:
        """Return whether a negation stands in the gap of a thing ("heart size is not normal")."""
        return any(side is Side.BEFORE and named.inside_gap(cue) for side, cue in self._sides.get(Kind.NEGATION, ()))

    def _outweighs(self, uncertainty: Cue, negation: Cue, named: Named) -> bool:
        if _distance(uncertainty, named) >= _distance(negation, named):
            return False
        if (uncertainty.start >= named.end) != (negation.start >= named.end):
            return True
        first, last = sorted((uncertainty, negation))
        between = self._sentence[first.end : last.start]
        if "," not in between:
            return False
        comma = last.start - 1 - between[::-1].index(",")
        return last is negation or not any(comma < thing.start < last.start for thing in self._things)

    def _nearest(self, kind: Kind, named: Named) -> Cue | None:
        sides = self._sides.get(kind)
        if sides is None:
            return None
        best: Cue | None = None
        for side, cue in sides:
            if side is Side.TERMINATOR or named.touches(cue):
                continue
            reaches = self._reaches_forward if side is Side.BEFORE else self._reaches_back
            if reaches(kind, cue, named) and (best is None or _distance(cue, named) < _distance(best, named)):
                best = cue
        return best

    def _reaches_forward(self, kind: Kind, cue: Cue, named: Named) -> bool:
        if cue.end > named.tail_start:
            return False
        if not _PARTING.isdisjoint(self._sentence[cue.end : named.start]) and (
            self._new_clause(cue.end, named.start) or self._own_clause(cue, named)
        ):
            return False
        return not any(
            cue.end <= stop < named.tail_start and not named.start < stop < named.head_end
            for stop in self._stops_of(kind)
        )

    def _reaches_back(self, kind: Kind, cue: Cue, named: Named) -> bool:
        if cue.start < named.end or self._new_clause(named.end, cue.start):
            return False
        for stop in self._stops_of(kind):
            # ", small" and "and small" open a clause for what stands before; for what stands after they are its list
            if named.end <= stop < cue.start and self._sentence[stop] not in _PARTING:
                return False
        between = self._sentence[named.end : cue.start]
        if "," not in between:
            return True
        last = len(between) - 1 - between[::-1].index(",")
        return any(word in _JOINING for word in between[last:])

    def _new_clause(self, start: int, end: int) -> bool:
        """Return whether a comma or an "and" after a verb opens a new clause between two words."""
        verb = False
        for word in self._sentence[start:end]:
            if verb and word in _PARTING:
                return True
            verb = verb or word in _VERBS
        return False

    def _own_clause(self, cue: Cue, named: Named) -> bool:
        """Return whether a thing after a comma or an "and" has a verb of its own, which says more than "is seen"."""
        at = named.start - 1
        while at >= cue.end and self._sentence[at] not in _PARTING:
            if self._sentence[at] in _OR:
                return False
            if self._sentence[at] in _VERBS:  # "no effusion, and the aorta is tortuous"
                return not _PARTING.isdisjoint(self._sentence[cue.end : at])
            at -= 1
        if at < cue.end:
            return False
        for place in range(named.head_end, len(self._sentence)):
            word = self._sentence[place]
            if word in _PARTING or word in _OR or word in _CLAUSE_ENDS:
                return False
            if word in _VERBS:
                opened = self._sentence[at + 1] in _ARTICLES
                return opened or _SEEN.isdisjoint(self._sentence[place + 1 : place + 3])
        return False

    def _stops_of(self, kind: Kind) -> list[int]:
        stops = self._stops.get(kind)
        if stops is None:
            stops = [at for at, word in enumerate(self._sentence) if word in _CLAUSE_ENDS]
            ends = [cue.start for side, cue in self._sides[kind] if side is Side.TERMINATOR]
            stops += [at for at in ends if self._sentence[at] != "," or not self._list_after(at)]
            if kind is Kind.NEGATION:
                stops += [cue.start for _, cue in self._sides.get(Kind.PSEUDO, ())]
                stops += self._opened_after_comma()
            self._stops[kind] = stops
        return stops

    def _list_after(self, at: int) -> bool:
        """Return whether the comma at ``at`` parts a list that ends in ", or": "no mass, small effusion, or edema"."""
        rest = self._sentence[at + 1 :]
        return any(rest[place + 1] in _OR for place, word in enumerate(rest[:-1]) if word == ",")

    def _opened_after_comma(self) -> list[int]:
        """Return the commas after which another kind of cue begins: they end a negation."""
        return [
            cue.start - 1
            for kind in (Kind.UNCERTAINTY, Kind.HISTORY)
            for side, cue in self._sides.get(kind, ())
            if side is Side.BEFORE and cue.start > 0 and self._sentence[cue.start - 1] == ","
        ]


def _distance(cue: Cue, named: Named) -> int:
    return cue.start - named.end if cue.start >= named.end else named.tail_start - cue.end
