"""`workbench label` with a language model: through real sockets, killed half way, and kept on this computer."""

import csv
import json
import os
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

SERVER = Path(__file__).parents[1] / "models" / "fault_server.py"
REPORTS, IN_FLIGHT = 240, 8
PROBES = 3


@pytest.fixture
def server() -> Iterator[str]:
    """A server on this computer that finds in each report what it says of itself; yields its address."""
    child = subprocess.Popen(
        [sys.executable, str(SERVER), "--port", "0", "--latency", "0.05"], stdout=subprocess.PIPE, text=True
    )
    assert child.stdout is not None
    yield f"http://127.0.0.1:{int(child.stdout.readline().split()[-1])}"
    child.kill()
    child.wait()


def calls(server: str) -> int:
    with urllib.request.urlopen(f"{server}/log", timeout=30) as answer:
        return int(json.load(answer)["calls"])


def make_source(path: Path, directives: dict[int, str]) -> None:
    with path.open("w", encoding="utf-8") as file:
        file.write("id,text\n")
        for i in range(REPORTS):
            deal = f"{{deal {directives[i]}}}" if i in directives else ""
            file.write(f'r{i},"FINDINGS: pneumothorax {["present", "absent"][i % 2]}. Number {i}. {deal}"\n')


@pytest.fixture
def asked(made_demo: Path, server: str) -> Callable[..., list[str]]:
    def command(source: Path, out: Path, *more: str) -> list[str]:
        described = ["--kind", "openai", "--base-url", f"{server}/v1", "--model", "m", "--concurrency", str(IN_FLIGHT)]
        where = ["label", str(source), "-o", str(out), "--study", str(made_demo), "--json"]
        return [sys.executable, "-m", "workbench", *where, *described, *more]

    return command


def table(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@pytest.mark.skipif(os.name != "posix", reason="only POSIX systems kill so")
@pytest.mark.parametrize("parts", [["--parts", "csv", "--part-reports", "50"], []])
def test_kill_9_costs_at_most_the_calls_in_flight(
    asked: Callable[..., list[str]], server: str, tmp_path: Path, parts: list[str]
) -> None:
    make_source(tmp_path / "in.csv", {})
    out = tmp_path / ("labels" if parts else "labels.csv")
    command = asked(tmp_path / "in.csv", out, *parts)
    child = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    while calls(server) < REPORTS // 2:
        assert child.poll() is None, "the labelling ended before it could be killed"
        time.sleep(0.05)
    child.send_signal(signal.SIGKILL)
    child.wait()
    again = subprocess.run(command, capture_output=True, text=True, check=False)
    assert again.returncode == 0, again.stderr
    done = json.loads(again.stdout)
    assert (done["labelled"], done["failed"]) == (REPORTS, 0)
    assert calls(server) <= REPORTS + IN_FLIGHT + 2 * PROBES
    files = sorted(out.glob("part-*.csv")) if parts else [out]
    rows = [row for file in files for row in table(file)]
    assert [(row["report_id"], row["pneumothorax"]) for row in rows] == [(f"r{i}", "10"[i % 2]) for i in range(REPORTS)]
    assert not [path.name for path in tmp_path.rglob("*journal*")]
    assert done["tokens"]["replies"] == REPORTS


def test_what_has_no_label_stands_in_the_failures_with_its_reason(
    asked: Callable[..., list[str]], tmp_path: Path
) -> None:
    make_source(tmp_path / "in.csv", {3: "refusal", 5: "truncated", 7: "500, ok", 9: "400", 11: "wrong_label"})
    done = subprocess.run(asked(tmp_path / "in.csv", tmp_path / "l.csv"), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    failures = {row["report_id"]: row["reason"] for row in table(tmp_path / "l.failures.csv")}
    assert list(failures) == ["r3", "r5", "r9", "r11"]
    assert all(failures.values())
    assert "SERVER-CANARY" not in (tmp_path / "l.failures.csv").read_text()
    assert len(table(tmp_path / "l.csv")) == REPORTS - 4


def test_a_server_that_fails_at_a_form_of_reply_is_asked_for_it_once(
    made_demo: Path, tmp_path: Path, start_fault_server: Callable[..., Any]
) -> None:
    server = start_fault_server("--rejects", "json_schema", "--reject-status", "500")
    reports = tmp_path / "in.csv"
    reports.write_text("id,text\nr1,pneumothorax present.\n", encoding="utf-8")
    described = ["--kind", "openai", "--base-url", f"{server.url}/v1", "--model", "m"]
    command = [sys.executable, "-m", "workbench", "label", str(reports), "-o", str(tmp_path / "l.csv"), *described]
    done = subprocess.run([*command, "--study", str(made_demo)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert [step for _, _, step in server.log()["journal"]] == ["500", "ok", "ok"]  # the next form, then the report


@pytest.mark.parametrize(
    ("described", "said"),
    [
        (
            ["--kind", "openai", "--base-url", "http://10.0.0.1:8000/v1", "--model", "m"],
            "10.0.0.1 (port 8000) is neither",
        ),
        (["--kind", "anthropic", "--model", "m"], "restricted to this computer and listed hosts"),
        (["--kind", "openai", "--model", "m"], "restricted to this computer and listed hosts"),
        (["--model", "m"], "--model describes a labeler of your own; say --kind"),
        (["--kind", "openai", "--labeler", "rules"], "give one of the two"),
        (["--kind", "openai"], "needs the name of its model"),
        (["--labeler", "gpt"], "no labeler called gpt"),
        (["--max-cost", "1"], "has no price"),
    ],
)
def test_a_labeler_that_may_not_or_cannot_be_asked_is_refused_in_a_sentence(
    workbench: Callable[..., object],
    *,
    made_demo: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    described: list[str],
    said: str,
) -> None:
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY"):
        monkeypatch.setenv(name, "sk-test")
    make_source(tmp_path / "in.csv", {})
    told = workbench("label", "in.csv", "-o", "l.csv", "--study", str(made_demo), *described)
    assert told.code == 1  # type: ignore[attr-defined]
    assert said in told.err  # type: ignore[attr-defined]
    assert len(told.err.splitlines()) == 1  # type: ignore[attr-defined]
    assert not (tmp_path / "l.csv").exists()
