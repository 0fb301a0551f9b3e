"""A copy of the database that is whole, taken while others write to it."""

import sqlite3
from contextlib import closing
from pathlib import Path

from workbench.storage.database import Database
from workbench.storage.migrations import SET_NAME, STEPS

# What is of the moment and would be wrong in a restored study: who is signed in, and who works on a run.
_FORGET = {table: f"DELETE FROM {table}" for table in ("leases", "sessions", "sign_in_failures")}  # noqa: S608


def copy_database(database: Database, target: Path) -> list[str]:
    """Copy a database into a new file as it is at one moment and return the migration steps it has taken.

    Nobody has to stop: what others commit while the copy is made is not in it, nor is what only counts for the moment
    (sessions, leases). The copy is one file without a log beside it.

    Raises:
        WorkbenchError: the disk is full, or the database cannot be read.
    """
    with database.read() as source, closing(sqlite3.connect(target)) as copy:
        # All pages in one step: in smaller ones SQLite starts anew at each write of another process.
        source.backup(copy, pages=-1)
        copy.execute("PRAGMA journal_mode = DELETE")
        copy.execute("PRAGMA secure_delete = ON")
        for table, forget in _FORGET.items():
            if copy.execute("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?", (table,)).fetchone():
                copy.execute(forget)
        copy.commit()
    return steps_of(target)


def steps_of(path: Path) -> list[str]:
    """Return the names of the migration steps that a database file has taken, in their order."""
    with closing(sqlite3.connect(path)) as conn:
        rows = conn.execute("SELECT name FROM _sqlite_migrations WHERE migration_set = ? ORDER BY name", (SET_NAME,))
        return [str(row[0]) for row in rows]


def known_steps() -> list[str]:
    """Return the migration steps that this version knows, in their order."""
    return [name for name, _ in STEPS]


def faults_of(path: Path) -> list[str]:
    """Return what SQLite finds wrong with a database file, broken references included; empty when it is sound.

    The file is only read: one that is no database at all is a fault like any other.
    """
    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as conn:
            found = [str(row[0]) for row in conn.execute("PRAGMA integrity_check")]
            broken = conn.execute("PRAGMA foreign_key_check").fetchall()
    except sqlite3.DatabaseError as error:
        return [str(error)]
    return [line for line in found if line != "ok"] + [f"{row[0]}: a row names a missing {row[2]}" for row in broken]
