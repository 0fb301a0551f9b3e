"""How the raters of a frozen reference compare: with each other, with themselves, and with the model."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from workbench.domain.actors import Actor, Role
from workbench.domain.findings import MISSING, State
from workbench.domain.references import Reference
from workbench.evaluation.agreement_pairs import PairAgreement, intra_rater, pairwise
from workbench.evaluation.benchmark import Benchmark, single_rater_benchmark, with_model
from workbench.evaluation.consensus import Codes, per_finding
from workbench.evaluation.raters import Rates, present_rates
from workbench.storage import annotations as annotation_store
from workbench.storage import reports as report_store
from workbench.workflow import benchmarks
from workbench.workflow.agreed import View, categories, seen_as
from workbench.workflow.blindness import require_sighted
from workbench.workflow.cohorts import require_unlocked
from workbench.workflow.first_look import whole
from workbench.workflow.reference import asked_for, cohort_of, require_closed, votes_of
from workbench.workflow.run import extractions
from workbench.workflow.score import Score, arrays
from workbench.workflow.study import Study
from workbench.workflow.votes import Votes


@dataclass(frozen=True, slots=True)
class RaterStatistics:
    """Each two raters (kappa by Cohen), each rater's rate of "present", each with themselves on reports that came
    twice, and each against the vote of the others with the model beside them; None with fewer than three raters.

    Pairs and second readings are compared in ``view``; rates and the vote of the others are always on two states.
    """

    view: View
    pairs: PairAgreement
    rates: Rates
    again: PairAgreement
    benchmark: Benchmark | None


def rater_statistics(
    study: Study,
    actor: Actor,
    reference: Reference,
    *,
    score: Score | None = None,
    view: View = View.TWO_STATES,
    resamples: int = 1_000,
) -> RaterStatistics:
    """Return how the raters of a reference compare, on the votes it was made of (method 7 to 9).

    Args:
        study: the study.
        actor: a lead, admin or adjudicator; the look is recorded as the reference's first one.
        reference: a frozen reference.
        score: of a run on this reference; puts the model beside the raters, on the very same cells.
        view: on what each two raters, and each with themselves, have to agree.
        resamples: bootstrap draws of patients for pairs, rates and second readings; 0 gives the figures alone, fast.

    Raises:
        InputError: a single rater made the reference.
        RightsError: the person may not see it, or the cohort is locked.
    """
    votes = _votes_to_compare(study, actor, reference)
    patients = _patients(study, votes.report_ids)
    ids, policies = study.label_set.ids, reference.vote_policies
    ratings = seen_as(view, votes.codes, ids, policies)
    first, second = _readings(study, reference, votes)
    asked = asked_for(study, cohort_of(study, reference))
    every = np.concatenate([votes.codes, *(codes[..., None] for codes in second.values())], axis=2)
    answers = categories(view, every, asked)
    readings = {
        rater: (seen_as(view, first[rater], ids, policies), seen_as(view, second[rater], ids, policies))
        for rater in votes.raters
    }
    return RaterStatistics(
        view,
        pairwise(ids, votes.raters, ratings, categories=answers, patients=patients, resamples=resamples),
        present_rates(
            ids,
            votes.raters,
            seen_as(View.TWO_STATES, votes.codes, ids, policies),
            patients=patients,
            resamples=resamples,
        ),
        intra_rater(
            ids,
            readings,
            categories=answers,
            patients=dict.fromkeys(votes.raters, patients),
            resamples=resamples,
        ),
        _with_model(study, actor, reference, votes, score=score),
    )


def benchmark_of(study: Study, actor: Actor, reference: Reference) -> Benchmark | None:
    """Return what each single rater reaches against the vote of the others, as kept with the reference (method 9).

    None with fewer than three raters. Nothing is scored anew, so that any page can draw it beside a model; the look
    is recorded as the reference's first one.

    Raises:
        RightsError: the person is no lead, admin or adjudicator, rates in an open round, or the cohort is locked.
    """
    return benchmarks.keep(study, reference, _votes_to_compare(study, actor, reference))


def _votes_to_compare(study: Study, actor: Actor, reference: Reference) -> Votes:
    actor.require(Role.LEAD, Role.ADMIN, Role.ADJUDICATOR, to="compare the raters")
    cohort = cohort_of(study, reference)
    require_unlocked(study, cohort, "compare its raters")
    require_closed(study, cohort)
    require_sighted(study, actor, "compare the raters")
    return votes_of(study, actor, reference)


def _patients(study: Study, report_ids: Sequence[str]) -> list[str]:
    with study.database.read() as conn:
        patient_of = report_store.patients(conn)
    return [patient_of[report] for report in report_ids]


def _readings(study: Study, reference: Reference, votes: Votes) -> tuple[Mapping[str, Codes], Mapping[str, Codes]]:
    """Return first and second readings as four-state codes [report, finding] by rater, MISSING where not read twice.

    Both as they stood when the reference was frozen.
    """
    first, second = {}, {}
    row_of = {report: i for i, report in enumerate(votes.report_ids)}
    for at, rater in enumerate(votes.raters):
        codes = np.full(votes.codes.shape[:2], MISSING, dtype=np.int8)
        with study.database.read() as conn:
            again = annotation_store.latest(
                conn,
                list(votes.report_ids),
                reference.label_set_hash,
                rater=rater,
                until=reference.last_annotation,
                reading=2,
            )
        for annotation in again:
            codes[row_of[annotation.report_id]] = [
                annotation.states.get(finding, State.NOT_MENTIONED).code for finding in study.label_set.ids
            ]
        first[rater], second[rater] = votes.codes[:, :, at], codes
    return first, second


def _with_model(
    study: Study, actor: Actor, reference: Reference, votes: Votes, *, score: Score | None
) -> Benchmark | None:
    """Return each rater, and the model if there is a score, against the vote of the others on the scored reports."""
    if score is None or len(votes.raters) < benchmarks.FEWEST:
        return benchmarks.keep(study, reference, votes)
    data = arrays(study, score.prepared, whole(study, reference), extractions(study, actor, score.prepared))
    policies = per_finding(reference.vote_policies, study.label_set.ids)
    patients = _patients(study, data.report_ids)
    row_of = {report: i for i, report in enumerate(votes.report_ids)}
    codes = votes.codes[[row_of[report] for report in data.report_ids]]
    kept = benchmarks.keep(study, reference, votes) if data.report_ids == votes.report_ids else None
    # A score that leaves out reports quoted in its prompt is about other cells than the ones that are kept.
    made = kept or single_rater_benchmark(study.label_set.ids, votes.raters, codes, policies, patients)
    return with_model(
        made,
        codes,
        policies,
        patients,
        predictions=data.predictions,
        prediction_policies=per_finding(score.prediction_policies, study.label_set.ids),
    )
