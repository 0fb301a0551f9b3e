"""Accepting or rejecting a revision: the gate, its sign-offs, and the record of both."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import UTC, datetime

from workbench.domain.actors import Actor, Role
from workbench.domain.prompts import Decision, Revision, RevisionStatus
from workbench.domain.references import Outcome
from workbench.errors import ConflictError, InputError
from workbench.evaluation.gate import CheckStatus, GateCheck, gate_checks
from workbench.workflow.errors import MistakeKind, kind_of
from workbench.workflow.history import history
from workbench.workflow.prompts import decide, find_revision, revisions
from workbench.workflow.run import extractions
from workbench.workflow.score import Score
from workbench.workflow.study import Study


@dataclass(frozen=True, slots=True)
class Gate:
    """The gate's checks for one score, against the score of the revision accepted before (None for the first)."""

    score: Score
    parent: Score | None
    checks: tuple[GateCheck, ...]

    @property
    def to_sign(self) -> tuple[GateCheck, ...]:
        """Return the checks that a named person must sign."""
        return tuple(check for check in self.checks if check.status is CheckStatus.NEEDS_SIGN_OFF)

    @property
    def blocked(self) -> tuple[GateCheck, ...]:
        """Return the checks that only an override with a reason passes over."""
        return tuple(check for check in self.checks if check.status is CheckStatus.BLOCKED)


def open_gate(study: Study, score: Score) -> Gate:
    """Return the gate for a scored revision (method 16), compared with the highest revision accepted so far."""
    parent = _parent_score(study, score)
    missed = newly_missed_criticals(study, score, parent) if parent else ()
    checks = gate_checks(
        score.evaluation,
        parent.evaluation if parent else None,
        newly_missed=[(finding, report) for report, finding in missed],
    )
    return Gate(score, parent, tuple(checks))


def _parent_score(study: Study, score: Score) -> Score | None:
    rows = [
        row
        for row in history(study, score.reference, labeler=score.prepared.run.labeler)
        if row.revision.prompt_hash != score.prepared.run.prompt_hash and row.score is not None
    ]
    return rows[-1].score if rows else None


def newly_missed_criticals(study: Study, score: Score, parent: Score) -> tuple[tuple[str, str], ...]:
    """Return (report, finding) of critical positives that the parent found and this revision misses."""
    now, then = extractions(study, score.prepared), extractions(study, parent.prepared)
    missed = (MistakeKind.MISSED, MistakeKind.FAILED)
    found = []
    for finding in sorted(study.label_set.critical):
        policy = score.prediction_policies.of(finding)
        for report in score.prepared.cohort.members:
            if score.reference.items[report, finding].outcome is not Outcome.PRESENT:
                continue
            was = kind_of(Outcome.PRESENT, then[report].state(finding), policy) in missed
            if not was and kind_of(Outcome.PRESENT, now[report].state(finding), policy) in missed:
                found.append((report, finding))
    return tuple(found)


def accept(
    study: Study,
    actor: Actor,
    gate: Gate,
    *,
    reason: str,
    signed: Collection[str] = (),
    override: str = "",
) -> Revision:
    """Accept the scored revision and write its file.

    Args:
        study: the study.
        actor: a lead.
        gate: from ``open_gate``.
        reason: why it is accepted; must not be empty.
        signed: ids of the checks that this person signs off.
        override: why blocked checks are passed over; needed when there are any.

    Raises:
        InputError: the reason is empty, a check is not signed, or blocked checks have no override.
        ConflictError: the revision is accepted already.
    """
    actor.require(Role.LEAD, to="accept a revision")
    revision = find_revision(study, gate.score.prepared.run.prompt_hash).revision
    if revision.status is RevisionStatus.ACCEPTED:
        raise ConflictError(f"Revision {revision.number} is accepted already.")
    if not reason.strip():
        raise InputError(f"Accepting revision {revision.number} needs a reason.")
    if gate.blocked and not override.strip():
        first = gate.blocked[0]
        raise InputError(
            f"The gate is closed for revision {revision.number} ({len(gate.blocked)} checks): {first.sentence} "
            "Mend the prompt, or override with a reason."
        )
    unsigned = [check for check in gate.to_sign if check.id not in signed]
    if unsigned:
        raise InputError(
            f"Revision {revision.number} needs a sign-off on {len(unsigned)} checks; the first: {unsigned[0].sentence}"
        )
    _decide(study, actor, revision, RevisionStatus.ACCEPTED, gate, reason, override)
    return find_revision(study, revision.prompt_hash).revision


def reject(study: Study, actor: Actor, revision: Revision, *, reason: str) -> Revision:
    """Reject a candidate with a reason; it stays on record."""
    actor.require(Role.LEAD, to="reject a revision")
    if not reason.strip():
        raise InputError(f"Rejecting revision {revision.number} needs a reason.")
    if revision.status is not RevisionStatus.CANDIDATE:
        raise ConflictError(f"Revision {revision.number} is {revision.status} already; only a candidate can be rejected.")
    _decide(study, actor, revision, RevisionStatus.REJECTED, None, reason, "")
    return next(r for r in revisions(study) if r.prompt_hash == revision.prompt_hash)


def _decide(
    study: Study,
    actor: Actor,
    revision: Revision,
    status: RevisionStatus,
    gate: Gate | None,
    reason: str,
    override: str,
) -> None:
    decision = Decision(
        revision.prompt_hash,
        status,
        actor.name,
        datetime.now(UTC),
        reason.strip(),
        evaluation_hash=gate.score.hash if gate else None,
        signed=tuple(check.id for check in gate.to_sign) if gate else (),
        override=override.strip() if gate and gate.blocked else "",
    )
    decide(study, actor, revision, decision)
