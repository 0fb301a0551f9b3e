"""Nothing is labelled twice, and one runner at a time works on a run."""

import json
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

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
    Usage,
)
from workbench.storage import audit, runs
from workbench.storage.database import Database
from workbench.storage.runs import Lease, RunRecord

STALE = timedelta(seconds=30)


def test_a_run_comes_back_equal_with_who_asked_for_it(study: Any, now: datetime) -> None:
    record = RunRecord(study.run, "Lena", now)
    with study.database.read() as conn:
        assert runs.get(conn, study.run.hash) == record
        assert runs.list_all(conn) == [record]
        assert runs.get(conn, "0" * 64) is None


def test_every_setting_of_a_labeler_survives(study: Any, now: datetime) -> None:
    labeler = LabelerSettings(
        "big", "openai", "http://127.0.0.1:8080/v1", "m", 0.2, 7, 400, {"schema": "yes"}, 8, 12.5, 0.1
    )
    labeler = replace(labeler, api_key_env="KEY", context_tokens=4096, price=Price(1.0, 2.0, 0.5, "EUR"))
    run = replace(study.run, labeler=labeler, sections=("impression",), repeats=3)
    with study.database.write() as conn:
        runs.add(conn, run, "Ben", now)
        found = runs.get(conn, run.hash)
    assert found == RunRecord(run, "Ben", now)


def test_asking_for_a_run_again_continues_it(study: Any, now: datetime) -> None:
    with study.database.write() as conn:
        runs.add(conn, study.run, "Ben", now + timedelta(days=1))
        assert runs.list_all(conn) == [RunRecord(study.run, "Lena", now)]


def test_a_key_keeps_its_first_extraction(study: Any) -> None:
    other = Extraction(ExtractionStatus.REFUSED, detail="will not")
    second = replace(study.key, repeat=2)
    with study.database.write() as conn:
        assert runs.save_extractions(conn, [(study.key, other), (second, other)]) == 1
        assert runs.extractions(conn, [study.key, second]) == {study.key: study.extraction, second: other}
        assert runs.save_extractions(conn, []) == 0


def test_a_key_differs_in_each_of_its_parts(study: Any) -> None:
    key: ExtractionKey = study.key
    others = [
        replace(key, **{part: "0" * 64}) for part in ("prompt_hash", "label_set_hash", "labeler_hash", "text_hash")
    ]
    others.append(replace(key, repeat=2))
    with study.database.write() as conn:
        assert runs.statuses(conn, [key, *others]).keys() == {key}
        assert runs.save_extractions(conn, [(other, study.extraction) for other in others]) == 5
        assert runs.statuses(conn, [key, *others]).keys() == {key, *others}


def test_everything_that_is_known_of_a_reply_survives(study: Any) -> None:
    reply = Extraction(
        ExtractionStatus.OK,
        {"effusion": Mention(State.PRESENT, "Small effusion")},
        "one doubt",
        "{}",
        100,
        20,
        1.5,
        cached_tokens=80,
        request_id="req_1",
        served_model="m-2",
        finish_reason="stop",
        constraint="json_schema",
        reasoning="so",
        unrepaired="{",
        flags={Flag.INVENTED_EVIDENCE: ("effusion",), Flag.REPAIRED: ()},
    )
    key = replace(study.key, text_hash="1" * 64)
    with study.database.write() as conn:
        runs.save_extractions(conn, [(key, reply)])
        assert runs.extractions(conn, [key]) == {key: reply}


def test_a_reply_that_cannot_be_used_is_done_and_is_counted_by_its_status(study: Any, now: datetime) -> None:
    refused = replace(study.key, text_hash="1" * 64)
    waiting = replace(study.key, text_hash="2" * 64)
    with study.database.write() as conn:
        runs.save_extractions(conn, [(refused, Extraction(ExtractionStatus.REFUSED))], now + timedelta(minutes=1))
        keys = [study.key, study.key, refused, waiting]  # two reports with the same text share an extraction
        found = runs.standing(conn, keys)
        assert found.counts == {ExtractionStatus.OK: 2, ExtractionStatus.REFUSED: 1}
        assert found.usage == Usage(1, 10, 2, 0, unknown=1)
        assert found.last_at == now + timedelta(minutes=1)
        assert runs.standing(conn, [study.key]).last_at == now
        assert runs.standing(conn, [waiting]).last_at is None
        assert runs.statuses(conn, keys) == {study.key: ExtractionStatus.OK, refused: ExtractionStatus.REFUSED}
        assert runs.statuses(conn, keys).keys() == {study.key, refused}


def test_where_no_model_was_asked_no_tokens_are_missing(study: Any) -> None:
    unasked = (ExtractionStatus.BLANK, ExtractionStatus.TOO_LONG, ExtractionStatus.FAILED)
    keys = [replace(study.key, text_hash=str(i) * 64) for i in range(len(unasked))]
    with study.database.write() as conn:
        runs.save_extractions(conn, [(key, Extraction(status)) for key, status in zip(keys, unasked, strict=True)])
        assert runs.standing(conn, keys).usage == Usage()


def test_a_failure_is_counted_until_an_extraction_heals_it_and_is_never_done(study: Any, now: datetime) -> None:
    key = replace(study.key, text_hash="1" * 64)
    with study.database.write() as conn:
        runs.save_failures(conn, [(key, Failure("server", "first", 5))], now)
        runs.save_failures(conn, [(key, Failure("connection", "second", 2))], now + timedelta(minutes=1))
        keys = [key, key, study.key]
        assert runs.failures(conn, keys) == {key: Failure("connection", "second", 2)}
        assert runs.statuses(conn, keys).keys() == {study.key}
        found = runs.standing(conn, keys)
        assert found.counts == {ExtractionStatus.OK: 1, ExtractionStatus.FAILED: 2}
        assert found.last_at == now + timedelta(minutes=1)
        runs.save_extractions(conn, [(key, study.extraction)], now)
        assert runs.failures(conn, keys) == {}
        assert runs.standing(conn, keys).counts == {ExtractionStatus.OK: 3}


def acquire(database: Database, run_hash: str, runner: str, at: datetime) -> bool:
    with database.write() as conn:
        return runs.acquire_lease(conn, run_hash, runner, at, STALE)


def test_a_second_runner_is_turned_away_while_the_first_lives(study: Any, now: datetime) -> None:
    run = study.run.hash
    assert acquire(study.database, run, "one", now)
    assert not acquire(study.database, run, "two", now + timedelta(seconds=29))
    assert acquire(study.database, run, "one", now + timedelta(seconds=29))
    with study.database.read() as conn:
        assert runs.lease(conn, run) == Lease(run, "one", now, now + timedelta(seconds=29))
    assert not acquire(study.database, run, "two", now + timedelta(seconds=58))


def test_a_stale_lease_is_taken_over_and_the_first_runner_learns_of_it(study: Any, now: datetime) -> None:
    run = study.run.hash
    assert acquire(study.database, run, "one", now)
    later = now + timedelta(seconds=31)
    assert acquire(study.database, run, "two", later)
    with study.database.write() as conn:
        assert not runs.heartbeat(conn, run, "one", later)
        runs.release_lease(conn, run, "one")
        assert runs.lease(conn, run) == Lease(run, "two", later, later)


def test_a_heartbeat_keeps_a_lease_fresh(study: Any, now: datetime) -> None:
    run = study.run.hash
    acquire(study.database, run, "one", now)
    with study.database.write() as conn:
        assert runs.heartbeat(conn, run, "one", now + timedelta(seconds=25))
    assert not acquire(study.database, run, "two", now + timedelta(seconds=50))


def test_a_heartbeat_tells_how_the_runner_gets_on(study: Any, now: datetime) -> None:
    run = study.run.hash
    acquire(study.database, run, "one", now)
    paused = Pace(7, 3, 1.5, 20.0, now + timedelta(seconds=9), "It is busy.")
    with study.database.write() as conn:
        for pace in (paused, Pace(8), None):
            assert runs.heartbeat(conn, run, "one", now, pace)
            found = runs.lease(conn, run)
            assert found is not None
            assert found.pace == pace


def test_a_lease_given_back_is_free_at_once(study: Any, now: datetime) -> None:
    run = study.run.hash
    acquire(study.database, run, "one", now)
    with study.database.write() as conn:
        runs.release_lease(conn, run, "one")
        assert runs.lease(conn, run) is None
    assert acquire(study.database, run, "two", now)


def test_why_a_run_last_stopped_is_kept_and_on_record(study: Any, now: datetime) -> None:
    minute = timedelta(minutes=1)
    with study.database.write() as conn:
        assert runs.last_stop(conn, study.run.hash) is None
        runs.add_stop(conn, study.run.hash, "The key is refused.", now)
        runs.add_stop(conn, study.run.hash, "The cap is reached.", now + minute)
        assert runs.last_stop(conn, study.run.hash) == ("The cap is reached.", now + minute)
        assert runs.last_stop(conn, "another") is None
        told = [e for e in audit.trail(conn, closed=[], locked=[]) if e.event == "run stopped"]
    assert [(e.actor, e.subject, json.loads(e.details)["why"]) for e in told] == [
        ("Lena", study.run.hash, "The key is refused."),
        ("Lena", study.run.hash, "The cap is reached."),
    ]
