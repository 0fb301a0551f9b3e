"""Runs, the extractions they are made of, and the lease that lets one runner at a time work on a run."""

import sqlite3
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, astuple, dataclass
from datetime import UTC, datetime, timedelta

from workbench.domain.findings import State
from workbench.domain.runs import (
    Extraction,
    ExtractionKey,
    ExtractionStatus,
    Failure,
    Flag,
    LabelerSettings,
    Mention,
    Pace,
    Price,
    Run,
    Usage,
)
from workbench.storage.encoding import from_json, id_array, instant, instant_text, json_text
from workbench.storage.token_sums import TokenSum

_WHOLE = """SELECT * FROM extractions
    WHERE prompt_hash = ? AND labeler_hash = ? AND label_set_hash = ? AND repeat = ?
    AND text_hash IN (SELECT value FROM json_each(?))"""
_OUTCOME = """SELECT text_hash, status, at, input_tokens, output_tokens, cached_tokens, written_tokens, batch, lost
    FROM extractions
    WHERE prompt_hash = ? AND labeler_hash = ? AND label_set_hash = ? AND repeat = ?
    AND text_hash IN (SELECT value FROM json_each(?))"""
# SQLite gives the other columns of the row that has the MAX.
_LAST_FAILURE = """SELECT MAX(f.id), f.text_hash, f.trouble, f.detail, f.calls, f.at FROM failures AS f
    WHERE f.prompt_hash = ? AND f.labeler_hash = ? AND f.label_set_hash = ? AND f.repeat = ?
    AND f.text_hash IN (SELECT value FROM json_each(?)) AND NOT EXISTS (
        SELECT 1 FROM extractions AS e WHERE e.prompt_hash = f.prompt_hash AND e.labeler_hash = f.labeler_hash
        AND e.label_set_hash = f.label_set_hash AND e.repeat = f.repeat AND e.text_hash = f.text_hash
    ) GROUP BY f.text_hash"""
_FAILED_TOOK = """SELECT text_hash, took FROM failures
    WHERE prompt_hash = ? AND labeler_hash = ? AND label_set_hash = ? AND repeat = ?
    AND text_hash IN (SELECT value FROM json_each(?)) AND took != ''"""


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
    pace: Pace | None = None  # as the runner told with its last heartbeat


@dataclass(frozen=True, slots=True)
class Standing:
    """How the keys of a run stand. ``counts`` counts a key as often as it was given, ``usage`` and ``ended`` once.

    A key with a failure and no extraction counts as ``failed``; what is missing from the sum is still to do.
    ``last_at`` is when the last of it was saved, None where nothing was. ``unanswered`` counts the keys with a failure
    and no extraction, as ``counts`` does; extractions of early versions have the status ``failed`` too.
    """

    counts: Mapping[ExtractionStatus, int]
    usage: Usage
    ended: int
    last_at: datetime | None
    unanswered: int = 0


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
        "detail, raw, input_tokens, output_tokens, latency, at, cached_tokens, request_id, served_model, "
        "finish_reason, held_by, flags, unrepaired, reasoning, written_tokens, batch, lost) "
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) "
        "ON CONFLICT (prompt_hash, labeler_hash, label_set_hash, repeat, text_hash) DO NOTHING",
        (_extraction_row(key, extraction, when) for key, extraction in pairs),
    )
    return max(cursor.rowcount, 0)


def save_failures(
    conn: sqlite3.Connection, pairs: Iterable[tuple[ExtractionKey, Failure]], at: datetime | None = None
) -> None:
    """Keep that texts brought no reply. Each attempt is kept; a key that gets an extraction later is healed by it."""
    when = instant_text(at or datetime.now(UTC))
    conn.executemany(
        "INSERT INTO failures (prompt_hash, label_set_hash, labeler_hash, text_hash, repeat, trouble, detail, calls, "
        "at, took) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            (*_key_row(key), failure.trouble, failure.detail, failure.calls, when, _took_text(failure.usage))
            for key, failure in pairs
        ),
    )


def failures(conn: sqlite3.Connection, keys: Iterable[ExtractionKey]) -> dict[ExtractionKey, Failure]:
    """Return the last failure of each key that has one and no extraction."""
    return {key: Failure(row["trouble"], row["detail"], row["calls"]) for key, row in _rows(conn, keys, _LAST_FAILURE)}


def extractions(conn: sqlite3.Connection, keys: Iterable[ExtractionKey]) -> dict[ExtractionKey, Extraction]:
    """Return the extraction of each key that has one."""
    return {key: _extraction(row) for key, row in _rows(conn, keys, _WHOLE)}


def statuses(conn: sqlite3.Connection, keys: Iterable[ExtractionKey]) -> dict[ExtractionKey, ExtractionStatus]:
    """Return the status of each key that has an extraction, without reading what it says."""
    return {key: ExtractionStatus(row["status"]) for key, row in _rows(conn, keys, _OUTCOME)}


def outcomes(
    conn: sqlite3.Connection, keys: Iterable[ExtractionKey]
) -> tuple[dict[ExtractionKey, ExtractionStatus], Usage]:
    """Return the status of each key that has an extraction, and what all of them took together, with all calls for
    any of the keys that brought none.
    """
    keys = list(keys)
    found: dict[ExtractionKey, ExtractionStatus] = {}
    # By call and in batches, one by one: a Usage for each of many rows takes its time.
    sums = {False: TokenSum(), True: TokenSum()}
    for key, row in _rows(conn, keys, _OUTCOME):
        status = found[key] = ExtractionStatus(row["status"])
        sums[row["batch"] != ""].add(row, status)
    used = sums[False].usage() + sums[True].usage(in_batches=True)
    return found, used + failed_usage(conn, keys)


def standing(conn: sqlite3.Connection, keys: Sequence[ExtractionKey]) -> Standing:
    """Return how the keys stand, without reading what any extraction says."""
    times = Counter(keys)
    counts: Counter[ExtractionStatus] = Counter()
    sums = {False: TokenSum(), True: TokenSum()}
    ended, last, unanswered = 0, "", 0
    for key, row in _rows(conn, times, _OUTCOME):
        ended += 1
        status = ExtractionStatus(row["status"])
        counts[status] += times[key]
        sums[row["batch"] != ""].add(row, status)
        last = max(last, row["at"])
    used = sums[False].usage() + sums[True].usage(in_batches=True) + failed_usage(conn, times)
    for key, row in _rows(conn, times, _LAST_FAILURE):
        ended += 1
        unanswered += times[key]
        last = max(last, row["at"])
    if unanswered:
        counts[ExtractionStatus.FAILED] += unanswered
    return Standing(dict(counts), used, ended, instant(last) if last else None, unanswered)


def failed_usage(conn: sqlite3.Connection, keys: Iterable[ExtractionKey]) -> Usage:
    """Return what calls took that brought no reply, those of early attempts and those that healed since included."""
    return sum((Usage(*from_json(row["took"])) for _, row in _rows(conn, keys, _FAILED_TOOK)), Usage())


def add_stop(conn: sqlite3.Connection, run_hash: str, why: str, at: datetime) -> None:
    """Keep why a run stopped before its end."""
    conn.execute("INSERT INTO run_stops (run_hash, why, at) VALUES (?, ?, ?)", (run_hash, why, instant_text(at)))


def last_stop(conn: sqlite3.Connection, run_hash: str) -> tuple[str, datetime] | None:
    """Return why a run last stopped before its end, and when; None where it never did."""
    query = "SELECT why, at FROM run_stops WHERE run_hash = ? ORDER BY id DESC LIMIT 1"
    row = conn.execute(query, (run_hash,)).fetchone()
    return (row["why"], instant(row["at"])) if row else None


def usage_of(extraction: Extraction) -> Usage:
    """Return what one extraction took; nothing where no model was asked."""
    summed = TokenSum()
    found = {
        "input_tokens": extraction.input_tokens,
        "output_tokens": extraction.output_tokens,
        "cached_tokens": extraction.cached_tokens,
        "written_tokens": extraction.written_tokens,
        "lost": extraction.lost,
    }
    summed.add(found, extraction.status)
    return summed.usage(in_batches=extraction.batch != "")


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


def heartbeat(conn: sqlite3.Connection, run_hash: str, runner: str, now: datetime, pace: Pace | None = None) -> bool:
    """Renew a lease, tell how the runner gets on, and return whether it still holds it; one that does not must stop."""
    cursor = conn.execute(
        "UPDATE leases SET heartbeat_at = ?, pace = ? WHERE run_hash = ? AND runner = ?",
        (instant_text(now), _pace_text(pace), run_hash, runner),
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
    return Lease(
        row["run_hash"], row["runner"], instant(row["acquired_at"]), instant(row["heartbeat_at"]), _pace(row["pace"])
    )


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
        *_key_row(key),
        extraction.status.value,
        json_text(mentions),
        extraction.detail,
        extraction.raw,
        extraction.input_tokens,
        extraction.output_tokens,
        extraction.latency,
        when,
        extraction.cached_tokens,
        extraction.request_id,
        extraction.served_model,
        extraction.finish_reason,
        extraction.constraint,
        json_text({flag.value: list(findings) for flag, findings in extraction.flags.items()}),
        extraction.unrepaired,
        extraction.reasoning,
        extraction.written_tokens,
        extraction.batch,
        extraction.lost,
    )


def _key_row(key: ExtractionKey) -> tuple[object, ...]:
    return (key.prompt_hash, key.label_set_hash, key.labeler_hash, key.text_hash, key.repeat)


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
        cached_tokens=row["cached_tokens"],
        request_id=row["request_id"],
        served_model=row["served_model"],
        finish_reason=row["finish_reason"],
        constraint=row["held_by"],
        reasoning=row["reasoning"],
        written_tokens=row["written_tokens"],
        batch=row["batch"],
        lost=row["lost"],
        unrepaired=row["unrepaired"],
        flags={Flag(flag): tuple(findings) for flag, findings in from_json(row["flags"]).items()},
    )


def _took_text(usage: Usage) -> str:
    return json_text(list(astuple(usage))) if usage != Usage() else ""


def _pace_text(pace: Pace | None) -> str:
    if pace is None:
        return ""
    until = instant_text(pace.paused_until) if pace.paused_until else None
    return json_text({**asdict(pace), "paused_until": until})


def _pace(text: str) -> Pace | None:
    if not text:
        return None
    told = from_json(text)
    until = told.pop("paused_until")
    return Pace(**told, paused_until=instant(until) if until else None)


def _record(row: sqlite3.Row) -> RunRecord:
    labeler = from_json(row["labeler"])
    price = labeler.get("price")
    run = Run(
        prompt_hash=row["prompt_hash"],
        label_set_hash=row["label_set_hash"],
        cohort_hash=row["cohort_hash"],
        labeler=LabelerSettings(**{**labeler, "price": Price(**price) if price else None}),
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
        "api_key_env": labeler.api_key_env,
        "context_tokens": labeler.context_tokens,
        "price": asdict(labeler.price) if labeler.price else None,
    }
