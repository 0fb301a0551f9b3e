"""Rating reports: one's own labels only, kept on the server, closed once the reference is frozen."""

import random
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from sqlite3 import Connection

from workbench.domain.actors import Actor, Role
from workbench.domain.annotations import Annotation
from workbench.domain.cohorts import Purpose
from workbench.domain.findings import State
from workbench.domain.hashing import content_hash
from workbench.domain.reports import Report
from workbench.errors import ConflictError, InputError, NotFoundError, RightsError
from workbench.storage import annotations as annotation_store
from workbench.storage import cohorts as cohort_store
from workbench.storage import references as reference_store
from workbench.storage import reports as report_store
from workbench.workflow.cohorts import get_cohort, locked_report_ids
from workbench.workflow.study import Study

RATER_STATES = (State.PRESENT, State.UNCERTAIN, State.NOT_MENTIONED)


@dataclass(frozen=True, slots=True)
class Queue:
    """One rater's way through a cohort: their own order, what is submitted and what is a draft."""

    order: tuple[str, ...]
    submitted: frozenset[str]
    drafts: frozenset[str]
    closed: bool

    @property
    def next(self) -> str | None:
        """Return the report to open: unfinished drafts first, then the next untouched one; None when all is done."""
        for wanted in (self.drafts, frozenset(self.order) - self.submitted - self.drafts):
            for report in self.order:
                if report in wanted:
                    return report
        return None


@dataclass(frozen=True, slots=True)
class RatingTask:
    """One report and the rater's own latest labels of it, None before the first touch."""

    report: Report
    own: Annotation | None


def queue(study: Study, actor: Actor, cohort_name: str) -> Queue:
    """Return the rater's queue of a cohort, in an order of their own that never changes."""
    actor.require(Role.RATER, to="rate reports")
    cohort = get_cohort(study, cohort_name)
    with study.database.read() as conn:
        own = annotation_store.latest(
            conn, list(cohort.members), study.label_set.hash, rater=actor.name, submitted_only=False
        )
        closed = any(r.cohort_hash == cohort.hash for r in reference_store.list_all(conn))
    order = sorted(cohort.members)
    seed = content_hash("rating-order", [cohort.hash, actor.name])
    random.Random(seed).shuffle(order)  # noqa: S311 - a repeatable order, not a secret
    return Queue(
        tuple(order),
        frozenset(a.report_id for a in own if a.submitted),
        frozenset(a.report_id for a in own if not a.submitted),
        closed,
    )


def ratable_cohorts(study: Study) -> list[str]:
    """Return the names of the cohorts that raters label."""
    with study.database.read() as conn:
        return [c.name for c in cohort_store.list_all(conn) if c.purpose is not Purpose.EVALUATION]


def open_report(study: Study, actor: Actor, report_id: str) -> RatingTask:
    """Return a report for rating with the rater's own labels and nobody else's.

    Raises:
        NotFoundError: the study does not hold it.
        RightsError: it is in a locked validation cohort and this rater edits prompts too (method 18).
    """
    actor.require(Role.RATER, to="rate reports")
    if actor.roles.intersection({Role.LEAD, Role.ADMIN}) and report_id in locked_report_ids(study):
        raise RightsError(
            f"Report {report_id} is in a locked validation cohort and {actor.name} edits prompts too, so somebody "
            "else must rate it."
        )
    with study.database.read() as conn:
        report = report_store.get(conn, report_id)
        if report is None:
            raise NotFoundError(f"There is no report {report_id} in this study.")
        own = annotation_store.latest(conn, [report_id], study.label_set.hash, rater=actor.name, submitted_only=False)
    return RatingTask(report, own[0] if own else None)


def save(
    study: Study,
    actor: Actor,
    report_id: str,
    states: Mapping[str, State],
    *,
    submitted: bool,
    evidence: Mapping[str, str] | None = None,
    comment: str = "",
    seconds: float | None = None,
) -> None:
    """Append the rater's labels of a report, as a draft or submitted. What was saved before stays in the history.

    Raises:
        InputError: a finding or state is not the study's.
        ConflictError: the reference over this report is frozen, so its round is closed.
    """
    actor.require(Role.RATER, to="rate reports")
    for finding, state in states.items():
        if finding not in study.label_set.ids or state not in RATER_STATES:
            raise InputError(f"Report {report_id}: {finding} = {state} is not a label that raters of this study give.")
    with study.database.write() as conn:
        if report_store.get(conn, report_id) is None:
            raise NotFoundError(f"There is no report {report_id} in this study.")
        _check_open(conn, report_id)
        annotation_store.append(
            conn,
            Annotation(
                report_id=report_id,
                rater=actor.name,
                states=states,
                submitted=submitted,
                at=datetime.now(UTC),
                label_set_hash=study.label_set.hash,
                evidence=dict(evidence or {}),
                comment=comment.strip(),
                seconds=seconds,
                source="browser",
            ),
        )


def _check_open(conn: Connection, report_id: str) -> None:
    for reference in reference_store.list_all(conn):
        cohort = cohort_store.by_hash(conn, reference.cohort_hash)
        if cohort is not None and report_id in cohort.members:
            raise ConflictError(
                f"The round is closed: the reference {reference.name} is frozen, so report {report_id} takes no "
                "more labels."
            )
