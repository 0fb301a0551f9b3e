"""Answers to practice reports are only added to, and the last of each rater counts."""

import sqlite3
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from workbench.domain.findings import State
from workbench.domain.practice import PracticeAnswer
from workbench.storage import practice

FIRST = PracticeAnswer(
    rater="Ada",
    practice_hash="a" * 64,
    report_id="p1",
    states={"edema": State.UNCERTAIN},
    submitted=False,
    at=datetime(2026, 3, 1, tzinfo=UTC),
    evidence={"edema": "Possible edema."},
    seconds=7.5,
)


def test_the_last_answer_of_each_rater_to_each_report_comes_back_whole(database: Any) -> None:
    last = replace(FIRST, states={"edema": State.PRESENT}, submitted=True, evidence={}, seconds=None)
    other, second = replace(FIRST, rater="Ben"), replace(FIRST, report_id="p2")
    with database.write() as conn:
        for answer in (FIRST, other, second, last, replace(FIRST, practice_hash="b" * 64)):
            practice.append(conn, answer)
    with database.read() as conn:
        assert practice.latest(conn, FIRST.practice_hash) == [last, second, other]
        assert practice.latest(conn, FIRST.practice_hash, rater="Ben") == [other]


@pytest.mark.parametrize("change", ["DELETE FROM practice_answers", "UPDATE practice_answers SET rater = 'Ben'"])
def test_an_answer_is_history(database: Any, change: str) -> None:
    with database.write() as conn:
        practice.append(conn, FIRST)
    with pytest.raises(sqlite3.IntegrityError, match="rows are added"), database.write() as conn:
        conn.execute(change)
