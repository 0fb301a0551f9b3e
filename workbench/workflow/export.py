"""Taking votes, references, agreement and the audit trail out of a study, as CSV or Parquet.

Votes and what follows from them leave only when their round is closed, that is, once a reference is frozen on them:
until then whoever leads a study sees progress and no labels (method 6). Nothing of a locked validation cohort leaves
before it is unlocked on record (method 18). Whoever exports has seen the counts, so adjudication ends (method 3).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from enum import StrEnum
from itertools import groupby
from pathlib import Path
from sqlite3 import Connection

import numpy as np

from workbench.domain.actors import Actor, Role
from workbench.domain.cohorts import Cohort, Purpose
from workbench.domain.findings import MISSING, LabelSet, State
from workbench.errors import ConflictError, NotFoundError, RightsError
from workbench.evaluation.agreement import Agreement
from workbench.formats.exports import Column, Form, Kind, form_of, write_table
from workbench.formats.votes import LONG, Vote, long_rows, wide_columns, wide_row
from workbench.storage import annotations as annotation_store
from workbench.storage import audit as audit_store
from workbench.storage import cohorts as cohort_store
from workbench.storage import evaluations as evaluation_store
from workbench.storage import label_sets as label_set_store
from workbench.storage import references as reference_store
from workbench.storage import reports as report_store
from workbench.storage import rounds as round_store
from workbench.storage.references import ReferenceHead
from workbench.workflow.agreed import Agreed, View, agreed
from workbench.workflow.blindness import require_sighted
from workbench.workflow.cohorts import list_cohorts, require_unlocked
from workbench.workflow.reference import asked_for
from workbench.workflow.roster import require_standing
from workbench.workflow.rounds import last_round
from workbench.workflow.study import Study
from workbench.workflow.votes import in_order, with_second_readings


class Shape(StrEnum):
    """How votes are laid out."""

    LONG = "long"  # one row per report, rater and finding, with everything known of it
    WIDE = "wide"  # one row per report and rater, one column per finding: 1 / 0 / -1 / blank


@dataclass(frozen=True, slots=True)
class Exported:
    """What was written: the file, its format, how many rows, and the cohort and reference that it is of.

    ``simulated`` says that some vote in the reference came from a simulated rater.
    """

    path: Path
    form: Form
    rows: int
    cohort: str = ""
    reference: str = ""
    simulated: bool = False


@dataclass(frozen=True, slots=True)
class _Closed:
    """A closed round: a cohort, the reference frozen on it, and the label set it was rated by.

    ``counted`` says whether the reference was named, so that only the votes it was made of leave.
    """

    cohort: Cohort
    reference: ReferenceHead
    label_set: LabelSet
    counted: bool


def export_votes(
    study: Study, actor: Actor, name: str, path: Path, *, form: str | None = None, shape: Shape = Shape.LONG
) -> Exported:
    """Write the raters' submitted labels of a closed round, reports that a rater did not submit marked as such.

    What a rater read a second time, unannounced, has rows of its own with ``reading`` 2. ``import labels`` takes either
    shape in again, with the same raters, readings and marks; the long one also with times, evidence and sources.

    Args:
        study: the study.
        actor: a lead or admin.
        name: a cohort (everybody's votes), or a reference (those that were counted in it).
        path: where to.
        form: csv or parquet; by the path's ending when None.
        shape: long or wide.

    Raises:
        RightsError: no reference is frozen on the cohort yet, it is a locked validation cohort, or the person was
            deactivated or lost a role since.
        NotFoundError: there is no such cohort or reference.
    """
    actor.require(Role.LEAD, Role.ADMIN, to="export votes")
    written = _form(study, path, form)
    with study.database.snapshot() as conn:
        closed = _closed(study, actor, conn, name, to="export its votes")
        votes = _readings(conn, closed)
        if shape is Shape.WIDE:
            columns = wide_columns(closed.label_set)
            count = write_table(path, columns, (wide_row(closed.label_set, vote) for vote in votes), written)
        else:
            count = write_table(path, LONG, long_rows(closed.label_set, votes), written)
    return _exported(study, actor, closed, Exported(path, written, count))


def export_reference(
    study: Study, actor: Actor, path: Path, *, name: str | None = None, form: str | None = None
) -> Exported:
    """Write a frozen reference, one row per report and finding: outcome, votes, tie, and the rule that made it.

    Args:
        study: the study.
        actor: a lead or admin.
        path: where to.
        name: a reference, or a cohort, whose first one it is; the primary one when None.
        form: csv or parquet; by the path's ending when None.

    Raises:
        RightsError: no reference is frozen on the cohort yet, it is a locked validation cohort, or the person was
            deactivated or lost a role since.
        NotFoundError: there is no such cohort or reference.
    """
    actor.require(Role.LEAD, Role.ADMIN, to="export a reference")
    written = _form(study, path, form)
    with study.database.snapshot() as conn:
        closed = _closed(study, actor, conn, name, to="export its reference")
        count = write_table(path, REFERENCE_COLUMNS, _reference_rows(conn, closed), written)
    return _exported(study, actor, closed, Exported(path, written, count))


def export_agreement(
    study: Study,
    actor: Actor,
    path: Path,
    *,
    name: str | None = None,
    form: str | None = None,
    view: View = View.TWO_STATES,
) -> tuple[Exported, Agreement]:
    """Write how far the raters of a reference agree, one row per finding, and return it too.

    On two states labels are collapsed by the reference's vote policies, on four they are as given (method 7); each row
    says which. Each coefficient has its value, n, 95 % interval and, where it is undefined, the reason.

    Raises:
        InputError: a single rater made the reference.
        RightsError: no reference is frozen on the cohort yet, it is a locked validation cohort, or the person was
            deactivated or lost a role since.
        NotFoundError: there is no such cohort or reference.
    """
    actor.require(Role.LEAD, Role.ADMIN, to="export agreement")
    written = _form(study, path, form)
    with study.database.snapshot() as conn:
        closed = _closed(study, actor, conn, name, to="export its agreement")
        found = _agreement(study, conn, closed, view)
    columns = [Column("reference"), Column("reference_hash"), Column("simulated", Kind.FLAG)]
    columns += [Column("view"), Column("states"), Column("finding"), Column("reports", Kind.WHOLE)]
    about = [closed.reference.name, closed.reference.hash, closed.reference.simulated]
    about += [view.value, "; ".join(state.value for state in found.states)]
    for figure in found.agreement.overall.figures():
        columns += [Column(figure, Kind.NUMBER), Column(f"{figure}_n", Kind.WHOLE), Column(f"{figure}_reason")]
        columns += [Column(f"{figure}_low", Kind.NUMBER), Column(f"{figure}_high", Kind.NUMBER)]
    rows = []
    for finding, coefficients in zip(found.agreement.finding_ids, found.agreement.findings, strict=True):
        row: list[object] = [*about, finding, coefficients.items]
        for value in coefficients.figures().values():
            row += [value.value, value.n, value.reason or None, value.low, value.high]
        rows.append(row)
    count = write_table(path, columns, rows, written)
    return _exported(study, actor, closed, Exported(path, written, count)), found.agreement


def export_audit(study: Study, actor: Actor, path: Path, *, form: str | None = None) -> Exported:
    """Write who did what and when, in the order of time.

    That labels were given is always told; which ones, only for reports of closed rounds that are not locked and whose
    counts somebody has seen already, so that the trail never ends an adjudication.

    Raises:
        RightsError: the person is no lead or admin any more, or rates in an open round.
    """
    actor.require(Role.LEAD, Role.ADMIN, to="export the audit trail")
    require_sighted(study, actor, "export the audit trail")
    written = _form(study, path, form)
    with study.database.snapshot() as conn:
        require_standing(conn, actor, study.settings.people)
        views = list_cohorts(study)
        names = {view.cohort.hash: view.cohort.name for view in views}
        scored = {evaluation.reference_hash for evaluation in evaluation_store.list_all(conn)}
        closed = [
            (names[head.cohort_hash], head.label_set_hash)
            for head in reference_store.heads(conn)
            if head.hash in scored or round_store.viewed(conn, head.hash) is not None
        ]
        locked = [view.cohort.name for view in views if view.locked or _rated_now(conn, view.cohort)]
        events = audit_store.trail(conn, closed=closed, locked=locked)
        rows = ((e.at, e.actor, e.event, e.subject, e.details) for e in events)
        count = write_table(path, AUDIT_COLUMNS, rows, written)
    return Exported(path, written, count)


REFERENCE_COLUMNS = (
    Column("report_id"),
    Column("finding"),
    Column("outcome"),
    Column("present_votes", Kind.WHOLE),
    Column("missing_votes", Kind.WHOLE),
    Column("tie", Kind.FLAG),
    Column("adjudicated", Kind.FLAG),
    Column("reference"),
    Column("reference_hash"),
    Column("made_from"),
    Column("reason"),
    Column("k", Kind.WHOLE),
    Column("n", Kind.WHOLE),
    Column("tie_becomes"),
    Column("vote_policy"),
    Column("raters"),
    Column("label_set"),
    Column("label_set_version"),
    Column("label_set_hash"),
    Column("frozen_at", Kind.INSTANT),
    Column("frozen_by"),
    Column("simulated", Kind.FLAG),
)
AUDIT_COLUMNS = (Column("at", Kind.INSTANT), Column("actor"), Column("event"), Column("subject"), Column("details"))


def refuse_own_file(study: Study, path: Path) -> None:
    """Raise ConflictError where an output would take the place of a file that the study is made of."""
    there, data = path.resolve(), (study.folder / "data").resolve()
    database = study.database.path.resolve()
    own = {
        data / "study.toml",
        data / study.settings.label_set,
        *(Path(f"{database}{s}") for s in ("", "-wal", "-shm")),
    }
    if there in own or there.is_relative_to((study.folder / "prompts").resolve()):
        raise ConflictError(f"{path} is a part of the study itself and is never overwritten; name another file.")


def _form(study: Study, path: Path, form: str | None) -> Form:
    refuse_own_file(study, path)
    return form_of(path, form)


def _exported(study: Study, actor: Actor, closed: _Closed, done: Exported) -> Exported:
    """Record that the counts were seen, which ends their adjudication (method 3), and say what was written."""
    with study.writing(actor) as conn:
        round_store.add_view(conn, closed.reference.hash, actor.name, datetime.now(UTC))
    head = closed.reference
    return replace(done, cohort=closed.cohort.name, reference=head.name, simulated=head.simulated)


def _closed(study: Study, actor: Actor, conn: Connection, name: str | None, *, to: str) -> _Closed:
    """Return the closed round of a cohort or reference, refusing one that is open or locked."""
    # Before anything is written: whoever may not put the look at the counts on record must not have the file either.
    require_standing(conn, actor, study.settings.people)
    require_sighted(study, actor, to)
    heads = reference_store.heads(conn)
    cohort = cohort_store.get(conn, name) if name is not None else None
    if cohort is not None:
        of_cohort = [head for head in heads if head.cohort_hash == cohort.hash]
        head = _first(of_cohort, study.label_set.hash)
        if head is None:
            raise RightsError(
                f"The round of the cohort {cohort.name} is not closed, so nobody may {to} yet: freeze its reference "
                f"first with `workbench reference freeze {cohort.name}`."
            )
    else:
        head = _named(conn, heads, name)
        cohort = cohort_store.by_hash(conn, head.cohort_hash)
    label_set = label_set_store.get(conn, head.label_set_hash)
    assert cohort is not None  # noqa: S101 - a reference cannot be kept without its cohort and label set
    assert label_set is not None  # noqa: S101
    _require_no_open_round(conn, cohort, to)
    require_unlocked(study, cohort, to)
    return _Closed(cohort, head, label_set, counted=cohort.name != name)


def _require_no_open_round(conn: Connection, cohort: Cohort, to: str) -> None:
    """Raise RightsError while raters label the cohort, also when an earlier round on it was closed and frozen."""
    if _rated_now(conn, cohort):
        raise RightsError(f"A round is open on the cohort {cohort.name}, so nobody may {to} before it is closed.")


def _rated_now(conn: Connection, cohort: Cohort) -> bool:
    view = last_round(conn, cohort)
    return view is not None and view.open


def _first(heads: Sequence[ReferenceHead], label_set_hash: str) -> ReferenceHead | None:
    """Return the first reference by the study's label set, else the first by any."""
    return next((head for head in heads if head.label_set_hash == label_set_hash), next(iter(heads), None))


def _named(conn: Connection, heads: Sequence[ReferenceHead], name: str | None) -> ReferenceHead:
    """Return the reference of a name or the beginning of a hash, without either the primary one."""
    cohorts = cohort_store.list_all(conn)
    if name is None:
        if not heads:
            raise NotFoundError("No reference is frozen yet; freeze one with `workbench reference freeze COHORT`.")
        development = {cohort.hash for cohort in cohorts if cohort.purpose is Purpose.DEVELOPMENT}
        return next((head for head in heads if head.cohort_hash in development), heads[0])
    found = [h for h in heads if h.name == name] or [h for h in heads if len(name) >= 6 and h.hash.startswith(name)]
    if len(found) != 1:
        of_study = ", ".join(cohort.name for cohort in cohorts) or "none yet"
        frozen = ", ".join(head.name for head in heads) or "none yet"
        raise NotFoundError(
            f"There is no cohort or reference {name}, or several; the study has the cohorts {of_study} and the "
            f"references {frozen}."
        )
    return found[0]


def _readings(conn: Connection, closed: _Closed) -> Iterator[Vote]:
    """Yield everybody's votes and second readings, or those the reference was made of, whatever was imported since."""
    head, cohort = closed.reference, closed.cohort
    raters, until = head.raters, head.last_annotation
    if not closed.counted:
        raters, until = tuple(annotation_store.submitted_counts(conn, list(cohort.members), head.label_set_hash)), None
    first = in_order(conn, cohort, raters, label_set_hash=head.label_set_hash, until=until)
    return with_second_readings(conn, cohort, first, label_set_hash=head.label_set_hash, until=until)


def _reference_rows(conn: Connection, closed: _Closed) -> Iterator[Sequence[object]]:
    head, label_set = closed.reference, closed.label_set
    rule, raters = head.rule, "; ".join(head.raters)
    of_label_set = (label_set.id, label_set.version, label_set.hash)
    place = {finding: i for i, finding in enumerate(label_set.ids)}
    adjudicated = frozenset(head.adjudicated)
    items = reference_store.iterate_items(conn, head.hash)
    for report_id, of_report in groupby(items, key=lambda item: item[0]):
        for _, finding, item in sorted(of_report, key=lambda found: place[found[1]]):
            yield (
                report_id,
                finding,
                item.outcome.value,
                item.present,
                item.missing,
                item.tie,
                (report_id, finding) in adjudicated,
                head.name,
                head.hash,
                head.parent_hash,
                head.reason or None,
                rule.k,
                rule.n,
                rule.tie.value,
                head.vote_policies.of(finding).value,
                raters,
                *of_label_set,
                head.created_at,
                head.author,
                head.simulated,
            )


def _agreement(study: Study, conn: Connection, closed: _Closed, view: View) -> Agreed:
    findings, raters = closed.label_set.ids, closed.reference.raters
    report_ids = sorted(closed.cohort.members)
    codes = np.full((len(report_ids), len(findings), len(raters)), MISSING, dtype=np.int8)
    head = closed.reference
    counted = in_order(conn, closed.cohort, raters, label_set_hash=head.label_set_hash, until=head.last_annotation)
    for i, (_, _, given) in enumerate(counted):
        if given is not None:
            labels = [given.states.get(finding, State.NOT_MENTIONED).code for finding in findings]
            codes[i // len(raters), :, i % len(raters)] = labels
    patients = report_store.patients(conn)
    return agreed(
        view,
        findings,
        codes,
        policies=closed.reference.vote_policies,
        asked=asked_for(study, closed.cohort),
        patients=[patients[report] for report in report_ids],
    )
