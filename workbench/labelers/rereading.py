"""A scored cohort as the rules labeler reads it, kept by sentence: what an edit would change, without reading all.

An edit can only change sentences that hold its phrase. Everything else is kept, so that thousands of candidate edits
are measured in the time of a few whole runs. It is exact: what labelling the cohort anew would give.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from workbench.domain.findings import MISSING, LabelSet, Policy, State
from workbench.domain.prompts import Prompt
from workbench.evaluation.consensus import UNCERTAIN_AS
from workbench.labelers.sentence_reader import STRENGTH, FindingRole, Role, SentenceReader, Use
from workbench.prompting.edits import Edit, Part, edited
from workbench.text.normalise import stem, words
from workbench.text.phrases import GAP, Hit, PhraseFinder, spellings
from workbench.text.scope import CueRole, Kind, Side
from workbench.text.sentences import sentence_spans

_USES = {Part.SYNONYMS: Use.SYNONYM, Part.EXCLUSIONS: Use.EXCLUSION, Part.NORMAL: Use.NORMAL}
_KINDS = {"negation": Kind.NEGATION, "uncertainty": Kind.UNCERTAINTY, "history": Kind.HISTORY}
_SIDES = {"before": Side.BEFORE, "after": Side.AFTER, "terminators": Side.TERMINATOR}

Cell = tuple[int, int]  # report, finding
Strengths = Mapping[int, int]  # finding -> how strong a thing is said of it


@dataclass(frozen=True, slots=True)
class Effect:
    """The cells that an edit makes right and those it makes wrong; what the reference leaves open is in neither."""

    fixed: frozenset[Cell]
    broken: frozenset[Cell]


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence of the cohort, however often it occurs. ``stems`` are its words as phrases are compared."""

    words: tuple[str, ...]
    stems: tuple[str, ...]
    hits: tuple[Hit[Role], ...]
    strengths: Strengths
    reports: tuple[int, ...]


class Rereading:
    """A cohort read by one prompt.

    Args:
        prompt: the prompt to mend.
        label_set: gives the findings and their order.
        texts: what the labeler is given of each report.
        truth: [report, finding] of 1, 0 or MISSING.
        policies: what "uncertain" counts as in a prediction, per finding.
    """

    def __init__(
        self,
        prompt: Prompt,
        label_set: LabelSet,
        texts: Sequence[str],
        truth: npt.NDArray[np.int8],
        policies: Sequence[Policy],
    ) -> None:
        self.prompt = prompt
        self.ids = label_set.ids
        self._number = {finding: i for i, finding in enumerate(self.ids)}
        self.truth: list[list[int]] = truth.tolist()
        self._values = [_values(policy) for policy in policies]
        self._reader = SentenceReader(prompt.guidance, self.ids)
        places: dict[str, list[int]] = {}
        self.of_report: list[list[int]] = []
        numbers: dict[str, int] = {}
        for report, text in enumerate(texts):
            found = list(dict.fromkeys(text[start:end] for start, end in sentence_spans(text)))
            for part in found:
                numbers.setdefault(part, len(numbers))
                places.setdefault(part, []).append(report)
            self.of_report.append([numbers[part] for part in found])
        stems: dict[str, str] = {}
        self.sentences = [_sentence(self._reader, text, tuple(reports), stems) for text, reports in places.items()]
        self._holding: dict[str, list[int]] = {}
        for number, sentence in enumerate(self.sentences):
            for stemmed in set(sentence.stems):
                self._holding.setdefault(stemmed, []).append(number)
        self.strengths = [self._strongest(report, {}) for report in range(len(texts))]

    def value(self, finding: int, strength: int) -> int:
        """Return what a strength comes to under the finding's policy: 1, 0, or MISSING where it is left out."""
        return self._values[finding][strength]

    def predicted(self, report: int, finding: int) -> int:
        """Return the prediction for a cell as it stands: 1, 0 or MISSING."""
        return self.value(finding, self.strengths[report].get(finding, 0))

    def cells(self) -> Iterator[tuple[int, int, int, int]]:
        """Return report, finding, truth and prediction of every cell that is scored."""
        for report, row in enumerate(self.truth):
            for finding, true in enumerate(row):
                said = self.predicted(report, finding)
                if MISSING not in {true, said}:
                    yield report, finding, true, said

    def effect(self, edit: Edit) -> Effect:
        """Return which cells an edit alone would set right and which wrong."""
        changed = self._changed(edit)
        reports = {report for number in changed for report in self.sentences[number].reports}
        fixed: set[Cell] = set()
        broken: set[Cell] = set()
        for report in reports:
            for finding, strength in self._differing(report, changed):
                true, new = self.truth[report][finding], self.value(finding, strength)
                old = self.predicted(report, finding)
                if old != new and MISSING not in {true, old, new}:
                    (fixed if new == true else broken).add((report, finding))
        return Effect(frozenset(fixed), frozenset(broken))

    def _differing(self, report: int, changed: Mapping[int, Strengths]) -> Iterator[tuple[int, int]]:
        touched = {
            finding
            for number in self.of_report[report]
            if number in changed
            for finding in changed[number].keys() | self.sentences[number].strengths.keys()
        }
        new = self._strongest(report, changed)
        for finding in touched:
            if new.get(finding, 0) != self.strengths[report].get(finding, 0):
                yield finding, new.get(finding, 0)

    def _strongest(self, report: int, changed: Mapping[int, Strengths]) -> dict[int, int]:
        strongest: dict[int, int] = {}
        for number in self.of_report[report]:
            for finding, strength in changed.get(number, self.sentences[number].strengths).items():
                if strength > strongest.get(finding, 0):
                    strongest[finding] = strength
        return strongest

    def _changed(self, edit: Edit) -> dict[int, Strengths]:
        """Return the sentences that say something else once an edit is made, with what they say then."""
        role = self._role(edit)
        finder = PhraseFinder([(edit.phrase, role)])
        reader = None if edit.add else SentenceReader(edited(self.prompt, [edit]).guidance, self.ids)
        changed = {}
        for number in self.holding(edit.phrase):
            sentence = self.sentences[number]
            if isinstance(role, CueRole) and not any(isinstance(h.phrase.payload, FindingRole) for h in sentence.hits):
                continue
            found = finder.find(sentence.words)
            if not found:
                continue
            hits = _merged(sentence.hits, found) if reader is None else reader.hits(sentence.words)
            new = _strengths(sentence.words, hits)
            if new != sentence.strengths:
                changed[number] = new
        return changed

    def _role(self, edit: Edit) -> Role:
        if edit.part.of_finding:
            return FindingRole(self._number[edit.finding_id], _USES[edit.part])
        kind, _, side = edit.part.value.partition(".")
        return CueRole(_KINDS[kind], _SIDES[side]) if side else CueRole(Kind.PSEUDO, Side.BEFORE)

    def holding(self, phrase: str) -> list[int]:
        """Return the sentences that can hold a phrase, by number; no other can."""
        found: set[int] = set()
        for spelling in spellings(phrase):
            whole = [word for word in spelling if word != GAP and not word.endswith("*")]
            listed = [self._holding.get(word, []) for word in whole] or [list(range(len(self.sentences)))]
            rarest = min(listed, key=len)
            found.update(rarest)
        return sorted(found)


def _values(policy: Policy) -> tuple[int, ...]:
    by_state = {State.NOT_MENTIONED: 0, State.ABSENT: 0, State.PRESENT: 1, State.UNCERTAIN: UNCERTAIN_AS[policy]}
    return tuple(by_state[state] for state in sorted(STRENGTH, key=STRENGTH.__getitem__))


def _sentence(reader: SentenceReader, text: str, reports: tuple[int, ...], stems: dict[str, str]) -> Sentence:
    listed = words(text)
    for word in listed:
        if word not in stems:
            stems[word] = stem(word)
    hits = reader.hits(listed)
    return Sentence(
        tuple(listed), tuple(map(stems.__getitem__, listed)), tuple(hits), _strengths(listed, hits), reports
    )


def _strengths(listed: Sequence[str], hits: Sequence[Hit[Role]]) -> Strengths:
    return {finding: STRENGTH[state] for finding, state in SentenceReader.states_by(listed, hits).items()}


def _merged(hits: Iterable[Hit[Role]], more: Iterable[Hit[Role]]) -> list[Hit[Role]]:
    return sorted((*hits, *more), key=lambda hit: (hit.start, hit.end))
