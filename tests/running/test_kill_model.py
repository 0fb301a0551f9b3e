"""kill -9 in the middle of a run that asks a server, and two runners of one run: nothing is paid twice for nothing."""

import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from workbench.domain.hashing import text_hash
from workbench.domain.runs import Run
from workbench.labelers.registry import settings_of
from workbench.running.process import progress
from workbench.running.runner import run_keys
from workbench.storage import runs
from workbench.storage.database import Database

HERE = Path(__file__).parent
HOW_MANY, IN_FLIGHT, SECONDS = 500, 16, 0.05
TEXTS = [(str(i), f"Report {i}: effusion.") for i in range(HOW_MANY)]


@pytest.fixture
def calls(tmp_path: Path) -> Path:
    return tmp_path / "calls.txt"


@pytest.fixture
def a_served_run(a_run: Callable[..., Run], calls: Path) -> Iterator[Run]:
    """A run of a model on a server of its own that counts."""
    command = [sys.executable, str(HERE / "counting_server.py"), str(calls), str(SECONDS)]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert server.stdout is not None
    address = f"http://127.0.0.1:{int(server.stdout.readline())}/v1"
    try:
        yield a_run(settings_of("m", kind="openai", base_url=address, model="m", concurrency=IN_FLIGHT))
    finally:
        server.kill()
        server.communicate()


def asked(calls: Path) -> list[str]:
    """Return the hash of the report of each call so far, in their order."""
    lines = calls.read_text().split() if calls.exists() else []
    return [line[1:] for line in lines if line.startswith("+")]


def child(database: Database, run: Run) -> "subprocess.Popen[str]":
    command = [sys.executable, str(HERE / "model_child.py"), str(database.path), run.hash, str(HOW_MANY)]
    return subprocess.Popen(command, stderr=subprocess.PIPE, text=True)


def test_a_killed_run_goes_on_and_asks_again_at_most_for_what_was_in_flight(
    database: Database, a_served_run: Run, calls: Path
) -> None:
    run, keys = a_served_run, [key for key, _ in run_keys(a_served_run, TEXTS)]
    first = child(database, run)
    while len(asked(calls)) < HOW_MANY // 2:
        assert first.poll() is None
        time.sleep(0.01)
    first.send_signal(signal.SIGKILL)
    first.communicate()

    before = set(asked(calls))
    with database.read() as conn:
        saved = {key.text_hash for key in runs.statuses(conn, keys)}
        assert not progress(conn, run, TEXTS).alive
    assert saved <= before
    assert len(before - saved) <= IN_FLIGHT
    assert database.integrity() == []

    second = child(database, run)
    assert second.communicate(timeout=300)[1] == ""
    with database.read() as conn:
        done = progress(conn, run, TEXTS)
        rows = conn.execute("SELECT COUNT(*), COUNT(DISTINCT text_hash) FROM extractions").fetchone()
        assert {(e.state("effusion"), e.detail) for e in runs.extractions(conn, keys).values()} == {("present", "")}
    assert tuple(rows) == (HOW_MANY, HOW_MANY)
    assert (done.done, done.failed, done.finished) == (HOW_MANY, {}, True)
    assert done.usage.replies == HOW_MANY
    every = Counter(asked(calls))
    assert set(every) == {text_hash(text) for _, text in TEXTS}
    assert {digest for digest, times in every.items() if times > 1} == before - saved
    assert every.total() <= HOW_MANY + IN_FLIGHT


def test_of_two_runners_started_at_once_one_works_and_the_other_says_who_does(
    database: Database, a_served_run: Run, calls: Path
) -> None:
    both = [child(database, a_served_run) for _ in range(2)]
    told = [runner.communicate(timeout=300)[1] for runner in both]
    assert sorted(runner.returncode for runner in both) == [0, 1]
    worked, refused = sorted(both, key=lambda runner: runner.returncode)
    assert told[both.index(worked)] == ""
    assert f"being worked on by process {worked.pid} on " in told[both.index(refused)]
    assert Counter(asked(calls)) == {text_hash(text): 1 for _, text in TEXTS}
