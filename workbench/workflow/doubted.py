"""Items of a frozen reference that somebody doubts, judged blind among as many that nobody does (method 4).

The frozen reference stays the primary one, whatever is said of it here.
"""

import random
from collections.abc import Collection
from dataclasses import dataclass
from datetime import UTC, datetime
from sqlite3 import Connection

from workbench.domain.actors import Actor, Role
from workbench.domain.error_kinds import ErrorTag
from workbench.domain.references import Outcome, Reference
from workbench.domain.reports import Report
from workbench.domain.rounds import Adjudication
from workbench.errors import InputError, NotFoundError, RightsError
from workbench.storage import error_tags as store
from workbench.storage import reports as report_store
from workbench.storage.error_tags import DoubtedItem
from workbench.workflow.blindness import require_sighted
from workbench.workflow.cohorts import require_unlocked
from workbench.workflow.first_look import whole
from workbench.workflow.reference import cohort_of, require_closed
from workbench.workflow.score import Score
from workbench.workflow.study import Study


@dataclass(frozen=True, slots=True)
class OpenDoubt:
    """One item as the adjudicator sees it: neither who doubts it nor what vote or labeler said is told."""

    report: Report
    finding_id: str
    verdict: Adjudication | None


@dataclass(frozen=True, slots=True)
class Verdicts:
    """What came of the doubts on a reference: of those judged, how many speak against its vote.

    Where controls are overturned as often as what was doubted, the doubts mean nothing.
    """

    doubted: int
    doubted_judged: int
    doubted_against: int
    controls: int
    controls_judged: int
    controls_against: int


def put_forward(conn: Connection, score: Score, tag: ErrorTag, wrong: Collection[str]) -> None:
    """Put a doubted item and a control before the adjudicator, inside the write that tags the error.

    The control is of the same finding, one that labeler and vote agree on and nobody doubts, with the same vote outcome
    where there is one; drawn by chance that the item decides, so that doubting again draws the same.
    """
    reference = score.reference
    known = {(item.report_id, item.finding_id) for item in store.doubted(conn, reference.hash)}
    items = [DoubtedItem(tag.report_id, tag.finding_id, control=False)]
    if (tag.report_id, tag.finding_id) not in known:
        outcome = reference.items[tag.report_id, tag.finding_id].outcome
        agreed = [
            report.id
            for report in score.prepared.reports
            if report.id not in wrong
            and (report.id, tag.finding_id) not in known
            and reference.items[report.id, tag.finding_id].outcome is not Outcome.SHORT
        ]
        same = [r for r in agreed if reference.items[r, tag.finding_id].outcome is outcome] or agreed
        if same:
            drawn = random.Random(f"{reference.hash}/{tag.report_id}/{tag.finding_id}").choice(same)  # noqa: S311
            items.append(DoubtedItem(drawn, tag.finding_id, control=True))
    store.doubt(conn, reference.hash, items, tag.actor, tag.at)


def open_doubts(study: Study, actor: Actor, reference: Reference) -> list[OpenDoubt]:
    """Return the doubted items and their controls in an order that tells nothing.

    Raises:
        RightsError: the person is no adjudicator, edits prompts too, rates in an open round, or the cohort is locked.
    """
    _check(study, actor, reference)
    with study.database.read() as conn:
        items = store.doubted(conn, reference.hash)
        said = {(v.report_id, v.finding_id): v for v in store.verdicts(conn, reference.hash)}
        reports = {r.id: r for r in report_store.by_ids(conn, sorted({item.report_id for item in items}))}
    keys = sorted((item.report_id, item.finding_id) for item in items)
    random.Random(reference.hash).shuffle(keys)  # noqa: S311 - a repeatable order, not a secret
    return [OpenDoubt(reports[report], finding, said.get((report, finding))) for report, finding in keys]


def judge(
    study: Study, actor: Actor, reference: Reference, report_id: str, finding_id: str, *, present: bool, reason: str
) -> None:
    """Say whether a report holds a finding, with a reason; saying so again supersedes and keeps what was said before.

    Raises:
        InputError: the reason is empty.
        NotFoundError: nobody put the item forward.
        RightsError: as ``open_doubts``.
    """
    _check(study, actor, reference)
    if not reason.strip():
        raise InputError(f"Report {report_id}, {finding_id}: a verdict needs a reason.")
    with study.writing(actor) as conn:
        if (report_id, finding_id) not in {(i.report_id, i.finding_id) for i in store.doubted(conn, reference.hash)}:
            raise NotFoundError(f"Report {report_id}, {finding_id}: nobody doubts this item of {reference.name}.")
        made = Adjudication(
            reference.hash, report_id, finding_id, present, actor.name, datetime.now(UTC), reason.strip()
        )
        store.add_verdict(conn, made)


def verdicts(study: Study, actor: Actor, reference: Reference) -> Verdicts:
    """Return what came of the doubts on a reference.

    Raises:
        RightsError: the person does not lead, rates in an open round, or the cohort is locked.
    """
    actor.require(Role.LEAD, Role.ADMIN, to="see what came of doubts")
    _check_sighted(study, actor, reference)
    with study.database.read() as conn:
        items = store.doubted(conn, reference.hash)
        said = {(v.report_id, v.finding_id): v.present for v in store.verdicts(conn, reference.hash)}
    outcomes = whole(study, reference).items if said else {}  # whoever doubts an item has seen a score
    counts = []
    for control in (False, True):
        keys = [(item.report_id, item.finding_id) for item in items if item.control is control]
        judged = [key for key in keys if key in said]
        against = sum(said[key] is not (outcomes[key].outcome is Outcome.PRESENT) for key in judged)
        counts += [len(keys), len(judged), against]
    return Verdicts(*counts)


def _check(study: Study, actor: Actor, reference: Reference) -> None:
    actor.require(Role.ADJUDICATOR, to="judge what is doubted")
    if actor.roles & {Role.LEAD, Role.ADMIN}:
        raise RightsError(
            f"{actor.name} edits prompts too, so somebody else must judge what is doubted of {reference.name}."
        )
    _check_sighted(study, actor, reference)


def _check_sighted(study: Study, actor: Actor, reference: Reference) -> None:
    cohort = cohort_of(study, reference)
    require_unlocked(study, cohort, "see what of its reference is doubted")
    require_closed(study, cohort)
    require_sighted(study, actor, "see what of a reference is doubted")
