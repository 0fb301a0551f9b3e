"""Scoring a run against a reference: the one place where a figure comes from."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

import numpy as np
from numpy.typing import NDArray

from workbench.domain.actors import Actor, Role
from workbench.domain.cohorts import Purpose
from workbench.domain.findings import FAILED, Policies
from workbench.domain.hashing import canonical_json, content_hash
from workbench.domain.references import Reference
from workbench.domain.runs import Extraction
from workbench.errors import ConflictError, InputError
from workbench.evaluation.consensus import per_finding
from workbench.evaluation.evaluations import Evaluation
from workbench.evaluation.policies import PolicyTable, policy_table
from workbench.evaluation.scores import evaluate
from workbench.storage import cohorts as cohort_store
from workbench.storage import evaluations as store
from workbench.storage.cohorts import Unlock
from workbench.workflow.blindness import require_sighted
from workbench.workflow.first_look import whole
from workbench.workflow.reference import cohort_of, truth_codes, votes_of
from workbench.workflow.run import PreparedRun, load, progress, tried, unanswered
from workbench.workflow.study import Study

SCORING = "1"  # raised when a change in the scoring code changes a figure; part of an evaluation's identity


@dataclass(frozen=True, slots=True)
class Score:
    """An evaluation with all it rests on: run (prompt, labeler, sections), reference, policies, and the looks so far.

    ``looks`` counts the distinct evaluations and tries on this cohort up to now (method 17). ``exploratory`` marks a
    run on a validation cohort that is not of the revision and labeler named when it was first unlocked (method 18).
    """

    hash: str
    prepared: PreparedRun
    reference: Reference
    prediction_policies: Policies
    evaluation: Evaluation
    left_out: tuple[str, ...]  # reports quoted in the prompt's worked examples (method 14)
    looks: int
    at: datetime
    exploratory: bool = False


@dataclass(frozen=True, slots=True)
class ScoredArrays:
    """What a score is computed from, rows in report order."""

    report_ids: tuple[str, ...]
    truth: NDArray[np.int8]
    predictions: NDArray[np.int8]
    patients: tuple[str, ...]
    weights: NDArray[np.float64] | None
    left_out: tuple[str, ...]

    def only(self, report_ids: Sequence[str]) -> "ScoredArrays":
        """Return the rows of some of the reports, in the order they are named in."""
        row_of = {report: i for i, report in enumerate(self.report_ids)}
        rows = [row_of[report] for report in report_ids]
        return ScoredArrays(
            tuple(report_ids),
            self.truth[rows],
            self.predictions[rows],
            tuple(self.patients[i] for i in rows),
            None if self.weights is None else self.weights[rows],
            self.left_out,
        )


def arrays(study: Study, prepared: PreparedRun, reference: Reference, labels: Mapping[str, Extraction]) -> ScoredArrays:
    """Return truth and predictions of a run's reports, those that the prompt's worked examples quote left out."""
    quoted = {example.report_id for example in prepared.prompt.guidance.examples if example.report_id}
    reports = [report for report in prepared.reports if report.id not in quoted]
    ids = tuple(report.id for report in reports)
    findings = study.label_set.ids
    return ScoredArrays(
        ids,
        truth_codes(reference, ids, findings),
        prediction_codes([labels[report] for report in ids], findings),
        tuple(report.patient_id for report in reports),
        _weights(prepared, ids),
        tuple(sorted(quoted & {report.id for report in prepared.reports})),
    )


def _weights(prepared: PreparedRun, ids: Sequence[str]) -> NDArray[np.float64] | None:
    if not prepared.cohort.enriched:
        return None
    return np.array([1 / prepared.cohort.probabilities[report] for report in ids])


def prediction_codes(labels: Sequence[Extraction], finding_ids: Sequence[str]) -> NDArray[np.int8]:
    """Return four-state codes ``[report, finding]``; FAILED over the whole row of a reply that cannot be used."""
    codes = np.full((len(labels), len(finding_ids)), FAILED, dtype=np.int8)
    for i, extraction in enumerate(labels):
        states = [extraction.state(finding) for finding in finding_ids]
        if None not in states:
            codes[i] = [state.code for state in states if state is not None]
    return codes


def score_run(study: Study, actor: Actor, run_hash: str, reference: Reference) -> Score:
    """Score a finished run against a reference and record it; scoring the same again returns the recorded figures.

    Raises:
        InputError: the run is not finished, or the reference stands on another cohort.
        ConflictError: the label set has changed since the reference was frozen.
        RightsError: the person is no lead or admin, or rates in an open round.
    """
    actor.require(Role.LEAD, Role.ADMIN, to="score a run")
    require_sighted(study, actor, "score a run")
    prepared = load(study, run_hash)
    _check_fits(study, prepared, reference)
    policies = study.label_set.prediction_policies
    recorded = find_score(study, actor, prepared, reference)
    if recorded is not None:
        return recorded
    labels, failed = _finished(study, actor, prepared)
    identity = _identity(prepared, reference, policies, failed)
    data = arrays(study, prepared, whole(study, reference), labels)
    evaluation = evaluate(
        study.label_set.ids,
        data.truth,
        data.predictions,
        per_finding(policies, study.label_set.ids),
        data.patients,
        weights=data.weights,
    )
    with study.writing(actor) as conn:
        store.add(
            conn,
            identity,
            run_hash=prepared.run.hash,
            reference_hash=reference.hash,
            policies_json=canonical_json(policies.as_json()),
            result_json=canonical_json(evaluation.as_json()),
            actor=actor.name,
            at=datetime.now(UTC),
        )
    scored = _recorded(study, prepared, reference, identity)
    assert scored is not None  # noqa: S101 - it was just recorded
    return scored


def _identity(prepared: PreparedRun, reference: Reference, policies: Policies, failed: Sequence[str]) -> str:
    """Return what an evaluation is known by. ``failed`` are reports that brought no reply: asking again may heal them,
    and the figures are then others.
    """
    parts = {"run": prepared.run.hash, "reference": reference.hash, "policies": policies.as_json(), "scoring": SCORING}
    return content_hash("evaluation", {**parts, "unanswered": sorted(failed)} if failed else parts)


def find_score(study: Study, actor: Actor, prepared: PreparedRun, reference: Reference) -> Score | None:
    """Return the recorded score of a run against a reference under the study's policies, None where there is none.

    Once a report that had brought no reply is labelled, the score from before is not the run's any more.

    Raises:
        RightsError: the person rates in an open round.
    """
    require_sighted(study, actor, "see a score")
    failed = unanswered(study, prepared)
    return _recorded(
        study, prepared, reference, _identity(prepared, reference, study.label_set.prediction_policies, failed)
    )


def _recorded(study: Study, prepared: PreparedRun, reference: Reference, identity: str) -> Score | None:
    with study.database.read() as conn:
        record = store.get(conn, identity)
        looks = store.looks(conn, prepared.cohort.hash)
        unlocks = cohort_store.unlocks(conn, prepared.cohort.name)
    if record is None:
        return None
    quoted = {e.report_id for e in prepared.prompt.guidance.examples if e.report_id}
    return Score(
        identity,
        prepared,
        whole(study, reference),
        study.label_set.prediction_policies,
        Evaluation.from_json(json.loads(record.result)),
        tuple(sorted(quoted & set(prepared.cohort.members))),
        looks,
        record.at,
        exploratory=prepared.cohort.purpose is Purpose.VALIDATION and not _named_beforehand(prepared, unlocks),
    )


def _named_beforehand(prepared: PreparedRun, unlocks: Sequence[Unlock]) -> bool:
    """Return whether a run is of the revision and labeler that the first unlocking of its cohort named."""
    if not unlocks:
        return False
    named = {key: str(value).strip() for key, value in unlocks[0].details.items()}
    revision = named.get("revision", "")
    same = revision == str(prepared.number) or (len(revision) >= 4 and prepared.run.prompt_hash.startswith(revision))
    return same and named.get("labeler") == prepared.run.labeler.name


def _check_fits(study: Study, prepared: PreparedRun, reference: Reference) -> None:
    if reference.cohort_hash != prepared.cohort.hash:
        name = cohort_of(study, reference).name
        raise InputError(
            f"The reference {reference.name} stands on the cohort {name}, the run on {prepared.cohort.name}; "
            "score a run against a reference on its own cohort."
        )
    if reference.label_set_hash != study.label_set.hash or prepared.run.label_set_hash != study.label_set.hash:
        raise ConflictError(
            "The label set has changed since this run or reference was made, so their findings no longer mean the "
            "same; put the old label-set file back, or label and freeze anew."
        )


def _finished(study: Study, actor: Actor, prepared: PreparedRun) -> tuple[dict[str, Extraction], tuple[str, ...]]:
    """Return the labels of every report, and which of them only stand for calls that brought no reply."""
    labels, failed = tried(study, actor, prepared)
    if len(labels) < len(prepared.reports):
        done = progress(study, prepared)
        raise InputError(
            f"The run has labelled {len(labels)} of {len(prepared.reports)} reports"
            f"{', and goes on' if done.alive else ''}; finish it first: run the same prompt again."
        )
    return labels, failed


def policies_table(study: Study, actor: Actor, score: Score) -> PolicyTable:
    """Return macro-F1 under each vote policy by each prediction policy (method 5).

    Raises:
        RightsError: the person may not see the votes that it is counted from.
    """
    labels, _ = _finished(study, actor, score.prepared)
    data = arrays(study, score.prepared, score.reference, labels)
    votes = votes_of(study, actor, score.reference)
    row_of = {report: i for i, report in enumerate(votes.report_ids)}
    rows = [row_of[report] for report in data.report_ids]
    return policy_table(study.label_set.ids, votes.codes[rows], score.reference.rule, data.predictions, data.patients)
