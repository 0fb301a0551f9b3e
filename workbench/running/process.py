"""A run in a process of its own, which goes on when the page that started it is closed."""

import os
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

from workbench.domain.runs import ExtractionStatus, Run, RunProgress
from workbench.errors import ConflictError, WorkbenchError
from workbench.running import liveness, spending
from workbench.running.runner import run_keys
from workbench.storage import runs as run_store
from workbench.storage.database import Database

LOG = Path("data") / "run.log"
_PACKAGE_FOLDER = Path(__file__).resolve().parents[2]
_TAIL_BYTES = 4_000
_BEHIND, _LAST = 10, 19  # steps of Unix's niceness, and the largest there is


def start(study_folder: Path, args: Sequence[str]) -> int:
    """Start ``python -m workbench run ARGS`` for a study and return its process id at once.

    The process is in a session of its own: it outlives this one. It is told the study by WORKBENCH_STUDY and inherits
    the environment, where keys stand; nothing secret may be in ``args``, which every user of the computer can read.
    What it says goes to ``data/run.log`` of the study.
    """
    folder = study_folder.resolve()
    with (folder / LOG).open("ab") as log:
        child = subprocess.Popen(
            [sys.executable, "-m", "workbench", "run", *args],
            cwd=_PACKAGE_FOLDER,  # where -m finds the package even when it is not installed
            env={**os.environ, "WORKBENCH_STUDY": str(folder), "PYTHONUNBUFFERED": "1"},
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
    give_way(child.pid)
    # A child nobody waits for stays a zombie, which looks alive.
    threading.Thread(target=child.wait, daemon=True).start()
    return child.pid


def give_way(pid: int) -> None:
    """Let everybody else's work on this computer go before a process's: raters must not wait for a run."""
    if hasattr(os, "setpriority"):
        with suppress(OSError):  # it has ended already, or was given a lower priority by its owner
            os.setpriority(os.PRIO_PROCESS, pid, min(os.getpriority(os.PRIO_PROCESS, 0) + _BEHIND, _LAST))


def log_tail(study_folder: Path) -> str:
    """Return the last lines that runs of a study have written; empty when there are none."""
    try:
        with (study_folder / LOG).open("rb") as log:
            log.seek(max(0, log.seek(0, os.SEEK_END) - _TAIL_BYTES))
            return log.read().decode("utf-8", "replace")
    except FileNotFoundError:
        return ""


def keeping_stop(database: Database, run: Run, work: Callable[[], RunProgress]) -> RunProgress:
    """Return how work on a run ends, having kept in the database why it stopped where it did.

    Raises:
        WorkbenchError: whatever the work raises, kept as well, unless another runner goes on with the run.
    """
    try:
        done = work()
    except ConflictError:
        raise
    except WorkbenchError as error:
        _keep(database, run, str(error))
        raise
    if done.stopped:
        _keep(database, run, done.stopped)
    return done


def _keep(database: Database, run: Run, why: str) -> None:
    with database.write() as conn:
        run_store.add_stop(conn, run.hash, why, datetime.now(UTC))


def progress(conn: sqlite3.Connection, run: Run, texts: Sequence[tuple[str, str]]) -> RunProgress:
    """Return how far a run has come, by what is saved.

    Args:
        conn: for reading.
        run: the run.
        texts: (report id, text of the selected sections), as for ``execute``; each counts once per repeat.
    """
    keys = [key for key, _ in run_keys(run, texts)]
    standing = run_store.standing(conn, keys)
    lease = run_store.lease(conn, run.hash)
    alive = liveness.is_alive(lease, datetime.now(UTC))
    stop = None if alive else run_store.last_stop(conn, run.hash)
    if stop and standing.last_at and standing.last_at > stop[1]:  # somebody went on with it since
        stop = None
    return RunProgress(
        total=len(keys),
        done=sum(standing.counts.values()),
        failed={status.value: n for status, n in standing.counts.items() if status is not ExtractionStatus.OK},
        alive=alive,
        started_at=lease.acquired_at if lease and alive else None,
        updated_at=standing.last_at,
        usage=standing.usage,
        cost=spending.cost(standing.usage, run.labeler.price),
        forecast=spending.forecast(standing.usage, run.labeler.price, len(set(keys)) - standing.ended),
        pace=lease.pace if lease and alive else None,
        stopped=stop[0] if stop else "",
        unanswered=standing.unanswered,
    )
