"""Who runs, and whether they still do."""

import os
import secrets
import socket
from datetime import datetime, timedelta
from pathlib import Path

from workbench.storage.runs import Lease

BEAT_SECONDS = 1.0
STALE_AFTER = timedelta(seconds=30)  # a runner that was silent for so long is taken for dead, wherever it ran
GONE_AFTER = timedelta(seconds=3)  # enough where its process is known to be gone


def runner_name(process: str | None = None) -> str:
    """Return a name for one runner: host, process id, and a token, since a process may hold several runners."""
    return f"{process or f'{socket.gethostname()}:{os.getpid()}'}:{secrets.token_hex(4)}"


def where(runner: str) -> str:
    """Return a runner's name as told to people: "process 4711 on ward-pc"."""
    host, pid = _parts(runner)
    return f"process {pid} on {host}" if pid else runner


def process_gone(runner: str) -> bool:
    """Return whether a runner is of this host and its process is known to be no more.

    False where it cannot be known: another host, or a system that does not say.
    """
    host, pid = _parts(runner)
    if pid is None or host != socket.gethostname() or os.name != "posix":
        return False
    return ended(pid)


def ended(pid: int) -> bool:
    """Return whether a process of this computer is no more."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    except OSError:  # somebody else's process
        return False
    return _is_zombie(pid)


def stale_after(runner: str) -> timedelta:
    """Return how long a runner may be silent before another may take its run."""
    return GONE_AFTER if process_gone(runner) else STALE_AFTER


def is_alive(lease: Lease | None, now: datetime) -> bool:
    """Return whether a runner holds the lease and shows that it lives."""
    if lease is None or process_gone(lease.runner):
        return False
    return now - lease.heartbeat_at <= STALE_AFTER


def _parts(runner: str) -> tuple[str, int | None]:
    host, _, rest = runner.rpartition(":")[0].rpartition(":")
    return host, int(rest) if rest.isdecimal() else None


def _is_zombie(pid: int) -> bool:
    """Return whether a process has ended and only waits to be noticed by its parent (Linux)."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return False
    return stat.rpartition(")")[2].split()[:1] == ["Z"]
