"""Reviews and ratings are added, the last word of a reviewer stands, and the trail tells it once it may be told."""

import json
import sqlite3
from datetime import datetime, timedelta
from typing import Any

import pytest

from workbench.domain.reviews import (
    OTHER,
    Fault,
    ImportedRating,
    Judgement,
    Review,
    ReviewAction,
    ReviewEvent,
)
from workbench.storage import audit
from workbench.storage import leaderboard as system_store
from workbench.storage import reviews as store
from workbench.storage.database import Database
from workbench.storage.leaderboard import DataSetRecord, StudyText
from workbench.storage.reviews import RatedElsewhere

MARKS = {"edema": frozenset({Fault.MISSED, Fault.DEGREE}), OTHER: frozenset({Fault.INVENTED})}


@pytest.fixture
def held(database: Database, now: datetime) -> Review:
    """An open review of one system on two studies."""
    with database.write() as conn:
        studies = [StudyText("s1", "p1", "Clear."), StudyText("s2", "p1", "Wet.")]
        system_store.add_data_set(conn, DataSetRecord("d1", "iu", "findings", "iu.csv", "Lena", now), studies)
        texts = {"s1": "Clear.", "s2": None}
        system_store.add_submission(conn, "d1", "net", texts, text_hash="h", file="n.csv", actor="Lena", at=now)
        made = Review("review-1", "d1", (("net", 1),), ("s1", "s2"), ("Ada", "Ben"), 7, now, "Lena")
        store.add(conn, made)
        store.add_event(conn, ReviewEvent(made.hash, ReviewAction.OPENED, "Lena", now, ""))
    return made


def test_a_review_comes_back_and_is_open_until_it_is_closed(database: Database, held: Review, now: datetime) -> None:
    with database.read() as conn:
        assert store.list_all(conn) == store.list_all(conn, "d1") == store.open_reviews(conn) == [held]
        assert store.list_all(conn, "d2") == []
    event = ReviewEvent(held.hash, ReviewAction.CLOSED, "Lena", now, "done")
    with database.write() as conn:
        store.add_event(conn, event)
    with database.read() as conn:
        assert store.open_reviews(conn) == []
        assert store.events(conn, held.hash)[-1] == event
    with pytest.raises(sqlite3.IntegrityError), database.write() as conn:
        store.add_event(conn, event)  # it is closed once


def test_the_last_word_on_each_text_stands(database: Database, held: Review, now: datetime) -> None:
    said = [
        ("Ada", ("s1", "t1"), Judgement(2, MARKS, "why", 3.5, now)),
        ("Ada", ("s1", "t2"), Judgement(None, {}, "", None, now)),
        ("Ben", ("s1", "t1"), Judgement(5, {}, "", None, now)),
        ("Ada", ("s1", "t1"), Judgement(4, {}, "", 9.0, now + timedelta(seconds=1))),
    ]
    with database.write() as conn:
        for reviewer, place, judgement in said:
            assert judgement.at is not None
            store.append(conn, held.hash, reviewer, place, said=judgement, at=judgement.at)
    with database.read() as conn:
        every = store.latest(conn, [held.hash])
        assert [(one.reviewer, one.place, one.judgement) for one in every] == [said[1], said[2], said[3]]
        assert [one.judgement for one in store.latest(conn, [held.hash], "Ben")] == [said[2][2]]
        assert store.latest(conn, []) == []


def test_marks_come_back_as_they_were_said(database: Database, held: Review, now: datetime) -> None:
    with database.write() as conn:
        store.append(conn, held.hash, "Ada", ("s1", "t1"), said=Judgement(2, MARKS, "why", 3.5), at=now)
    with database.read() as conn:
        assert store.latest(conn, [held.hash])[0].judgement == Judgement(2, MARKS, "why", 3.5, now)


def test_a_rating_off_the_scale_is_refused_by_the_database(database: Database, held: Review, now: datetime) -> None:
    with pytest.raises(sqlite3.IntegrityError), database.write() as conn:
        store.append(conn, held.hash, "Ada", ("s1", "t1"), said=Judgement(6), at=now)


def test_imported_ratings_come_back_with_their_system(database: Database, held: Review, now: datetime) -> None:
    rating = ImportedRating("s1", "net", "Carl", Judgement(3, MARKS, "so", None, now))
    with database.write() as conn:
        store.add_imported(conn, "d1", [RatedElsewhere(1, rating)], file="r.csv", actor="Lena", at=now)
    with database.read() as conn:
        assert store.imported(conn, "d1") == [RatedElsewhere(1, rating)]
        assert store.imported(conn, "d2") == []


def test_texts_are_those_of_the_studies_asked_for(database: Database, held: Review) -> None:
    with database.read() as conn:
        assert store.texts(conn, [1], ["s1"]) == {(1, "s1"): "Clear."}
        assert store.texts(conn, [1], ["s1", "s2"]) == {(1, "s1"): "Clear.", (1, "s2"): None}


def test_what_a_reviewer_said_is_in_the_trail_once_the_review_is_closed(
    database: Database, held: Review, now: datetime
) -> None:
    def told() -> dict[str, Any]:
        with database.snapshot() as conn:
            events = audit.trail(conn, closed=[], locked=[])
            return {event.event: (event.actor, event.subject, json.loads(event.details)) for event in events}

    rating = RatedElsewhere(1, ImportedRating("s1", "net", "Carl", Judgement(3)))
    with database.write() as conn:
        store.append(conn, held.hash, "Ada", ("s1", "t1"), said=Judgement(2, {}, "why", 3.5), at=now)
        store.add_imported(conn, "d1", [rating], file="r.csv", actor="Lena", at=now)
    assert told()["generated report rated"] == ("Ada", "review-1", {"study": "s1"})
    opened = told()["review opened"][2]
    assert (opened["systems"], opened["reviewers"], opened["studies"]) == (["net"], ["Ada", "Ben"], 2)
    assert told()["ratings of generated reports imported"] == (
        "Lena", "iu", {"task": "findings", "file": "r.csv", "ratings": 1},
    )  # fmt: skip
    with database.write() as conn:
        store.add_event(conn, ReviewEvent(held.hash, ReviewAction.CLOSED, "Lena", now, "done"))
    rated = told()["generated report rated"][2]
    assert (rated["rating"], rated["comment"], rated["seconds"], rated["text"]) == (2, "why", 3.5, "t1")
    assert told()["review closed"][2]["reason"] == "done"
