"""Reports as they came in: added once, never changed."""

import sqlite3
from collections.abc import Iterable, Iterator, Sequence

from workbench.domain.reports import Report, Section
from workbench.errors import ConflictError
from workbench.storage.encoding import from_json, id_array, json_text
from workbench.text.differences import first_difference


def add(conn: sqlite3.Connection, reports: Iterable[Report], import_id: int) -> tuple[int, int]:
    """Add reports and return how many were new and how many were known with the very same text.

    Raises:
        ConflictError: an id is known with another text, or with another patient. Nothing is kept when the caller's
            transaction ends with it.
    """
    added = known = 0
    for report in reports:
        there = get(conn, report.id)
        if there is not None:
            _refuse_other(there, report)
            known += 1
            continue
        sections = [[s.name, s.start, s.end] for s in report.sections]
        conn.execute(
            "INSERT INTO reports (id, patient_id, text, text_hash, sections, language, source, import_id) "
            "VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            (
                report.id,
                report.patient_id,
                report.text,
                report.hash,
                json_text(sections),
                report.language,
                report.source,
                import_id,
            ),
        )
        added += 1
    return added, known


def get(conn: sqlite3.Connection, report_id: str) -> Report | None:
    """Return a report by its id, or None."""
    row = conn.execute("SELECT * FROM reports WHERE id = ?", (report_id,)).fetchone()
    return _report(row) if row else None


def iterate(conn: sqlite3.Connection) -> Iterator[Report]:
    """Yield every report in the order in which they came in, without holding them all."""
    return map(_report, conn.execute("SELECT * FROM reports ORDER BY position"))


def list_all(conn: sqlite3.Connection) -> list[Report]:
    """Return every report in the order in which they came in."""
    return list(iterate(conn))


def by_ids(conn: sqlite3.Connection, report_ids: Sequence[str]) -> list[Report]:
    """Return reports in the order of ``report_ids``; ids that are not known are left out."""
    rows = conn.execute(
        "SELECT r.* FROM json_each(?) AS wanted JOIN reports AS r ON r.id = wanted.value ORDER BY wanted.key",
        (id_array(report_ids),),
    )
    return [_report(row) for row in rows]


def count(conn: sqlite3.Connection) -> int:
    """Return how many reports there are."""
    return int(conn.execute("SELECT COUNT(*) FROM reports").fetchone()[0])


def patients(conn: sqlite3.Connection) -> dict[str, str]:
    """Return the patient id of every report id, in the order in which they came in."""
    return dict(map(tuple, conn.execute("SELECT id, patient_id FROM reports ORDER BY position")))


def text_hashes(conn: sqlite3.Connection) -> dict[str, str]:
    """Return the text hash of every report id, in the order in which they came in."""
    return dict(map(tuple, conn.execute("SELECT id, text_hash FROM reports ORDER BY position")))


def _report(row: sqlite3.Row) -> Report:
    sections = tuple(Section(*section) for section in from_json(row["sections"]))
    return Report(row["id"], row["patient_id"], row["text"], sections, row["language"], row["source"])


def _refuse_other(there: Report, report: Report) -> None:
    if there.text != report.text:
        old, new = first_difference(there.text, report.text)
        raise ConflictError(
            f"Report {report.id} is already here with another text: {_from(there)} has “{old}”, "
            f"{_from(report)} has “{new}”; nothing was taken in. Give one of them another id."
        )
    if there.patient_id != report.patient_id:
        raise ConflictError(
            f"Report {report.id} is already here as patient {there.patient_id}, and {_from(report)} says patient "
            f"{report.patient_id}; nothing was taken in. Correct the patient column."
        )


def _from(report: Report) -> str:
    return report.source or "a report without a file"
