"""The connection to the study's database: who may write when, and what a broken file is told as."""

import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from workbench.errors import InputError, WorkbenchError
from workbench.storage.migrations import is_current, migrate

BUSY_SECONDS = 30.0

_UNREADABLE = {sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT}
_MEANING = {
    sqlite3.SQLITE_BUSY: "another process has been writing to it for too long; try again in a moment",
    sqlite3.SQLITE_LOCKED: "another process has been writing to it for too long; try again in a moment",
    sqlite3.SQLITE_FULL: "the disk is full; make room and try again, nothing was half written",
    sqlite3.SQLITE_READONLY: "it may not be written to; check the rights of the file and its folder",
    sqlite3.SQLITE_IOERR: "the disk could not be read or written; check it and try again",
    sqlite3.SQLITE_CANTOPEN: "it cannot be opened; check that the folder exists and that you may write to it",
}


class Database:
    """One study's SQLite file, in WAL mode, brought up to date when it is opened and made when it is missing.

    Each thread has its own connection, kept until the thread or this object ends: a connection never crosses
    threads, and closing the last one after each use would write the whole log back each time. Open a Database per
    script run; do not put one in a cache that several people share.

    Raises:
        InputError: the file is no database, damaged, another program's, or made by a later version.
        WorkbenchError: it cannot be opened or written to.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._local = threading.local()
        with self._explained():
            conn = self._connection()
            if not is_current(conn):
                with self.write() as writing:
                    migrate(writing)

    @contextmanager
    def read(self) -> Iterator[sqlite3.Connection]:
        """Give this thread's connection for reading; each statement sees what was committed before it.

        Inside ``write()`` it is the writing connection and sees what that has not committed yet.
        """
        with self._explained():
            yield self._connection()

    @contextmanager
    def snapshot(self) -> Iterator[sqlite3.Connection]:
        """Give this thread's connection for reading, all statements seeing the study as it was at the first of them.

        Others go on writing meanwhile. It cannot be used inside ``write()`` or another snapshot.
        """
        with self.read() as conn:
            conn.execute("BEGIN")
            try:
                yield conn
            finally:
                conn.rollback()

    @contextmanager
    def write(self) -> Iterator[sqlite3.Connection]:
        """Give a connection inside one immediate transaction: committed at the end, rolled back on any exception.

        It waits up to 30 s for another writer. Keep it short and never await inside it.

        Raises:
            RuntimeError: this thread is already writing; pass that connection on instead.
            WorkbenchError: another process held the database for longer than that, or the disk is full.
        """
        conn = self._connection()
        if conn.in_transaction:
            raise RuntimeError("this thread is already inside write(): pass its connection on")
        with self._explained():
            conn.execute("PRAGMA query_only = OFF")
            try:
                # Deferred would let two readers both try to become the writer, and one of them fail at once.
                conn.execute("BEGIN IMMEDIATE")
                yield conn
                conn.execute("COMMIT")
            finally:
                conn.rollback()  # does nothing after a commit
                conn.execute("PRAGMA query_only = ON")

    def integrity(self) -> list[str]:
        """Return what SQLite finds wrong with the file, broken references included; empty when it is sound."""
        with self.read() as conn:
            found = [str(row[0]) for row in conn.execute("PRAGMA integrity_check")]
            found += [f"{row[0]}: a row names one in {row[2]} that is missing" for row in _broken_references(conn)]
        return [line for line in found if line != "ok"]

    def close(self) -> None:
        """Close this thread's connection; the next use opens another."""
        conn = getattr(self._local, "conn", None)
        if conn is not None:
            conn.close()
            del self._local.conn

    def _connection(self) -> sqlite3.Connection:
        conn: sqlite3.Connection | None = getattr(self._local, "conn", None)
        if conn is None:
            with self._explained():
                conn = _connect(self.path)
            self._local.conn = conn
        return conn

    @contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.DatabaseError as error:
            code = getattr(error, "sqlite_errorcode", None)
            primary = code & 0xFF if code is not None else None
            if primary in _UNREADABLE:
                raise InputError(f"{self.path} is no database or is damaged; restore it from a copy.") from error
            if primary in _MEANING:
                raise WorkbenchError(f"The database {self.path}: {_MEANING[primary]}.") from error
            raise


def _connect(path: Path) -> sqlite3.Connection:
    if path.is_dir():
        raise InputError(f"{path} is a folder; name the database file in it.")
    # isolation_level None: Python opens no transactions of its own, write() alone does.
    conn = sqlite3.connect(path, timeout=BUSY_SECONDS, isolation_level=None)
    try:
        conn.row_factory = sqlite3.Row
        _enter_wal(conn)
        # FULL: a label that was shown as saved survives a power cut, at one flush per judgement.
        conn.execute("PRAGMA synchronous = FULL")
        conn.execute("PRAGMA foreign_keys = ON")
        # Without it INSERT OR REPLACE would delete rows past the triggers that guard history.
        conn.execute("PRAGMA recursive_triggers = ON")
        conn.execute("PRAGMA query_only = ON")
    except BaseException:
        conn.close()
        raise
    return conn


def _enter_wal(conn: sqlite3.Connection) -> None:
    """Switch to write-ahead logging. Two first openings may collide, which SQLite reports without waiting.

    Where a file system cannot do it SQLite keeps its usual journal, which is as safe and only slower.
    """
    deadline = time.monotonic() + BUSY_SECONDS
    while True:
        try:
            conn.execute("PRAGMA journal_mode = WAL")
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() > deadline:
                raise
            time.sleep(0.01)
        else:
            return


def _broken_references(conn: sqlite3.Connection) -> list[sqlite3.Row]:
    return conn.execute("PRAGMA foreign_key_check").fetchall()
