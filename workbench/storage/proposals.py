"""What language models answered when they were asked for edits of a prompt: paid for, so kept as it came."""

import json
import sqlite3
from datetime import datetime

from workbench.storage.encoding import instant_text


def add(conn: sqlite3.Connection, key: str, said: object, *, actor: str, at: datetime) -> None:
    """Keep an answer under what was asked; a later one takes the place of an earlier, which stays on record."""
    conn.execute(
        "INSERT INTO proposals (key, said, actor, at) VALUES (?, ?, ?, ?)",
        (key, json.dumps(said, ensure_ascii=False), actor, instant_text(at)),
    )


def last(conn: sqlite3.Connection, key: str) -> object | None:
    """Return the last answer to what was asked; None where it never was."""
    row = conn.execute("SELECT said FROM proposals WHERE key = ? ORDER BY id DESC LIMIT 1", (key,)).fetchone()
    return None if row is None else json.loads(row["said"])
