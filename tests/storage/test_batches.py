"""Batches are history: written down once, told of, over once, and what they may still answer is known."""

import json
import sqlite3
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from workbench.domain.runs import Extraction, ExtractionKey, ExtractionStatus, Usage
from workbench.errors import ConflictError
from workbench.storage import audit, batches, runs
from workbench.storage.batches import COLLECTED, DROPPED, SUBMITTED, TOLD, NewBatch, Told

NOW = datetime(2026, 11, 29, 12, tzinfo=UTC)
BY = {"actor": "Lena", "at": NOW}


@pytest.fixture
def keys(study: Any) -> list[ExtractionKey]:
    run = study.run
    return [
        ExtractionKey(run.prompt_hash, run.label_set_hash, run.labeler.hash, text, repeat)
        for text in ("a" * 64, "b" * 64)
        for repeat in (1, 2)
    ]


@pytest.fixture
def planned(study: Any, keys: list[ExtractionKey]) -> Callable[..., int]:
    def plan(token: str = "t1", some: slice = slice(0, 3)) -> int:
        with study.database.write() as conn:
            new = NewBatch(token, "json_schema", 900, 30)
            return batches.plan(conn, study.run.hash, new, keys[some], **BY)

    return plan


def test_a_batch_is_known_before_its_provider_has_said_that_it_has_it(study: Any, planned: Callable[..., int]) -> None:
    number = planned()
    with study.database.read() as conn:
        (batch,) = batches.of_run(conn, study.run.hash)
        assert batches.requests(conn, number) == [("a" * 64, 1), ("b" * 64, 1), ("a" * 64, 2)]
        assert batches.provider_ids(conn) == frozenset()
    assert (batch.id, batch.requests, batch.provider_id, batch.submitted_at) == (number, 3, "", None)
    assert (batch.input_tokens, batch.output_tokens, batch.actor, batch.over) == (900, 30, "Lena", False)


def test_a_batch_stands_as_it_was_last_told_of_and_is_over_once(study: Any, planned: Callable[..., int]) -> None:
    number = planned()
    later = NOW + timedelta(hours=1)
    with study.database.write() as conn:
        assert batches.add_event(conn, number, SUBMITTED, Told("batch_1", "validating"), **BY)
        assert not batches.add_event(conn, number, SUBMITTED, Told("batch_2", "validating"), **BY)
        for answered in (1, 2):
            assert batches.add_event(conn, number, TOLD, Told("batch_1", "in_progress", answered), **BY)
        (batch,) = batches.of_run(conn, study.run.hash)
        assert (batch.provider_id, batch.state, batch.answered, batch.over) == ("batch_1", "in_progress", 2, False)
        assert batches.provider_ids(conn) == {"batch_1"}
        told = Told("batch_1", "completed", 2, 1)
        assert batches.add_event(conn, number, COLLECTED, told, actor="Lena", at=later)
        assert not batches.add_event(conn, number, COLLECTED, told, actor="Otto", at=later)
        (batch,) = batches.of_run(conn, study.run.hash)
    assert (batch.state, batch.answered, batch.failed, batch.over) == ("completed", 2, 1, True)
    assert (batch.submitted_at, batch.told_at) == (NOW, later)


@pytest.mark.parametrize("end", [COLLECTED, DROPPED])
def test_what_a_batch_may_still_answer_goes_into_no_other(
    study: Any, keys: list[ExtractionKey], planned: Callable[..., int], end: str
) -> None:
    number = planned()
    with study.database.read() as conn:
        assert batches.under_way(conn, keys) == dict.fromkeys(keys[:3], study.run.hash)
    with pytest.raises(ConflictError, match="do the same again"):
        planned("t2", slice(2, 4))
    planned("t3", slice(3, 4))
    with study.database.write() as conn:
        batches.add_event(conn, number, end, Told(), **BY)
        assert set(batches.under_way(conn, keys)) == {keys[3]}
    planned("t4", slice(0, 3))


@pytest.mark.parametrize("table", ["batches", "batch_requests", "batch_events"])
@pytest.mark.parametrize("statement", ["UPDATE {} SET rowid = rowid", "DELETE FROM {}"])
def test_nothing_of_a_batch_is_changed_or_removed(
    study: Any, planned: Callable[..., int], table: str, statement: str
) -> None:
    number = planned()
    with study.database.write() as conn:
        batches.add_event(conn, number, SUBMITTED, Told("batch_1"), **BY)
    column = {"batch_requests": "repeat"}.get(table, "id")
    with pytest.raises(sqlite3.IntegrityError, match="is history"), study.database.write() as conn:
        conn.execute(statement.format(table).replace("rowid", column))


def test_the_audit_trail_tells_what_became_of_a_batch(study: Any, planned: Callable[..., int]) -> None:
    number = planned()
    with study.database.write() as conn:
        batches.add_event(conn, number, SUBMITTED, Told("batch_1", "validating"), **BY)
        batches.add_event(conn, number, TOLD, Told("batch_1", "in_progress", 2), **BY)
    with study.database.snapshot() as conn:
        trail = [event for event in audit.trail(conn, closed=[], locked=[]) if event.event.startswith("batch")]
    assert [(e.actor, e.event, e.subject) for e in trail] == [
        ("Lena", "batch made", study.run.hash),
        ("Lena", "batch submitted", study.run.hash),
        ("Lena", "batch is in_progress", study.run.hash),
    ]
    assert json.loads(trail[0].details) == {"batch": "t1", "reports": 3}


def test_an_answer_keeps_the_batch_it_came_in_and_counts_as_of_one(study: Any, keys: list[ExtractionKey]) -> None:
    came = Extraction(ExtractionStatus.OK, input_tokens=90, output_tokens=10, written_tokens=60, batch="batch_1")
    by_call = Extraction(ExtractionStatus.OK, input_tokens=7, output_tokens=1)
    with study.database.write() as conn:
        runs.save_extractions(conn, [(keys[1], came), (keys[3], by_call)])
        kept = runs.extractions(conn, [keys[1], keys[3]])
        total = Usage(2, 97, 11, 0, 0, 60, 90, 10, 0, 60)
        assert runs.outcomes(conn, [keys[1], keys[3]])[1] == total
        assert runs.standing(conn, [keys[1], keys[3]]).usage == total
    assert kept == {keys[1]: came, keys[3]: by_call}
    assert runs.usage_of(came) + runs.usage_of(by_call) == total
