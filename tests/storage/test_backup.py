"""A copy made while six processes write is sound and holds a state that the database really had."""

import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from workbench.storage import annotations, runs
from workbench.storage.backup import copy_database, faults_of, known_steps, steps_of
from workbench.storage.database import Database

# Each writer saves pairs: two annotations in one transaction, numbered, until it is told to stop.
WRITER = """
import sys, threading
from datetime import UTC, datetime
from pathlib import Path
from workbench.domain.annotations import Annotation
from workbench.storage import annotations
from workbench.storage.database import Database

path, rater, label_set_hash = sys.argv[1:]
database = Database(Path(path))
stop = threading.Event()
threading.Thread(target=lambda: (sys.stdin.readline(), stop.set()), daemon=True).start()
number = 0
while not stop.is_set():
    with database.write() as conn:
        for part in "ab":
            annotations.append(
                conn,
                Annotation("r1", rater, {}, True, datetime.now(UTC), label_set_hash, comment=f"{number} {part}"),
            )
    number += 1
    if number == 20:
        print("busy", flush=True)
print(number, flush=True)
"""


@pytest.fixture
def writers(study: Any) -> Iterator[list[subprocess.Popen[str]]]:
    """Six processes that are busy appending annotations."""
    started = [
        subprocess.Popen(
            [sys.executable, "-c", WRITER, str(study.database.path), f"rater {n}", study.label_set.hash],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for n in range(6)
    ]
    try:
        for writer in started:
            assert writer.stdout is not None
            assert writer.stdout.readline() == "busy\n"
        yield started
    finally:
        for writer in started:
            writer.kill()
            writer.wait()


def numbers(path: Path) -> dict[str, list[str]]:
    """Return what each writer had saved, in the order of saving."""
    with closing(sqlite3.connect(path)) as conn:
        saved: dict[str, list[str]] = {}
        for rater, comment in conn.execute(
            "SELECT rater, comment FROM annotations WHERE rater LIKE 'rater%' ORDER BY id"
        ):
            saved.setdefault(rater, []).append(comment)
    return saved


def test_a_copy_made_while_six_write_is_sound_and_consistent(
    study: Any, writers: list[subprocess.Popen[str]], tmp_path: Path
) -> None:
    copies = [tmp_path / f"copy{n}.db" for n in range(3)]
    for copy in copies:
        assert copy_database(study.database, copy) == known_steps()
    totals = {}
    for n, writer in enumerate(writers):
        assert writer.poll() is None, "a writer had stopped before the copies were made"
        totals[f"rater {n}"] = int(writer.communicate("stop\n", timeout=120)[0])
    seen = 0
    for copy in copies:
        assert faults_of(copy) == []
        saved = numbers(copy)
        assert set(saved) == set(totals)
        for rater, comments in saved.items():
            # Whole pairs, from the first on, none missing: a state that there really was.
            whole = len(comments) // 2
            assert comments == [f"{number} {part}" for number in range(whole) for part in "ab"]
            assert 20 <= whole <= totals[rater]
        assert sum(map(len, saved.values())) >= seen
        seen = sum(map(len, saved.values()))
    assert {rater: len(comments) // 2 for rater, comments in numbers(study.database.path).items()} == totals


def test_a_copy_is_one_file_that_the_workbench_opens(study: Any, tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    copy = tmp_path / "there" / "copy.db"
    copy_database(study.database, copy)
    assert [entry.name for entry in copy.parent.iterdir()] == ["copy.db"]
    opened = Database(copy)
    with opened.read() as conn:
        assert annotations.history(conn, "r1", "Ada") == [study.annotation]
    assert opened.integrity() == []


def test_who_works_on_a_run_is_not_carried_over(study: Any, now: Any, tmp_path: Path) -> None:
    with study.database.write() as conn:
        assert runs.acquire_lease(conn, study.run.hash, "runner", now, timedelta(minutes=1))
    copy_database(study.database, tmp_path / "copy.db")
    with Database(tmp_path / "copy.db").read() as conn:
        assert runs.lease(conn, study.run.hash) is None
    with study.database.read() as conn:
        assert runs.lease(conn, study.run.hash) is not None


def test_faults_are_found_and_nothing_is_written(study: Any, tmp_path: Path) -> None:
    copy = tmp_path / "copy.db"
    copy_database(study.database, copy)
    with closing(sqlite3.connect(copy)) as conn:
        conn.execute("PRAGMA foreign_keys = OFF")
        conn.execute("INSERT INTO unlocks (cohort, actor, at, reason, details) VALUES ('gone', '', '', '', '{}')")
        conn.commit()
    assert faults_of(copy) == ["unlocks: a row names a missing cohorts"]
    content = bytearray(copy.read_bytes())
    content[len(content) // 3 : 2 * len(content) // 3] = b"\xff" * (2 * len(content) // 3 - len(content) // 3)
    copy.write_bytes(content)
    assert faults_of(copy)
    assert copy.read_bytes() == content
    (tmp_path / "text.db").write_text("no database, but long enough to be taken for one" * 100)
    assert faults_of(tmp_path / "text.db") == ["file is not a database"]


def test_the_steps_of_a_database_are_those_it_has_taken(study: Any) -> None:
    assert steps_of(study.database.path) == known_steps()
