"""Prompts that are being edited and are not saved yet: one per person, revision and tab, replaced as they change."""

import sqlite3
from dataclasses import dataclass
from datetime import datetime

from workbench.storage.encoding import instant, instant_text


@dataclass(frozen=True, slots=True)
class Draft:
    """What somebody has edited of a revision. ``tab`` tells apart what is edited in two windows at once."""

    person: str
    prompt_hash: str
    tab: str
    file_text: str
    changed_at: datetime


def keep(conn: sqlite3.Connection, draft: Draft) -> None:
    """Keep a draft in place of the one of the same person, revision and tab."""
    conn.execute(
        "INSERT INTO prompt_drafts (person, prompt_hash, tab, file_text, changed_at) VALUES (?, ?, ?, ?, ?) "
        "ON CONFLICT (person, prompt_hash, tab) DO UPDATE SET file_text = excluded.file_text, "
        "changed_at = excluded.changed_at",
        (draft.person, draft.prompt_hash, draft.tab, draft.file_text, instant_text(draft.changed_at)),
    )


def drop(conn: sqlite3.Connection, person: str, prompt_hash: str, tab: str) -> None:
    """Throw a draft away; where there is none nothing happens."""
    conn.execute(
        "DELETE FROM prompt_drafts WHERE person = ? AND prompt_hash = ? AND tab = ?", (person, prompt_hash, tab)
    )


def of_person(conn: sqlite3.Connection, person: str, prompt_hash: str | None = None) -> list[Draft]:
    """Return what a person has edited and not saved, the newest first; of one revision where it is named."""
    rows = conn.execute(
        "SELECT * FROM prompt_drafts WHERE person = ?1 AND (?2 IS NULL OR prompt_hash = ?2) "
        "ORDER BY changed_at DESC, tab",
        (person, prompt_hash),
    )
    return [
        Draft(row["person"], row["prompt_hash"], row["tab"], row["file_text"], instant(row["changed_at"]))
        for row in rows
    ]
