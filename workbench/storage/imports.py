"""Which file brought what in, when, and who took it."""

import sqlite3
from dataclasses import dataclass
from datetime import datetime

from workbench.storage.encoding import instant, instant_text


@dataclass(frozen=True, slots=True)
class Import:
    """The record of one file that was taken in. ``kind`` is what it held: reports, labels."""

    id: int
    kind: str
    file: str
    file_hash: str
    actor: str
    at: datetime
    rows: int


def add(conn: sqlite3.Connection, kind: str, file: str, *, file_hash: str, actor: str, at: datetime, rows: int) -> int:
    """Record an import and return its id."""
    cursor = conn.execute(
        "INSERT INTO imports (kind, file, file_hash, actor, at, rows) VALUES (?, ?, ?, ?, ?, ?)",
        (kind, file, file_hash, actor, instant_text(at), rows),
    )
    assert cursor.lastrowid is not None  # noqa: S101 - set after every insert
    return cursor.lastrowid


def list_all(conn: sqlite3.Connection) -> list[Import]:
    """Return every import, oldest first."""
    rows = conn.execute("SELECT id, kind, file, file_hash, actor, at, rows FROM imports ORDER BY id")
    return [
        Import(row["id"], row["kind"], row["file"], row["file_hash"], row["actor"], instant(row["at"]), row["rows"])
        for row in rows
    ]
