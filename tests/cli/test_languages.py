"""Reports in another language than the prompt's phrases, on the command line."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

Run = Callable[..., Any]
ROWS = 'id,text\na,"FINDINGS: Small pleural effusion."\nb,"FINDINGS: 右侧胸腔少量积液。"\nc,"FINDINGS: 双肺清晰。"\n'
WHY = "The report is in Chinese; the prompt's phrases are in English, so the rules cannot read it."


def test_label_tells_how_many_it_cannot_read_and_why(workbench: Run, study: str, tmp_path: Path) -> None:
    (tmp_path / "in.csv").write_text(ROWS, encoding="utf-8")
    asked = ("label", "in.csv", "-o", "out.csv", "--workers", "1", "--study", study)
    told = workbench(*asked)
    assert told.code == 0, told.err
    assert "1 reports labelled" in told.out
    assert f"2 x {WHY}" in " ".join(told.out.split())
    assert workbench(*asked, "--json").json["reasons"] == {WHY: 2}
    assert (tmp_path / "out.failures.csv").read_text(encoding="utf-8").count(WHY) == 2


def test_run_says_before_it_reads_which_reports_it_cannot_read(workbench: Run, study: str, tmp_path: Path) -> None:
    (tmp_path / "in.csv").write_text(ROWS, encoding="utf-8")
    assert workbench("import", "reports", "in.csv", "--study", study).code == 0
    made = workbench("cohort", "allocate", "other", "--purpose", "external", "--size", "3", "--study", study)
    assert made.code == 0, made.err
    ran = workbench("run", "--cohort", "other", "--study", study)
    assert ran.code == 0, ran.err
    assert ran.err.startswith("2 of 3 reports are in Chinese; this prompt's phrases are in English: the rules labeler")
    assert "3 of 3 labelled, 2 failed (other_language: 2)" in " ".join(ran.out.split())
