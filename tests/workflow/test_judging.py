"""A language model as judge: each pair is judged once, and its score takes part in the test of metrics."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from workbench.domain.actors import Actor
from workbench.domain.judging import JudgePrompt
from workbench.domain.pairs import EditedPair
from workbench.domain.prompts import Prompt
from workbench.errors import InputError, RightsError
from workbench.running.spending import Cap
from workbench.workflow.judging import bench_of, judge_pairs
from workbench.workflow.prompts import save_candidate
from workbench.workflow.settings import LabelerConfig
from workbench.workflow.study import Study
from workbench.workflow.trust import measure
from workbench.workflow.trust_files import trust_json

ONE, TWO = JudgePrompt("one pass", "Find and weigh."), JudgePrompt("two passes", "Find.", "Weigh.")
TEXT = "FINDINGS: There is a small left pleural effusion."
GOOD = {"errors": [], "matched": ["effusion"]}
MISSED = {"errors": [{"kind": "missing_finding", "significant": True, "what": "effusion"}], "matched": []}
SIDE = {"errors": [{"kind": "wrong_location", "significant": True, "what": "side"}], "matched": ["size"]}
PAIRS = [("a", "a"), ("a", "b"), ("a", "")]


def with_labeler(study: Study, config: LabelerConfig) -> Study:
    labelers = {**study.settings.labelers, "m": config}
    return replace(study, settings=study.settings.model_copy(update={"labelers": labelers}))


@pytest.fixture
def scripted(study: Study) -> Study:
    """A study whose labeler m judges from a file: what is gone, what is on the right, everything else."""
    lines = [
        {"contains": "Generated:\n<report>\nNormal.", "reply": MISSED},
        {"contains": "right pleural", "reply": SIDE},
        {"default": True, "reply": GOOD},
    ]
    (study.folder / "data" / "judge.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    return with_labeler(study, LabelerConfig(kind="scripted", file="data/judge.jsonl"))


def test_a_pair_is_judged_once(scripted: Study) -> None:
    told: list[tuple[int, int]] = []
    first = judge_pairs(bench_of(scripted, ONE, "m"), PAIRS, on_progress=lambda *at: told.append(at))
    assert [first.judged[pair].score for pair in PAIRS] == [1.0, 1.0, 0.0]  # a blank report matches nothing
    assert first.usage.replies == 2
    assert told[-1] == (3, 3)
    told.clear()
    again = judge_pairs(bench_of(scripted, ONE, "m"), PAIRS, on_progress=lambda *at: told.append(at))
    assert again == first
    assert not told


def test_another_judge_judges_anew(scripted: Study) -> None:
    one = judge_pairs(bench_of(scripted, ONE, "m"), PAIRS[:1])
    two = judge_pairs(bench_of(scripted, TWO, "m"), PAIRS[:1])
    assert one.judged[PAIRS[0]].raw != () != two.judged[PAIRS[0]].raw


def test_what_was_judged_before_the_cap_was_reached_is_kept(scripted: Study) -> None:
    pairs = [("a", str(number)) for number in range(50)]
    stopped = judge_pairs(bench_of(scripted, ONE, "m"), pairs, cap=Cap(tokens=300))
    assert stopped.stopped
    assert 0 < len(stopped.judged) < 50
    assert len(judge_pairs(bench_of(scripted, ONE, "m"), pairs).judged) == 50


def test_a_call_that_brings_no_reply_is_no_judgement_and_is_made_again(
    study: Study, start_fault_server: Callable[..., Any]
) -> None:
    server = start_fault_server()
    it = with_labeler(study, LabelerConfig(kind="openai", model="m", base_url=f"{server.url}/v1"))
    bench = bench_of(it, ONE, "m")
    assert not judge_pairs(bench, [("a", "Wet {deal 400}")]).judged
    judge_pairs(bench, [("a", "Wet {deal 400}")])
    assert ["400", "400"] in [report["dealt"] for report in server.log()["reports"].values()]


def test_the_rules_labeler_is_no_judge(study: Study) -> None:
    with pytest.raises(InputError, match="rules labeler cannot judge"):
        bench_of(study, ONE, "rules")


def test_reports_go_to_no_judge_whose_host_is_not_open(study: Study) -> None:
    it = with_labeler(study, LabelerConfig(kind="openai", model="m", base_url="https://example.org/v1"))
    with pytest.raises(RightsError, match="restricted"):
        judge_pairs(bench_of(it, ONE, "m"), PAIRS)


def test_a_judge_is_tested_like_any_metric_and_tells_what_it_took(
    scripted: Study, lead: Actor, make_prompt: Callable[..., Prompt], tmp_path: Path
) -> None:
    revision = save_candidate(scripted, lead, make_prompt(), message="m", parent=None).prompt_hash

    def pair(kind: str, text: str, *, matters: bool) -> EditedPair:
        return EditedPair(f"r:{kind}", "r", "r", kind, matters, "", TEXT, text)

    pairs = [
        pair("removed", "FINDINGS: Normal.", matters=True),
        pair("side_swapped", TEXT.replace("left", "right"), matters=True),
        pair("style", "FINDINGS: Small left pleural effusion.", matters=False),
    ]
    bench = bench_of(scripted, ONE, "m")
    found = measure(scripted, lead, pairs, metrics=[], judges=[bench], revision=revision, resamples=0)
    (judge,) = found.metrics
    # From 1 with itself: nothing matched is 0, one matched beside one error 1/2, no error 1.
    assert [kind.mean_drop.value for kind in judge.trust.kinds] == [1.0, 0.5, 0.0]
    assert judge.trust.probability.value == 1.0
    assert judge.name == "one pass, m"
    assert judge.usage is not None
    assert judge.usage.replies == 4
    said = trust_json(found)["metrics"]
    assert isinstance(said, list)
    assert said[0]["tokens"]["replies"] == 4
