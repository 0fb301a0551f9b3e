"""Metrics from the command line: which there are, scores brought in, and how they go together."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

Run = Callable[..., Any]


def test_metrics_are_listed_with_their_direction_and_what_they_need(workbench: Run) -> None:
    known = {m["id"]: m for m in workbench("metrics", "list", "--json").json["metrics"]}
    assert known["bleu2_rexrank"]["computed_here"]
    assert not known["radcliq_v1"]["higher_is_better"]
    assert known["green"]["needs"]
    assert "lower is better" in workbench("metrics", "list").out


def test_scores_are_imported_and_stand_on_the_leaderboard(workbench: Run, study: str, tmp_path: Path) -> None:
    ids, texts = [f"s{i}" for i in range(6)], ["Pneumothorax.", "Pleural effusion.", "Clear."] * 2
    pairs = tmp_path / "mine.csv"
    rows = [f"{i},{text},{text}" for i, text in zip(ids, texts, strict=True)]
    pairs.write_text("\n".join(["study_id,reference,generated", *rows]))
    assert workbench("score", "--reference", str(pairs), "--generated", str(pairs), "--study", study).code == 0
    ratings = tmp_path / "ratings.csv"
    lines = [f"{i},mine,rating,{n % 3}" for n, i in enumerate(ids)]
    ratings.write_text("\n".join(["study_id,system,metric,value", *lines]))
    asked = workbench("metrics", "import", str(ratings), "--study", study)
    assert asked.code == 1
    assert "Say it with --higher-is-better rating or --lower-is-better rating" in asked.err
    done = workbench("metrics", "import", str(ratings), "--lower-is-better", "rating", "--study", study)
    assert "rating (lower is better): mine 6." in done.out
    board = workbench("leaderboard", "mine", "--study", study, "--json").json
    (rating,) = (m for m in board["metrics"] if m["id"] == "rating")
    assert (rating["source"], rating["systems"][0]["value"]["value"]) == ("imported", 1.0)
    both = workbench("metrics", "correlate", "mine", "--study", study, "--json").json["correlations"]
    assert {(c["first"], c["second"]) for c in both} >= {("ran_score", "rating"), ("bleu4", "rating")}


def test_a_metric_without_its_weights_says_so_in_a_line(workbench: Run, study: str, tmp_path: Path) -> None:
    pairs = tmp_path / "mine.csv"
    pairs.write_text("study_id,reference,generated\n1,Clear.,Clear.\n")
    assert workbench("score", "--reference", str(pairs), "--generated", str(pairs), "--study", study).code == 0
    done = workbench("metrics", "run", "bertscore", "--study", study)
    assert done.code == 1
    assert "BERTScore needs weights" in done.err
    assert len(done.err.splitlines()) == 1
    assert "is not run here" in workbench("metrics", "run", "green", "--study", study).err
