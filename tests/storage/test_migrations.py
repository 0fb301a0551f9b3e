"""Databases of every age end up with the same shape, and history cannot be edited."""

import re
import sqlite3
from pathlib import Path

import pytest

from workbench.errors import InputError
from workbench.storage import migrations
from workbench.storage.database import Database

HISTORY = [
    "imports",
    "reports",
    "label_sets",
    "cohorts",
    "cohort_members",
    "unlocks",
    "annotations",
    "reference_standards",
    "reference_items",
    "revisions",
    "decisions",
    "runs",
    "extractions",
    "failures",
    "evaluations",
    "looks",
]


def shape(path: Path) -> dict[str, str]:
    with sqlite3.connect(path) as conn:
        rows = conn.execute("SELECT name, sql FROM sqlite_master WHERE name NOT LIKE 'sqlite_autoindex%'")
        return dict(rows.fetchall())


def older(path: Path, stop_before: str) -> sqlite3.Connection:
    conn = sqlite3.connect(path, isolation_level=None)
    conn.row_factory = sqlite3.Row
    conn.execute("BEGIN IMMEDIATE")
    migrations.migrate(conn, stop_before=stop_before)
    conn.execute("COMMIT")
    return conn


def test_a_blank_file_gets_every_table(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    path.touch()
    Database(path)
    assert {*HISTORY, "leases"} <= set(shape(path))


def test_steps_are_numbered_one_after_another() -> None:
    numbers = [int(re.match(r"(\d{4})_[a-z_]+$", name)[1]) for name, _ in migrations.STEPS]  # type: ignore[index]
    assert numbers == list(range(1, len(numbers) + 1))


@pytest.mark.parametrize("stop_before", [name for name, _ in migrations.STEPS[1:]])
def test_an_older_database_keeps_its_rows_and_gets_the_same_shape_as_a_new_one(
    tmp_path: Path, stop_before: str
) -> None:
    conn = older(tmp_path / "old.db", stop_before)
    conn.execute("INSERT INTO imports VALUES (1, 'reports', 'a.csv', 'h', 'Lena', '2026-01-01', 1)")
    conn.execute("INSERT INTO reports VALUES (1, 'r1', 'p1', 'Clear.', 'h', '[]', 'en', 'a.csv', 1)")
    conn.close()
    Database(tmp_path / "new.db")
    database = Database(tmp_path / "old.db")
    assert shape(tmp_path / "old.db") == shape(tmp_path / "new.db")
    with database.read() as reading:
        assert [row["text"] for row in reading.execute("SELECT text FROM reports")] == ["Clear."]
    assert database.integrity() == []


def test_opening_again_applies_nothing(database: Database) -> None:
    before = database.path.read_bytes()
    Database(database.path)
    with database.read() as conn:
        applied = [row["name"] for row in conn.execute("SELECT name FROM _sqlite_migrations")]
    assert applied == [name for name, _ in migrations.STEPS]
    assert database.path.read_bytes() == before


def test_a_step_that_fails_leaves_the_database_as_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Database(tmp_path / "a.db").close()
    before = shape(tmp_path / "a.db")
    broken = ("0099_broken", ("CREATE TABLE half (a)", "CREATE TABLE half (a)"))
    monkeypatch.setattr(migrations, "STEPS", (*migrations.STEPS, broken))
    with pytest.raises(sqlite3.OperationalError, match="half"):
        Database(tmp_path / "a.db")
    assert shape(tmp_path / "a.db") == before


def test_a_database_of_a_later_version_is_refused_in_one_sentence(database: Database) -> None:
    with database.write() as conn:
        conn.execute(
            "INSERT INTO _sqlite_migrations (migration_set, name, applied_at) VALUES ('workbench', '0999_later', '')"
        )
    with pytest.raises(InputError, match="made by a later version of the workbench .*0999_later"):
        Database(database.path)


def test_a_database_of_another_program_is_refused_and_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "other.db"
    with sqlite3.connect(path) as conn:
        conn.execute("CREATE TABLE songs (title)")
    with pytest.raises(InputError, match="database of another program"):
        Database(path)
    assert set(shape(path)) == {"songs"}


@pytest.mark.parametrize("table", HISTORY)
@pytest.mark.parametrize("statement", ["UPDATE {0} SET {1} = {1}", "DELETE FROM {0}"])
@pytest.mark.usefixtures("study")
def test_history_can_be_neither_changed_nor_removed(database: Database, table: str, statement: str) -> None:
    with database.read() as conn:
        column = conn.execute(f"SELECT name FROM pragma_table_info('{table}')").fetchone()[0]
        count = conn.execute(f"SELECT COUNT(*) FROM {table}").fetchone()[0]
    assert count > 0
    with pytest.raises(sqlite3.IntegrityError, match="is history"), database.write() as conn:
        conn.execute(statement.format(table, column))
    with database.read() as conn:
        assert conn.execute(f"SELECT COUNT(*) FROM {table}").fetchone()[0] == count


@pytest.mark.usefixtures("study")
def test_replacing_a_row_is_a_removal_too(database: Database) -> None:
    with pytest.raises(sqlite3.IntegrityError, match="is history"), database.write() as conn:
        conn.execute("INSERT OR REPLACE INTO reports SELECT * FROM reports WHERE id = 'r3'")


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        ("INSERT INTO cohort_members VALUES ('dev', 'r1', 'h', 1.0)", "a cohort is fixed"),
        (
            "INSERT INTO reference_items SELECT hash, 'r3', 'edema', 'present', 6, 0, 0 FROM reference_standards",
            "a reference is fixed",
        ),
    ],
)
@pytest.mark.usefixtures("study")
def test_nothing_is_added_to_a_cohort_or_reference_afterwards(database: Database, statement: str, message: str) -> None:
    with pytest.raises(sqlite3.IntegrityError, match=message), database.write() as conn:
        conn.execute(statement)
