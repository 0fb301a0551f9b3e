"""kill -9 in the middle of a run: the next attempt finishes it and asks for nothing that was saved."""

import json
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from workbench.domain.hashing import text_hash
from workbench.domain.runs import Run
from workbench.labelers.registry import settings_of
from workbench.running.process import progress
from workbench.running.runner import run_keys
from workbench.storage import runs
from workbench.storage.database import Database

CHILD = Path(__file__).with_name("killed_child.py")
HOW_MANY, IN_FLIGHT = 200, 4
TEXTS = [(str(i), f"Report {i}: effusion.") for i in range(HOW_MANY)]
REPLY = {"findings": [{"finding": "effusion", "state": "present", "evidence": "effusion"}]}


def lines(path: Path) -> list[str]:
    return path.read_text().split() if path.exists() else []


def test_a_killed_run_is_finished_by_the_next_and_nothing_saved_is_asked_again(
    database: Database, a_run: Callable[..., Run], tmp_path: Path
) -> None:
    replies, calls = tmp_path / "replies.jsonl", tmp_path / "calls.txt"
    replies.write_text(json.dumps({"default": True, "reply": REPLY}), encoding="utf-8")
    run = a_run(settings_of("script", kind="scripted", file=replies, delay=0.02, concurrency=IN_FLIGHT))
    command = [sys.executable, str(CHILD), str(database.path), run.hash, str(replies), str(calls), str(HOW_MANY)]
    keys = [key for key, _ in run_keys(run, TEXTS)]

    child = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    while len(lines(calls)) < HOW_MANY // 2:
        assert child.poll() is None
        time.sleep(0.01)
    child.send_signal(signal.SIGKILL)
    child.wait()

    asked = set(lines(calls))
    with database.read() as conn:
        before = {key.text_hash for key in runs.statuses(conn, keys)}
        half = progress(conn, run, TEXTS)
    assert before <= asked
    assert len(asked - before) <= IN_FLIGHT
    assert 0 < half.done < half.total == HOW_MANY
    assert not half.alive
    assert database.integrity() == []

    finished = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    assert finished.returncode == 0, finished.stderr
    with database.read() as conn:
        assert progress(conn, run, TEXTS).finished
        rows = conn.execute("SELECT count(*), count(DISTINCT text_hash) FROM extractions").fetchone()
        assert {(e.state("effusion"), e.detail) for e in runs.extractions(conn, keys).values()} == {("present", "")}
    assert tuple(rows) == (HOW_MANY, HOW_MANY)
    assert database.integrity() == []

    every = Counter(lines(calls))
    assert set(every) == {text_hash(text) for _, text in TEXTS}
    assert {digest for digest, times in every.items() if times > 1} == asked - before
    assert every.total() <= HOW_MANY + IN_FLIGHT
