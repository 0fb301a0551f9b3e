"""How well predictions match a reference: per finding and over findings (method 10 to 14, 19)."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from workbench.domain.findings import FAILED, Policy
from workbench.errors import InputError
from workbench.evaluation.confusion import Cells, Confusion, check_truth, count, predicted, sort_cells
from workbench.evaluation.consensus import Codes, Flags
from workbench.evaluation.evaluations import Evaluation, FindingScores
from workbench.evaluation.intervals import (
    NO_BOOTSTRAP,
    RESAMPLES,
    SEED,
    Indices,
    Numbers,
    patient_index,
    percentile_interval,
    proportion,
    resampled_sums,
    sum_by_patient,
    with_interval,
)
from workbench.evaluation.numbers import Figure, mean_of_defined, ratio, undefined

FEW = 10  # positives under which a finding reads "too few to assess" (method 11)
NO_POSITIVE = "no positive in the reference"
ALL_EXCLUDED = "every positive was left out by the prediction policy"


@dataclass(frozen=True, slots=True)
class Counted:
    """What F1 is made of, [row, finding] float64: a row is the cohort, a patient or a resample.

    ``tp`` and ``wrong`` = fp + fn may be weighted; ``positives`` = tp + fn never is and only says whether F1 exists.
    """

    tp: Numbers
    wrong: Numbers
    positives: Numbers

    @property
    def denominators(self) -> Numbers:
        """Return 2 tp + fp + fn."""
        return 2 * self.tp + self.wrong


def f1(counted: Counted) -> Numbers:
    """Return F1 = 2 tp / (2 tp + fp + fn) per row and finding; NaN where the row has no reference positive.

    Without a positive F1 is 0 or 0/0 whatever was predicted, so it measures nothing and is left out.
    """
    out = np.full(counted.tp.shape, np.nan)
    np.divide(2 * counted.tp, counted.denominators, out=out, where=counted.positives > 0)
    return out


def macro(scores: Numbers) -> Numbers:
    """Return the mean over the defined findings of each row; NaN where none is."""
    defined = ~np.isnan(scores)
    how_many = defined.sum(axis=1)
    out = np.full(scores.shape[0], np.nan)
    np.divide(np.where(defined, scores, 0.0).sum(axis=1), how_many, out=out, where=how_many > 0)
    return out


def micro(counted: Counted) -> Numbers:
    """Return F1 of the counts summed over all findings, also those without a positive; NaN without any positive."""
    tp, denominators = counted.tp.sum(axis=1), counted.denominators.sum(axis=1)
    out = np.full(tp.shape, np.nan)
    np.divide(2 * tp, denominators, out=out, where=counted.positives.sum(axis=1) > 0)
    return out


def counted_by_report(cells: Cells, kept: Flags | None = None, weights: Numbers | None = None) -> Counted:
    """Return what F1 is made of with a row per report; cells outside ``kept`` count for nothing."""
    kept = np.ones(cells.tp.shape, dtype=np.bool_) if kept is None else kept
    weight = np.ones((cells.tp.shape[0], 1)) if weights is None else weights.reshape(-1, 1)
    return Counted(
        tp=(cells.tp & kept) * weight,
        wrong=((cells.fp | cells.missed) & kept) * weight,
        positives=((cells.tp | cells.missed) & kept).astype(np.float64),
    )


def whole_and_resamples(
    by_report: Counted, index: Indices, n_patients: int, resamples: int, seed: int
) -> tuple[Counted, Counted]:
    """Return the counts of the cohort (one row) and of each bootstrap draw of patients (no row for one patient)."""
    per_patient = sum_by_patient(np.hstack([by_report.tp, by_report.wrong, by_report.positives]), index, n_patients)
    draws = resampled_sums(per_patient, resamples if n_patients > 1 else 0, seed)
    whole, drawn = (np.hsplit(sums, 3) for sums in (per_patient.sum(axis=0, keepdims=True), draws))
    return Counted(*whole), Counted(*drawn)


def _figures(values: Numbers, samples: Numbers, ns: Sequence[int], reasons: Sequence[str]) -> tuple[Figure, ...]:
    """Put values [column] and samples [resample, column] together; NaN values become undefined for their reason."""
    alone = "" if samples.shape[0] else NO_BOOTSTRAP
    low, high, _ = percentile_interval(samples) if samples.shape[0] else (np.full_like(values, np.nan),) * 3
    return tuple(
        undefined(reason, n)
        if np.isnan(value)
        else with_interval(Figure(float(value), n, reason=alone), float(low[i]), float(high[i]))
        for i, (value, n, reason) in enumerate(zip(values, ns, reasons, strict=True))
    )


def macro_and_micro(whole: Counted, drawn: Counted, n_cells: int, reason: str) -> tuple[Figure, Figure]:
    """Return macro-F1 (n = findings averaged) and micro-F1 (n = cells) with intervals; undefined for ``reason``."""
    scores = f1(whole)
    samples = np.column_stack([macro(f1(drawn)), micro(drawn)])
    values = np.array([macro(scores)[0], micro(whole)[0]])
    ns = (int(np.count_nonzero(~np.isnan(scores))), n_cells)
    both = _figures(values, samples, ns, (reason, reason))
    return both[0], both[1]


def evaluate(
    finding_ids: Sequence[str],
    truth: npt.ArrayLike,
    predictions: npt.ArrayLike,
    policies: Sequence[Policy],
    patients: Sequence[str],
    *,
    few: int = FEW,
    resamples: int = RESAMPLES,
    seed: int = SEED,
    weights: npt.ArrayLike | None = None,
) -> Evaluation:
    """Score predictions against a reference.

    Args:
        finding_ids: the columns' findings.
        truth: [report, finding] of 1, 0, or MISSING where the vote fell short (left out of scores and counted).
        predictions: [report, finding] of four-state codes, or FAILED where the reply could not be used.
        policies: per finding what an uncertain prediction counts as.
        patients: the patient id of each report; the bootstrap draws patients.
        few: under so many positives a finding is "too few to assess"; its figures are there all the same.
        resamples: bootstrap draws; 0 leaves the bootstrap intervals out.
        seed: the same seed gives the same intervals.
        weights: per report one over the chance with which it was drawn into an enriched cohort (method 19); then
            reweighted F1 stand beside the others.

    Returns:
        An ``Evaluation``; see its fields for what each figure means and when it is undefined.

    Raises:
        InputError: there is no report, or a report has no prediction.
        ValueError: shapes, codes or weights do not fit.
    """
    true, index, n_patients = _checked(finding_ids, truth, patients)
    given = predicted(predictions, policies)
    cells = sort_cells(true, given)
    counts = count(cells)
    answered = given != FAILED

    def summed(by_report: Counted) -> tuple[Counted, Counted]:
        return whole_and_resamples(by_report, index, n_patients, resamples, seed)

    whole, drawn = summed(counted_by_report(cells))
    all_answered = bool(answered.all())
    partial = (whole, drawn) if all_answered else summed(counted_by_report(cells, kept=answered))
    weighted = None if weights is None else summed(counted_by_report(cells, weights=_weights(weights, len(true))))

    n_cells, reason = int(counts.n.sum()), ALL_EXCLUDED if counts.support.any() else NO_POSITIVE
    reweighted = weighted and macro_and_micro(*weighted, n_cells, reason)
    macro_f1, micro_f1 = macro_and_micro(whole, drawn, n_cells, reason)
    unanswered = "no reply on a reference positive could be used" if counts.failed_positive.any() else reason
    answered_f1 = macro_and_micro(*partial, int((cells.scored & answered).sum()), unanswered)
    findings = _per_finding(finding_ids, counts, few=few, whole=whole, drawn=drawn, weighted=weighted)
    in_resample = ~np.isnan(f1(drawn)[:, counts.positives > 0])
    return Evaluation(
        findings=findings,
        macro_f1=macro_f1,
        micro_f1=micro_f1,
        macro_f1_answered=answered_f1[0],
        micro_f1_answered=answered_f1[1],
        macro_f1_reweighted=reweighted[0] if reweighted else None,
        micro_f1_reweighted=reweighted[1] if reweighted else None,
        macro_precision=mean_of_defined([f.precision for f in findings if f.support], NO_POSITIVE),
        macro_recall=mean_of_defined([f.recall for f in findings], NO_POSITIVE),
        macro_specificity=mean_of_defined([f.specificity for f in findings], "no negative in the reference"),
        macro_accuracy=mean_of_defined([f.accuracy for f in findings], "nothing was scored"),
        n_reports=len(true),
        n_failed=int((~answered).any(axis=1).sum()),
        n_patients=n_patients,
        policies=tuple(policies),
        few=few,
        resamples=len(drawn.tp),
        resamples_short=int(np.count_nonzero(~in_resample.all(axis=1))),
        seed=seed,
    )


def _checked(finding_ids: Sequence[str], truth: npt.ArrayLike, patients: Sequence[str]) -> tuple[Codes, Indices, int]:
    true = check_truth(truth)
    if true.shape != (len(patients), len(finding_ids)):
        raise ValueError(f"truth {true.shape} is not {len(patients)} reports x {len(finding_ids)} findings")
    if not len(patients):
        raise InputError("There is no report to score: the cohort, less the reports quoted in the prompt, is empty.")
    index, n_patients = patient_index(patients)
    return true, index, n_patients


def _weights(weights: npt.ArrayLike, n_reports: int) -> Numbers:
    array = np.asarray(weights, dtype=np.float64)
    if array.shape != (n_reports,) or not np.all(np.isfinite(array) & (array > 0)):
        raise ValueError(f"weights must be {n_reports} finite numbers above 0, one per report")
    return array


def _per_finding(
    finding_ids: Sequence[str],
    counts: Confusion,
    *,
    few: int,
    whole: Counted,
    drawn: Counted,
    weighted: tuple[Counted, Counted] | None,
) -> tuple[FindingScores, ...]:
    """Put the figures of each finding together."""
    n, support, positives, negatives = (
        x.tolist() for x in (counts.n, counts.support, counts.positives, counts.negatives)
    )
    reasons = [ALL_EXCLUDED if has else NO_POSITIVE for has in support]
    samples = f1(drawn)
    dropped = np.isnan(samples).sum(axis=0).tolist()
    f1s = _figures(f1(whole)[0], samples, n, reasons)
    f1s_reweighted = weighted and _figures(f1(weighted[0])[0], f1(weighted[1]), n, reasons)
    tp, fp, tn = counts.tp.tolist(), counts.fp.tolist(), counts.tn.tolist()
    reference_negatives = counts.negatives + counts.excluded - counts.excluded_positive
    return tuple(
        FindingScores(
            finding_id=finding_id,
            tp=tp[i],
            fp=fp[i],
            fn=int(counts.fn[i]),
            tn=tn[i],
            failed_positive=int(counts.failed_positive[i]),
            failed_negative=int(counts.failed_negative[i]),
            excluded=int(counts.excluded[i]),
            excluded_positive=int(counts.excluded_positive[i]),
            short=int(counts.short[i]),
            support=support[i],
            n=n[i],
            accuracy=proportion(tp[i] + tn[i], n[i], "nothing was scored"),
            precision=proportion(tp[i], tp[i] + fp[i], "nothing was predicted present"),
            recall=proportion(tp[i], positives[i], reasons[i]),
            specificity=proportion(tn[i], negatives[i], "no negative in the reference"),
            f1=f1s[i],
            f1_reweighted=f1s_reweighted[i] if f1s_reweighted else None,
            always_absent_accuracy=ratio(
                int(reference_negatives[i]),
                int(reference_negatives[i]) + support[i],
                int(reference_negatives[i]) + support[i],
                "no report was decided by the reference",
            ),
            too_few=positives[i] < few,
            dropped=dropped[i],
        )
        for i, finding_id in enumerate(finding_ids)
    )
