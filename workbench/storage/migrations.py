"""The shape of the database, as numbered steps that are only ever appended to.

A step that has been in a release is never edited: databases that people hold have already taken it.
History tables refuse UPDATE and DELETE by trigger, so that no later code can edit a judgement by accident; members
of a cohort and items of a reference go in before the row that names them and none can be added after it.
"""

import sqlite3
from collections.abc import Callable
from typing import TYPE_CHECKING

from workbench.errors import InputError
from workbench.storage.steps import asking, generated_reports, rating, revising, studies

if TYPE_CHECKING:
    from sqlite_utils import Database as UtilsDatabase

SET_NAME = "workbench"
STEPS = (*studies.STEPS, *rating.STEPS, *revising.STEPS, *generated_reports.STEPS, *asking.STEPS)


def is_current(conn: sqlite3.Connection) -> bool:
    """Return whether the database has every step, without writing to it.

    Raises:
        InputError: it was made by a later version, or by another program.
    """
    applied = _applied(conn)
    known = [name for name, _ in STEPS]
    if set(applied) - set(known):
        raise InputError(
            f"The database {_file(conn)} was made by a later version of the workbench (step {max(applied)}); "
            "update the workbench to open it."
        )
    if not applied and conn.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchone():
        raise InputError(
            f"{_file(conn)} is a database of another program; name the study's own database or a new file."
        )
    return len(applied) == len(known)


def migrate(conn: sqlite3.Connection, stop_before: str | None = None) -> None:
    """Apply the steps that are missing. Call it inside ``BEGIN IMMEDIATE``: two first openings then wait in turn.

    Raises:
        InputError: as ``is_current``.
    """
    if is_current(conn):
        return
    # Imported only where there is something to do: it takes a second, because it looks for pandas.
    from sqlite_utils import Database as UtilsDatabase  # noqa: PLC0415
    from sqlite_utils import Migrations  # noqa: PLC0415

    migrations = Migrations(SET_NAME)
    for name, statements in STEPS:
        migrations(name=name)(_executing(statements))
    migrations.apply(UtilsDatabase(conn, execute_plugins=False), stop_before=stop_before)


def _executing(statements: tuple[str, ...]) -> "Callable[[UtilsDatabase], None]":
    def step(database: "UtilsDatabase") -> None:
        for statement in statements:  # not executescript, which would commit the transaction we are in
            database.conn.execute(statement)

    return step


def _applied(conn: sqlite3.Connection) -> list[str]:
    if not conn.execute("SELECT 1 FROM sqlite_master WHERE name = '_sqlite_migrations'").fetchone():
        return []
    rows = conn.execute("SELECT name FROM _sqlite_migrations WHERE migration_set = ?", (SET_NAME,))
    return [row[0] for row in rows]


def _file(conn: sqlite3.Connection) -> str:
    return str(conn.execute("PRAGMA database_list").fetchone()[2])
