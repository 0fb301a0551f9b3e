"""Runs, the extractions they are made of, and the lease that lets one runner at a time work on a run."""

import sqlite3
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from workbench.domain.findings import State
from workbench.domain.runs import Extraction, ExtractionKey, ExtractionStatus, LabelerSettings, Mention, Run
from workbench.storage.encoding import from_json, id_array, instant, instant_text, json_text

_WHOLE = """SELECT * FROM extractions
    WHERE prompt_hash = ? AND labeler_hash = ? AND label_set_hash = ? AND repeat = ?
    AND text_hash IN (SELECT value FROM json_each(?))"""
_OUTCOME = """SELECT text_hash, status, at FROM extractions
    WHERE prompt_hash = ? AND labeler_hash = ? AND label_set_hash = ? AND repeat = ?
    AND text_hash IN (SELECT value FROM json_each(?))"""


@dataclass(frozen=True, slots=True)
class RunRecord:
    """A run with who first asked for it, and when."""

    run: Run
    actor: str
    at: datetime


@dataclass(frozen=True, slots=True)
class Lease:
    """Who works on a run, since when, and when they last showed that they are alive."""

    run_hash: str
    runner: str
    acquired_at: datetime
    heartbeat_at: datetime


def add(conn: sqlite3.Connection, run: Run, actor: str, at: datetime) -> None:
    """Record a run; one that is already there is left as it is, pace of its labeler included."""
    conn.execute(
        "INSERT INTO runs (hash, prompt_hash, label_set_hash, cohort_hash, labeler_hash, labeler, sections, repeats, "
        "actor, at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (hash) DO NOTHING",
        (
            run.hash,
            run.prompt_hash,
            run.label_set_hash,
            run.cohort_hash,
            run.labeler.hash,
            json_text(_labeler_json(run.labeler)),
            json_text(list(run.sections)),
            run.repeats,
            actor,
            instant_text(at),
        ),
    )


def get(conn: sqlite3.Connection, run_hash: str) -> RunRecord | None:
    """Return a run by its hash, or None."""
    row = conn.execute("SELECT * FROM runs WHERE hash = ?", (run_hash,)).fetchone()
    return _record(row) if row else None


def list_all(conn: sqlite3.Connection) -> list[RunRecord]:
    """Return every run, oldest first."""
    return [_record(row) for row in conn.execute("SELECT * FROM runs ORDER BY position")]


def save_extractions(
    conn: sqlite3.Connection, pairs: Iterable[tuple[ExtractionKey, Extraction]], at: datetime | None = None
) -> int:
    """Keep extractions and return how many were new; a key that has one keeps it, so nothing is labelled twice."""
    when = instant_text(at or datetime.now(UTC))
    cursor = conn.executemany(
        "INSERT INTO extractions (prompt_hash, label_set_hash, labeler_hash, text_hash, repeat, status, mentions, "
        "detail, raw, input_tokens, output_tokens, latency, at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) "
        "ON CONFLICT (prompt_hash, labeler_hash, label_set_hash, repeat, text_hash) DO NOTHING",
        (_extraction_row(key, extraction, when) for key, extraction in pairs),
    )
    return max(cursor.rowcount, 0)


def extractions(conn: sqlite3.Connection, keys: Iterable[ExtractionKey]) -> dict[ExtractionKey, Extraction]:
    """Return the extraction of each key that has one."""
    return {key: _extraction(row) for key, row in _rows(conn, keys, _WHOLE)}


def statuses(conn: sqlite3.Connection, keys: Iterable[ExtractionKey]) -> dict[ExtractionKey, ExtractionStatus]:
    """Return the status of each key that has an extraction, without reading what it says."""
    return {key: ExtractionStatus(row["status"]) for key, row in _rows(conn, keys, _OUTCOME)}


def done_keys(conn: sqlite3.Connection, keys: Iterable[ExtractionKey]) -> set[ExtractionKey]:
    """Return the keys that have an extraction, usable or not."""
    return set(statuses(conn, keys))


def status_counts(conn: sqlite3.Connection, keys: Sequence[ExtractionKey]) -> dict[ExtractionStatus, int]:
    """Return how many of the keys ended in each status that occurs.

    A key that is given twice counts twice: reports with the same text share one extraction. What is missing from
    the sum is still to do.
    """
    known = statuses(conn, keys)
    return dict(Counter(known[key] for key in keys if key in known))


def last_saved_at(conn: sqlite3.Connection, keys: Iterable[ExtractionKey]) -> datetime | None:
    """Return when the last of the keys' extractions was saved, or None when there is none."""
    times = [str(row["at"]) for _, row in _rows(conn, keys, _OUTCOME)]
    return instant(max(times)) if times else None


def acquire_lease(conn: sqlite3.Connection, run_hash: str, runner: str, now: datetime, stale_after: timedelta) -> bool:
    """Take a run for one runner and return whether it got it. Call it inside ``write()``.

    A lease whose last heartbeat is older than ``stale_after`` is taken over; the runner that lost it learns so from
    its next heartbeat. Asking again for a lease one holds renews it.
    """
    cursor = conn.execute(
        "INSERT INTO leases (run_hash, runner, acquired_at, heartbeat_at) VALUES (?, ?, ?, ?) "
        "ON CONFLICT (run_hash) DO UPDATE SET runner = excluded.runner, heartbeat_at = excluded.heartbeat_at, "
        "acquired_at = CASE WHEN runner = excluded.runner THEN acquired_at ELSE excluded.acquired_at END "
        "WHERE runner = excluded.runner OR heartbeat_at < ?",
        (run_hash, runner, instant_text(now), instant_text(now), instant_text(now - stale_after)),
    )
    return cursor.rowcount == 1


def heartbeat(conn: sqlite3.Connection, run_hash: str, runner: str, now: datetime) -> bool:
    """Renew a lease and return whether the runner still holds it; one that does not must stop."""
    cursor = conn.execute(
        "UPDATE leases SET heartbeat_at = ? WHERE run_hash = ? AND runner = ?", (instant_text(now), run_hash, runner)
    )
    return cursor.rowcount == 1


def release_lease(conn: sqlite3.Connection, run_hash: str, runner: str) -> None:
    """Give a lease back; one that another runner holds is left alone."""
    conn.execute("DELETE FROM leases WHERE run_hash = ? AND runner = ?", (run_hash, runner))


def lease(conn: sqlite3.Connection, run_hash: str) -> Lease | None:
    """Return the lease on a run, stale or not, or None."""
    row = conn.execute("SELECT * FROM leases WHERE run_hash = ?", (run_hash,)).fetchone()
    if row is None:
        return None
    return Lease(row["run_hash"], row["runner"], instant(row["acquired_at"]), instant(row["heartbeat_at"]))


def _rows(
    conn: sqlite3.Connection, keys: Iterable[ExtractionKey], query: str
) -> Iterable[tuple[ExtractionKey, sqlite3.Row]]:
    """Yield the row of each key that has one: one query per repeat, since a run's keys differ in text otherwise."""
    groups: dict[tuple[str, str, str, int], dict[str, ExtractionKey]] = {}
    for key in keys:
        group = (key.prompt_hash, key.labeler_hash, key.label_set_hash, key.repeat)
        groups.setdefault(group, {})[key.text_hash] = key
    for group, by_text in groups.items():
        for row in conn.execute(query, (*group, id_array(by_text))):
            yield by_text[row["text_hash"]], row


def _extraction_row(key: ExtractionKey, extraction: Extraction, when: str) -> tuple[object, ...]:
    mentions = {finding: [mention.state.value, mention.evidence] for finding, mention in extraction.mentions.items()}
    return (
        key.prompt_hash,
        key.label_set_hash,
        key.labeler_hash,
        key.text_hash,
        key.repeat,
        extraction.status.value,
        json_text(mentions),
        extraction.detail,
        extraction.raw,
        extraction.input_tokens,
        extraction.output_tokens,
        extraction.latency,
        when,
    )


def _extraction(row: sqlite3.Row) -> Extraction:
    mentions = from_json(row["mentions"])
    return Extraction(
        status=ExtractionStatus(row["status"]),
        mentions={finding: Mention(State(state), evidence) for finding, (state, evidence) in mentions.items()},
        detail=row["detail"],
        raw=row["raw"],
        input_tokens=row["input_tokens"],
        output_tokens=row["output_tokens"],
        latency=row["latency"],
    )


def _record(row: sqlite3.Row) -> RunRecord:
    labeler = from_json(row["labeler"])
    run = Run(
        prompt_hash=row["prompt_hash"],
        label_set_hash=row["label_set_hash"],
        cohort_hash=row["cohort_hash"],
        labeler=LabelerSettings(**labeler),
        sections=tuple(from_json(row["sections"])),
        repeats=row["repeats"],
    )
    return RunRecord(run, row["actor"], instant(row["at"]))


def _labeler_json(labeler: LabelerSettings) -> dict[str, object]:
    return {
        **labeler.identity,
        "name": labeler.name,
        "concurrency": labeler.concurrency,
        "timeout": labeler.timeout,
        "delay": labeler.delay,
    }
