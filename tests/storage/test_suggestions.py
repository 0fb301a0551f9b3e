"""What was decided on suggested edits."""

import json
from datetime import UTC, datetime
from typing import Any

import pytest

from workbench.storage import audit, suggestions
from workbench.storage.suggestions import SuggestionDecision

MADE = SuggestionDecision(
    "p" * 64,
    "e" * 64,
    {"finding": "effusion", "part": "synonyms", "phrase": "fluid", "add": True},
    "errors",
    {"fixed": 4, "broken": 1, "gain": 0.01},
    False,
    "Lena",
    datetime(2026, 3, 1, 12, tzinfo=UTC),
)


def test_a_decision_is_read_back_as_it_was_made_and_stands_in_the_trail(database: Any) -> None:
    with database.write() as conn:
        suggestions.add(conn, MADE)
    with database.snapshot() as conn:
        assert suggestions.list_all(conn) == [MADE]
        (event,) = audit.trail(conn, closed=[], locked=[])
    assert (event.actor, event.event, event.subject) == ("Lena", "suggestion declined", "prompt " + "p" * 64)
    assert json.loads(event.details)["edit"] == dict(MADE.edit)


def test_a_decision_is_never_changed(database: Any) -> None:
    with database.write() as conn:
        suggestions.add(conn, MADE)
    with pytest.raises(Exception, match="history"), database.write() as conn:
        conn.execute("UPDATE suggestion_decisions SET accepted = 1")
