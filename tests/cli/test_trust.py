"""Testing metrics from the command line."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., Any]


def test_reports_are_edited_and_the_table_says_where_ran_score_is_blind(
    workbench: Run, study: str, root: Path, tmp_path: Path
) -> None:
    source = str(root / "data" / "demo" / "reports.csv")
    columns = [f"--column={name}" for name in ("id=id", "patient=patient_id", "text=text")]
    done = workbench("trust", source, *columns, "--reports", "60", "--study", study, "-o", str(tmp_path / "trust"))
    assert done.code == 0, done.err
    assert "Ran Score does not notice:" in done.out
    assert "side swapped" in done.out
    said = json.loads((tmp_path / "trust" / "trust.json").read_text())
    assert said["reports"] == 60
    again = workbench("trust", "--pairs", str(tmp_path / "trust" / "pairs.csv"), "--study", study, "--json")
    assert again.json["pairs_hash"] == said["pairs_hash"]
    assert again.json["metrics"] == said["metrics"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "Name a file of reports to edit, or pairs"),
        (["--pairs", "a.csv", "b.csv"], "Name a file of reports to edit, or pairs"),
        (["a.csv", "--column", "id"], "--column id does not say which column"),
        (["--pairs", "p.csv", "--judge-by", "rules"], "rules labeler cannot judge"),  # by the shipped judge
        (["--pairs", "p.csv", "--judge", "j.yaml"], "Say which labeler's model judges with --judge-by NAME"),
        (["--pairs", "p.csv", "--judge-by", "m", "--max-cost", "1"], "Labeler m has no price"),
        (["--pairs", "p.csv", "--higher-is-better", "m", "--lower-is-better", "m"], "m is said to be better both"),
    ],
)
def test_a_mistake_is_one_sentence(workbench: Run, study: str, arguments: list[str], said: str, tmp_path: Path) -> None:
    (tmp_path / "p.csv").write_text("pair_id,significant,reference,generated\n1,1,a,b\n")
    with (Path(study) / "data" / "study.toml").open("a") as settings:
        settings.write('\n[labelers.m]\nkind = "openai"\nmodel = "m"\nbase_url = "http://127.0.0.1:9/v1"\n')
    done = workbench("trust", *arguments, "--study", study)
    assert done.code == 1
    assert said in done.err
    assert "Traceback" not in done.err
