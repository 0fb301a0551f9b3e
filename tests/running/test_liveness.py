"""Whether a runner still lives."""

import os
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from workbench.running import liveness
from workbench.storage.runs import Lease

NOW = datetime(2026, 1, 1, tzinfo=UTC)
HOST = liveness.runner_name().rsplit(":", 2)[0]


def test_two_runners_of_one_process_have_two_names() -> None:
    assert liveness.runner_name() != liveness.runner_name()
    assert liveness.runner_name("pc:7").startswith("pc:7:")
    assert liveness.where("pc:7:ab") == "process 7 on pc"


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="a zombie is seen through /proc")
def test_a_process_is_gone_when_it_has_ended_even_before_its_parent_noticed() -> None:
    child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    name = f"{HOST}:{child.pid}:ab"
    assert not liveness.process_gone(name)
    child.kill()
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)  # ended, and still a zombie
    assert liveness.process_gone(name)
    child.communicate()
    assert liveness.process_gone(name)


def test_nothing_is_known_of_another_host() -> None:
    assert not liveness.process_gone(f"not-{HOST}:{2**22 + 1}:ab")
    assert not liveness.process_gone("somebody")
    assert liveness.stale_after("somebody") == timedelta(seconds=30)


def test_a_lease_is_alive_while_it_beats() -> None:
    def lease(runner: str, ago: float) -> Lease:
        return Lease("r", runner, NOW, NOW - timedelta(seconds=ago))

    assert liveness.is_alive(lease("elsewhere:1:ab", 29), NOW)
    assert not liveness.is_alive(lease("elsewhere:1:ab", 31), NOW)
    assert not liveness.is_alive(lease(f"{HOST}:{2**22 + 1}:ab", 0), NOW)
    assert not liveness.is_alive(None, NOW)
