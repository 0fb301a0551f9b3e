"""Accepting or rejecting a revision: the gate, its sign-offs, and the record of both."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

from workbench.domain.actors import Actor, Role
from workbench.domain.people import name_key
from workbench.domain.prompts import Decision, Revision, RevisionStatus, Signature
from workbench.errors import ConflictError, InputError
from workbench.evaluation import gate as checking
from workbench.evaluation.comparisons import newly_missed
from workbench.evaluation.consensus import per_finding
from workbench.evaluation.gate import GateCheck, GateStatus
from workbench.evaluation.scores import evaluate
from workbench.storage import prompts as prompt_store
from workbench.workflow.blindness import require_sighted
from workbench.workflow.history import history
from workbench.workflow.prompts import decide, find_record
from workbench.workflow.run import extractions
from workbench.workflow.score import Score, ScoredArrays, arrays
from workbench.workflow.study import Study

_MISSED = "newly_missed"  # the check of which each item is signed by itself
_NONE: Mapping[tuple[str, str], str] = {}


@dataclass(frozen=True, slots=True)
class Gate:
    """The gate's checks for one score, against the score of the revision accepted before (None for the first).

    ``second_person`` says that the study asks for a second person's signature; ``signatures`` are those there are.
    ``missed`` are the reports and findings of critical positives that were found before and are not now.
    """

    score: Score
    parent: Score | None
    checks: tuple[GateCheck, ...]
    second_person: bool = False
    signatures: tuple[Signature, ...] = ()
    missed: tuple[tuple[str, str], ...] = ()

    @property
    def to_sign(self) -> tuple[GateCheck, ...]:
        """Return the checks that a named person must sign."""
        return tuple(check for check in self.checks if check.status is GateStatus.NEEDS_SIGNOFF)

    @property
    def blocked(self) -> tuple[GateCheck, ...]:
        """Return the checks that only an override with a reason passes over."""
        return tuple(check for check in self.checks if check.status is GateStatus.BLOCKED)


def open_gate(study: Study, actor: Actor, score: Score) -> Gate:
    """Return the gate for a scored revision (method 16), compared with the highest revision accepted so far.

    Where the two prompts quote different reports in worked examples, both are compared on the reports that neither
    quotes.

    Raises:
        InputError: the accepted revision has no score on this reference with this labeler yet.
        RightsError: the person rates in an open round.
    """
    parent = _parent_score(study, actor, score)
    checks, missed = _checks(study, actor, score, parent)
    with study.database.read() as conn:
        signed = prompt_store.signatures(conn, score.hash)
    return Gate(score, parent, tuple(checks), study.settings.gate.second_person, tuple(signed), tuple(missed))


def _checks(
    study: Study, actor: Actor, score: Score, parent: Score | None
) -> tuple[list[GateCheck], list[tuple[str, str]]]:
    """Return the checks, and the critical positives that the parent found and this revision misses."""
    floors = study.settings.gate.floors
    if parent is None:
        return checking.gate(score.evaluation, floors=floors), []
    then, now = _common(_arrays(study, actor, parent), _arrays(study, actor, score))
    policies = per_finding(score.prediction_policies, study.label_set.ids)
    missed = newly_missed(now.truth, then.predictions, now.predictions, policies)
    pairs = [(now.report_ids[report], study.label_set.ids[finding]) for report, finding in missed]
    pairs = [pair for pair in pairs if pair[1] in study.label_set.critical]
    name = f"accepted revision {parent.prepared.number}"
    checks = checking.gate(
        score.evaluation,
        parent=parent.evaluation,
        parent_name=name,
        newly_missed=pairs,
        floors=floors,
    )
    if parent.left_out != score.left_out:
        own, theirs = (
            evaluate(study.label_set.ids, data.truth, data.predictions, policies, data.patients, resamples=0)
            for data in (now, then)
        )
        checks = [*checks[:-1], checking.gate(own, parent=theirs, parent_name=name)[-1]]
    return checks, pairs


def sign_second(study: Study, actor: Actor, score: Score, *, comment: str = "") -> Signature:
    """Sign, as a second person, that the scored revision may be accepted; somebody else then accepts it.

    Raises:
        InputError: the person wrote the revision themselves.
        ConflictError: they have signed it already, or it is no candidate any more.
        RightsError: the person is no lead, admin or adjudicator, or rates in an open round.
    """
    actor.require(Role.LEAD, Role.ADMIN, Role.ADJUDICATOR, to="sign a revision")
    require_sighted(study, actor, "sign a revision")
    revision = find_record(study, score.prepared.run.prompt_hash)
    if revision.status is not RevisionStatus.CANDIDATE:
        raise ConflictError(f"Revision {revision.number} is {revision.status}; only a candidate can be signed.")
    if name_key(actor.name) == name_key(revision.author):
        raise InputError(f"{actor.name} wrote revision {revision.number}; a second person has to sign it.")
    signature = Signature(revision.prompt_hash, score.hash, actor.name, datetime.now(UTC), comment.strip())
    with study.writing(actor) as conn:
        if any(name_key(each.actor) == name_key(actor.name) for each in prompt_store.signatures(conn, score.hash)):
            raise ConflictError(f"{actor.name} has signed revision {revision.number} already.")
        prompt_store.sign(conn, signature)
    return signature


def _parent_score(study: Study, actor: Actor, score: Score) -> Score | None:
    rows = [
        row
        for row in history(study, actor, score.reference, labeler=score.prepared.run.labeler)
        if row.revision.prompt_hash != score.prepared.run.prompt_hash
    ]
    if rows and rows[-1].score is None:
        raise InputError(
            f"Revision {rows[-1].revision.number} is accepted and has no score on {score.reference.name} with "
            f"{score.prepared.run.labeler.name} yet; run and score it first, to have something to compare with."
        )
    return rows[-1].score if rows else None


def _arrays(study: Study, actor: Actor, score: Score) -> ScoredArrays:
    return arrays(study, score.prepared, score.reference, extractions(study, actor, score.prepared))


def _common(then: ScoredArrays, now: ScoredArrays) -> tuple[ScoredArrays, ScoredArrays]:
    """Return both on the reports that both have, in the same order."""
    common = sorted(set(then.report_ids) & set(now.report_ids))
    return then.only(common), now.only(common)


def accept(
    study: Study,
    actor: Actor,
    gate: Gate,
    *,
    reason: str,
    signed: Collection[str] = (),
    missed: Mapping[tuple[str, str], str] = _NONE,
    override: str = "",
) -> Revision:
    """Accept the scored revision and write its file.

    Args:
        study: the study.
        actor: a lead.
        gate: from ``open_gate``.
        reason: why it is accepted; must not be empty.
        signed: names of the checks that this person signs off, but for newly missed positives.
        missed: why each of ``gate.missed`` may be, by report and finding: each is signed by itself.
        override: why blocked checks are passed over; needed when there are any.

    Raises:
        InputError: the reason is empty, a check or a newly missed positive is not signed, or blocked checks have no
            override.
        ConflictError: the revision is accepted already, or rejected.
    """
    actor.require(Role.LEAD, to="accept a revision")
    gate = open_gate(study, actor, gate.score)  # a page may hold one from before another revision was accepted
    revision = find_record(study, gate.score.prepared.run.prompt_hash)
    if revision.status is RevisionStatus.ACCEPTED:
        raise ConflictError(f"Revision {revision.number} is accepted already.")
    if revision.status is RevisionStatus.REJECTED:
        raise ConflictError(
            f"Revision {revision.number} is rejected, and only a candidate can be accepted; change its prompt, if only "
            "the title, and save that as a new candidate."
        )
    if not reason.strip():
        raise InputError(f"Accepting revision {revision.number} needs a reason.")
    if gate.blocked and not override.strip():
        first = gate.blocked[0]
        raise InputError(
            f"The gate is closed for revision {revision.number}: {first.sentence} "
            "Mend the prompt, or override with a reason."
        )
    if gate.second_person and not any(name_key(each.actor) != name_key(actor.name) for each in gate.signatures):
        raise InputError(
            f"Revision {revision.number} needs a second person's signature before {actor.name} can accept it: "
            f"`workbench prompt sign {revision.number} --as NAME`, or the page Accept."
        )
    _require_signed(gate, revision, signed, missed)
    decision = Decision(
        revision.prompt_hash,
        RevisionStatus.ACCEPTED,
        actor.name,
        datetime.now(UTC),
        reason.strip(),
        evaluation_hash=gate.score.hash,
        signed=(
            *(check.name for check in gate.to_sign),
            *(f"{finding} in report {report}: {missed[report, finding].strip()}" for report, finding in gate.missed),
        ),
        override=override.strip() if gate.blocked else "",
    )
    decide(study, actor, revision, decision)
    return find_record(study, revision.prompt_hash)


def _require_signed(
    gate: Gate, revision: Revision, signed: Collection[str], missed: Mapping[tuple[str, str], str]
) -> None:
    unsigned = [check for check in gate.to_sign if check.name not in {*signed, _MISSED}]
    if unsigned:
        raise InputError(
            f"Revision {revision.number} needs your sign-off on {', '.join(c.name for c in unsigned)}: "
            f"{unsigned[0].sentence}"
        )
    left = [pair for pair in gate.missed if not missed.get(pair, "").strip()]
    if left:
        report, finding = left[0]
        more = f" (and {len(left) - 1} more like it)" if len(left) > 1 else ""
        raise InputError(
            f"Revision {revision.number} newly misses {finding} in report {report}{more}: read the report, sign it by "
            "itself and say in a few words why that may be, on the page Accept or with "
            f'`--missed "{report} {finding}: WHY"`.'
        )


def reject(study: Study, actor: Actor, revision: Revision, *, reason: str) -> Revision:
    """Reject a candidate with a reason; it stays on record."""
    actor.require(Role.LEAD, to="reject a revision")
    if not reason.strip():
        raise InputError(f"Rejecting revision {revision.number} needs a reason.")
    revision = find_record(study, revision.prompt_hash)  # a page may hold an older state of it
    if revision.status is not RevisionStatus.CANDIDATE:
        raise ConflictError(f"Revision {revision.number} is {revision.status}; only a candidate can be rejected.")
    decision = Decision(revision.prompt_hash, RevisionStatus.REJECTED, actor.name, datetime.now(UTC), reason.strip())
    decide(study, actor, revision, decision)
    return find_record(study, revision.prompt_hash)
