"""The mistakes of a run, those that cost the most macro-F1 first."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
import numpy.typing as npt

from workbench.domain.findings import Policy
from workbench.evaluation.confusion import count, predicted, sort_cells


class MistakeKind(StrEnum):
    """How a cell went wrong."""

    MISSED = "missed"  # FN: in the reference and not predicted
    INVENTED = "invented"  # FP: predicted and not in the reference
    FAILED = "failed"  # the reply could not be used, whatever the reference has


@dataclass(frozen=True, slots=True)
class Mistake:
    """One wrong cell. ``cost`` is how much macro-F1 would rise if this cell alone were right; 0 where that does not
    change it (a finding without support, an invented positive where none was found, a failed reply on a negative).
    """

    report: int
    finding: int
    kind: MistakeKind
    positive: bool  # what the reference has
    cost: float


def mistakes(truth: npt.ArrayLike, predictions: npt.ArrayLike, policies: Sequence[Policy]) -> list[Mistake]:
    """Return every mistake, costliest first, equal ones by finding and report.

    With F1 = 2 tp / (2 tp + fp + fn) a miss set right would give 2 (tp + 1) / (2 tp + fp + fn + 1), an invention set
    right 2 tp / (2 tp + fp + fn - 1); the gain is shared among the findings that macro-F1 averages.

    Args:
        truth: [report, finding] of 1, 0, MISSING (short; never a mistake).
        predictions: four-state codes or FAILED, [report, finding].
        policies: the prediction policy of each finding; excluded cells are no mistakes.

    Raises:
        InputError: a report has no prediction.
        ValueError: shapes or codes do not fit.
    """
    cells = sort_cells(truth, predicted(predictions, policies))
    counts = count(cells)
    findings = int(np.count_nonzero(counts.positives))
    tp, denominator = 2.0 * counts.tp, 2.0 * counts.tp + counts.fp + counts.fn
    supported = counts.positives > 0
    share = 1 / max(findings, 1)
    now = np.divide(tp, denominator, out=np.zeros_like(tp), where=supported)
    found = np.divide(tp + 2, denominator + 1, out=np.zeros_like(tp), where=supported)
    # Less one invention: a supported finding keeps a denominator above 0, because its positives are in it.
    dropped = np.divide(tp, denominator - 1, out=np.zeros_like(tp), where=supported & (counts.fp > 0))
    miss_cost = np.where(counts.fn > 0, found - now, 0.0) * share
    fp_cost = np.where(counts.fp > 0, dropped - now, 0.0) * share
    kinds = [
        (cells.fn, MistakeKind.MISSED, True, miss_cost),
        (cells.failed_positive, MistakeKind.FAILED, True, miss_cost),
        (cells.fp, MistakeKind.INVENTED, False, fp_cost),
        (cells.failed_negative, MistakeKind.FAILED, False, np.zeros_like(tp)),
    ]
    found_wrong = [
        Mistake(int(report), int(finding), kind, positive, float(cost[finding]))
        for flags, kind, positive, cost in kinds
        for report, finding in np.argwhere(flags)
    ]
    return sorted(found_wrong, key=lambda m: (-m.cost, m.finding, m.report))
