"""Hosts that were opened for reports, and closed again: added, never edited."""

import sqlite3
from dataclasses import replace
from datetime import date, datetime

from workbench.domain.data_use import Basis, Opening
from workbench.storage.encoding import instant, instant_text


def open_host(conn: sqlite3.Connection, opening: Opening) -> None:
    """Record that a host is opened; what was recorded of it before stays, and this basis counts from now on."""
    conn.execute(
        "INSERT INTO data_use_events (host, event, agreement, zero_retention, until, actor, at) "
        "VALUES (?, 'opened', ?, ?, ?, ?, ?)",
        (
            opening.host,
            opening.basis.agreement,
            int(opening.basis.zero_retention),
            opening.basis.until.isoformat() if opening.basis.until else "",
            opening.actor,
            instant_text(opening.at),
        ),
    )


def close_host(conn: sqlite3.Connection, host: str, actor: str, at: datetime) -> None:
    """Record that a host is closed."""
    conn.execute(
        "INSERT INTO data_use_events (host, event, actor, at) VALUES (?, 'closed', ?, ?)",
        (host, actor, instant_text(at)),
    )


def latest(conn: sqlite3.Connection) -> list[Opening]:
    """Return the last opening of each host that ever had one, by host, closed ones included."""
    found: dict[str, Opening] = {}
    for row in conn.execute("SELECT * FROM data_use_events ORDER BY id"):
        if row["event"] == "closed":
            if row["host"] in found:
                found[row["host"]] = replace(found[row["host"]], closed_at=instant(row["at"]), closed_by=row["actor"])
            continue
        until = date.fromisoformat(row["until"]) if row["until"] else None
        basis = Basis(row["agreement"], bool(row["zero_retention"]), until)
        found[row["host"]] = Opening(row["host"], basis, row["actor"], instant(row["at"]))
    return [found[host] for host in sorted(found)]
