"""Generated reports, blinded to the system, go through the six raters' round and tell how the labeler errs on them."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from workbench.domain.annotations import Mark
from workbench.domain.findings import State
from workbench.workflow import annotate
from workbench.workflow.opening import open_study

Run = Callable[..., Any]
SIX = [f"Dr. {letter}" for letter in "ABCDEF"]
SYSTEMS = {
    "zebra-one": ["Pleural effusion.", "Hazy film.", "FINDINGS: Clear."],
    "zebra-two": ["Findings:  Clear.", "Pneumothorax.", "findings: Clear."],
}
# What all six see in the four different texts: an effusion that no phrase tells of, and no pneumothorax at all.
SEEN = {
    "Pleural effusion.": True,
    "Hazy film.": True,
    "FINDINGS: Clear.": False,
    "Pneumothorax.": False,
    "Normal.": False,
}


@pytest.fixture
def lena(workbench: Run, tmp_path: Path) -> tuple[str, ...]:
    """A study with six raters, a scored development cohort of two reports, and two systems on three studies."""
    assert workbench("init", "study", "--as", "Lena").code == 0
    lena = ("--study", str(tmp_path / "study"), "--as", "Lena")
    for name in SIX:
        assert workbench("user", "add", name, "--role", "rater", *lena).code == 0
    (tmp_path / "own.csv").write_text("id,patient_id,text\nh1,h1,Pleural effusion.\nh2,h2,Normal.\n")
    assert workbench("import", "reports", "own.csv", *lena).code == 0
    assert workbench("cohort", "allocate", "development", "--size", "2", *lena).code == 0
    references = "1,q1,Pleural effusion.\n2,q2,Pneumothorax.\n3,q3,Normal.\n"
    (tmp_path / "ref.csv").write_text("study_id,patient_id,reference\n" + references)
    files = []
    for name, texts in SYSTEMS.items():
        path = tmp_path / f"{name}.csv"
        path.write_text("study_id,generated\n" + "".join(f"{i},{text}\n" for i, text in enumerate(texts, 1)))
        files += ["--generated", str(path)]
    scored = ("score", "--reference", str(tmp_path / "ref.csv"), *files, "--data-set", "ds")
    assert workbench(*scored, *lena).code == 0
    return lena


def rate(lena: tuple[str, ...], cohort: str) -> set[str]:
    """Let six raters label a cohort in the browser's way; return the texts that they read."""
    study, read = open_study(Path(lena[1])), set()
    for name in SIX:
        rater = study.actor(name)
        while (entry := annotate.queue(study, rater, cohort).next) is not None:
            text = annotate.open_report(study, rater, cohort, entry).report.text
            states = {"pleural_effusion": State.PRESENT} if SEEN[text] else {}
            marks = frozenset() if states else frozenset({Mark.NONE_OF_THESE})
            annotate.save(study, rater, cohort, entry, states, submitted=True, marks=marks)
            read.add(repr(annotate.open_report(study, rater, cohort, entry)))
    return read


def through_a_round(workbench: Run, lena: tuple[str, ...], cohort: str) -> set[str]:
    raters = [part for name in SIX for part in ("--rater", name)]
    assert workbench("round", "open", cohort, *raters, *lena).code == 0
    read = rate(lena, cohort)
    assert workbench("reference", "freeze", cohort, *lena).code == 0
    assert workbench("run", "--cohort", cohort, *lena).code == 0
    assert workbench("evaluate", "--cohort", cohort, *lena).code == 0
    return read


def test_from_a_data_set_to_the_labelers_errors_on_generated_reports(workbench: Run, lena: tuple[str, ...]) -> None:
    through_a_round(workbench, lena, "development")
    assumed = workbench("leaderboard", "ds", *lena)
    assert "raters have labelled no generated report" in " ".join(assumed.out.split())
    made = workbench("cohort", "generated", "machine", "--data-set", "ds", *lena, "--json").json
    assert (made["reports"], made["purpose"]) == (4, "external")  # "Clear." stands three times and is read once
    read = through_a_round(workbench, lena, "machine")
    assert not any("zebra" in each for each in read)
    errors = workbench("leaderboard", "ds", *lena, "--json").json["labeler_errors"]
    assert (errors["human_reference"], errors["machine_reference"]) == ("development-1", "machine-1")
    rates = {(one["finding"], one["source"]): one for one in errors["findings"]}
    # Of the two effusions that raters see in generated reports the labeler finds the one that is called so ...
    effusion = rates["pleural_effusion", "machine"]
    assert (effusion["sensitivity"]["value"], effusion["sensitivity"]["n"]) == (0.5, 2)
    assert (effusion["specificity"]["value"], effusion["specificity"]["n"]) == (1, 2)
    assert rates["pleural_effusion", "human"]["sensitivity"]["value"] == 1
    # ... and of four texts without a pneumothorax it calls one so.
    air = rates["pneumothorax", "machine"]
    assert (air["sensitivity"]["value"], air["specificity"]["value"]) == (None, 0.75)
    told = " ".join(workbench("leaderboard", "ds", *lena).out.split())
    assert "They are those on the reference machine-1 for generated reports and development-1 for the others." in told


def test_generated_reports_are_not_drawn_into_other_cohorts(workbench: Run, lena: tuple[str, ...]) -> None:
    assert workbench("cohort", "generated", "machine", "--data-set", "ds", "--size", "3", *lena).code == 0
    refused = workbench("cohort", "allocate", "validation", "--size", "1", *lena)
    assert (refused.code, "0 can be drawn" in refused.err) == (1, True)
