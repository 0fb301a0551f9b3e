"""Scoring report generators from the command line."""

import csv
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., Any]
PAIRS = """study_id,reference,generated
1,Small left pleural effusion.,Left pleural effusion. No pneumothorax.
2,Right pneumothorax.,The lungs are clear.
3,The heart is enlarged.,Cardiomegaly.
"""


@pytest.fixture
def pairs(tmp_path: Path) -> Path:
    path = tmp_path / "mine.csv"
    path.write_text(PAIRS)
    return path


def test_one_command_scores_systems_and_writes_a_page_and_the_numbers(
    workbench: Run, study: str, pairs: Path, tmp_path: Path
) -> None:
    other = tmp_path / "other.json"
    entries = {
        "1": {"model_prediction": "Findings: None. Impression: Pleural effusion."},
        "2": {"model_prediction": None},
    }
    other.write_text(json.dumps(entries))
    out = tmp_path / "board"
    files = ["--reference", str(pairs), "--generated", str(pairs), "--generated", str(other)]
    done = workbench("score", *files, "--system", "Mine", "--study", study, "-o", str(out))
    assert done.code == 0, done.err
    assert "other.json: other, 1 reports, 2 left out." in done.err
    assert "Mine" in done.out
    assert "one patient per study assumed" in done.out
    # Ranked on study 1 alone, and each system's own score stands beside.
    assert "on the one study that all of them have; without other, which has 1, there would be 3." in done.out
    assert "its own" in done.out
    assert sorted(path.name for path in out.iterdir()) == [
        "leaderboard.html",
        "per_finding.csv",
        "scores.csv",
        "scores.json",
    ]
    said = json.loads((out / "scores.json").read_text())
    assert said["common_studies"] == 1
    mine = next(s for s in said["systems"] if s["name"] == "Mine")
    assert (mine["scored"], mine["missing"]) == (3, 0)
    assert mine["on_its_own_studies"]["ran_score"]["n"] == 3
    with (out / "scores.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert {row["system"] for row in rows} == {"Mine", "other"}
    assert all(row["data_set_hash"] and row["prompt_hash"] and row["labeler_hash"] for row in rows)
    # On one study nobody has a rank, in the files as on the page.
    assert "No ranks: on one study alone" in done.out
    assert {row[place] for row in rows for place in ("rank", "rank_low", "rank_high")} == {""}
    first = said["metrics"][0]
    assert first["no_ranks"].startswith("No ranks: on one study alone")
    assert {place[name] for place in first["systems"] for name in ("position", "rank", "rank_low")} == {None}
    with (out / "per_finding.csv").open(newline="") as file:
        found = {(row["system"], row["finding"]): row for row in csv.DictReader(file)}
    assert found["Mine", "pleural_effusion"]["f1"] == "1.0"
    assert found["Mine", "pneumothorax"]["f1"] == ""  # no support on the common study: undefined, never 0


def test_the_leaderboard_is_there_again_without_the_files(workbench: Run, study: str, pairs: Path) -> None:
    first = workbench("score", "--reference", str(pairs), "--generated", str(pairs), "--study", study, "--json")
    assert first.code == 0, first.err
    pairs.unlink()
    again = workbench("leaderboard", "mine", "--study", study, "--json")
    assert again.json == first.json
    listed = workbench("leaderboard", "--list", "--study", study, "--json").json["data_sets"]
    assert [(d["name"], d["systems"]) for d in listed] == [("mine", ["mine"])]


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["score"], "Say which reference reports"),
        (["score", "--reference", "none.csv"], "There is no file none.csv"),
        (["score", "--reference", "mine.csv", "--column", "id"], "does not say which column"),
        (["score", "--reference", "mine.csv", "--system", "A"], "1 names of systems do not go with 0 files"),
        (["score", "--reference", "mine.csv"], "No system has submitted anything for mine yet"),
        (["leaderboard"], "begin with `workbench score"),
    ],
)
def test_what_is_wrong_is_told_in_a_line(
    workbench: Run, study: str, pairs: Path, arguments: list[str], told: str
) -> None:
    assert pairs.exists()
    done = workbench(*arguments, "--study", study)
    assert done.code == 1
    assert told in done.err
    assert len(done.err.splitlines()) == 1


def test_a_score_that_fails_leaves_no_data_set(workbench: Run, study: str, pairs: Path, tmp_path: Path) -> None:
    bad = tmp_path / "bad.csv"
    bad.write_text("study_id,reference\n1,Clear.\n")
    failed = workbench("score", "--reference", str(pairs), "--generated", str(bad), "--study", study)
    assert (failed.code, "holds no generated report" in failed.err) == (1, True)
    assert workbench("score", "--reference", str(pairs), "--study", study).code == 1
    assert workbench("leaderboard", "--list", "--study", study, "--json").json["data_sets"] == []


def test_references_are_known_by_one_name(workbench: Run, study: str, pairs: Path, tmp_path: Path) -> None:
    files = ["--reference", str(pairs), "--generated", str(pairs), "--study", study]
    assert workbench("score", *files, "--data-set", "d").code == 0
    refused = workbench("score", *files, "--data-set", "nc")
    assert refused.code == 1
    assert "These references are the data set d already; use that name instead of nc." in refused.err
    told = workbench("score", *files)
    assert told.code == 0, told.err
    assert "mine.csv are the data set d." in told.err


def test_files_in_another_encoding_are_read_by_its_name(workbench: Run, study: str, pairs: Path) -> None:
    pairs.write_bytes(
        "study_id,reference,generated\n1,胸腔积液 pleural effusion.,Pleural effusion.\n".encode("gb18030")
    )
    files = ["--reference", str(pairs), "--generated", str(pairs), "--study", study]
    assert workbench("score", *files).code == 1
    done = workbench("score", *files, "--encoding", "gb18030")
    assert done.code == 0, done.err


def test_a_data_set_with_two_tasks_is_asked_for_by_task(workbench: Run, study: str, pairs: Path) -> None:
    files = ["--reference", str(pairs), "--generated", str(pairs), "--study", study]
    for task in ("findings", "findings+impression"):
        assert workbench("score", *files, "--data-set", "rr", "--task", task).code == 0
    told = workbench("leaderboard", "rr", "--study", study)
    assert told.code == 1
    assert "rr is there for findings and for findings+impression; say which with --task." in told.err
