"""Cohorts: allocated by patient, seeded, fixed once made; validation stays locked until unlocked on record."""

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from sqlite3 import Connection

from workbench.domain.actors import Actor, Role
from workbench.domain.cohorts import Cohort, Purpose
from workbench.domain.findings import State
from workbench.domain.reports import Report
from workbench.errors import ConflictError, InputError, NotFoundError, RightsError
from workbench.labelers.rules import RulesLabeler
from workbench.storage import cohorts as cohort_store
from workbench.storage import reports as report_store
from workbench.text.duplicates import near_duplicate_groups
from workbench.workflow import drawing
from workbench.workflow.blindness import blinding_round, require_sighted
from workbench.workflow.prompts import find_revision
from workbench.workflow.study import Study

_LARGEST_SEED = 2**63 - 1  # what the database holds


@dataclass(frozen=True, slots=True)
class CohortView:
    """A cohort with its numbers and whether its texts and votes are still locked."""

    cohort: Cohort
    reports: int
    patients: int
    locked: bool


@dataclass(frozen=True, slots=True)
class Allocation:
    """A made cohort and the positives to expect in it per finding, by phrase hits of a prompt.

    These are None without a prompt, and for somebody who rates in an open round. ``fewer`` says in a sentence why it
    has fewer reports than were asked for, empty where it has as many.
    """

    cohort: Cohort
    patients: int
    expected: Mapping[str, float] | None
    fewer: str = ""


def list_cohorts(study: Study) -> list[CohortView]:
    """Return all cohorts, oldest first."""
    with study.database.read() as conn:
        patients = report_store.patients(conn)
        return [
            CohortView(
                cohort,
                len(cohort.members),
                len({patients[report] for report in cohort.members}),
                _locked(cohort, bool(cohort_store.unlocks(conn, cohort.name))),
            )
            for cohort in cohort_store.list_all(conn)
        ]


def get_cohort(study: Study, name: str) -> Cohort:
    """Return a cohort by name. Raises NotFoundError, naming those there are."""
    with study.database.read() as conn:
        cohort = cohort_store.get(conn, name)
        if cohort is None:
            names = ", ".join(c.name for c in cohort_store.list_all(conn)) or "none yet"
            raise NotFoundError(f"There is no cohort {name}; the study has: {names}.")
    return cohort


def _locked(cohort: Cohort, unlocked: bool) -> bool:
    return cohort.purpose is Purpose.VALIDATION and not unlocked


def require_unlocked(study: Study, cohort: Cohort, to: str) -> None:
    """Raise RightsError when the cohort is a validation cohort that nobody has unlocked on record (method 18)."""
    with study.database.read() as conn:
        if _locked(cohort, bool(cohort_store.unlocks(conn, cohort.name))):
            raise RightsError(
                f"The validation cohort {cohort.name} is locked, so one cannot {to}; "
                "unlock it on record once the prompt is final."
            )


def locked_report_ids(study: Study) -> set[str]:
    """Return the reports that nobody who edits prompts may see yet."""
    with study.database.read() as conn:
        return {
            report
            for cohort in cohort_store.list_all(conn)
            if _locked(cohort, bool(cohort_store.unlocks(conn, cohort.name)))
            for report in cohort.members
        }


def unlock(study: Study, actor: Actor, name: str, *, reason: str, details: Mapping[str, str]) -> None:
    """Unlock a validation cohort on record.

    Args:
        study: the study.
        actor: a lead.
        name: the cohort.
        reason: why now.
        details: what method 18 wants named beforehand: revision, labeler, policies, endpoint.

    Raises:
        InputError: something is not named, or the cohort is none that is locked.
        NotFoundError: there is no such cohort.
    """
    actor.require(Role.LEAD, to="unlock a validation cohort")
    cohort = get_cohort(study, name)
    if cohort.purpose is not Purpose.VALIDATION:
        raise InputError(f"The cohort {name} is not locked: it is a {cohort.purpose} cohort.")
    missing = [key for key in ("revision", "labeler", "policies", "endpoint") if not details.get(key, "").strip()]
    if missing or not reason.strip():
        wanted = ", ".join([*missing, *([] if reason.strip() else ["reason"])])
        raise InputError(f"Unlocking {name} must name beforehand: {wanted}.")
    with study.writing(actor) as conn:
        cohort_store.unlock(
            conn, name, actor=actor.name, at=datetime.now(UTC), reason=reason.strip(), details=dict(details)
        )


def define(
    study: Study, actor: Actor, name: str, purpose: Purpose, report_ids: Collection[str], *, seed: int = 0
) -> Cohort:
    """Fix a cohort as a list of reports that somebody else drew, such as a published split.

    Raises:
        ConflictError: the name is taken, or a patient of it is already in a cohort of another purpose.
        InputError: a report has nothing to read in the study's sections.
        NotFoundError: a report is not in the study.
    """
    actor.require(Role.LEAD, Role.ADMIN, to="allocate a cohort")
    with study.writing(actor) as conn:
        return define_in(conn, study, actor, name, purpose=purpose, report_ids=report_ids, seed=seed)


def define_in(
    conn: Connection,
    study: Study,
    actor: Actor,
    name: str,
    *,
    purpose: Purpose,
    report_ids: Collection[str],
    seed: int = 0,
) -> Cohort:
    """Fix a cohort as ``define`` does, in a transaction that is open."""
    reports = report_store.by_ids(conn, sorted(report_ids))
    missing = sorted(set(report_ids) - {r.id for r in reports})
    if missing:
        raise NotFoundError(f"Cohort {name}: report {missing[0]} is not in this study ({len(missing)} missing in all).")
    blank = [report.id for report in reports if not report.select(study.settings.sections)]
    if blank:
        raise InputError(
            f"Cohort {name}: report {blank[0]} has nothing to read in {', '.join(study.settings.sections)} "
            f"({len(blank)} such in all); leave it out."
        )
    probabilities = dict.fromkeys(report_ids, 1.0)
    cohort = _made(actor, name, purpose, reports=reports, probabilities=probabilities, seed=seed)
    _fix(conn, cohort)
    return cohort


def allocate(
    study: Study,
    actor: Actor,
    name: str,
    purpose: Purpose,
    *,
    size: int,
    seed: int = 0,
    enrich: float = 1.0,
    preview: bool = False,
) -> Allocation:
    """Draw a cohort of at most ``size`` reports from those in no cohort yet, whole patients at a time.

    Near-duplicate texts are drawn together or not at all, and not when one of them is in a cohort already. ``enrich``
    above 1 makes a group that holds a phrase of a rare finding (in fewer than 2 reports of 100) that many times
    likelier; the probabilities are stored with the cohort and scores are also shown reweighted (method 19). A
    ``preview`` draws the same reports and fixes nothing, so that one sees beforehand what so many reports cannot
    measure.

    Raises:
        InputError: fewer reports are free than asked for, none of their groups fits, or the numbers make no sense.
        ConflictError: the name is taken.
    """
    actor.require(Role.LEAD, Role.ADMIN, to="allocate a cohort")
    if size < 1 or not 1 <= enrich < math.inf:
        raise InputError(f"Cohort {name}: the size must be at least 1 and enrichment at least 1 and finite.")
    if abs(seed) > _LARGEST_SEED:
        raise InputError(f"Cohort {name}: the seed must be within {_LARGEST_SEED:,} on either side of 0.")
    pool, duplicate_groups, others = _free_reports(study)
    if len(pool) < size:
        raise InputError(f"Cohort {name}: {size} reports were asked for, {len(pool)} can be drawn{others}.")
    hits = _phrase_hits(study, pool)
    if enrich > 1 and hits is None:
        raise InputError(f"Cohort {name}: enrichment goes by a prompt's phrases, and no revision is accepted yet.")
    drawn = drawing.draw(pool, duplicate_groups, drawing.weights(pool, hits, enrich), size, seed)
    if not drawn.reports:
        raise InputError(
            f"Cohort {name}: patients and near-duplicates are drawn whole, and no such group has {size} reports or "
            "fewer; ask for more."
        )
    cohort = _made(actor, name, purpose, reports=drawn.reports, probabilities=drawn.probabilities, seed=seed)
    if not preview:
        with study.writing(actor) as conn:
            _fix(conn, cohort)
    expected = None if hits is None or blinding_round(study, actor) else _expected(study, drawn.reports, hits)
    return Allocation(cohort, len({r.patient_id for r in drawn.reports}), expected, drawn.fewer)


def expected_positives(study: Study, actor: Actor, cohort: Cohort) -> Mapping[str, float] | None:
    """Return how many reports of a cohort hold each finding, by the accepted prompt's phrases; None without one.

    It is what a labeler says of the reports, in sum: a rater who knew it would look for what is missing.

    Raises:
        RightsError: the person is no lead or admin, or rates in an open round.
    """
    actor.require(Role.LEAD, Role.ADMIN, to="see the positives to expect")
    require_sighted(study, actor, "see the positives to expect")
    with study.database.read() as conn:
        reports = report_store.by_ids(conn, sorted(cohort.members))
    hits = _phrase_hits(study, reports)
    return None if hits is None else _expected(study, reports, hits)


def _free_reports(study: Study) -> tuple[list[Report], list[frozenset[str]], str]:
    """Return the reports that may be drawn, the groups of near-duplicates among them, and in words what the others are.

    Not free is what has nothing to read, what is in a cohort, and what came later of a patient in one or nearly
    repeats a text in one.
    """
    with study.database.read() as conn:
        reports = report_store.list_all(conn)
        taken = {report for cohort in cohort_store.list_all(conn) for report in cohort.members}
    duplicate_groups = near_duplicate_groups(reports)
    free = {m for members in drawing.joined(reports, duplicate_groups) if taken.isdisjoint(members) for m in members}
    read = study.settings.sections  # with nothing to read a report could only ever be a failed reply
    pool = [r for r in reports if r.id in free and r.select(read)]
    ids = {report.id for report in pool}
    counts = {
        "in a cohort": len(taken),
        "of a patient in one or nearly repeating a text in one": len(reports) - len(free) - len(taken),
        "with nothing to read": len(free) - len(pool),
    }
    others = ", ".join(f"{n} {what}" for what, n in counts.items() if n)
    said = f"; of the others, {others}" if others else ""
    return pool, [group & ids for group in duplicate_groups if group <= free], said


def _phrase_hits(study: Study, reports: Sequence[Report]) -> dict[str, frozenset[str]] | None:
    """Return the findings that the accepted prompt's phrases find present, per report."""
    try:
        prompt = find_revision(study).prompt
    except NotFoundError:
        return None
    labeler = RulesLabeler(prompt, study.label_set)
    positive = State.PRESENT.code
    return {
        report.id: frozenset(
            finding
            for finding, code in zip(
                study.label_set.ids, labeler.codes(report.select(study.settings.sections)), strict=True
            )
            if code == positive
        )
        for report in reports
    }


def _expected(study: Study, reports: Sequence[Report], hits: Mapping[str, frozenset[str]]) -> dict[str, float]:
    return {f: float(sum(f in hits[r.id] for r in reports)) for f in study.label_set.ids}


def _made(
    actor: Actor,
    name: str,
    purpose: Purpose,
    *,
    reports: Sequence[Report],
    probabilities: Mapping[str, float],
    seed: int,
) -> Cohort:
    if not name.strip() or not name.isprintable() or not reports:
        raise InputError("A cohort needs a name and at least one report.")
    return Cohort(
        name=name.strip(),
        purpose=purpose,
        members={r.id: r.hash for r in sorted(reports, key=lambda r: r.id)},
        probabilities=dict(probabilities),
        seed=seed,
        created_at=datetime.now(UTC),
        author=actor.name,
    )


def _fix(conn: Connection, cohort: Cohort) -> None:
    patients = report_store.patients(conn)
    mine = {patients[report] for report in cohort.members}
    for other in cohort_store.list_all(conn):
        if other.name == cohort.name:
            raise ConflictError(f"There is already a cohort {cohort.name}; a cohort is fixed once it is made.")
        shared = sorted(mine & {patients[report] for report in other.members})
        if other.purpose is not cohort.purpose and shared:
            raise ConflictError(
                f"Cohort {cohort.name}: patient {shared[0]} is already in the {other.purpose} cohort {other.name}; "
                "a patient's reports stay in cohorts of one purpose."
            )
    cohort_store.add(conn, cohort)
