"""kill -9 half way through `workbench run`: the same command finishes the run and labels nothing twice."""

import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

DELAY = 0.02


def extraction_count(database: Path) -> int:
    conn = sqlite3.connect(database)
    try:
        return int(
            conn.execute("SELECT COUNT(*) FROM extractions WHERE labeler_hash = ?", (script_hash(conn),)).fetchone()[0]
        )
    finally:
        conn.close()


def script_hash(conn: sqlite3.Connection) -> str:
    row = conn.execute("SELECT labeler_hash FROM extractions WHERE raw <> '' LIMIT 1").fetchone()
    return str(row[0]) if row else ""


def test_a_run_killed_half_way_is_finished_by_the_same_command(made_demo: Path, tmp_path: Path) -> None:
    study = tmp_path / "study"
    shutil.copytree(made_demo, study)
    (study / "data" / "replies.jsonl").write_text(json.dumps({"default": True, "reply": {"findings": []}}) + "\n")
    toml = study / "data" / "study.toml"
    toml.write_text(
        toml.read_text() + f'\n[labelers.script]\nkind = "scripted"\nfile = "data/replies.jsonl"\ndelay = {DELAY}\n'
    )
    command = [sys.executable, "-m", "workbench", "run", "--cohort", "development", "--prompt", "4"]
    command += ["--labeler", "script", "--study", str(study), "--json"]
    database = study / "data" / "workbench.db"
    environment = {**os.environ, "WORKBENCH_AS": "Demo lead"}

    child = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL)
    while extraction_count(database) < 100:
        assert child.poll() is None, "the run ended before it could be killed"
        time.sleep(0.02)
    child.send_signal(signal.SIGKILL)
    child.wait()
    half = extraction_count(database)

    again = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert again.returncode == 0, again.stderr
    result = json.loads(again.stdout)
    conn = sqlite3.connect(database)
    try:
        assert [row[0] for row in conn.execute("PRAGMA integrity_check")] == ["ok"]
        rows, texts = conn.execute(
            "SELECT COUNT(*), COUNT(DISTINCT text_hash) FROM extractions WHERE labeler_hash = ?", (script_hash(conn),)
        ).fetchone()
    finally:
        conn.close()
    assert 0 < half < rows == texts
    assert (result["done"], result["total"], result["failed"]) == (300, 300, {})
