"""One file, many people: nothing is lost, nothing is half written, and a broken file is said to be one."""

import os
import signal
import sqlite3
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from workbench.errors import InputError, WorkbenchError
from workbench.storage import database as database_module
from workbench.storage.database import Database

INSERT = "INSERT INTO imports (kind, file, file_hash, actor, at, rows) VALUES ('reports', ?, '', ?, '', 0)"

WRITER = """
import sys
from pathlib import Path
from workbench.storage.database import Database
path, who, count = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
database = Database(path)
print("ready", flush=True)
sys.stdin.readline()
for number in range(count):
    with database.write() as conn:
        known = conn.execute("SELECT COUNT(*) FROM imports").fetchone()[0]
        conn.execute(
            "INSERT INTO imports (kind, file, file_hash, actor, at, rows) VALUES ('reports', ?, '', ?, '', ?)",
            (str(number), who, known),
        )
    print(number, flush=True)
"""


def start(path: Path, who: str, count: int, script: str = WRITER) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", script, str(path), who, str(count)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def rows(database: Database) -> list[tuple[str, str]]:
    with database.read() as conn:
        return [(row["actor"], row["file"]) for row in conn.execute("SELECT actor, file FROM imports ORDER BY id")]


def test_an_exception_takes_back_everything_since_write_began(database: Database) -> None:
    with pytest.raises(sqlite3.IntegrityError), database.write() as conn:
        conn.executemany(INSERT, [("a", "Ada"), ("a", None)])
    with database.write() as conn:
        conn.execute(INSERT, ("b", "Ben"))
    assert rows(database) == [("Ben", "b")]


def test_a_reading_connection_writes_nothing(database: Database) -> None:
    with pytest.raises(WorkbenchError, match="may not be written to"), database.read() as conn:
        conn.execute(INSERT, ("a", "Ada"))
    with database.write() as conn:
        conn.execute(INSERT, ("b", "Ben"))
    with pytest.raises(WorkbenchError, match="may not be written to"), database.read() as conn:
        conn.execute(INSERT, ("c", "Cy"))
    assert rows(database) == [("Ben", "b")]


def test_reading_inside_a_write_sees_what_is_not_committed_yet(database: Database) -> None:
    with database.write() as conn:
        conn.execute(INSERT, ("a", "Ada"))
        assert rows(database) == [("Ada", "a")]


def test_writing_inside_a_write_is_a_mistake_of_the_program(database: Database) -> None:
    with database.write() as conn:
        with pytest.raises(RuntimeError, match="already inside"), database.write():
            pass
        conn.execute(INSERT, ("a", "Ada"))
    assert rows(database) == [("Ada", "a")]


def test_each_thread_has_a_connection_of_its_own(database: Database) -> None:
    failures: list[Exception] = []

    def save(who: str) -> None:
        try:
            with database.write() as conn:
                conn.execute(INSERT, ("a", who))
        except Exception as error:  # noqa: BLE001
            failures.append(error)

    threads = [threading.Thread(target=save, args=(f"rater {n}",)) for n in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert sorted(who for who, _ in rows(database)) == [f"rater {n}" for n in range(6)]


def test_six_raters_and_a_runner_write_at_once_and_nothing_is_lost(database: Database) -> None:
    names = [f"rater {n}" for n in range(6)] + ["runner"]
    writers = [start(database.path, name, 40) for name in names]
    for writer in writers:
        assert writer.stdout is not None
        assert writer.stdout.readline() == "ready\n"
    outputs = []
    for writer in writers:  # all wait for this, so that they start together
        assert writer.stdin is not None
        writer.stdin.write("go\n")
        writer.stdin.flush()
    for writer in writers:
        outputs.append(writer.communicate(timeout=120)[0].split())
        assert writer.returncode == 0
    assert outputs == [[str(number) for number in range(40)]] * 7
    assert sorted(rows(database)) == sorted((name, str(number)) for name in names for number in range(40))
    with database.read() as conn:  # each saw exactly those before it: no write was made on what was out of date
        seen = [row["rows"] for row in conn.execute("SELECT rows FROM imports ORDER BY id")]
    assert seen == list(range(280))
    assert database.integrity() == []


def test_a_killed_writer_loses_at_most_what_it_had_not_confirmed(database: Database) -> None:
    writer = start(database.path, "runner", 1_000_000)
    assert writer.stdin is not None
    assert writer.stdout is not None
    writer.stdin.write("go\n")
    writer.stdin.flush()
    assert writer.stdout.readline() == "ready\n"
    confirmed = [writer.stdout.readline().strip() for _ in range(25)]
    os.kill(writer.pid, signal.SIGKILL)
    confirmed += writer.communicate()[0].split()
    kept = [file for _, file in rows(database)]
    assert kept[: len(confirmed)] == confirmed
    assert len(kept) <= len(confirmed) + 1
    assert Database(database.path).integrity() == []
    with database.write() as conn:  # and nobody waits for the dead
        conn.execute(INSERT, ("after", "Ada"))


def test_two_processes_may_open_a_new_database_first(tmp_path: Path) -> None:
    path = tmp_path / "new.db"
    writers = [start(path, f"rater {n}", 5) for n in range(2)]
    for writer in writers:
        output = writer.communicate("go\n", timeout=120)[0]
        assert writer.returncode == 0, output
    database = Database(path)
    assert len(rows(database)) == 10
    with database.read() as conn:
        names = [row["name"] for row in conn.execute("SELECT name FROM _sqlite_migrations")]
    assert len(names) == len(set(names)) > 0


def test_the_file_survives_a_power_cut_and_is_read_while_written(database: Database) -> None:
    with database.read() as conn:
        settings = {name: conn.execute(f"PRAGMA {name}").fetchone()[0] for name in ("journal_mode", "synchronous")}
    assert settings == {"journal_mode": "wal", "synchronous": 2}  # 2 is FULL
    with database.write() as conn:
        conn.execute(INSERT, ("a", "Ada"))
        other = Database(database.path)
        thread_rows: list[int] = []
        reader = threading.Thread(target=lambda: thread_rows.append(len(rows(other))))
        reader.start()
        reader.join(timeout=20)
        assert thread_rows == [0]


def test_an_older_file_that_is_busy_while_it_is_opened_is_waited_for(tmp_path: Path) -> None:
    path = tmp_path / "plain.db"
    holder = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    holder.execute("BEGIN EXCLUSIVE")
    free = threading.Timer(0.3, lambda: holder.execute("ROLLBACK"))
    free.start()
    assert rows(Database(path)) == []
    free.join()


def test_a_database_that_stays_busy_is_said_to_be_so(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(database_module, "BUSY_SECONDS", 0.05)
    holder = sqlite3.connect(database.path, isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")
    late = Database(database.path)
    with pytest.raises(WorkbenchError, match="another process has been writing"), late.write():
        pass
    holder.execute("ROLLBACK")
    with late.write() as conn:
        conn.execute(INSERT, ("a", "Ada"))
    assert rows(database) == [("Ada", "a")]


def test_a_full_disk_leaves_nothing_half_written(database: Database) -> None:
    with database.read() as conn:
        pages = conn.execute("PRAGMA page_count").fetchone()[0]
        conn.execute(f"PRAGMA max_page_count = {pages + 2}")
    with pytest.raises(WorkbenchError, match="the disk is full"), database.write() as conn:
        conn.executemany(INSERT, [("first", "Ada"), ("x" * 100_000, "Ada")])
    assert rows(database) == []
    database.close()
    with database.write() as conn:
        conn.execute(INSERT, ("b", "Ben"))
    assert rows(database) == [("Ben", "b")]


def test_a_file_that_is_no_database_is_refused_and_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "labels.csv"
    path.write_text("report_id,effusion\n" * 100)
    with pytest.raises(InputError, match=r"labels\.csv is no database or is damaged"):
        Database(path)
    assert path.read_text() == "report_id,effusion\n" * 100


def test_a_damaged_database_is_found_out(database: Database) -> None:
    with database.write() as conn:
        for number in range(500):
            conn.execute(INSERT, (str(number) * 50, "Ada"))
    database.close()
    data = bytearray(database.path.read_bytes())
    for page in range(4096, len(data), 4096):
        data[page : page + 200] = b"\xff" * 200
    database.path.write_bytes(data)
    with pytest.raises(InputError, match="is no database or is damaged"):
        rows(Database(database.path))


@pytest.mark.parametrize(
    ("name", "message"),
    [("", "is a folder; name the database file"), ("missing/workbench.db", "check that the folder exists")],
)
def test_a_path_that_cannot_be_a_database_is_explained(tmp_path: Path, name: str, message: str) -> None:
    with pytest.raises(WorkbenchError, match=message):
        Database(tmp_path / name)


def test_a_row_that_names_a_missing_one_is_refused_and_would_be_found(database: Database) -> None:
    orphan = "INSERT INTO unlocks (cohort, actor, at, reason, details) VALUES ('no such', '', '', '', '{}')"
    with pytest.raises(sqlite3.IntegrityError), database.write() as conn:
        conn.execute(orphan)
    assert database.integrity() == []
    with sqlite3.connect(database.path) as stranger:
        stranger.execute(orphan)
    assert database.integrity() == ["unlocks: a row names one in cohorts that is missing"]


def test_a_closed_database_opens_again_when_it_is_used(database: Database) -> None:
    database.close()
    database.close()
    with database.write() as conn:
        conn.execute(INSERT, ("a", "Ada"))
    assert rows(database) == [("Ada", "a")]
