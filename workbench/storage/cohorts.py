"""Cohorts, fixed once made, and the record of a locked one being opened."""

import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from workbench.domain.cohorts import Cohort, Purpose
from workbench.errors import ConflictError, NotFoundError
from workbench.storage.encoding import from_json, instant, instant_text, json_text
from workbench.storage.reports import text_hashes


@dataclass(frozen=True, slots=True)
class Unlock:
    """One opening of a locked cohort. ``details`` holds what was declared beforehand, as JSON."""

    cohort: str
    actor: str
    at: datetime
    reason: str
    details: Mapping[str, object]


def add(conn: sqlite3.Connection, cohort: Cohort) -> None:
    """Keep a new cohort.

    Raises:
        ConflictError: the name is taken, or another cohort holds the very same reports: a score or a lock on one
            would silently be one on the other.
        NotFoundError: a member is not in the study with that text.
    """
    taken = conn.execute("SELECT name FROM cohorts WHERE name = ? OR hash = ?", (cohort.name, cohort.hash)).fetchone()
    if taken is not None:
        raise ConflictError(_taken(taken["name"], cohort.name))
    _require_members(conn, cohort)
    # Members first: once the cohort's own row stands, the database takes no more of them.
    conn.executemany(
        "INSERT INTO cohort_members (cohort, report_id, text_hash, probability) VALUES (?, ?, ?, ?)",
        [
            (cohort.name, report_id, text_hash, cohort.probabilities.get(report_id, 1.0))
            for report_id, text_hash in cohort.members.items()
        ],
    )
    conn.execute(
        "INSERT INTO cohorts (name, hash, purpose, seed, created_at, author) VALUES (?, ?, ?, ?, ?, ?)",
        (
            cohort.name,
            cohort.hash,
            cohort.purpose.value,
            cohort.seed,
            instant_text(cohort.created_at),
            cohort.author,
        ),
    )


def get(conn: sqlite3.Connection, name: str) -> Cohort | None:
    """Return a cohort by its name, or None."""
    row = conn.execute("SELECT * FROM cohorts WHERE name = ?", (name,)).fetchone()
    return _cohort(conn, row) if row else None


def by_hash(conn: sqlite3.Connection, cohort_hash: str) -> Cohort | None:
    """Return a cohort by its hash, or None."""
    row = conn.execute("SELECT * FROM cohorts WHERE hash = ?", (cohort_hash,)).fetchone()
    return _cohort(conn, row) if row else None


def list_all(conn: sqlite3.Connection) -> list[Cohort]:
    """Return every cohort, oldest first."""
    rows = conn.execute("SELECT * FROM cohorts ORDER BY position").fetchall()
    return [_cohort(conn, row) for row in rows]


def unlock(
    conn: sqlite3.Connection, name: str, *, actor: str, at: datetime, reason: str, details: Mapping[str, object]
) -> None:
    """Record that a locked cohort was opened.

    Raises:
        NotFoundError: there is no cohort of that name.
    """
    if conn.execute("SELECT 1 FROM cohorts WHERE name = ?", (name,)).fetchone() is None:
        raise NotFoundError(f"There is no cohort named {name}.")
    conn.execute(
        "INSERT INTO unlocks (cohort, actor, at, reason, details) VALUES (?, ?, ?, ?, ?)",
        (name, actor, instant_text(at), reason, json_text(dict(details))),
    )


def unlocks(conn: sqlite3.Connection, name: str) -> list[Unlock]:
    """Return every opening of a cohort, oldest first; empty while it is locked."""
    rows = conn.execute("SELECT * FROM unlocks WHERE cohort = ? ORDER BY id", (name,))
    return [
        Unlock(row["cohort"], row["actor"], instant(row["at"]), row["reason"], from_json(row["details"]))
        for row in rows
    ]


def _require_members(conn: sqlite3.Connection, cohort: Cohort) -> None:
    texts = text_hashes(conn)
    for report_id, text_hash in cohort.members.items():
        if texts.get(report_id) != text_hash:
            raise NotFoundError(
                f"Report {report_id} of cohort {cohort.name} is not in the study with that text; import it first."
            )


def _taken(there: str, name: str) -> str:
    if there == name:
        return f"A cohort named {name} exists and is fixed; choose another name."
    return f"Cohort {there} holds the very same reports as {name} would; use it instead."


def _cohort(conn: sqlite3.Connection, row: sqlite3.Row) -> Cohort:
    members = conn.execute(
        "SELECT report_id, text_hash, probability FROM cohort_members WHERE cohort = ? ORDER BY report_id",
        (row["name"],),
    ).fetchall()
    return Cohort(
        name=row["name"],
        purpose=Purpose(row["purpose"]),
        members={m["report_id"]: m["text_hash"] for m in members},
        probabilities={m["report_id"]: m["probability"] for m in members},
        seed=row["seed"],
        created_at=instant(row["created_at"]),
        author=row["author"],
    )
