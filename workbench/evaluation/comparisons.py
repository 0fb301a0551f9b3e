"""Two sets of predictions on one reference: what was fixed, what broke, and whether chance explains it (method 15)."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from workbench.domain.findings import Policy
from workbench.evaluation.confusion import Cells, predicted, sort_cells
from workbench.evaluation.consensus import Flags
from workbench.evaluation.intervals import (
    RESAMPLES,
    SEED,
    Indices,
    patient_index,
    percentile_interval,
    sum_by_patient,
    with_interval,
)
from workbench.evaluation.numbers import Figure, ratio, undefined
from workbench.evaluation.scores import Counted, counted_by_report, f1, macro, whole_and_resamples

MCNEMAR = "exact McNemar test"
PERMUTATION = "exact permutation test over patients"
NO_POSITIVE = "no reference positive was scored in both"
NO_NEGATIVE = "no reference negative was scored in both"


@dataclass(frozen=True, slots=True)
class Flips:
    """What a change did to one finding: report indices, ascending. A failed reply is wrong.

    Reports that the reference leaves short, or that the policy excludes in either run, are in none of them.
    """

    fixed: tuple[int, ...]
    broken: tuple[int, ...]
    still_right: tuple[int, ...]
    still_wrong: tuple[int, ...]

    @property
    def unchanged(self) -> tuple[int, ...]:
        """Return the reports that are as right or as wrong as before."""
        return tuple(sorted(self.still_right + self.still_wrong))


@dataclass(frozen=True, slots=True)
class FindingComparison:
    """The paired change on one finding: of F1, and apart for reference positives (recall) and negatives (specificity).

    Changes are after less before. That of F1 has a paired bootstrap interval over patients and is undefined without a
    scored positive in both. The others are over the cells scored in both, n being how many; ``*_p`` are two-sided exact
    p-values and ``*_p_holm`` the same adjusted over the findings where there is one. They inform; none opens a gate.
    """

    finding_id: str
    fixed: int
    broken: int
    f1_change: Figure
    recall_change: Figure
    recall_p: Figure
    recall_p_holm: Figure
    specificity_change: Figure
    specificity_p: Figure
    specificity_p_holm: Figure


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two runs on one reference. ``macro_f1_change`` is after less before with a paired bootstrap interval over
    patients, over the n findings that have a scored positive in both; ``test`` names the test behind the p-values.
    """

    findings: tuple[FindingComparison, ...]
    macro_f1_change: Figure
    test: str


def _pair(
    truth: npt.ArrayLike, before: npt.ArrayLike, after: npt.ArrayLike, policies: Sequence[Policy]
) -> tuple[Cells, Cells]:
    return sort_cells(truth, predicted(before, policies)), sort_cells(truth, predicted(after, policies))


def flips(
    truth: npt.ArrayLike, before: npt.ArrayLike, after: npt.ArrayLike, policies: Sequence[Policy]
) -> tuple[Flips, ...]:
    """Return per finding which reports the change fixed, broke and left as they were.

    Args:
        truth: [report, finding] of 1, 0, MISSING (short).
        before: four-state codes or FAILED, [report, finding].
        after: the same of the other run.
        policies: the prediction policy of each finding, for both runs.
    """
    old, new = _pair(truth, before, after, policies)
    both = old.scored & new.scored

    def reports(flags: Flags, finding: int) -> tuple[int, ...]:
        return tuple(np.flatnonzero((flags & both)[:, finding]).tolist())

    return tuple(
        Flips(
            fixed=reports(~old.right & new.right, finding),
            broken=reports(old.right & ~new.right, finding),
            still_right=reports(old.right & new.right, finding),
            still_wrong=reports(~old.right & ~new.right, finding),
        )
        for finding in range(both.shape[1])
    )


def newly_missed(
    truth: npt.ArrayLike, before: npt.ArrayLike, after: npt.ArrayLike, policies: Sequence[Policy]
) -> list[tuple[int, int]]:
    """Return (report, finding) of each reference positive that was found before and is now missed or failed."""
    old, new = _pair(truth, before, after, policies)
    return [(int(report), int(finding)) for report, finding in np.argwhere(old.tp & new.missed)]


def mcnemar_exact(fixed: int, broken: int) -> float:
    """Return the two-sided exact McNemar p-value of discordant pairs: 2 P(X <= min), X ~ Bin(fixed + broken, 1/2).

    At most 1; 1 without discordant pairs. Source: McNemar, Psychometrika 1947;12:153-157, in its exact form.
    """
    pairs = fixed + broken
    tail = sum(math.comb(pairs, i) for i in range(min(fixed, broken) + 1))
    return min(1.0, 2 * tail / (1 << pairs))


def sign_flip_exact(differences: Sequence[int]) -> float:
    """Return the two-sided exact p-value of the sum of paired differences under swapping the two runs per patient.

    Each patient's difference keeps its size and takes either sign with chance 1/2; the p-value is the chance of a sum
    at least as far from 0 as the observed one. The whole distribution is built by convolution, so nothing is drawn by
    chance. With differences of only -1, 0 and 1 it is the exact McNemar test.
    """
    sizes = [abs(d) for d in differences if d]
    reach = sum(sizes)
    chances = np.zeros(2 * reach + 1)  # of each sum from -reach to reach
    chances[reach] = 1.0
    for size in sizes:
        # No sum leaves the array, so the wrapped ends are zeros.
        chances = (np.roll(chances, size) + np.roll(chances, -size)) / 2
    far = np.abs(np.arange(-reach, reach + 1)) >= abs(sum(differences))
    return min(1.0, float(chances[far].sum()))


def holm(p_values: Sequence[float | None]) -> tuple[float | None, ...]:
    """Return Holm's step-down adjusted p-values; None stays None and is not counted.

    Source: S. Holm, Scand J Stat 1979;6:65-70. The i-th smallest of m is multiplied by m - i + 1, kept monotone, at
    most 1.
    """
    tested = sorted((p, i) for i, p in enumerate(p_values) if p is not None)
    adjusted: list[float | None] = [None] * len(p_values)
    highest = 0.0
    for rank, (p, i) in enumerate(tested):
        highest = max(highest, min(1.0, (len(tested) - rank) * p))
        adjusted[i] = highest
    return tuple(adjusted)


def f1_changes(
    before: Cells,
    after: Cells,
    index: Indices,
    n_patients: int,
    *,
    resamples: int = RESAMPLES,
    seed: int = SEED,
) -> tuple[Figure, tuple[Figure, ...]]:
    """Return macro-F1 after less before and F1 of each finding likewise, with percentile intervals over draws of
    patients shared by both.

    The findings are those with a scored positive in both; their number is the n of macro-F1, that of a finding's F1 its
    cells scored in both. In each draw those without a positive in either are left out of it.
    """
    old, new = counted_by_report(before), counted_by_report(after)
    both = Counted(
        *(np.hstack(pair) for pair in ((old.tp, new.tp), (old.wrong, new.wrong), (old.positives, new.positives)))
    )
    # Side by side, so that each draw is made once and is the same for both.
    halves = [np.hsplit(f1(counted), 2) for counted in whole_and_resamples(both, index, n_patients, resamples, seed)]
    whole, drawn = (later - earlier for earlier, later in halves)
    cells = (before.scored & after.scored).sum(axis=0).tolist()
    n = int(np.count_nonzero(~np.isnan(whole)))
    # The mean of differences is the difference of means over the same findings.
    values = np.column_stack([macro(whole), whole])[0].tolist()
    figures = [
        undefined(NO_POSITIVE, count) if math.isnan(value) else Figure(value, count)
        for value, count in zip(values, [n, *cells], strict=True)
    ]
    if drawn.shape[0]:
        low, high, _ = percentile_interval(np.column_stack([macro(drawn), drawn]))
        figures = [with_interval(figure, float(low[i]), float(high[i])) for i, figure in enumerate(figures)]
    return figures[0], tuple(figures[1:])


def compare(
    finding_ids: Sequence[str],
    truth: npt.ArrayLike,
    before: npt.ArrayLike,
    after: npt.ArrayLike,
    policies: Sequence[Policy],
    *,
    patients: Sequence[str],
    resamples: int = RESAMPLES,
    seed: int = SEED,
) -> Comparison:
    """Compare two sets of predictions of the same reports on one reference.

    Where each patient has one report the test is the exact McNemar test, otherwise the exact permutation test that
    swaps the two runs patient by patient.

    Args:
        finding_ids: the columns' findings.
        truth: [report, finding] of 1, 0, MISSING (short).
        before: four-state codes or FAILED, [report, finding].
        after: the same of the other run.
        policies: the prediction policy of each finding, for both runs.
        patients: the patient id of each report.
        resamples: bootstrap draws; 0 leaves the interval of the macro-F1 change out.
        seed: of the bootstrap.

    Raises:
        InputError: a report has no prediction.
        ValueError: shapes or codes do not fit.
    """
    old, new = _pair(truth, before, after, policies)
    index, n_patients = patient_index(patients)
    both = old.scored & new.scored
    positive = both & (old.tp | old.missed)
    recalls = _changes(old.right, new.right, positive, index=index, n_patients=n_patients, reason=NO_POSITIVE)
    specificities = _changes(
        old.right, new.right, both & ~positive, index=index, n_patients=n_patients, reason=NO_NEGATIVE
    )
    fixed = (~old.right & new.right & both).sum(axis=0).tolist()
    broken = (old.right & ~new.right & both).sum(axis=0).tolist()
    macro_f1_change, by_finding = f1_changes(old, new, index, n_patients, resamples=resamples, seed=seed)
    return Comparison(
        findings=tuple(
            FindingComparison(finding_id, fixed[i], broken[i], by_finding[i], *recalls[i], *specificities[i])
            for i, finding_id in enumerate(finding_ids)
        ),
        macro_f1_change=macro_f1_change,
        test=MCNEMAR if n_patients == len(patients) else PERMUTATION,
    )


def _changes(
    before: Flags, after: Flags, within: Flags, *, index: Indices, n_patients: int, reason: str
) -> list[tuple[Figure, Figure, Figure]]:
    """Return per finding the change of the share that is right ``within``, its p-value and the adjusted one."""
    differences = (after & within).astype(np.int64) - (before & within).astype(np.int64)
    by_patient = sum_by_patient(differences, index, n_patients).astype(np.int64)
    cells = within.sum(axis=0).tolist()
    if n_patients == len(index):
        gained, lost = (differences > 0).sum(axis=0).tolist(), (differences < 0).sum(axis=0).tolist()
        p_values = [mcnemar_exact(plus, minus) for plus, minus in zip(gained, lost, strict=True)]
    else:
        p_values = [sign_flip_exact(column) for column in by_patient.T.tolist()]
    tested = [p if n else None for p, n in zip(p_values, cells, strict=True)]

    def figure(p: float | None, n: int) -> Figure:
        return undefined(reason) if p is None else Figure(p, n)

    return [
        (ratio(total, n, n, reason), figure(p, n), figure(adjusted, n))
        for total, p, adjusted, n in zip(by_patient.sum(axis=0).tolist(), tested, holm(tested), cells, strict=True)
    ]
