"""Reports in and raters' labels in: all of a file or nothing of it."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from sqlite3 import Connection

from workbench.domain.actors import Actor, Role
from workbench.domain.annotations import IN_THE_BROWSER, Annotation
from workbench.domain.cohorts import Cohort
from workbench.domain.reports import Report
from workbench.errors import ConflictError, InputError
from workbench.formats.labels import RATER, RaterRow, read_labels
from workbench.formats.reports import read_reports
from workbench.formats.sources import source_hash
from workbench.formats.tables import read_table
from workbench.formats.votes import ReadVote, is_long, read_long
from workbench.storage import annotations as annotation_store
from workbench.storage import cohorts as cohort_store
from workbench.storage import imports as import_store
from workbench.storage import reports as report_store
from workbench.text.languages import language_of
from workbench.workflow.rounds import last_round
from workbench.workflow.study import Study


@dataclass(frozen=True, slots=True)
class ReportImport:
    """What an import of reports did: reports added, already known, and with nothing to read in the read sections."""

    file: str
    added: int
    known: int
    unreadable: tuple[str, ...]


def import_reports(
    study: Study,
    actor: Actor,
    path: Path,
    *,
    form: str | None = None,
    columns: Mapping[str, str] | None = None,
    encoding: str = "utf-8",
) -> ReportImport:
    """Take the reports of a file into the study, all of them or none.

    Args:
        study: the study.
        actor: a lead or admin.
        path: the file, or a folder or zip archive of MIMIC-CXR's.
        form: one of ``formats.reports.FORMS``; by the file's ending when None.
        columns: which column holds what, for example ``{"id": "StudyID", "text": "ReportText"}``.
        encoding: of the file.

    Raises:
        InputError: the file cannot be read as said; names the row.
        ConflictError: a report id is known with another text; shows both.
    """
    actor.require(Role.LEAD, Role.ADMIN, to="import reports")
    found = read_reports(path, form=form, columns=columns, language="", encoding=encoding)
    reports = [_in_its_language(report) for report in found]
    if not reports:
        raise InputError(f"{path.name} holds no report.")
    with study.writing(actor) as conn:
        import_id = import_store.add(
            conn,
            "reports",
            path.name,
            file_hash=source_hash(path),
            actor=actor.name,
            at=datetime.now(UTC),
            rows=len(reports),
        )
        added, known = report_store.add(conn, reports, import_id)
    unreadable = tuple(r.id for r in reports if not r.select(study.settings.sections))
    return ReportImport(path.name, added, known, unreadable)


def _in_its_language(report: Report) -> Report:
    """Return a report whose file says no language with the one that its letters tell, English where they cannot."""
    if report.language:
        return report
    body = report.select([section.name for section in report.sections])
    return replace(report, language=language_of(body, "en"))


@dataclass(frozen=True, slots=True)
class LabelImport:
    """What an import of labels did: reports submitted per rater, rows that no rater had reviewed, and second readings,
    which never vote.
    """

    file: str
    submitted: Mapping[str, int]
    not_reviewed: int
    second_readings: int = 0


def import_labels(
    study: Study,
    actor: Actor,
    path: Path,
    *,
    rater: str | None = None,
    report_column: str = "report_id",
    rater_column: str | None = None,
    cohort: Cohort | None = None,
    encoding: str = "utf-8",
    simulated: bool = False,
) -> LabelImport:
    """Take raters' labels into the study, all of a file or none.

    Args:
        study: the study.
        actor: a lead or admin.
        path: a wide CSV (1 / 0 / -1 / blank), or a long one as ``export_votes`` writes it, which also brings times,
            evidence and sources.
        rater: whose labels a wide file holds; by its column ``rater`` when neither this nor ``rater_column`` is given,
            else by its name without ending.
        report_column: the column with the report id.
        rater_column: the column with the rater, for one file of several.
        cohort: take only the rows of this cohort's reports; all rows when None.
        encoding: of the file.
        simulated: the labels were not made by a person; said wherever they count.

    Raises:
        InputError: the file is no CSV, or a row names an unknown report, finding or value; says which.
        ConflictError: its labels would take the place of those that a rater submitted in an open round.
    """
    actor.require(Role.LEAD, Role.ADMIN, to="import labels")
    if path.suffix.lower() == ".parquet":
        raise InputError(f"{path.name}: labels are imported from CSV; export the votes with a name that ends in .csv.")
    now = datetime.now(UTC)
    if is_long(path, encoding):
        if rater or rater_column:
            raise InputError(f"{path.name} says itself who labelled each row; leave the rater out.")
        votes = read_long(path, study.label_set, now=now, encoding=encoding)
    else:
        if rater is None and rater_column is None:
            rater = None if RATER in read_table(path, encoding).columns else path.stem
        rows = read_labels(
            path,
            study.label_set,
            rater=rater,
            report_column=report_column,
            rater_column=rater_column,
            encoding=encoding,
        )
        votes = [_vote(study, row, path.name, now) for row in rows]
    if cohort is not None:
        votes = [vote for vote in votes if vote.report_id in cohort.members]
    submitted = [vote.given for vote in votes if vote.given is not None]
    if simulated:
        submitted = [replace(given, simulated=True) for given in submitted]
    with study.writing(actor) as conn:
        _check_reports_known(set(report_store.text_hashes(conn)), votes, path.name)
        _check_replaces_nobodys(conn, submitted, path.name)
        import_store.add(
            conn, "labels", path.name, file_hash=source_hash(path), actor=actor.name, at=now, rows=len(votes)
        )
        annotation_store.append_many(conn, submitted)
    counts = Counter(given.rater for given in submitted if given.reading == 1)
    return LabelImport(path.name, dict(counts), len(votes) - len(submitted), len(submitted) - counts.total())


def _check_reports_known(known: set[str], votes: Sequence[ReadVote], file: str) -> None:
    for vote in votes:
        if vote.report_id not in known:
            raise InputError(
                f"{file}, row {vote.row}: report {vote.report_id} is not in this study; import the reports first."
            )


def _check_replaces_nobodys(conn: Connection, submitted: Sequence[Annotation], file: str) -> None:
    """Raise ConflictError where imported labels would take the place of a rater's own in a round that is open."""
    for cohort in cohort_store.list_all(conn):
        view = last_round(conn, cohort)
        if view is None or not view.open:
            continue
        members, label_set = sorted(cohort.members), view.round.label_set_hash
        rated = annotation_store.latest(conn, members, label_set, submitted_only=True)
        by_hand = {(given.report_id, given.rater) for given in rated if given.source == IN_THE_BROWSER}
        for given in submitted:
            if (given.report_id, given.rater) in by_hand:
                raise ConflictError(
                    f"{file}: {given.rater} has submitted report {given.report_id} in the open round {view.round.name} "
                    "and these labels would take the place of theirs; close the round first."
                )


def _vote(study: Study, row: RaterRow, file: str, at: datetime) -> ReadVote:
    """Return a row of a wide file as a vote; what was not reviewed is none, whatever the row holds."""
    if not row.reviewed:
        return ReadVote(row.report_id, row.rater, None, row.row)
    given = Annotation(
        report_id=row.report_id,
        rater=row.rater,
        states=row.states,
        submitted=True,
        at=at,
        label_set_hash=study.label_set.hash,
        comment=row.comment,
        source=file,
        simulated=row.simulated,
        reading=row.reading,
    )
    return ReadVote(row.report_id, row.rater, given, row.row)
