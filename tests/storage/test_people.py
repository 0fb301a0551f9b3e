"""What was decided about people is appended, and they are what it adds up to."""

import sqlite3
from datetime import datetime

import pytest

from workbench.domain.actors import Role
from workbench.domain.people import Person
from workbench.storage import people
from workbench.storage.database import Database
from workbench.storage.people import Event, PersonEvent

RATER, LEAD = frozenset({Role.RATER}), frozenset({Role.LEAD, Role.ADMIN})


def decide(database: Database, at: datetime, *events: tuple[str, Event, frozenset[Role], str]) -> None:
    with database.write() as conn:
        for name, event, roles, email in events:
            people.append(conn, PersonEvent(name, event, "Lena", at, roles, email))


def known(database: Database) -> dict[str, Person]:
    with database.read() as conn:
        return people.people(conn)


def test_a_person_is_what_was_decided_last(database: Database, now: datetime) -> None:
    decide(
        database,
        now,
        ("Ada", Event.ADDED, RATER, ""),
        ("Ben", Event.ADDED, RATER, "ben@x.org"),
        ("Ada", Event.CODE, frozenset(), ""),
        ("Ada", Event.ROLES, LEAD, ""),
        ("Ada", Event.EMAIL, frozenset(), "ada@x.org"),
        ("Ada", Event.PASSWORD, frozenset(), ""),
        ("Ben", Event.DEACTIVATED, frozenset(), ""),
    )
    assert known(database) == {
        "Ada": Person("Ada", LEAD, "ada@x.org"),
        "Ben": Person("Ben", RATER, "ben@x.org", active=False),
    }


def test_who_is_added_again_is_back_with_what_is_given_now(database: Database, now: datetime) -> None:
    decide(database, now, ("Ada", Event.ADDED, LEAD, "a@x.org"), ("Ada", Event.DEACTIVATED, frozenset(), ""))
    decide(database, now, ("Ada", Event.ADDED, RATER, ""))
    assert known(database) == {"Ada": Person("Ada", RATER)}


def test_every_event_says_by_whom_and_when(database: Database, now: datetime) -> None:
    decide(database, now, ("Ada", Event.ADDED, RATER, ""), ("Ben", Event.ADDED, LEAD, "b@x.org"))
    with database.read() as conn:
        assert people.events(conn, "Ben") == [PersonEvent("Ben", Event.ADDED, "Lena", now, LEAD, "b@x.org")]
        assert [event.name for event in people.events(conn)] == ["Ada", "Ben"]


@pytest.mark.parametrize("statement", ["UPDATE people_events SET roles = '[\"admin\"]'", "DELETE FROM people_events"])
def test_what_was_decided_can_be_neither_changed_nor_removed(database: Database, now: datetime, statement: str) -> None:
    decide(database, now, ("Ada", Event.ADDED, RATER, ""))
    with pytest.raises(sqlite3.IntegrityError, match="people_events is history"), database.write() as conn:
        conn.execute(statement)
    assert known(database) == {"Ada": Person("Ada", RATER)}
