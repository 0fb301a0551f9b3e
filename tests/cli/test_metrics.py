"""Metrics from the command line: which there are, scores brought in, and how they go together."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

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
    assert "is not run here" in workbench("metrics", "run", "ratescore", "--study", study).err
    # Nobody is sent to import what an import refuses.
    assert "computed by the workbench itself: it stands" in workbench("metrics", "run", "rouge_l", "--study", study).err


# What two generators wrote; the judge's server takes each report at its word, or does what it is dealt.
WRITTEN = {
    "a": {
        "s1": "Matched effusion. Matched atelectasis. Significant false_finding.",
        "s2": "Matched effusion. Harmless wrong_severity.",
        "s3": "Significant missing_finding. Significant wrong_location.",
        "s4": "{deal refusal} Matched effusion.",
        "s5": '""',
        "s7": "Matched effusion.",
    },
    "b": {
        "s1": "Matched effusion.",
        "s2": "{deal truncated} Matched effusion.",
        "s3": "{deal prose} Matched effusion.",
        "s4": "{deal 400} Matched effusion.",
        "s5": "Matched effusion. Significant wrong_severity. Significant wrong_location. Significant nonsense.",
        "s6": "Matched effusion. Significant wrong_severity. Significant wrong_location. Significant false_finding.",
    },
}


def green_by_hand(text: str) -> float | None:
    """Return GREEN as Ostmeier et al. define it, 0 without a matched finding; None where there is no judgement."""
    if "{deal" in text or "nonsense" in text:
        return None
    matched, errors = text.count("Matched "), text.count("Significant ")
    return matched / (matched + errors) if matched else 0.0


def test_green_is_judged_by_a_model_of_the_study_and_stands_on_the_leaderboard(
    workbench: Run, study: str, tmp_path: Path, start_judge_server: Callable[..., Any]
) -> None:
    server = start_judge_server()
    with (Path(study) / "data" / "study.toml").open("a") as settings:
        settings.write(
            f'\n[labelers.judge]\nkind = "openai"\nmodel = "q"\nbase_url = "{server.url}/v1"\nconcurrency = 4\n'
            "price = {input = 1.0, output = 2.0}\n"
        )
    references = tmp_path / "pairs.csv"
    rows = "".join(f"s{i},{'' if i == 7 else 'Pleural effusion.'}\n" for i in range(1, 8))
    references.write_text(f"study_id,reference\n{rows}")
    told = ["score", "--reference", str(references), "--study", study]
    for name, texts in WRITTEN.items():
        written = tmp_path / f"{name}.csv"
        written.write_text("study_id,generated\n" + "".join(f"{i},{text}\n" for i, text in texts.items()))
        told += ["--generated", str(written)]
    assert workbench(*told).code == 0

    command = ["metrics", "run", "green", "--judge-by", "judge", "--data-set", "pairs", "--study", study]
    stopped = workbench(*command, "--max-cost", "0.0009")
    assert stopped.code == 1
    assert "its cap of 0.00 USD" in stopped.err
    asked = server.log()["calls"]
    assert 1 < asked < 8
    assert "green" not in [
        m["id"] for m in workbench("leaderboard", "pairs", "--study", study, "--json").json["metrics"]
    ]

    done = workbench(*command, "--json")
    assert done.code == 0, done.err
    assert done.json["values"] == {"a": 4, "b": 2}
    systems = done.json["judged"]["systems"]
    assert (systems["a"]["failed"], systems["a"]["blank"], systems["a"]["left_out"]) == ({"refused": 1}, 1, 1)
    assert systems["b"]["failed"] == {"failed": 1, "malformed": 1, "truncated": 1, "wrong_label": 1}
    assert done.json["judged"]["cost"] > 0
    again = workbench(*command)
    assert "1 got no reply; the same command asks for them again." in again.out
    dealt = [step for report in server.log()["reports"].values() for step in report["dealt"]]
    assert dealt.count("refusal") == dealt.count("truncated") == 1  # paid for, and not asked for again
    assert dealt.count("400") == 2

    board = workbench("leaderboard", "pairs", "--study", study, "--json").json
    (green,) = (m for m in board["metrics"] if m["id"] == "green")
    for system in green["systems"]:
        values = [
            0.0 if text == '""' else green_by_hand(text)
            for study_id, text in WRITTEN[system["system"]].items()
            if study_id != "s7"
        ]
        known = [value for value in values if value is not None]
        own = system["on_its_own_studies"]
        assert (own["value"], own["n"]) == (pytest.approx(sum(known) / len(known)), len(known))
    shown = workbench("leaderboard", "pairs", "--study", study, "-o", str(tmp_path / "board")).out
    assert "GREEN: Judge one pass (" in shown
    assert "5 of 10 pairs judged" in shown
    assert "with labeler judge (" in (tmp_path / "board" / "leaderboard.html").read_text()
    correlated = workbench("metrics", "correlate", "pairs", "--study", study, "--json").json["correlations"]
    assert ("ran_score", "green") in {(c["first"], c["second"]) for c in correlated}
    audit = workbench("export", "audit", "-o", str(tmp_path / "audit.csv"), "--study", study)
    assert audit.code == 0, audit.err
    assert "generated reports judged" in (tmp_path / "audit.csv").read_text()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["green"], "Say which labeler's model judges with --judge-by NAME"),
        (["green", "--judge-by", "rules"], "rules labeler cannot judge"),
        (["green", "--judge-by", "x", "--weights", "w"], "leave --weights out"),
        (["bertscore", "--judge-by", "x"], "bertscore asks no language model"),
        (["bertscore", "--max-tokens", "5"], "bertscore asks no language model"),
    ],
)
def test_a_judge_that_cannot_be_is_refused_in_a_line(
    workbench: Run, study: str, tmp_path: Path, arguments: list[str], said: str
) -> None:
    pairs = tmp_path / "mine.csv"
    pairs.write_text("study_id,reference,generated\n1,Clear.,Clear.\n")
    assert workbench("score", "--reference", str(pairs), "--generated", str(pairs), "--study", study).code == 0
    done = workbench("metrics", "run", *arguments, "--study", study)
    assert done.code == 1
    assert said in done.err
    assert len(done.err.splitlines()) == 1
