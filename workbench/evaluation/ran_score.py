"""Ran Score: generated reports against reference reports, both read by the same labeler (method 10 to 12, 20)."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from workbench.domain.findings import FAILED, Policy
from workbench.evaluation.confusion import Cells, predicted, sort_cells
from workbench.evaluation.consensus import Codes, collapse
from workbench.evaluation.evaluations import Evaluation
from workbench.evaluation.intervals import (
    SEED,
    Numbers,
    proportion,
    resample_patients,
    with_bootstrap,
)
from workbench.evaluation.numbers import Figure, undefined
from workbench.evaluation.scores import evaluate

RESAMPLES = 1000
NOTHING_SCORED = "no pair of reports was scored"


@dataclass(frozen=True, slots=True)
class RanScore:
    """How well one system's reports say what the reference reports say.

    ``evaluation`` holds every count and figure per finding; its ``macro_f1`` is the Ran Score, over the findings that
    some reference report of the data set has. ``exact_match`` is the share of pairs that agree on every finding, with
    a Wilson interval; ``report_f1`` the mean over pairs of ``per_report``, with a bootstrap over patients.
    ``per_report`` is [pair]: 2 tp / (2 tp + fp + fn) over one pair's findings; 1 where neither report has a finding;
    0 where the extraction of the generated report failed.
    """

    evaluation: Evaluation
    exact_match: Figure
    report_f1: Figure
    per_report: tuple[float, ...]

    @property
    def invented(self) -> tuple[tuple[str, int], ...]:
        """Return the findings that no reference report has and how often the system claims them (method 10)."""
        return tuple((f.finding_id, f.fp) for f in self.evaluation.unsupported if f.fp)


def truth_of(reference: npt.ArrayLike, policies: Sequence[Policy]) -> Codes:
    """Return what reference reports say as truth: 1, 0, or MISSING where the policy leaves "uncertain" out.

    Args:
        reference: [pair, finding] four-state codes.
        policies: per finding what uncertain counts as; the same for both sides.

    Raises:
        ValueError: a reference could not be read (FAILED): there is no truth then, leave the pair out.
    """
    truth = collapse(reference, policies)
    if (truth == FAILED).any():
        raise ValueError("a reference that failed has no truth: leave the pair out")
    return truth


def ran_score(
    finding_ids: Sequence[str],
    reference: npt.ArrayLike,
    generated: npt.ArrayLike,
    policies: Sequence[Policy],
    patients: Sequence[str],
    *,
    resamples: int = RESAMPLES,
    seed: int = SEED,
) -> RanScore:
    """Score generated reports against the reference reports of the same studies.

    Args:
        finding_ids: the columns' findings.
        reference: [pair, finding] four-state codes of the reference reports, which are the truth.
        generated: the same of the generated reports; not mentioned throughout for an empty one, FAILED where the
            extraction failed: wrong everywhere and a miss on each reference positive (method 12).
        policies: per finding what uncertain counts as, on both sides.
        patients: the patient of each pair; the bootstrap draws patients.
        resamples: bootstrap draws.
        seed: of the draws.

    Raises:
        InputError: there is no pair.
        ValueError: shapes or codes do not fit, or a reference failed.
    """
    truth = truth_of(reference, policies)
    evaluation = evaluate(finding_ids, truth, generated, policies, patients, resamples=resamples, seed=seed)
    given = predicted(generated, policies)
    cells = sort_cells(truth, given)
    per_report = report_f1(cells)
    agree = (cells.right | ~cells.scored).all(axis=1) & ~(given == FAILED).any(axis=1)
    n = len(per_report)
    sums = np.column_stack([per_report, np.ones(n)])
    draws = resample_patients(sums, patients, resamples, seed)
    mean = Figure(float(per_report.mean()), n) if n else undefined(NOTHING_SCORED)
    samples = draws[:, :1] / draws[:, 1:]
    return RanScore(
        evaluation,
        proportion(int(agree.sum()), n, NOTHING_SCORED),
        with_bootstrap([mean], samples)[0],
        tuple(per_report.tolist()),
    )


def report_f1(cells: Cells) -> Numbers:
    """Return F1 over the findings of each pair of reports, [pair], from 0 to 1.

    Two reports without any finding say the same, so they have 1. A failed extraction has 0, whatever the reference
    says: nobody knows what the report says, and that must not look like agreement.
    """
    tp = cells.tp.sum(axis=1).astype(np.float64)
    wrong = (cells.fp | cells.missed).sum(axis=1)
    out = np.ones(len(tp))
    np.divide(2 * tp, 2 * tp + wrong, out=out, where=(2 * tp + wrong) > 0)
    out[(cells.failed_negative | cells.failed_positive).any(axis=1)] = 0.0
    return out


def found_in(cells: Cells, row: int, finding_ids: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """Return the findings of one pair that are matched, missed and invented, in label-set order."""
    sides = {"matched": cells.tp, "missed": cells.missed, "invented": cells.fp}
    return {side: tuple(f for f, yes in zip(finding_ids, of[row], strict=True) if yes) for side, of in sides.items()}


def cells_of(reference: npt.ArrayLike, generated: npt.ArrayLike, policies: Sequence[Policy]) -> Cells:
    """Return what each cell [pair, finding] is, as ``ran_score`` counts it."""
    return sort_cells(truth_of(reference, policies), predicted(generated, policies))
