"""A run under a cap: it stops with a sentence, says what it took, and goes on under a higher one."""

import json
from pathlib import Path
from typing import Any

REPLY = {"findings": []}  # two words as the scripted model counts


def test_a_run_stops_at_its_cap_with_exit_code_1_and_goes_on_under_a_higher_one(workbench: Any, study: str) -> None:
    folder = Path(study) / "data"
    (folder / "replies.jsonl").write_text(json.dumps({"default": True, "reply": REPLY}), encoding="utf-8")
    with (folder / "study.toml").open("a") as settings:
        settings.write('\n[labelers.script]\nkind = "scripted"\nfile = "data/replies.jsonl"\nconcurrency = 8\n')
    command = ["run", "--cohort", "development", "--labeler", "script", "--as", "Demo lead", "--study", study, "--json"]

    stopped = workbench(*command, "--max-tokens", "20000")
    assert stopped.code == 1
    assert "its cap of 20,000 tokens" in stopped.err
    first = stopped.json
    assert first["stopped"] in stopped.err
    assert 0 < first["done"] < first["total"]
    assert 0 < first["tokens"]["input_tokens"] + first["tokens"]["output_tokens"] <= 20_000
    assert first["cost"] is None

    again = workbench(*command, "--max-tokens", "20000")
    assert (again.code, again.json["done"]) == (1, first["done"])  # all that was taken before counts

    done = workbench(*command[:-1])
    assert done.code == 0
    assert "It has taken" in done.out
    assert "Next: workbench evaluate" in done.out

    refused = workbench(*command, "--max-cost", "1")
    assert refused.code == 1
    assert "Labeler script has no price" in refused.err
