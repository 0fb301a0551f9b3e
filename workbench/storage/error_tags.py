"""What people say of errors, and the items of a reference that they doubt: appended, never edited."""

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from workbench.domain.error_kinds import ErrorKind, ErrorTag
from workbench.domain.rounds import Adjudication
from workbench.storage.encoding import instant, instant_text
from workbench.storage.rounds import adjudication_of


@dataclass(frozen=True, slots=True)
class DoubtedItem:
    """An item put before an adjudicator again; ``control`` where nobody doubts it."""

    report_id: str
    finding_id: str
    control: bool


def add(conn: sqlite3.Connection, tag: ErrorTag) -> None:
    """Append a tag."""
    conn.execute(
        "INSERT INTO error_tags (evaluation_hash, report_id, finding_id, kind, comment, actor, at) "
        "VALUES (?, ?, ?, ?, ?, ?, ?)",
        (
            tag.evaluation_hash,
            tag.report_id,
            tag.finding_id,
            tag.kind.value,
            tag.comment,
            tag.actor,
            instant_text(tag.at),
        ),
    )


def of_evaluation(conn: sqlite3.Connection, evaluation_hash: str) -> list[ErrorTag]:
    """Return the tags of a score's errors, oldest first, superseded ones included."""
    rows = conn.execute("SELECT * FROM error_tags WHERE evaluation_hash = ? ORDER BY id", (evaluation_hash,))
    return [
        ErrorTag(
            row["evaluation_hash"],
            row["report_id"],
            row["finding_id"],
            ErrorKind(row["kind"]),
            row["comment"],
            row["actor"],
            instant(row["at"]),
        )
        for row in rows
    ]


def doubt(
    conn: sqlite3.Connection, reference_hash: str, items: Sequence[DoubtedItem], actor: str, at: datetime
) -> None:
    """Put items before the adjudicator of doubts; those that are there already stay as they are."""
    conn.executemany(
        "INSERT INTO doubted_items (reference_hash, report_id, finding_id, control, actor, at) "
        "VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
        [(reference_hash, i.report_id, i.finding_id, int(i.control), actor, instant_text(at)) for i in items],
    )


def doubted(conn: sqlite3.Connection, reference_hash: str) -> list[DoubtedItem]:
    """Return the items of a reference that wait for an adjudicator or were judged, in the order they came."""
    rows = conn.execute("SELECT * FROM doubted_items WHERE reference_hash = ? ORDER BY id", (reference_hash,))
    return [DoubtedItem(row["report_id"], row["finding_id"], bool(row["control"])) for row in rows]


def add_verdict(conn: sqlite3.Connection, made: Adjudication) -> None:
    """Append what an adjudicator says of a doubted item."""
    conn.execute(
        "INSERT INTO doubt_verdicts (reference_hash, report_id, finding_id, present, reason, actor, at) "
        "VALUES (?, ?, ?, ?, ?, ?, ?)",
        (
            made.reference_hash,
            made.report_id,
            made.finding_id,
            int(made.present),
            made.reason,
            made.actor,
            instant_text(made.at),
        ),
    )


def verdicts(conn: sqlite3.Connection, reference_hash: str) -> list[Adjudication]:
    """Return what adjudicators said of doubted items, oldest first, superseded ones included."""
    rows = conn.execute("SELECT * FROM doubt_verdicts WHERE reference_hash = ? ORDER BY id", (reference_hash,))
    return [adjudication_of(row) for row in rows]
