"""What signing in rests on: hashes of passwords and one-time codes, sessions, and counted failures.

None of it is history. A hash that was replaced, a session that ended and a failure that was forgiven are removed.
Nothing here holds a password, a code or a token as it was typed: only hashes.
"""

import sqlite3
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from workbench.storage.encoding import id_array, instant, instant_text


@dataclass(frozen=True, slots=True)
class Credentials:
    """Hashes of a person's password and one-time code, each empty where there is none."""

    password: str = field(default="", repr=False)
    code: str = field(default="", repr=False)
    code_expires_at: datetime | None = None


def credentials(conn: sqlite3.Connection, name: str) -> Credentials:
    """Return a person's credentials, empty ones where they have none."""
    row = conn.execute("SELECT * FROM credentials WHERE name = ?", (name,)).fetchone()
    if row is None:
        return Credentials()
    expires = row["code_expires_at"]
    return Credentials(row["password"], row["code"], instant(expires) if expires else None)


def set_credentials(conn: sqlite3.Connection, name: str, given: Credentials) -> None:
    """Replace a person's credentials; the earlier hashes are gone."""
    expires = instant_text(given.code_expires_at) if given.code_expires_at else ""
    conn.execute("DELETE FROM credentials WHERE name = ?", (name,))
    conn.execute("INSERT INTO credentials VALUES (?, ?, ?, ?)", (name, given.password, given.code, expires))


def remove_credentials(conn: sqlite3.Connection, name: str) -> None:
    """Forget a person's password and code."""
    conn.execute("DELETE FROM credentials WHERE name = ?", (name,))


def start_session(
    conn: sqlite3.Connection, token_hash: str, name: str, *, started_at: datetime, expires_at: datetime
) -> None:
    """Add a session, remove those that have run out, and keep when the person signed in."""
    conn.execute("DELETE FROM sessions WHERE expires_at <= ?", (instant_text(started_at),))
    conn.execute(
        "INSERT INTO sessions VALUES (?, ?, ?, ?)",
        (token_hash, name, instant_text(started_at), instant_text(expires_at)),
    )
    conn.execute(
        "INSERT INTO last_sign_ins VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET at = excluded.at",
        (name, instant_text(started_at)),
    )


def last_sign_ins(conn: sqlite3.Connection) -> dict[str, datetime]:
    """Return when each person last signed in, by name; whoever never did is left out."""
    return {row["name"]: instant(row["at"]) for row in conn.execute("SELECT * FROM last_sign_ins")}


def session_name(conn: sqlite3.Connection, token_hash: str, now: datetime) -> str | None:
    """Return whose session it is, None where there is no such session or it has run out."""
    row = conn.execute(
        "SELECT name FROM sessions WHERE token_hash = ? AND expires_at > ?", (token_hash, instant_text(now))
    ).fetchone()
    return row["name"] if row else None


def end_session(conn: sqlite3.Connection, token_hash: str) -> None:
    """Remove a session; one that is not there is no matter."""
    conn.execute("DELETE FROM sessions WHERE token_hash = ?", (token_hash,))


def end_sessions(conn: sqlite3.Connection, name: str, *, but: str = "") -> int:
    """Remove all sessions of a person, ``but`` the one of that token hash, and return how many there were."""
    return conn.execute("DELETE FROM sessions WHERE name = ? AND token_hash <> ?", (name, but)).rowcount


def failures(conn: sqlite3.Connection, keys: Sequence[str]) -> dict[str, tuple[int, datetime]]:
    """Return for each key that has failures how many, and when the last was."""
    rows = conn.execute(
        "SELECT * FROM sign_in_failures WHERE key IN (SELECT value FROM json_each(?))", (id_array(keys),)
    )
    return {row["key"]: (row["failures"], instant(row["last_at"])) for row in rows}


def count_failure(conn: sqlite3.Connection, keys: Iterable[str], now: datetime) -> None:
    """Add one failure to each key."""
    conn.executemany(
        """INSERT INTO sign_in_failures VALUES (?, 1, ?)
        ON CONFLICT (key) DO UPDATE SET failures = failures + 1, last_at = excluded.last_at""",
        [(key, instant_text(now)) for key in keys],
    )


def take_back_failure(conn: sqlite3.Connection, key: str) -> None:
    """Take one failure off a key."""
    conn.execute("DELETE FROM sign_in_failures WHERE key = ? AND failures = 1", (key,))
    conn.execute("UPDATE sign_in_failures SET failures = failures - 1 WHERE key = ?", (key,))


def forget_failures(conn: sqlite3.Connection, *, key: str | None = None, before: datetime | None = None) -> None:
    """Forget the failures of a key, or all whose last one was before an instant."""
    last = instant_text(before) if before else None
    conn.execute("DELETE FROM sign_in_failures WHERE key = ? OR last_at < ?", (key, last))
