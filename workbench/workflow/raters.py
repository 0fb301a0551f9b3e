"""How the raters of a frozen reference compare: with each other, with themselves, and with the model."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from workbench.domain.actors import Actor, Role
from workbench.domain.findings import MISSING, Policy, State
from workbench.domain.references import Reference
from workbench.evaluation.agreement_pairs import PairAgreement, intra_rater, pairwise
from workbench.evaluation.benchmark import Benchmark, single_rater_benchmark
from workbench.evaluation.consensus import collapse, per_finding
from workbench.evaluation.raters import Rates, present_rates
from workbench.storage import annotations as annotation_store
from workbench.storage import reports as report_store
from workbench.workflow.blindness import require_sighted
from workbench.workflow.cohorts import require_unlocked
from workbench.workflow.reference import Codes, Votes, cohort_of, record_view, require_closed, votes_of
from workbench.workflow.run import extractions
from workbench.workflow.score import Score, arrays
from workbench.workflow.study import Study

_FEWEST = 3  # raters, for one against a vote of the others


@dataclass(frozen=True, slots=True)
class RaterStatistics:
    """Each two raters (kappa by Cohen), each rater's rate of "present", each with themselves on reports that came
    twice, and each against the vote of the others with the model beside them; None with fewer than three raters.
    """

    pairs: PairAgreement
    rates: Rates
    again: PairAgreement
    benchmark: Benchmark | None


def rater_statistics(
    study: Study, actor: Actor, reference: Reference, *, score: Score | None = None, resamples: int = 1_000
) -> RaterStatistics:
    """Return how the raters of a reference compare, on the votes it was made of (method 7 to 9).

    Args:
        study: the study.
        actor: a lead, admin or adjudicator; the look is recorded as the reference's first one.
        reference: a frozen reference.
        score: of a run on this reference; puts the model beside the raters, on the very same cells.
        resamples: bootstrap draws of patients.

    Raises:
        InputError: a single rater made the reference.
        RightsError: the person may not see it, or the cohort is locked.
    """
    actor.require(Role.LEAD, Role.ADMIN, Role.ADJUDICATOR, to="compare the raters")
    cohort = cohort_of(study, reference)
    require_unlocked(study, cohort, "compare its raters")
    require_closed(study, cohort)
    require_sighted(study, actor, "compare the raters")
    record_view(study, actor, reference)
    votes = votes_of(study, actor, reference)
    with study.database.read() as conn:
        patient_of = report_store.patients(conn)
    patients = [patient_of[report] for report in votes.report_ids]
    ids, policies = study.label_set.ids, per_finding(reference.vote_policies, study.label_set.ids)
    collapsed = collapse(votes.codes, policies)
    first, second = _readings(study, votes, policies)
    return RaterStatistics(
        pairwise(ids, votes.raters, collapsed, patients=patients, resamples=resamples),
        present_rates(ids, votes.raters, collapsed, patients=patients, resamples=resamples),
        intra_rater(
            ids,
            {rater: (first[rater], second[rater]) for rater in votes.raters},
            patients=dict.fromkeys(votes.raters, patients),
            resamples=resamples,
        ),
        _benchmark(study, actor, votes, patient_of, reference=reference, score=score)
        if len(votes.raters) >= _FEWEST
        else None,
    )


def _readings(study: Study, votes: Votes, policies: tuple[Policy, ...]) -> tuple[dict[str, Codes], dict[str, Codes]]:
    """Return first and second readings as collapsed codes [report, finding] by rater, MISSING where not read twice."""
    first, second = {}, {}
    row_of = {report: i for i, report in enumerate(votes.report_ids)}
    for at, rater in enumerate(votes.raters):
        codes = np.full(votes.codes.shape[:2], MISSING, dtype=np.int8)
        with study.database.read() as conn:
            again = annotation_store.latest(conn, list(votes.report_ids), study.label_set.hash, rater=rater, reading=2)
        for annotation in again:
            codes[row_of[annotation.report_id]] = [
                annotation.states.get(finding, State.NOT_MENTIONED).code for finding in study.label_set.ids
            ]
        first[rater], second[rater] = collapse(votes.codes[:, :, at], policies), collapse(codes, policies)
    return first, second


def _benchmark(
    study: Study,
    actor: Actor,
    votes: Votes,
    patient_of: Mapping[str, str],
    *,
    reference: Reference,
    score: Score | None,
) -> Benchmark:
    """Return each rater, and the model if there is a score, against the vote of the others on the scored reports."""
    reports, predictions = votes.report_ids, None
    if score is not None:
        data = arrays(study, score.prepared, reference, extractions(study, actor, score.prepared))
        reports, predictions = data.report_ids, data.predictions
    row_of = {report: i for i, report in enumerate(votes.report_ids)}
    return single_rater_benchmark(
        study.label_set.ids,
        votes.raters,
        votes.codes[[row_of[report] for report in reports]],
        per_finding(reference.vote_policies, study.label_set.ids),
        [patient_of[report] for report in reports],
        predictions=predictions,
        prediction_policies=per_finding(score.prediction_policies, study.label_set.ids) if score else (),
    )
