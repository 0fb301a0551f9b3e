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
            frozenset(Role(role) for role in from_json(row["roles"])),
            row["email"],
        )
        for row in rows
    ]


def people(conn: sqlite3.Connection) -> dict[str, Person]:
    """Return everybody who was ever added, by name and in the order they were added, as they stand now."""
    return _fold(events(conn))


def _fold(history: Iterable[PersonEvent]) -> dict[str, Person]:
    known: dict[str, Person] = {}
    for event in history:
        match event.event:
            case Event.ADDED:
                known[event.name] = Person(event.name, event.roles, event.email)
            case Event.ROLES:
                known[event.name] = replace(known[event.name], roles=event.roles)
            case Event.EMAIL:
                known[event.name] = replace(known[event.name], email=event.email)
            case Event.DEACTIVATED:
                known[event.name] = replace(known[event.name], active=False)
            case Event.CODE | Event.PASSWORD:
                pass
    return known
