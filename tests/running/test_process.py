"""A run in a process of its own: started at once, heard in a log, followed from the database."""

import os
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from workbench.domain.runs import Extraction, ExtractionStatus, Run
from workbench.running import liveness
from workbench.running.process import log_tail, progress, start
from workbench.running.runner import run_keys
from workbench.storage import runs as run_store
from workbench.storage.database import Database


def wait_for_end(pid: int) -> None:
    deadline = time.monotonic() + 60
    while not liveness.process_gone(f"{liveness.runner_name().rsplit(':', 2)[0]}:{pid}:ab"):
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_starts_the_run_command_and_keeps_what_it_says(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    assert log_tail(tmp_path) == ""
    pid = start(tmp_path, ["--no-such-option"])
    assert pid != os.getpid()
    wait_for_end(pid)
    assert "--no-such-option" in log_tail(tmp_path)


@pytest.mark.skipif(not hasattr(os, "getpriority"), reason="this system knows no niceness")
def test_a_run_lets_the_server_with_its_raters_go_first(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    pid = start(tmp_path, ["--list"])
    assert os.getpriority(os.PRIO_PROCESS, pid) == min(os.getpriority(os.PRIO_PROCESS, 0) + 10, 19)
    wait_for_end(pid)


def test_only_the_end_of_a_long_log_is_shown(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "run.log").write_text("first\n" + "x" * 10_000 + "\nlast\n")
    assert log_tail(tmp_path).endswith("x\nlast\n")
    assert "first" not in log_tail(tmp_path)


@pytest.mark.parametrize(
    ("ago", "alive"), [(timedelta(seconds=0), True), (timedelta(seconds=25), True), (timedelta(seconds=35), False)]
)
def test_progress_counts_reports_and_says_whether_anybody_works(
    database: Database, a_run: Callable[..., Run], ago: timedelta, alive: bool
) -> None:
    run = a_run(repeats=2)
    texts = [("1", "same"), ("2", "same"), ("3", "other"), ("4", "to do")]
    keys = {text: key for key, text in run_keys(run, texts) if key.repeat == 1}
    saved_at = datetime(2026, 1, 1, 12, tzinfo=UTC)
    with database.write() as conn:
        pairs = [
            (keys["same"], Extraction(ExtractionStatus.REFUSED)),
            (keys["other"], Extraction(ExtractionStatus.OK)),
        ]
        run_store.save_extractions(conn, pairs, saved_at)
        run_store.acquire_lease(conn, run.hash, liveness.runner_name(), datetime.now(UTC) - ago, timedelta(0))
    with database.read() as conn:
        seen = progress(conn, run, texts)
    assert (seen.total, seen.done, dict(seen.failed)) == (8, 3, {"refused": 2})
    assert seen.alive is alive
    assert (seen.started_at is not None) is alive
    assert seen.updated_at == saved_at
    assert not seen.finished
