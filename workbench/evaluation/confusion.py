"""Counts per finding: what the reference says against what was predicted (method 10 and 12)."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from workbench.domain.findings import FAILED, MISSING, Policy
from workbench.errors import InputError
from workbench.evaluation.consensus import Codes, Counts, Flags, collapse


@dataclass(frozen=True, slots=True)
class Cells:
    """Which cells are what; boolean arrays [report, finding]. Each decided cell is exactly one of tp, fp, fn, tn,
    failed_positive, failed_negative and excluded; a cell that the reference left short is ``short`` and nothing else.

    ``fn`` here holds answered misses only; a failed reply on a reference positive is in ``failed_positive``.
    """

    tp: Flags
    fp: Flags
    fn: Flags
    tn: Flags
    failed_positive: Flags
    failed_negative: Flags
    excluded: Flags
    short: Flags
    excluded_positive: Flags  # part of excluded

    @property
    def missed(self) -> Flags:
        """Return the reference positives that were not found, by a wrong answer or by none (method 12)."""
        return self.fn | self.failed_positive

    @property
    def right(self) -> Flags:
        """Return the cells answered as the reference has them."""
        return self.tp | self.tn

    @property
    def scored(self) -> Flags:
        """Return the cells that enter accuracy: decided by the reference and not excluded by the policy."""
        return ~(self.short | self.excluded)


@dataclass(frozen=True, slots=True)
class Confusion:
    """Counts per finding, int64 arrays [finding].

    A failed reply is wrong (method 12). On a reference positive it is a miss and counted **in** ``fn``, so that
    recall = tp / (tp + fn) and F1 = 2 tp / (2 tp + fp + fn) hold as printed; ``failed_positive`` says how many of
    ``fn`` those are. On a reference negative it claims nothing, so it is neither ``fp`` nor ``tn``:
    ``failed_negative`` stands apart, counts as wrong for accuracy and specificity, and leaves precision alone.
    """

    tp: Counts
    fp: Counts
    fn: Counts
    tn: Counts
    failed_positive: Counts
    failed_negative: Counts
    excluded: Counts
    short: Counts
    excluded_positive: Counts

    @property
    def positives(self) -> Counts:
        """Return the reference positives that are scored: tp + fn."""
        return self.tp + self.fn

    @property
    def support(self) -> Counts:
        """Return the reference positives of the cohort, whatever was predicted."""
        return self.positives + self.excluded_positive

    @property
    def negatives(self) -> Counts:
        """Return the reference negatives that are scored: tn + fp + failed_negative."""
        return self.tn + self.fp + self.failed_negative

    @property
    def n(self) -> Counts:
        """Return the scored cells: positives + negatives."""
        return self.positives + self.negatives

    def table(self, finding: int) -> Counts:
        """Return one finding's counts [2, 3]: rows true (absent, present), columns predicted (absent, present, failed).

        The order is that of scikit-learn's ``confusion_matrix`` with the failed replies as a third column.
        """
        return np.array(
            [
                [self.tn[finding], self.fp[finding], self.failed_negative[finding]],
                [self.fn[finding] - self.failed_positive[finding], self.tp[finding], self.failed_positive[finding]],
            ],
            dtype=np.int64,
        )


def check_truth(truth: npt.ArrayLike) -> Codes:
    """Return the truth as int8 [report, finding]; ValueError unless it holds only 1, 0 and MISSING."""
    array = np.asarray(truth)
    if array.ndim != 2 or np.setdiff1d(array, (1, 0, MISSING)).size:
        raise ValueError("truth is [report, finding] and holds 1, 0 or MISSING")
    return array.astype(np.int8)


def predicted(predictions: npt.ArrayLike, policies: Sequence[Policy]) -> Codes:
    """Collapse predictions [report, finding] by the prediction policies; the result is as of ``collapse``.

    Raises:
        InputError: a prediction is MISSING. A report that was never labelled is not absent and not failed either:
            the run has to be finished first.
    """
    array = np.asarray(predictions)
    unlabelled = np.flatnonzero((array == MISSING).any(axis=tuple(range(1, array.ndim))))
    if unlabelled.size:
        raise InputError(
            f"{unlabelled.size} of {array.shape[0]} reports have no prediction yet (the first is number "
            f"{unlabelled[0] + 1}); finish the run before it is scored."
        )
    return collapse(array, policies)


def sort_cells(truth: npt.ArrayLike, collapsed: npt.ArrayLike) -> Cells:
    """Say of every cell what it is.

    Args:
        truth: [report, finding] of 1, 0, MISSING (short).
        collapsed: predictions [report, finding] of 1, 0, FAILED, or MISSING where the policy (or, for a rater, a
            missing vote) leaves the cell out.
    """
    true = check_truth(truth)
    given = np.asarray(collapsed)
    if given.shape != true.shape or np.setdiff1d(given, (1, 0, MISSING, FAILED)).size:
        raise ValueError(f"predictions of shape {given.shape} do not go with truth of shape {true.shape}")
    positive, negative = true == 1, true == 0
    yes, no, out, failed = given == 1, given == 0, given == MISSING, given == FAILED
    return Cells(
        tp=positive & yes,
        fp=negative & yes,
        fn=positive & no,
        tn=negative & no,
        failed_positive=positive & failed,
        failed_negative=negative & failed,
        excluded=(positive | negative) & out,
        short=true == MISSING,
        excluded_positive=positive & out,
    )


def count(cells: Cells) -> Confusion:
    """Count the cells per finding."""

    def total(flags: Flags) -> Counts:
        counts: Counts = np.count_nonzero(flags, axis=0).astype(np.int64)
        return counts

    return Confusion(
        tp=total(cells.tp),
        fp=total(cells.fp),
        fn=total(cells.missed),
        tn=total(cells.tn),
        failed_positive=total(cells.failed_positive),
        failed_negative=total(cells.failed_negative),
        excluded=total(cells.excluded),
        short=total(cells.short),
        excluded_positive=total(cells.excluded_positive),
    )


def confusion(truth: npt.ArrayLike, predictions: npt.ArrayLike, policies: Sequence[Policy]) -> Confusion:
    """Count truth against predictions per finding after applying the prediction policies.

    Args:
        truth: [report, finding] of 1, 0, MISSING (short).
        predictions: four-state codes or FAILED, [report, finding].
        policies: the prediction policy of each finding; under ``exclude`` an uncertain prediction is left out and
            counted as excluded.

    Raises:
        InputError: a report has no prediction.
        ValueError: shapes or codes do not fit.
    """
    return count(sort_cells(truth, predicted(predictions, policies)))
