"""Reports in and raters' labels in: all of a file or nothing of it."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from workbench.domain.actors import Actor, Role
from workbench.domain.annotations import Annotation
from workbench.domain.cohorts import Cohort
from workbench.errors import InputError
from workbench.formats.labels import RaterRow, read_labels
from workbench.formats.reports import read_reports
from workbench.storage import annotations as annotation_store
from workbench.storage import imports as import_store
from workbench.storage import reports as report_store
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
        path: the file.
        form: csv, jsonl or openi; by the file's ending when None.
        columns: which column holds what, for example ``{"id": "StudyID", "text": "ReportText"}``.
        encoding: of the file.

    Raises:
        InputError: the file cannot be read as said; names the row.
        ConflictError: a report id is known with another text; shows both.
    """
    actor.require(Role.LEAD, Role.ADMIN, to="import reports")
    reports = read_reports(path, form=form, columns=columns, encoding=encoding)
    if not reports:
        raise InputError(f"{path.name} holds no report.")
    with study.database.write() as conn:
        import_id = import_store.add(
            conn,
            "reports",
            path.name,
            file_hash=_file_hash(path),
            actor=actor.name,
            at=datetime.now(UTC),
            rows=len(reports),
        )
        added, known = report_store.add(conn, reports, import_id)
    unreadable = tuple(r.id for r in reports if not r.select(study.settings.sections))
    return ReportImport(path.name, added, known, unreadable)


@dataclass(frozen=True, slots=True)
class LabelImport:
    """What an import of labels did: reports submitted per rater, and rows that no rater had reviewed."""

    file: str
    submitted: Mapping[str, int]
    not_reviewed: int


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
    """Take raters' labels from a wide CSV (1 / 0 / -1 / blank) into the study, all of them or none.

    Args:
        study: the study.
        actor: a lead or admin.
        path: the file; one rater per file (``rater``) or a column that names the rater (``rater_column``).
        rater: whose labels the file holds; the file's name without ending when neither is given.
        report_column: the column with the report id.
        rater_column: the column with the rater.
        cohort: take only the rows of this cohort's reports; all rows when None.
        encoding: of the file.
        simulated: the labels were not made by a person; said wherever they count.

    Raises:
        InputError: a row names an unknown report, finding or value; says which.
    """
    actor.require(Role.LEAD, Role.ADMIN, to="import labels")
    named = rater or (None if rater_column else path.stem)
    rows = read_labels(
        path, study.label_set, rater=named, report_column=report_column, rater_column=rater_column, encoding=encoding
    )
    if cohort is not None:
        rows = [row for row in rows if row.report_id in cohort.members]
    now = datetime.now(UTC)
    submitted = [row for row in rows if row.reviewed]
    with study.database.write() as conn:
        _check_reports_known(set(report_store.text_hashes(conn)), rows, path.name)
        import_store.add(
            conn, "labels", path.name, file_hash=_file_hash(path), actor=actor.name, at=now, rows=len(rows)
        )
        annotation_store.append_many(conn, [_annotation(study, row, path.name, now, simulated) for row in submitted])
    counts: dict[str, int] = {}
    for row in submitted:
        counts[row.rater] = counts.get(row.rater, 0) + 1
    return LabelImport(path.name, counts, len(rows) - len(submitted))


def _check_reports_known(known: set[str], rows: list[RaterRow], file: str) -> None:
    for row in rows:
        if row.report_id not in known:
            raise InputError(
                f"{file}, row {row.row}: report {row.report_id} is not in this study; import the reports first."
            )


def _annotation(study: Study, row: RaterRow, file: str, at: datetime, simulated: bool) -> Annotation:
    return Annotation(
        report_id=row.report_id,
        rater=row.rater,
        states=row.states,
        submitted=True,
        at=at,
        label_set_hash=study.label_set.hash,
        source=file,
        simulated=simulated,
    )


def _file_hash(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
