"""`workbench run --batch`, a kill -9 between handing over and writing down, and files for `vllm run-batch`."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

RUN = ("run", "--cohort", "development", "--labeler", "m", "--as", "Demo lead")


def with_model(study: str, url: str, kind: str = "openai") -> None:
    address = f"{url}/v1" if kind == "openai" else url
    with (Path(study) / "data" / "study.toml").open("a", encoding="utf-8") as settings:
        settings.write(f'\n[labelers.m]\nkind = "{kind}"\nmodel = "m"\nbase_url = "{address}"\nmax_tokens = 300\n')
        settings.write("price = {input = 10.0, output = 20.0}\n")


def test_the_same_command_hands_over_and_collects(
    workbench: Any, study: str, start_batch_server: Callable[..., Any]
) -> None:
    with_model(study, start_batch_server("--looks", "2").url)
    command = [*RUN, "--batch", "--study", study]
    first = workbench(*command)
    assert first.code == 0
    assert "reports were handed over" in first.out
    assert "Demo lead" in first.out
    assert "--resume" in first.out
    second = workbench(*command, "--json").json
    assert (second["submitted"], second["collected"], second["done"]) == (0, 0, 0)
    assert second["batches"][0]["state"] == "in_progress"
    done = workbench("run", "--resume", second["run"], "--as", "Demo lead", "--study", study)
    assert "answers came in" in done.out
    assert "at 0.5 of the price" in done.out
    assert "Next: workbench evaluate --run" in done.out
    assert workbench("evaluate", "--run", second["run"], "--as", "Demo lead", "--study", study).code == 0


def test_waiting_collects_when_it_is_done(
    workbench: Any, study: str, start_batch_server: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    with_model(study, start_batch_server("--looks", "2").url, "anthropic")
    monkeypatch.setattr("workbench.workflow.batches._FIRST_PAUSE", 0.01)
    done = workbench(*RUN, "--batch", "--wait", "--study", study, "--json")
    found = done.json
    assert ["in_progress" in line for line in done.err.splitlines()] == [True, False]  # what changed, once each
    assert (found["under_way"], found["done"]) == (0, found["total"])
    assert found["submitted"] == found["collected"] == found["total"]


@pytest.mark.parametrize("kind", ["openai", "anthropic"])
def test_a_kill_between_handing_over_and_writing_down_pays_for_nothing_twice(
    workbench: Any, study: str, start_batch_server: Callable[..., Any], kind: str, root: Path
) -> None:
    provider = start_batch_server("--hold", "60", "--others", "3")
    with_model(study, provider.url, kind)
    command = [*RUN, "--batch", "--study", study]
    child = subprocess.Popen([sys.executable, "-m", "workbench", *command], env={**os.environ}, cwd=root)
    while not provider.log()["batches"]:
        assert child.poll() is None
        time.sleep(0.05)
    child.send_signal(signal.SIGKILL)
    child.wait()
    found = workbench(*command, "--json").json
    assert (found["submitted"], found["collected"], found["done"]) == (0, found["total"], found["total"])
    seen = provider.log()
    assert len(seen["batches"]) == 1
    assert set(seen["asked"].values()) == {1}


def test_requests_go_into_a_file_and_its_answers_come_from_one(workbench: Any, study: str, tmp_path: Path) -> None:
    with_model(study, "http://127.0.0.1:9")
    out, answers = tmp_path / "requests.jsonl", tmp_path / "answers.jsonl"
    written = workbench(*RUN, "--batch-file", str(out), "--study", study, "--json").json
    lines = [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]
    assert len(lines) == written["requests"] > 0
    body = {"choices": [{"message": {"content": '{"findings": []}'}, "finish_reason": "stop"}], "model": "m"}
    said = [{"custom_id": each["custom_id"], "response": {"status_code": 200, "body": body}} for each in lines]
    answers.write_text("".join(json.dumps(each) + "\n" for each in said), encoding="utf-8")

    cut = tmp_path / "cut.jsonl"
    cut.write_text(answers.read_text(encoding="utf-8")[:-20], encoding="utf-8")
    refused = workbench(*RUN, "--batch-result", str(cut), "--study", study)
    assert refused.code == 1
    assert f"line {len(lines)}, is cut off" in refused.err

    taken = workbench("run", "--resume", written["run"], "--batch-result", str(answers), "--as", "Demo lead",
                      "--study", study, "--json").json  # fmt: skip
    assert taken["collected"] == len(lines)
    assert taken["done"] == taken["total"]


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (("--wait",), "--wait goes with --batch"),
        (("--batch", "--batch-file", "x"), "--batch and --batch-file do not go together"),
    ],
)
def test_what_does_not_go_together_is_refused(workbench: Any, study: str, given: tuple[str, ...], told: str) -> None:
    with_model(study, "http://127.0.0.1:9")
    refused = workbench(*RUN, *given, "--study", study)
    assert refused.code == 1
    assert told in refused.err


def test_the_rules_labeler_and_a_study_that_is_restricted_are_refused_alike_in_a_batch_and_by_call(
    workbench: Any, study: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    with (Path(study) / "data" / "study.toml").open("a", encoding="utf-8") as settings:
        settings.write('\n[labelers.m]\nkind = "openai"\nmodel = "m"\n')
    by_call, in_batch = (workbench(*RUN, *more, "--study", study) for more in ((), ("--batch",)))
    assert by_call.code == in_batch.code == 1
    assert "restricted to this computer" in in_batch.err
    assert by_call.err == in_batch.err
    rules = workbench("run", "--cohort", "development", "--batch", "--as", "Demo lead", "--study", study)
    assert "takes no batches" in rules.err
