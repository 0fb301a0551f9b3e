"""Unsaved edits per person, revision and tab."""

from datetime import UTC, datetime, timedelta
from typing import Any

from workbench.storage import drafts
from workbench.storage.drafts import Draft

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)


def draft(tab: str, text: str, minutes: int = 0, person: str = "Lena") -> Draft:
    return Draft(person, "p" * 64, tab, text, NOW + timedelta(minutes=minutes))


def test_a_draft_is_replaced_in_its_own_tab_only_and_the_newest_comes_first(database: Any) -> None:
    with database.write() as conn:
        for each in (draft("a", "one"), draft("b", "two", 1), draft("a", "three", 2), draft("a", "hers", 3, "Ada")):
            drafts.keep(conn, each)
    with database.read() as conn:
        found = drafts.of_person(conn, "Lena", "p" * 64)
        assert [(d.tab, d.file_text) for d in found] == [("a", "three"), ("b", "two")]
        assert drafts.of_person(conn, "Lena", "q" * 64) == []
        assert [d.file_text for d in drafts.of_person(conn, "Ada")] == ["hers"]


def test_a_draft_thrown_away_leaves_those_of_other_tabs_and_people(database: Any) -> None:
    with database.write() as conn:
        for each in (draft("a", "one"), draft("b", "two"), draft("a", "hers", 0, "Ada")):
            drafts.keep(conn, each)
        drafts.drop(conn, "Lena", "p" * 64, "a")
        drafts.drop(conn, "Lena", "p" * 64, "never")
    with database.read() as conn:
        assert [d.tab for d in drafts.of_person(conn, "Lena")] == ["b"]
        assert [d.tab for d in drafts.of_person(conn, "Ada")] == ["a"]
