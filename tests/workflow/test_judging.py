"""A language model as judge: each pair is judged once, and its score takes part in the test of metrics."""

import csv
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

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
from workbench.workflow.trust_files import judge_words, picture, trust_json, write_trust

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


HARMLESS, OTHER = "FINDINGS: Small left pleural effusion.", "FINDINGS: Small effusion at the left."


def edit(kind: str, text: str, *, matters: bool, report: str = TEXT) -> EditedPair:
    name = f"r{len(report)}"
    return EditedPair(f"{name}:{kind}", name, name, kind, matters, "", report, text)


EDITS = [
    edit("removed", "FINDINGS: Normal.", matters=True),
    edit("side_swapped", TEXT.replace("left", "right"), matters=True),
    edit("style", HARMLESS, matters=False),
    edit("style", OTHER, matters=False, report=f"{TEXT} The heart is large."),
]


@pytest.fixture
def failing(study: Study) -> Study:
    """A study whose judge refuses the other side, breaks off at other words, and gets nowhere with a large heart."""
    lines = [
        {"contains": "Generated:\n<report>\nNormal.", "reply": MISSED},
        {"contains": "right pleural", "reply": SIDE, "failure": "refused"},
        {"contains": "The heart is large.\n</report>\n\nGenerated:", "failure": "error"},
        {"default": True, "reply": GOOD},
    ]
    (study.folder / "data" / "judge.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    return with_labeler(study, LabelerConfig(kind="scripted", file="data/judge.jsonl"))


def test_of_what_a_judge_did_not_judge_it_is_told_how_much_and_why_by_kind_of_edit(
    failing: Study, lead: Actor, make_prompt: Callable[..., Prompt], tmp_path: Path
) -> None:
    revision = save_candidate(failing, lead, make_prompt(), message="m", parent=None).prompt_hash
    bench = bench_of(failing, ONE, "m")
    found = measure(failing, lead, EDITS, metrics=["rouge_l"], judges=[bench], revision=revision, resamples=0)
    _, judge = found.metrics
    # One of the two edits of style fails with the report with itself, too: it is in no figure, and counted once.
    assert judge.without == {"side_swapped": {"refused": 1}, "style": {"failed": 1}}
    assert [(kind.kind, kind.right.n) for kind in judge.trust.kinds] == [
        ("removed", 1),
        ("side_swapped", 0),
        ("style", 1),
    ]
    assert judge.trust.probability.value == 1.0
    assert judge.trust.left_out == 2
    took, without = judge_words(found)
    assert "no judgement by a model" in took
    assert "no judgement on 2 of 4 edits" in without
    assert "side swapped 1 of 1 (1 refused); style 1 of 2 (1 no reply)" in without
    assert "asked for again" in without
    (_, said) = trust_json(found)["metrics"]  # type: ignore[misc]
    assert said["without_judgement"] == {"failed": 1, "refused": 1}
    assert [kind["without_judgement"] for kind in said["kinds"]] == [{}, {"refused": 1}, {"failed": 1}]
    assert (said["judge"]["judge_hash"], said["judge"]["labeler_kind"]) == (ONE.hash, "scripted")
    drawn = [text.text or "" for text in ET.fromstring(picture(found)).iter() if text.tag.endswith("text")]
    assert without in " ".join(drawn)
    # Every kind alike and all pairs alike, of four; side swapped, of one; style, of two.
    assert [text for text in drawn if text.startswith("n ")] == ["n 2", "n 2", "n 0", "n 1"]
    write_trust(found, EDITS, tmp_path / "out")
    with (tmp_path / "out" / "trust.csv").open(newline="") as file:
        rows = {(row["metric"], row["kind"], row["sort"]): row for row in csv.DictReader(file)}
    assert rows["one pass, m", "side_swapped", "significant"]["why_without"] == "1 refused"
    assert (rows["one pass, m", "", "significant"]["n"], rows["one pass, m", "", "significant"]["without"]) == (
        "1",
        "1",
    )
    assert rows["rouge_l", "style", "harmless"]["without"] == "0"


def test_a_judge_that_judged_all_has_nothing_to_explain(
    scripted: Study, lead: Actor, make_prompt: Callable[..., Prompt]
) -> None:
    revision = save_candidate(scripted, lead, make_prompt(), message="m", parent=None).prompt_hash
    bench = bench_of(scripted, ONE, "m")
    found = measure(scripted, lead, EDITS, metrics=[], judges=[bench], revision=revision, resamples=0)
    assert found.metrics[0].without == {}
    assert len(judge_words(found)) == 1
    assert "n 1" not in picture(found)


def test_a_model_that_breaks_is_a_pair_without_an_answer_and_the_others_go_on(scripted: Study) -> None:
    lines = [{"contains": "broken", "failure": "error"}, {"default": True, "reply": GOOD}]
    (scripted.folder / "data" / "judge.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    docket = judge_pairs(bench_of(scripted, ONE, "m"), [("a", "broken"), ("a", "b")])
    assert (docket.score(("a", "broken")), docket.score(("a", "b"))) == (None, 1.0)
    assert (docket.why(("a", "broken")), docket.why(("a", "b"))) == ("failed", "")
    assert "says that this call fails" in docket.detail(("a", "broken"))
