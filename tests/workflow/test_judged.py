"""GREEN by a judge of the study: the mean by hand, what has no score and why, and whose figures they are."""

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from workbench.domain.actors import Actor
from workbench.domain.judging import JudgePrompt
from workbench.domain.prompts import Prompt
from workbench.errors import InputError, NotFoundError, RightsError, WorkbenchError
from workbench.running.spending import Cap
from workbench.storage.leaderboard import DataSetRecord
from workbench.workflow.judged import GREEN, judge_systems, record_words, source_words
from workbench.workflow.judging import Bench, bench_of
from workbench.workflow.leaderboard import Board, Column, leaderboard
from workbench.workflow.leaderboard_files import page_of
from workbench.workflow.leaderboard_json import board_json
from workbench.workflow.metrics import import_scores, imported
from workbench.workflow.prompts import save_candidate
from workbench.workflow.settings import LabelerConfig
from workbench.workflow.study import Study
from workbench.workflow.systems import System, add_data_set, add_systems, submissions

Write = Callable[[str, str], Path]
ONE, TWO = JudgePrompt("one pass", "Find and weigh."), JudgePrompt("two passes", "Find.", "Weigh.")
REFERENCES = {f"s{n}": "Pleural effusion." for n in range(1, 7)} | {"s7": ""}
# What the judge of the file says of each generated report: matched findings, significant errors, harmless ones.
SAID = {"Fine.": (2, 0, 1), "Half.": (1, 1, 0), "Poor.": (0, 3, 0), "Third.": (1, 2, 2)}
GOOD = {"s1": "Fine.", "s2": "Half.", "s3": "Third.", "s4": "Refused.", "s5": '""', "s7": "Fine."}
POOR = {"s1": "Poor.", "s2": "Half.", "s3": "Cut.", "s4": "Prose.", "s5": "Gone.", "s6": "Fine."}


def verdict(matched: int, matters: int, harmless: int) -> dict[str, object]:
    kinds = [True] * matters + [False] * harmless
    errors = [{"kind": "wrong_severity", "significant": significant, "what": "size"} for significant in kinds]
    return {"errors": errors, "matched": ["finding"] * matched}


@pytest.fixture
def scripted(study: Study) -> Study:
    """A study whose labeler m judges from a file, and one that is called by another name and answers nothing."""
    lines: list[dict[str, object]] = [
        {"contains": f"Generated:\n<report>\n{text}", "reply": verdict(*counts)} for text, counts in SAID.items()
    ]
    for text, failure in (("Refused.", "refused"), ("Cut.", "truncated"), ("Prose.", "malformed"), ("Gone.", "error")):
        lines.append({"contains": text, "reply": verdict(1, 0, 0), "failure": failure})
    for name, written in (("judge", lines), ("mute", [{"default": True, "reply": "", "failure": "refused"}])):
        (study.folder / "data" / f"{name}.jsonl").write_text("".join(json.dumps(line) + "\n" for line in written))
    more = {
        "m": LabelerConfig(kind="scripted", file="data/judge.jsonl"),
        "mute": LabelerConfig(kind="scripted", file="data/mute.jsonl"),
        "away": LabelerConfig(kind="openai", model="m", base_url="https://example.org/v1"),
    }
    labelers = {**study.settings.labelers, **more}
    return replace(study, settings=study.settings.model_copy(update={"labelers": labelers}))


@pytest.fixture
def data_set(scripted: Study, lead: Actor, csv_file: Write, make_prompt: Callable[..., Prompt]) -> DataSetRecord:
    """Seven studies, one without a reference, and two systems."""
    save_candidate(scripted, lead, make_prompt(), message="m", parent=None)
    rows = "".join(f"{study},{text}\n" for study, text in REFERENCES.items())
    made = add_data_set(scripted, lead, csv_file("seven.csv", f"study_id,reference\n{rows}"), name="seven")
    systems = [submission(csv_file, "good", GOOD), submission(csv_file, "poor", POOR)]
    add_systems(scripted, lead, made, systems)
    return made


def submission(csv_file: Write, name: str, texts: Mapping[str, str]) -> System:
    rows = "".join(f"{study},{text}\n" for study, text in texts.items())
    return System(csv_file(f"{name}.csv", f"study_id,generated\n{rows}"), name)


@pytest.fixture
def bench(scripted: Study) -> Bench:
    """The judge of one pass."""
    return bench_of(scripted, ONE, "m")


@pytest.fixture
def at_hand(scripted: Study, lead: Actor, data_set: DataSetRecord) -> tuple[Study, Actor, DataSetRecord]:
    """The study, its lead and the data set."""
    return scripted, lead, data_set


def board_of(study: Study, lead: Actor, data_set: DataSetRecord) -> Board:
    return leaderboard(study, lead, data_set, revision=1)


def green_of(study: Study, lead: Actor, data_set: DataSetRecord) -> Column:
    return board_of(study, lead, data_set).column(GREEN)


def test_the_mean_is_matched_findings_by_matched_ones_and_errors_that_matter(
    scripted: Study, lead: Actor, data_set: DataSetRecord, bench: Bench
) -> None:
    done = judge_systems(scripted, lead, data_set, bench)
    assert dict(done.values) == {"good": 4, "poor": 3}
    green = green_of(scripted, lead, data_set)
    # good: 2 / 2, 1 / (1 + 1), 1 / (1 + 2), and a blank report 0; what was refused is missing, and so is what has no
    # reference, whatever was written. poor: nothing matched is 0, then 1 / 2, and 1 of the study that good left out.
    assert green.own["good"].value == pytest.approx((1 + 1 / 2 + 1 / 3 + 0) / 4)
    assert green.own["poor"].value == pytest.approx((0 + 1 / 2 + 1) / 3)
    assert (green.own["good"].n, green.own["poor"].n) == (4, 3)
    # They are ranked on s1 and s2, which have a judgement in both.
    assert green.ranking.n_studies == 2
    assert green.ranking.of("good").value.value == pytest.approx(3 / 4)


def test_what_has_no_judgement_is_counted_by_why_and_never_0(
    scripted: Study, lead: Actor, data_set: DataSetRecord, bench: Bench
) -> None:
    record = judge_systems(scripted, lead, data_set, bench).judged
    assert record is not None
    good, poor = record.systems["good"], record.systems["poor"]
    assert (good.judged, good.failed, good.blank, good.left_out, good.no_reference) == (3, {"refused": 1}, 1, 1, 1)
    failed = {"truncated": 1, "malformed": 1, "failed": 1}
    assert (poor.judged, poor.failed, poor.blank, poor.left_out, poor.no_reference) == (3, failed, 0, 0, 1)
    for it in (good, poor):
        assert it.sent + it.blank + it.left_out + it.no_reference == len(REFERENCES)
    said = record_words(record)
    assert "6 of 10 pairs judged; without a judgement, left out and never 0: " in said
    assert "1 refused" in said
    assert "1 no reply" in said
    assert "not sent: 1 blank reports (0), 1 left out by the system, 2 without a reference" in said
    assert "this is no judgement by a model" in said  # it was a file
    kept = {scores.metric: scores.values for scores in imported(scripted, lead, data_set)}
    assert set(kept["green"]["poor"]) == {"s1", "s2", "s6"}


def test_the_leaderboard_says_whose_figures_they_are(
    scripted: Study, lead: Actor, data_set: DataSetRecord, bench: Bench
) -> None:
    judge_systems(scripted, lead, data_set, bench)
    board = board_of(scripted, lead, data_set)
    judge = board.column(GREEN).judge
    assert judge.startswith(f"Judge one pass ({ONE.hash[:12]}) with labeler m ({bench.labeler.hash[:12]})")
    (shown,) = (metric for metric in page_of(board).metrics if metric.name == "GREEN")
    assert judge in shown.definition
    (told,) = (metric for metric in board_json(board)["metrics"] if metric["id"] == "green")  # type: ignore[attr-defined]
    by = told["sources"][0]["judged"]["by"]
    assert (by["judge_hash"], by["labeler"], by["labeler_hash"]) == (ONE.hash, "m", bench.labeler.hash)


def test_the_same_again_asks_only_for_what_got_no_reply(
    scripted: Study, lead: Actor, data_set: DataSetRecord, bench: Bench
) -> None:
    first = judge_systems(scripted, lead, data_set, bench)
    told: list[tuple[int, int]] = []
    again = judge_systems(scripted, lead, data_set, bench, on_progress=lambda *at: told.append(at))
    assert again == first
    # "Half." and "Fine." were written twice and judged once: of eight different pairs one brought no reply.
    assert told == [(8, 8)]
    assert len(green_of(scripted, lead, data_set).sources) == 1


def test_another_judge_takes_the_place_of_the_first_for_the_systems_it_judged(
    scripted: Study, lead: Actor, data_set: DataSetRecord, bench: Bench, csv_file: Write
) -> None:
    rows = "s4,good,green,1\ns1,poor,green,1\n"
    import_scores(scripted, lead, data_set, csv_file("green.csv", f"study_id,system,metric,value\n{rows}"))
    assert green_of(scripted, lead, data_set).judge == ""
    judge_systems(scripted, lead, data_set, bench, systems=["good"])
    green = green_of(scripted, lead, data_set)
    # Of good nothing of the file stands, not of s4 either, which the judge refused; of poor the file's score does.
    assert (green.own["good"].n, green.own["poor"].n) == (4, 1)
    assert green.judge.startswith("1 scores from green.csv. good: Judge one pass")
    assert green.judge.endswith("Figures of different sources do not compare: have all systems judged by one judge.")
    judge_systems(scripted, lead, data_set, bench)
    again = green_of(scripted, lead, data_set).judge
    assert again.startswith("Judge one pass")
    assert "do not compare" not in again


def test_a_system_that_submits_other_reports_is_told_to_be_judged_again(
    scripted: Study, lead: Actor, data_set: DataSetRecord, bench: Bench, csv_file: Write
) -> None:
    judge_systems(scripted, lead, data_set, bench)
    assert "Since then" not in green_of(scripted, lead, data_set).judge
    add_systems(scripted, lead, data_set, [submission(csv_file, "good", {**GOOD, "s1": "Poor."})])
    assert "Since then good submitted other reports: judge them again." in green_of(scripted, lead, data_set).judge
    judge_systems(scripted, lead, data_set, bench)
    assert "Since then" not in green_of(scripted, lead, data_set).judge


def test_a_cap_stops_it_before_any_score_is_kept_and_the_same_goes_on(
    scripted: Study, lead: Actor, data_set: DataSetRecord, bench: Bench
) -> None:
    with pytest.raises(WorkbenchError, match=r"cap of 100 tokens.*The same command goes on"):
        judge_systems(scripted, lead, data_set, bench, cap=Cap(tokens=100))
    assert imported(scripted, lead, data_set) == []
    told: list[tuple[int, int]] = []
    judge_systems(scripted, lead, data_set, bench, on_progress=lambda *at: told.append(at))
    assert 1 < told[0][0] <= told[-1][0] == 8  # what was judged before is not judged again


def test_a_judge_that_judges_nothing_leaves_what_stands(scripted: Study, lead: Actor, data_set: DataSetRecord) -> None:
    with pytest.raises(InputError, match=r"mute judged none of 10 pairs \(10 refused\).*The model refused to answer"):
        judge_systems(scripted, lead, data_set, bench_of(scripted, ONE, "mute"))
    assert imported(scripted, lead, data_set) == []


def test_a_judge_of_two_passes_scores_likewise(
    study: Study, lead: Actor, data_set: DataSetRecord, start_judge_server: Callable[..., Any], csv_file: Write
) -> None:
    server = start_judge_server()
    it = LabelerConfig(kind="openai", model="m", base_url=f"{server.url}/v1")
    asked = replace(
        study, settings=study.settings.model_copy(update={"labelers": {**study.settings.labelers, "m": it}})
    )
    texts = {
        "s1": "Matched effusion. Significant wrong_location. Harmless false_finding. Significant wrong_severity.",
        "s2": "Matched effusion. Harmless wrong_severity.",
        "s3": '"Matched effusion. Significant wrong_location. {deal ok, truncated}"',  # the second reply is cut off
    }
    add_systems(asked, lead, data_set, [submission(csv_file, "third", texts)])
    record = judge_systems(asked, lead, data_set, bench_of(asked, TWO, "m"), systems=["third"]).judged
    assert record is not None
    assert record.by.passes == 2
    assert record.by.by_model
    assert record.systems["third"].failed == {"truncated": 1}
    own = green_of(asked, lead, data_set).own["third"]
    assert own.value == pytest.approx((1 / 3 + 1) / 2)
    assert "two passes" in green_of(asked, lead, data_set).judge


@pytest.mark.parametrize(
    ("labeler", "systems", "error", "said"),
    [
        ("rules", None, InputError, "rules labeler cannot judge"),
        ("nobody", None, NotFoundError, "nobody"),
        ("away", None, RightsError, "restricted"),
        ("m", ["god"], InputError, "no system called god; it has good, poor"),
    ],
)
def test_what_cannot_be_judged_is_refused_and_nothing_is_kept(
    at_hand: tuple[Study, Actor, DataSetRecord],
    labeler: str,
    systems: list[str] | None,
    error: type[WorkbenchError],
    said: str,
) -> None:
    scripted, lead, data_set = at_hand
    with pytest.raises(error, match=said):
        judge_systems(scripted, lead, data_set, bench_of(scripted, ONE, labeler), systems=systems)
    assert imported(scripted, lead, data_set) == []


def test_only_leads_have_reports_judged(scripted: Study, rater: Actor, data_set: DataSetRecord, bench: Bench) -> None:
    with pytest.raises(RightsError, match="have generated reports judged"):
        judge_systems(scripted, rater, data_set, bench)


def test_scores_from_files_alone_need_no_word(
    scripted: Study, lead: Actor, data_set: DataSetRecord, bench: Bench
) -> None:
    judge_systems(scripted, lead, data_set, bench, systems=["good"])
    (scores,) = imported(scripted, lead, data_set)
    last = {one.system: one for one in submissions(scripted, lead, data_set)}
    assert source_words(scores.sources, {"good": last["good"]})
    assert source_words(scores.sources, {"poor": last["poor"]}) == ""
