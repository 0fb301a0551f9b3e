"""Batches: reports handed to a provider to be answered within a day. Nothing of a batch is ever edited."""

import sqlite3
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from workbench.domain.runs import ExtractionKey
from workbench.errors import ConflictError
from workbench.storage.encoding import id_array, instant, instant_text

SUBMITTED, TOLD, COLLECTED, DROPPED = "submitted", "told", "collected", "dropped"

_BATCHES = """SELECT b.*, (SELECT COUNT(*) FROM batch_requests AS q WHERE q.batch_id = b.id) AS requests,
        sent.provider_id, sent.at AS sent_at, last.state, last.answered, last.failed, last.at AS told_at,
        EXISTS (SELECT 1 FROM batch_events AS e WHERE e.batch_id = b.id AND e.event IN ('collected', 'dropped')) AS over
    FROM batches AS b
    LEFT JOIN batch_events AS sent ON sent.batch_id = b.id AND sent.event = 'submitted'
    LEFT JOIN batch_events AS last
        ON last.id = (SELECT MAX(e.id) FROM batch_events AS e WHERE e.batch_id = b.id)"""
_UNDER_WAY = """SELECT DISTINCT q.text_hash, q.repeat, b.run_hash FROM batches AS b
    JOIN runs AS r ON r.hash = b.run_hash JOIN batch_requests AS q ON q.batch_id = b.id
    WHERE r.prompt_hash = ? AND r.labeler_hash = ? AND r.label_set_hash = ?
    AND q.text_hash IN (SELECT value FROM json_each(?))
    AND NOT EXISTS (SELECT 1 FROM batch_events AS e WHERE e.batch_id = b.id AND e.event IN ('collected', 'dropped'))"""


@dataclass(frozen=True, slots=True)
class NewBatch:
    """A batch that is about to be handed over. Tokens are estimates, of all its requests together."""

    token: str
    constraint: str
    input_tokens: int
    output_tokens: int


@dataclass(frozen=True, slots=True)
class BatchRecord:
    """A batch and how it stands. ``provider_id`` is empty, and ``submitted_at`` None, where its provider has not said
    that it has it.

    ``state``, ``answered`` and ``failed`` are as the provider last told, at ``told_at``. ``over`` says that what came
    of it has been collected, or that nothing will.
    """

    id: int
    run_hash: str
    token: str
    constraint: str
    requests: int
    input_tokens: int
    output_tokens: int
    actor: str
    at: datetime
    provider_id: str = ""
    submitted_at: datetime | None = None
    state: str = ""
    answered: int = 0
    failed: int = 0
    told_at: datetime | None = None
    over: bool = False


@dataclass(frozen=True, slots=True)
class Told:
    """What a provider says of a batch."""

    provider_id: str = ""
    state: str = ""
    answered: int = 0
    failed: int = 0


def plan(
    conn: sqlite3.Connection, run_hash: str, new: NewBatch, keys: Sequence[ExtractionKey], *, actor: str, at: datetime
) -> int:
    """Write down a batch of a run before it is handed over, and return its number.

    Raises:
        ConflictError: another batch may still answer some of it.
    """
    if under_way(conn, keys):
        raise ConflictError("Another run has just handed over some of these reports; do the same again.")
    cursor = conn.execute(
        "INSERT INTO batches (run_hash, token, held_by, input_tokens, output_tokens, actor, at) "
        "VALUES (?, ?, ?, ?, ?, ?, ?)",
        (run_hash, new.token, new.constraint, new.input_tokens, new.output_tokens, actor, instant_text(at)),
    )
    number = int(cursor.lastrowid or 0)
    conn.executemany(
        "INSERT INTO batch_requests (batch_id, text_hash, repeat) VALUES (?, ?, ?)",
        ((number, key.text_hash, key.repeat) for key in keys),
    )
    return number


def add_event(conn: sqlite3.Connection, number: int, event: str, told: Told, *, actor: str, at: datetime) -> bool:
    """Keep what happened to a batch and return whether it is news: but for ``TOLD``, each happens once."""
    cursor = conn.execute(
        "INSERT INTO batch_events (batch_id, event, provider_id, state, answered, failed, actor, at) "
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
        (number, event, told.provider_id, told.state, told.answered, told.failed, actor, instant_text(at)),
    )
    return cursor.rowcount == 1


def of_run(conn: sqlite3.Connection, run_hash: str) -> list[BatchRecord]:
    """Return the batches of a run, oldest first."""
    return [_record(row) for row in conn.execute(f"{_BATCHES} WHERE b.run_hash = ? ORDER BY b.id", (run_hash,))]


def requests(conn: sqlite3.Connection, number: int) -> list[tuple[str, int]]:
    """Return the hash of the text, and the repeat, of each request of a batch."""
    rows = conn.execute(
        "SELECT text_hash, repeat FROM batch_requests WHERE batch_id = ? ORDER BY repeat, text_hash", (number,)
    )
    return [(row["text_hash"], row["repeat"]) for row in rows]


def provider_ids(conn: sqlite3.Connection) -> frozenset[str]:
    """Return what providers call the batches that are known to be theirs."""
    return frozenset(row[0] for row in conn.execute("SELECT provider_id FROM batch_events WHERE event = 'submitted'"))


def under_way(conn: sqlite3.Connection, keys: Iterable[ExtractionKey]) -> dict[ExtractionKey, str]:
    """Return those keys that a batch may still answer, whichever run's it is, each with that run's hash."""
    groups: dict[tuple[str, str, str], dict[tuple[str, int], ExtractionKey]] = {}
    for key in keys:
        group = groups.setdefault((key.prompt_hash, key.labeler_hash, key.label_set_hash), {})
        group[key.text_hash, key.repeat] = key
    found: dict[ExtractionKey, str] = {}
    for alike, by_text in groups.items():
        texts = id_array({text for text, _ in by_text})
        for row in conn.execute(_UNDER_WAY, (*alike, texts)):
            known = by_text.get((row["text_hash"], row["repeat"]))
            if known is not None:
                found[known] = row["run_hash"]
    return found


def _record(row: sqlite3.Row) -> BatchRecord:
    return BatchRecord(
        id=row["id"],
        run_hash=row["run_hash"],
        token=row["token"],
        constraint=row["held_by"],
        requests=row["requests"],
        input_tokens=row["input_tokens"],
        output_tokens=row["output_tokens"],
        actor=row["actor"],
        at=instant(row["at"]),
        provider_id=row["provider_id"] or "",
        submitted_at=instant(row["sent_at"]) if row["sent_at"] else None,
        state=row["state"] or "",
        answered=row["answered"] or 0,
        failed=row["failed"] or 0,
        told_at=instant(row["told_at"]) if row["told_at"] else None,
        over=bool(row["over"]),
    )
