"""Small edits that would mend a prompt, learned from its errors alone and scored on reports they were not learned from.

A phrase is suggested where it mends at least twice as many labels as it breaks. It is scored out of fold: patients are
dealt into five folds, and what it does to a fold counts only where the other four alone would have suggested it. So a
phrase that helps in one report and nowhere else scores nothing.
"""

import hashlib
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from workbench.labelers.candidates import Candidates
from workbench.labelers.rereading import Cell, Effect, Rereading
from workbench.prompting.edits import Edit
from workbench.text.phrases import GAP

FOLDS = 5
_MENDS_PER_BREAK = 2
_CUE_MENDS_PER_BREAK = 20  # a cue acts on every finding, in reports to come as well
_LEAST = 2  # labels that an edit mends where it is learned
_LEAST_WITH_GAP = 4  # two words that stand somewhere in a sentence coincide easily
_LARGEST_SHARE = 0.7  # of what a cue mends, in one finding: a cue says something of all of them


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A candidate edit with the errors it answers.

    ``fixed`` and ``broken`` are the cells (report, finding) that the edit alone changes on the whole cohort;
    ``held_out_fixed`` and ``held_out_broken`` count those in folds whose other four would have suggested it, and
    ``gain`` is what these do to macro-F1, beyond what the suggestions listed before it already mend.
    """

    edit: Edit
    fixed: tuple[Cell, ...]
    broken: tuple[Cell, ...]
    held_out_fixed: int
    held_out_broken: int
    gain: float


def folds(patients: Sequence[str]) -> list[int]:
    """Return the fold of each report: 0 to 4, by its patient, the same in every run."""
    return [int.from_bytes(hashlib.sha256(patient.encode()).digest()[:8]) % FOLDS for patient in patients]


def suggest(
    reading: Rereading, patients: Sequence[str], *, only: Sequence[str] = (), most: int = 40
) -> list[Suggestion]:
    """Return suggestions, the one that gains most out of fold first; empty where nothing helps.

    Args:
        reading: the cohort as the prompt reads it now.
        patients: of each report; the reports of one are in one fold.
        only: findings to mend; without any all of them, and the cues that they share.
        most: how many to return.
    """
    fold_of = folds(patients)
    ledger = _Ledger(reading)
    measured = []
    for edit in Candidates(reading).edits(only):
        effect = reading.effect(edit)
        if not _learned(edit, effect):
            continue
        held = _held_out(edit, effect, fold_of)
        if _mends_more(edit, held.fixed, held.broken):
            measured.append((edit, effect, held))
    return list(_one_after_another(measured, ledger, most))


def measure_proposed(
    reading: Rereading, patients: Sequence[str], proposed: Mapping[Edit, Collection[int]]
) -> list[Suggestion]:
    """Return edits that somebody proposed, measured as ``suggest`` measures its own, the one that gains most first.

    What mends too little for what it breaks, on patients that it was not learned from, is left out.

    Args:
        reading: the cohort as the prompt reads it now.
        patients: of each report.
        proposed: of each edit the folds without whose errors it was proposed too: there it is measured.
    """
    fold_of = folds(patients)
    measured = []
    for edit, unseen in proposed.items():
        effect = reading.effect(edit)
        held = _within(effect, unseen, fold_of)
        if _mends_more(edit, held.fixed, held.broken):
            measured.append((edit, effect, held))
    return list(_one_after_another(measured, _Ledger(reading), len(measured)))


def _mends_more(edit: Edit, fixed: Collection[Cell], broken: Collection[Cell]) -> bool:
    return len(fixed) > 0 and len(fixed) >= len(broken) * (
        _MENDS_PER_BREAK if edit.finding_id else _CUE_MENDS_PER_BREAK
    )


def _learned(edit: Edit, effect: Effect) -> bool:
    """Return whether what an edit does to some reports is reason enough to suggest it."""
    least = _LEAST_WITH_GAP if GAP in edit.phrase else _LEAST
    if len(effect.fixed) < least or not _mends_more(edit, effect.fixed, effect.broken):
        return False
    if edit.finding_id:
        return True
    share = max(Counter(finding for _, finding in effect.fixed).values()) / len(effect.fixed)
    return share <= _LARGEST_SHARE


def _held_out(edit: Edit, effect: Effect, fold_of: Sequence[int]) -> Effect:
    """Return the part of an effect that lies in folds whose other four would have suggested the edit."""
    learned = {fold for fold in range(FOLDS) if _learned(edit, _without(effect, fold, fold_of))}
    return _within(effect, learned, fold_of)


def _within(effect: Effect, chosen: Collection[int], fold_of: Sequence[int]) -> Effect:
    return Effect(
        frozenset(cell for cell in effect.fixed if fold_of[cell[0]] in chosen),
        frozenset(cell for cell in effect.broken if fold_of[cell[0]] in chosen),
    )


def _without(effect: Effect, fold: int, fold_of: Sequence[int]) -> Effect:
    return Effect(
        frozenset(cell for cell in effect.fixed if fold_of[cell[0]] != fold),
        frozenset(cell for cell in effect.broken if fold_of[cell[0]] != fold),
    )


class _Ledger:
    """What each finding has right and wrong, and what a change of cells does to macro-F1."""

    def __init__(self, reading: Rereading) -> None:
        self._truth = reading.truth
        findings = len(reading.ids)
        self._tp, self._fp, self._fn = [0] * findings, [0] * findings, [0] * findings
        for _, finding, true, said in reading.cells():
            if true:
                (self._tp if said else self._fn)[finding] += 1
            elif said:
                self._fp[finding] += 1
        self._supported = sum(tp + fn > 0 for tp, fn in zip(self._tp, self._fn, strict=True)) or 1

    def gain(self, fixed: Iterable[Cell], broken: Iterable[Cell]) -> float:
        """Return what a change of cells does to macro-F1."""
        tp, fp = self._changes(fixed, broken)
        gained = 0.0
        for finding in tp.keys() | fp.keys():
            gained += self._f1(finding, tp[finding], fp[finding]) - self._f1(finding, 0, 0)
        return gained / self._supported

    def take(self, fixed: Iterable[Cell], broken: Iterable[Cell]) -> None:
        """Count a change of cells as made."""
        tp, fp = self._changes(fixed, broken)
        for finding in tp.keys() | fp.keys():
            self._tp[finding] += tp[finding]
            self._fn[finding] -= tp[finding]
            self._fp[finding] += fp[finding]

    def _changes(self, fixed: Iterable[Cell], broken: Iterable[Cell]) -> tuple[Counter[int], Counter[int]]:
        tp, fp = Counter[int](), Counter[int]()
        for cells, sign in ((fixed, 1), (broken, -1)):
            for report, finding in cells:
                if self._truth[report][finding]:
                    tp[finding] += sign
                else:
                    fp[finding] -= sign
        return tp, fp

    def _f1(self, finding: int, more_tp: int, more_fp: int) -> float:
        tp, positives = self._tp[finding] + more_tp, self._tp[finding] + self._fn[finding]
        return 2 * tp / (tp + self._fp[finding] + more_fp + positives) if positives else 0.0


def _one_after_another(
    measured: Sequence[tuple[Edit, Effect, Effect]], ledger: _Ledger, most: int
) -> Iterator[Suggestion]:
    """Return the edits greedily, each time the one that gains most beyond those before it.

    What is mended already is not counted again. Of equal gains the edit that mends more labels comes first, since
    findings without support count for no gain.
    """
    mended: set[Cell] = set()
    touched = [{finding for _, finding in held.fixed | held.broken} for _, _, held in measured]
    stale = set(range(len(measured)))
    worth: dict[int, tuple[float, int]] = {}
    for _ in range(most):
        for number in stale:
            edit, _, held = measured[number]
            left = held.fixed - mended
            gain = ledger.gain(left, held.broken)
            if gain > 0 and _mends_more(edit, left, held.broken):
                worth[number] = (gain, len(left))
            else:
                worth.pop(number, None)
        if not worth:
            return
        best = max(worth, key=lambda number: (*worth[number], -number))
        edit, effect, held = measured[best]
        gain, _ = worth[best]
        yield Suggestion(
            edit,
            tuple(sorted(effect.fixed)),
            tuple(sorted(effect.broken)),
            len(held.fixed),
            len(held.broken),
            gain,
        )
        ledger.take(held.fixed - mended, held.broken)
        mended |= effect.fixed
        stale = {number for number, findings in enumerate(touched) if findings & touched[best]}
