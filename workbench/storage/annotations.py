"""Raters' labels: appended, never edited. The last of a rater on a report is the one that counts."""

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from workbench.domain.annotations import Annotation, Mark
from workbench.domain.findings import State
from workbench.storage.encoding import from_json, id_array, instant, instant_text, json_text

_INSERT = """INSERT INTO annotations
    (report_id, rater, label_set_hash, submitted, at, states, evidence, comment, seconds, source, simulated, reading,
    marks, reason) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"""


def append(conn: sqlite3.Connection, annotation: Annotation) -> None:
    """Add one rater's labels of one report after all earlier ones, which stay."""
    append_many(conn, [annotation])


def append_many(conn: sqlite3.Connection, annotations: Iterable[Annotation]) -> int:
    """Add annotations in the order given and return how many."""
    cursor = conn.executemany(_INSERT, map(_row, annotations))
    return max(cursor.rowcount, 0)


def take(conn: sqlite3.Connection, rater: str, tab: str, number: int) -> bool:
    """Note that an act, numbered by the rater's browser tab, was worked off; False where it or a later one was."""
    cursor = conn.execute(
        "INSERT INTO acts_heard (person, tab, number) VALUES (?, ?, ?) "
        "ON CONFLICT DO UPDATE SET number = excluded.number WHERE excluded.number > acts_heard.number",
        (rater, tab, number),
    )
    return cursor.rowcount == 1


def taken(conn: sqlite3.Connection, rater: str, tab: str) -> int:
    """Return the number of the last act of a rater's browser tab that was worked off, 0 before the first."""
    row = conn.execute("SELECT number FROM acts_heard WHERE person = ? AND tab = ?", (rater, tab)).fetchone()
    return int(row["number"]) if row else 0


def latest(
    conn: sqlite3.Connection,
    report_ids: Sequence[str],
    label_set_hash: str,
    *,
    submitted_only: bool = True,
    rater: str | None = None,
    until: int | None = None,
    reading: int = 1,
) -> list[Annotation]:
    """Return the last annotation of each rater on each report, in the order of ``report_ids``, then by rater.

    Last means added last, whatever its date: what is imported after a browser session supersedes it. With
    ``submitted_only`` a draft that follows a submission leaves the submission standing. ``rater`` limits the answer
    to one person, which is what a blind rater's page reads. ``until`` is a ``last_id``: what was added after it is left
    out, which gives the votes that a frozen reference was made of. Second readings never mix with the first.
    """
    rows = conn.execute(
        """WITH wanted AS (SELECT value AS report_id, MIN(key) AS place FROM json_each(?) GROUP BY value),
        last AS (
            SELECT MAX(a.id) AS id, wanted.place AS place
            FROM wanted JOIN annotations AS a ON a.report_id = wanted.report_id
            WHERE a.label_set_hash = ? AND a.submitted >= ? AND (? IS NULL OR a.rater = ?) AND (? IS NULL OR a.id <= ?)
                AND a.reading = ?
            GROUP BY a.report_id, a.rater
        )
        SELECT a.* FROM last JOIN annotations AS a ON a.id = last.id ORDER BY last.place, a.rater""",
        (id_array(report_ids), label_set_hash, int(submitted_only), rater, rater, until, until, reading),
    )
    return [_annotation(row) for row in rows]


@dataclass(frozen=True, slots=True)
class Standing:
    """How far a rater is with one reading of a report: their last annotation without what it says.

    ``ever_submitted`` is true also while submitted labels are being changed.
    """

    report_id: str
    reading: int
    submitted: bool
    ever_submitted: bool
    at: datetime
    seconds: float | None
    marks: frozenset[Mark]


def standing(conn: sqlite3.Connection, report_ids: Sequence[str], label_set_hash: str, rater: str) -> list[Standing]:
    """Return how far a rater is with each of the reports they have touched, in no order."""
    # With MAX the other columns are those of the row that has the maximum (sqlite.org/lang_select.html#bareagg).
    rows = conn.execute(
        "SELECT MAX(id), SUM(submitted) > 0 AS ever, report_id, reading, submitted, at, seconds, marks "
        "FROM annotations "
        "WHERE report_id IN (SELECT value FROM json_each(?)) AND label_set_hash = ? AND rater = ? "
        "GROUP BY report_id, reading",
        (id_array(report_ids), label_set_hash, rater),
    )
    return [
        Standing(
            row["report_id"],
            row["reading"],
            bool(row["submitted"]),
            bool(row["ever"]),
            instant(row["at"]),
            row["seconds"],
            frozenset(Mark(mark) for mark in from_json(row["marks"])),
        )
        for row in rows
    ]


def iterate_submitted(
    conn: sqlite3.Connection, cohort: str, label_set_hash: str, *, until: int | None = None
) -> Iterator[Annotation]:
    """Yield the last submitted annotation of each rater on each report of a cohort, by report id, then by rater.

    ``until`` is as in ``latest``.
    """
    # The members' key and the annotations' index are both in this order, so nothing is sorted. With MAX the other
    # columns are those of the row that has the maximum (sqlite.org/lang_select.html#bareagg).
    rows = conn.execute(
        "SELECT MAX(a.id), a.* FROM cohort_members AS m JOIN annotations AS a ON a.report_id = m.report_id "
        "WHERE m.cohort = ? AND a.label_set_hash = ? AND a.submitted AND a.reading = 1 AND (? IS NULL OR a.id <= ?) "
        "GROUP BY m.report_id, a.rater ORDER BY m.report_id, a.rater",
        (cohort, label_set_hash, until, until),
    )
    return map(_annotation, rows)


def last_id(conn: sqlite3.Connection) -> int:
    """Return the number of the annotation that was added last, 0 where there is none; it only grows."""
    return int(conn.execute("SELECT COALESCE(MAX(id), 0) FROM annotations").fetchone()[0])


def history(conn: sqlite3.Connection, report_id: str, rater: str) -> list[Annotation]:
    """Return everything a rater ever saved on a report, oldest first, drafts and other label sets included."""
    rows = conn.execute("SELECT * FROM annotations WHERE report_id = ? AND rater = ? ORDER BY id", (report_id, rater))
    return [_annotation(row) for row in rows]


def raters(conn: sqlite3.Connection) -> list[str]:
    """Return the names of everybody who saved anything, sorted."""
    return [row["rater"] for row in conn.execute("SELECT DISTINCT rater FROM annotations ORDER BY rater")]


def savers(conn: sqlite3.Connection, report_ids: Sequence[str], label_set_hash: str, *, since: datetime) -> list[str]:
    """Return whose labels of the reports were given since a time, drafts included, sorted."""
    rows = conn.execute(
        "SELECT DISTINCT rater FROM annotations WHERE label_set_hash = ? AND at >= ? "
        "AND report_id IN (SELECT value FROM json_each(?)) ORDER BY rater",
        (label_set_hash, instant_text(since), id_array(report_ids)),
    )
    return [row["rater"] for row in rows]


def submitted_counts(conn: sqlite3.Connection, report_ids: Sequence[str], label_set_hash: str) -> dict[str, int]:
    """Return how many of the reports each rater has submitted; raters without any are left out."""
    rows = conn.execute(
        "SELECT rater, COUNT(DISTINCT report_id) AS reports FROM annotations "
        "WHERE label_set_hash = ? AND submitted AND reading = 1 AND report_id IN (SELECT value FROM json_each(?)) "
        "GROUP BY rater ORDER BY rater",
        (label_set_hash, id_array(report_ids)),
    )
    return {row["rater"]: row["reports"] for row in rows}


def _row(annotation: Annotation) -> tuple[object, ...]:
    return (
        annotation.report_id,
        annotation.rater,
        annotation.label_set_hash,
        int(annotation.submitted),
        instant_text(annotation.at),
        json_text({finding: state.value for finding, state in annotation.states.items()}),
        json_text(dict(annotation.evidence)),
        annotation.comment,
        annotation.seconds,
        annotation.source,
        int(annotation.simulated),
        annotation.reading,
        json_text(sorted(annotation.marks)),
        annotation.reason,
    )


def _annotation(row: sqlite3.Row) -> Annotation:
    return Annotation(
        report_id=row["report_id"],
        rater=row["rater"],
        states={finding: State(state) for finding, state in from_json(row["states"]).items()},
        submitted=bool(row["submitted"]),
        at=instant(row["at"]),
        label_set_hash=row["label_set_hash"],
        evidence=from_json(row["evidence"]),
        comment=row["comment"],
        seconds=row["seconds"],
        source=row["source"],
        simulated=bool(row["simulated"]),
        reading=row["reading"],
        marks=frozenset(Mark(mark) for mark in from_json(row["marks"])),
        reason=row["reason"],
    )
