"""Adjudicating what a vote left open, before anybody has seen a count, and without names (method 3)."""

import random
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from workbench.domain.actors import Actor, Role
from workbench.domain.references import Outcome, Reference
from workbench.domain.reports import Report
from workbench.domain.rounds import Adjudication
from workbench.errors import ConflictError, InputError, NotFoundError, RightsError
from workbench.storage import references as reference_store
from workbench.storage import reports as report_store
from workbench.storage import rounds as store
from workbench.workflow.blindness import require_sighted
from workbench.workflow.cohorts import locked_report_ids
from workbench.workflow.first_look import first_look_in, seal, whole
from workbench.workflow.reference import cohort_of, require_closed
from workbench.workflow.study import Study


@dataclass(frozen=True, slots=True)
class OpenItem:
    """One tie or short vote as the adjudicator sees it: which of the two is not told, nor who voted how."""

    report: Report
    finding_id: str
    decision: Adjudication | None


def open_items(study: Study, actor: Actor, reference: Reference) -> list[OpenItem]:
    """Return the ties and short votes of a vote in an order that tells nothing, with what was decided so far.

    Raises:
        ConflictError: somebody has looked at the reference's counts, agreement or a score on it.
        RightsError: the round takes labels, or the adjudicator rates in one; or a report is in a locked validation
            cohort and this adjudicator edits prompts too (method 18).
    """
    actor.require(Role.ADJUDICATOR, to="adjudicate")
    _check_outside_the_round(study, actor, reference)
    _check_still_blind(study, reference)
    keys = _open_keys(study, reference)
    _check_not_locked_from(study, actor, {report for report, _ in keys})
    random.Random(reference.hash).shuffle(keys)  # noqa: S311 - a repeatable order, not a secret
    with study.database.read() as conn:
        decided = {(a.report_id, a.finding_id): a for a in store.adjudications(conn, reference.hash)}
        reports = {r.id: r for r in report_store.by_ids(conn, sorted({report for report, _ in keys}))}
    return [OpenItem(reports[report], finding, decided.get((report, finding))) for report, finding in keys]


def _open_keys(study: Study, reference: Reference) -> list[tuple[str, str]]:
    """Return (report, finding) of the ties and short votes of a vote, sorted."""
    items = whole(study, reference).items
    return sorted(key for key, item in items.items() if item.tie or item.outcome is Outcome.SHORT)


@dataclass(frozen=True, slots=True)
class LeftOpen:
    """How many items a vote left open, and why they can no longer be adjudicated blind: empty while they can."""

    items: int
    closed: str

    @property
    def told(self) -> str:
        """Return both in a sentence or two, empty where the vote left nothing open."""
        if not self.items:
            return ""
        head = f"The vote left {self.items:,} item{'' if self.items == 1 else 's'} open (ties and short votes)."
        still = "They can be adjudicated blind until somebody looks at counts, agreement or a score."
        return f"{head} {self.closed or still}"


def left_open(study: Study, reference: Reference) -> LeftOpen:
    """Return what a vote left open and whether it can still be adjudicated blind."""
    items = len(_open_keys(study, reference))
    with study.database.read() as conn:
        made = [head for head in reference_store.heads(conn) if head.parent_hash == reference.hash and head.adjudicated]
    if made:
        return LeftOpen(items, f"{reference.name} is adjudicated: {made[0].name} stands beside the vote.")
    if not items:
        return LeftOpen(0, f"The vote {reference.name} left nothing open.")
    return LeftOpen(items, closed_because(study, reference))


def closed_because(study: Study, reference: Reference) -> str:
    """Return why a reference can no longer be adjudicated, empty while it can."""
    if reference.adjudicated:
        return f"The reference {reference.name} is an adjudicated one already."
    with study.database.read() as conn:
        seen = first_look_in(conn, reference)
    return f"{seen}, so {reference.name} can no longer be adjudicated blind." if seen else ""


def _check_still_blind(study: Study, reference: Reference) -> None:
    if why := closed_because(study, reference):
        raise ConflictError(why)


def _check_not_finished(study: Study, reference: Reference) -> None:
    with study.database.read() as conn:
        finished = [r.name for r in reference_store.heads(conn) if r.adjudicated and r.parent_hash == reference.hash]
    if finished:
        raise ConflictError(f"The adjudication is finished: {finished[0]} is frozen, so nothing in it changes.")


def _check_outside_the_round(study: Study, actor: Actor, reference: Reference) -> None:
    """Which votes are open tells something of the votes: nobody is told before they stand, and no rater of a round."""
    require_closed(study, cohort_of(study, reference))
    require_sighted(study, actor, "adjudicate")


def _check_not_locked_from(study: Study, actor: Actor, reports: set[str]) -> None:
    if actor.roles.intersection({Role.LEAD, Role.ADMIN}) and reports.intersection(locked_report_ids(study)):
        raise RightsError(
            f"These reports are in a locked validation cohort and {actor.name} edits prompts too, so somebody else "
            "must adjudicate them."
        )


def decide(
    study: Study, actor: Actor, reference: Reference, report_id: str, finding_id: str, *, present: bool, reason: str
) -> None:
    """Decide one item with a reason; deciding again supersedes and keeps what was decided before.

    Raises:
        InputError: the reason is empty.
        NotFoundError: the vote left no such item open.
        ConflictError: it is no longer blind, or the adjudication is finished.
    """
    actor.require(Role.ADJUDICATOR, to="adjudicate")
    if not reason.strip():
        raise InputError(f"Report {report_id}, {finding_id}: an adjudication needs a reason.")
    if (report_id, finding_id) not in _open_keys(study, reference):
        raise NotFoundError(f"Report {report_id}, {finding_id}: the vote on it was decided and is not adjudicated.")
    _check_outside_the_round(study, actor, reference)
    _check_still_blind(study, reference)
    _check_not_finished(study, reference)
    _check_not_locked_from(study, actor, {report_id})
    made = Adjudication(reference.hash, report_id, finding_id, present, actor.name, datetime.now(UTC), reason.strip())
    with study.writing(actor) as conn:
        store.add_adjudication(conn, made)


def finish(study: Study, actor: Actor, reference: Reference) -> Reference:
    """Freeze the adjudicated reference beside the vote, which stays the primary one. Both are scored.

    What is returned has its outcomes and counts sealed.

    Raises:
        InputError: items are undecided; says how many.
        ConflictError: it is no longer blind.
    """
    actor.require(Role.LEAD, Role.ADJUDICATOR, to="finish an adjudication")
    _check_outside_the_round(study, actor, reference)
    _check_still_blind(study, reference)
    reference = whole(study, reference)
    keys = _open_keys(study, reference)
    with study.writing(actor) as conn:
        decided = {(a.report_id, a.finding_id): a.present for a in store.adjudications(conn, reference.hash)}
        undecided = len(set(keys) - set(decided))
        if undecided or not keys:
            raise InputError(
                f"{undecided} of {len(keys)} open items of {reference.name} are undecided; decide them first."
                if keys
                else f"The vote {reference.name} left nothing open, so there is nothing to adjudicate."
            )
        outcomes = {key: Outcome.PRESENT if decided[key] else Outcome.NOT_PRESENT for key in keys}
        items = {
            key: replace(item, outcome=outcomes[key]) if key in outcomes else item
            for key, item in reference.items.items()
        }
        made = replace(
            reference,
            name=f"{reference.name}-adjudicated",
            items=items,
            created_at=datetime.now(UTC),
            author=actor.name,
            parent_hash=reference.hash,
            adjudicated=tuple(keys),
            reason="ties and short votes adjudicated blind",
        )
        reference_store.add(conn, made)
    return seal(made)
