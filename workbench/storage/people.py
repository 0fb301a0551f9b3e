"""People with an account: what was decided about them is appended, and who they are is what that adds up to."""

import sqlite3
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum

from workbench.domain.actors import Role
from workbench.domain.people import Person
from workbench.storage.encoding import from_json, instant, instant_text, json_text


class Event(StrEnum):
    """What can be decided about a person. Added once more after a deactivation means they are back."""

    ADDED = "added"
    ROLES = "roles"
    EMAIL = "email"
    CODE = "code issued"
    PASSWORD = "password set"  # noqa: S105 - the name of an event
    DEACTIVATED = "deactivated"


# Whoever is signed in is looked up at each of their clicks, so what changes nobody is not even read.
_DECIDED = "SELECT name, event, roles, email FROM people_events WHERE event NOT IN ('code issued', 'password set')"


@dataclass(frozen=True, slots=True)
class PersonEvent:
    """One thing decided about a person: by whom and when. ``roles`` and ``email`` are those that it set."""

    name: str
    event: Event
    actor: str
    at: datetime
    roles: frozenset[Role] = frozenset()
    email: str = ""


def append(conn: sqlite3.Connection, event: PersonEvent) -> None:
    """Add an event after all earlier ones, which stay."""
    conn.execute(
        "INSERT INTO people_events (name, event, roles, email, actor, at) VALUES (?, ?, ?, ?, ?, ?)",
        (event.name, event.event, json_text(sorted(event.roles)), event.email, event.actor, instant_text(event.at)),
    )


def events(conn: sqlite3.Connection, name: str | None = None) -> list[PersonEvent]:
    """Return what was decided, first to last, about everybody or about one person."""
    rows = conn.execute("SELECT * FROM people_events WHERE ?1 IS NULL OR name = ?1 ORDER BY id", (name,))
    return [
        PersonEvent(
            row["name"],
            Event(row["event"]),
            row["actor"],
            instant(row["at"]),
            _roles(row["roles"]),
            row["email"],
        )
        for row in rows
    ]


def people(conn: sqlite3.Connection) -> dict[str, Person]:
    """Return everybody who was ever added, by name and in the order they were added, as they stand now."""
    return _fold(conn.execute(f"{_DECIDED} ORDER BY id"))


def person(conn: sqlite3.Connection, name: str) -> Person | None:
    """Return one person as they stand now, None where nobody of that name was ever added."""
    return _fold(conn.execute(f"{_DECIDED} AND name = ? ORDER BY id", (name,))).get(name)


def _fold(rows: Iterable[sqlite3.Row]) -> dict[str, Person]:
    known: dict[str, Person] = {}
    for row in rows:
        name, roles = row["name"], _roles(row["roles"])
        match Event(row["event"]):
            case Event.ADDED:
                known[name] = Person(name, roles, row["email"])
            case Event.ROLES:
                known[name] = replace(known[name], roles=roles)
            case Event.EMAIL:
                known[name] = replace(known[name], email=row["email"])
            case Event.DEACTIVATED:
                known[name] = replace(known[name], active=False)
    return known


def _roles(text: str) -> frozenset[Role]:
    return frozenset(Role(role) for role in from_json(text))
