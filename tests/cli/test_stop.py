"""A command that is told to end takes away what is half written and gives its run back."""

import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(os.name != "posix", reason="only POSIX systems ask a process to end")


def stopped(command: list[str], when: Callable[[], bool]) -> int:
    """Start a command, ask it to end once ``when`` is true, and return its exit code."""
    child = subprocess.Popen([sys.executable, "-m", "workbench", *command], stdout=subprocess.DEVNULL)
    while not when():
        assert child.poll() is None, "the command ended before it could be stopped"
        time.sleep(0.01)
    child.send_signal(signal.SIGTERM)
    return child.wait(timeout=60)


def test_labelling_leaves_nothing_behind(made_demo: Path, tmp_path: Path) -> None:
    source, out = tmp_path / "reports.csv", tmp_path / "out"
    rows = "".join(f'r{i},"FINDINGS: No effusion {i}."\n' for i in range(300_000))
    source.write_text(f"id,text\n{rows}", encoding="utf-8")
    out.mkdir()
    command = ["label", str(source), "-o", str(out / "labels.csv"), "--study", str(made_demo), "--workers", "1"]
    assert stopped(command, lambda: any(file.stat().st_size for file in out.iterdir())) == 128 + signal.SIGTERM
    assert list(out.iterdir()) == []


def test_a_run_is_given_back(made_demo: Path, tmp_path: Path) -> None:
    study = tmp_path / "study"
    shutil.copytree(made_demo, study)
    (study / "data" / "replies.jsonl").write_text(json.dumps({"default": True, "reply": {"findings": []}}) + "\n")
    with (study / "data" / "study.toml").open("a", encoding="utf-8") as toml:
        toml.write('\n[labelers.script]\nkind = "scripted"\nfile = "data/replies.jsonl"\ndelay = 0.1\n')
    conn = sqlite3.connect(study / "data" / "workbench.db")
    try:

        def leases() -> int:
            return int(conn.execute("SELECT COUNT(*) FROM leases").fetchone()[0])

        command = ["run", "--cohort", "development", "--labeler", "script", "--as", "Demo lead", "--study", str(study)]
        assert stopped(command, lambda: leases() == 1) == 128 + signal.SIGTERM
        assert leases() == 0
    finally:
        conn.close()
