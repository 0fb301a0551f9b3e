"""Data sets, submissions and imported scores are added, and the last of each stands."""

import sqlite3
from dataclasses import replace
from datetime import datetime
from functools import partial

import pytest

from workbench.domain.judged import JudgedBy, JudgedSystem, JudgeRecord
from workbench.domain.runs import Usage
from workbench.errors import ConflictError
from workbench.storage import leaderboard as store
from workbench.storage.database import Database
from workbench.storage.leaderboard import DataSetRecord, MetricScores, StudyText

STUDIES = [StudyText("s1", "p1", "Clear."), StudyText("s2", "p1", None)]


@pytest.fixture
def data_set(database: Database, now: datetime) -> DataSetRecord:
    record = DataSetRecord("d1", "iu", "findings", "iu.csv", "Lena", now)
    with database.write() as conn:
        return store.add_data_set(conn, record, STUDIES)


def test_a_data_set_comes_back_with_its_studies_and_the_same_again_is_the_same(
    database: Database, data_set: DataSetRecord, now: datetime
) -> None:
    with database.write() as conn:
        again = store.add_data_set(conn, replace(data_set, name="other", at=now), STUDIES)
    with database.read() as conn:
        assert store.data_sets(conn) == [data_set]
        assert store.studies(conn, "d1") == STUDIES
    assert again == data_set


def test_a_name_with_other_studies_is_refused_for_the_same_task_alone(
    database: Database, data_set: DataSetRecord
) -> None:
    with database.write() as conn, pytest.raises(ConflictError, match="iu for findings already"):
        store.add_data_set(conn, replace(data_set, hash="d2"), STUDIES)
    with database.write() as conn:
        store.add_data_set(conn, replace(data_set, hash="d2", task="findings+impression"), STUDIES)
    with database.read() as conn:
        assert [d.task for d in store.data_sets(conn)] == ["findings", "findings+impression"]


def test_the_last_submission_of_a_system_stands_in_the_place_of_its_first(
    database: Database, data_set: DataSetRecord, now: datetime
) -> None:
    def submit(system: str, text: str | None) -> bool:
        with database.write() as conn:
            return store.add_submission(
                conn, data_set.hash, system, {"s1": text}, text_hash=str(text), file="a.csv", actor="Lena", at=now
            )

    assert submit("one", "Wet.")
    assert submit("two", None)
    assert submit("one", "Dry.")
    assert not submit("one", "Dry.")
    with database.read() as conn:
        found = store.submissions(conn, data_set.hash)
        assert [s.system for s in found] == ["one", "two"]
        assert [store.texts(conn, s.id) for s in found] == [{"s1": "Dry."}, {"s1": None}]


def test_a_later_file_of_scores_overrides_what_it_names_and_nothing_else(
    database: Database, data_set: DataSetRecord, now: datetime
) -> None:
    first = MetricScores("green", True, {"one": {"s1": 0.5, "s2": 0.25}})
    for scores in (first, MetricScores("green", True, {"one": {"s2": 0.75}, "two": {"s1": 1.0}})):
        with database.write() as conn:
            store.add_scores(conn, data_set.hash, scores, file="a.csv", actor="Lena", at=now)
    with database.read() as conn:
        found = store.scores(conn, data_set.hash)
    assert found == [MetricScores("green", True, {"one": {"s1": 0.5, "s2": 0.75}, "two": {"s1": 1.0}})]


def record(**systems: JudgedSystem) -> JudgeRecord:
    by = JudgedBy("one pass", "j1", "1", 1, "qwen", "openai", "q", "l1")
    return JudgeRecord(by, systems, Usage(replies=3, input_tokens=30, output_tokens=3), 0.25, "USD")


def test_nothing_earlier_stands_of_a_system_that_was_judged_and_each_value_has_its_source(
    database: Database, data_set: DataSetRecord, now: datetime
) -> None:
    before = {"one": {"s1": 0.5, "s2": 0.25}, "two": {"s1": 0.125}}
    judge = record(
        one=JudgedSystem("h1", 1, {"refused": 1}, 0, 0, 0), three=JudgedSystem("h3", 0, {"failed": 2}, 0, 0, 0)
    )
    with database.write() as conn:
        add = partial(store.add_scores, conn, data_set.hash, actor="Lena", at=now)
        add(MetricScores("green", True, before), file="a.csv")
        add(MetricScores("green", True, {"one": {"s1": 0.75}, "three": {}}), file="judged here", judged=judge)
    with database.read() as conn:
        (found,) = store.scores(conn, data_set.hash)
    # The judge could not judge s2 of one, so the file's score of it no longer stands.
    assert found.values == {"one": {"s1": 0.75}, "two": {"s1": 0.125}, "three": {}}
    file, judged = found.sources
    assert (file.file, file.judged, file.standing) == ("a.csv", None, {"two": 1})
    assert (judged.judged, judged.standing) == (judge, {"one": 1, "three": 0})
    with database.write() as conn:
        store.add_scores(
            conn, data_set.hash, MetricScores("green", True, {"one": {"s2": 1.0}}), file="b.csv", actor="Lena", at=now
        )
    with database.read() as conn:
        (found,) = store.scores(conn, data_set.hash)
    assert found.values["one"] == {"s1": 0.75, "s2": 1.0}
    assert [source.standing for source in found.sources] == [{"two": 1}, {"one": 1, "three": 0}, {"one": 1}]


@pytest.mark.usefixtures("data_set")
def test_nothing_of_it_can_be_changed_or_removed(database: Database) -> None:
    for statement in ("UPDATE data_sets SET name = 'x'", "DELETE FROM data_set_studies"):
        with pytest.raises(sqlite3.IntegrityError, match="is history"), database.write() as conn:
            conn.execute(statement)
