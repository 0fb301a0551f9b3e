"""Which suggested edits were accepted or declined: added, never changed."""

import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from workbench.storage.encoding import from_json, instant, instant_text, json_text


@dataclass(frozen=True, slots=True)
class SuggestionDecision:
    """What a person did with one suggested edit of a prompt.

    ``edit`` is its JSON form, ``source`` who suggested it ("errors", or a labeler's name), ``held_out`` its score out
    of fold: how many labels it mended and broke, and what that does to macro-F1.
    """

    prompt_hash: str
    evaluation_hash: str
    edit: Mapping[str, Any]
    source: str
    held_out: Mapping[str, Any]
    accepted: bool
    actor: str
    at: datetime


def add(conn: sqlite3.Connection, decision: SuggestionDecision) -> None:
    """Add what somebody decided on a suggestion."""
    conn.execute(
        "INSERT INTO suggestion_decisions (prompt_hash, evaluation_hash, edit, source, held_out, accepted, actor, at) "
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        (
            decision.prompt_hash,
            decision.evaluation_hash,
            json_text(decision.edit),
            decision.source,
            json_text(decision.held_out),
            int(decision.accepted),
            decision.actor,
            instant_text(decision.at),
        ),
    )


def list_all(conn: sqlite3.Connection) -> list[SuggestionDecision]:
    """Return every decision, oldest first."""
    return [
        SuggestionDecision(
            row["prompt_hash"],
            row["evaluation_hash"],
            from_json(row["edit"]),
            row["source"],
            from_json(row["held_out"]),
            bool(row["accepted"]),
            row["actor"],
            instant(row["at"]),
        )
        for row in conn.execute("SELECT * FROM suggestion_decisions ORDER BY id")
    ]
