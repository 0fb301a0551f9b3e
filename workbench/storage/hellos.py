"""What labelers' servers answered when they were last said hello to. Replaced each time: it is no history."""

import sqlite3

from workbench.domain.runs import Hello
from workbench.storage.encoding import instant, instant_text


def keep(conn: sqlite3.Connection, labeler_hash: str, hello: Hello) -> None:
    """Keep the last answer of a labeler's server."""
    conn.execute(
        "INSERT INTO hellos (labeler_hash, held_by, served_model, latency, at) VALUES (?, ?, ?, ?, ?) "
        "ON CONFLICT (labeler_hash) DO UPDATE SET held_by = excluded.held_by, served_model = excluded.served_model, "
        "latency = excluded.latency, at = excluded.at",
        (labeler_hash, hello.constraint, hello.served_model, hello.latency, instant_text(hello.at)),
    )


def get(conn: sqlite3.Connection, labeler_hash: str) -> Hello | None:
    """Return the last answer of a labeler's server, None where it was never asked or never answered."""
    row = conn.execute("SELECT * FROM hellos WHERE labeler_hash = ?", (labeler_hash,)).fetchone()
    return Hello(row["held_by"], row["served_model"], row["latency"], instant(row["at"])) if row else None
