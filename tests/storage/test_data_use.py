"""Openings of hosts are added and never edited; a server's last answer is kept by its labeler."""

import json
import sqlite3
from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest

from workbench.domain.data_use import Basis, Opening
from workbench.domain.runs import Hello
from workbench.storage import audit, data_use, hellos

AT = datetime(2026, 3, 1, 12, tzinfo=UTC)
BASIS = Basis("Contract 7", zero_retention=True, until=date(2026, 12, 31))


def test_a_host_is_open_as_last_recorded_until_it_is_closed(database: Any) -> None:
    later = Opening("gpu.example.org", Basis("Contract 8", zero_retention=False), "Max", AT + timedelta(days=1))
    with database.write() as conn:
        data_use.open_host(conn, Opening("gpu.example.org", BASIS, "Lena", AT))
        data_use.open_host(conn, Opening("a.example.org", BASIS, "Lena", AT))
        data_use.open_host(conn, later)
        data_use.close_host(conn, "a.example.org", "Max", AT + timedelta(days=2))
        closed, open_still = data_use.latest(conn)
    assert open_still == later
    assert (closed.closed_by, closed.closed_at, closed.basis) == ("Max", AT + timedelta(days=2), BASIS)
    assert not closed.holds(date(2026, 3, 2))


def test_an_opening_holds_up_to_its_last_day() -> None:
    opening = Opening("a.example.org", BASIS, "Lena", AT)
    assert opening.holds(date(2026, 12, 31))
    assert not opening.holds(date(2027, 1, 1))


def test_what_was_opened_cannot_be_rewritten_and_is_in_the_trail(database: Any) -> None:
    with database.write() as conn:
        data_use.open_host(conn, Opening("a.example.org", BASIS, "Lena", AT))
    for change in ("DELETE FROM data_use_events", "UPDATE data_use_events SET actor = 'x'"):
        with pytest.raises(sqlite3.IntegrityError, match="is history"), database.write() as conn:
            conn.execute(change)
    with database.snapshot() as conn:
        (event,) = audit.trail(conn, closed=[], locked=[])
    assert (event.actor, event.event, event.subject) == ("Lena", "host opened for reports", "a.example.org")
    assert json.loads(event.details) == {
        "agreement": "Contract 7",
        "zero_retention": True,
        "until": "2026-12-31",
    }


def test_the_last_answer_of_a_server_replaces_the_one_before(database: Any) -> None:
    with database.write() as conn:
        assert hellos.get(conn, "abc") is None
        hellos.keep(conn, "abc", Hello("text", "m", 0.5, AT))
        hellos.keep(conn, "abc", Hello("json_schema", "m-2", 0.1, AT + timedelta(days=1)))
        assert hellos.get(conn, "abc") == Hello("json_schema", "m-2", 0.1, AT + timedelta(days=1))
