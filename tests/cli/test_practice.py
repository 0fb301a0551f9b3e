"""Practice from the command line: what is checked, and what the lead alone is shown."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from workbench.domain.findings import State
from workbench.workflow import practice
from workbench.workflow.annotate import Entry
from workbench.workflow.demo import LEAD, RATER
from workbench.workflow.opening import open_study

Run = Callable[..., Any]


def test_the_practice_reports_of_a_study_are_checked(workbench: Run, study: str) -> None:
    told = workbench("practice", "check", "--study", study)
    assert told.code == 0
    assert "10 practice reports, none of them in the study" in told.out
    file = Path(study) / "data" / "practice" / "cxr21.yaml"
    file.write_text(file.read_text(encoding="utf-8").replace("cardiomegaly:", "big_heart:", 1), encoding="utf-8")
    told = workbench("practice", "check", "--study", study)
    assert (told.code, told.out) == (1, "")
    assert "report practice-01: big_heart is no finding of the label set cxr21" in told.err


def test_a_study_without_practice_reports_says_so(workbench: Run, study: str) -> None:
    (Path(study) / "data" / "practice" / "cxr21.yaml").unlink()
    told = workbench("practice", "check", "--study", study)
    assert told.code == 1
    assert "This study has no practice reports" in told.err


def test_the_lead_is_shown_who_has_practised_and_a_rater_is_not(workbench: Run, study: str) -> None:
    opened = open_study(Path(study))
    practice.save(opened, opened.actor(RATER), Entry("practice-03"), {"cardiomegaly": State.PRESENT}, submitted=True)
    told = workbench("practice", "show", "--study", study, "--as", LEAD, "--json").json
    # Of practice-03's three positives (heart, edema, effusion) one was found.
    assert told[RATER]["submitted"] == 1
    assert (told[RATER]["positives"], told[RATER]["found"]) == (3, 1)
    assert told[RATER]["agreed"] == 19
    assert RATER in workbench("practice", "show", "--study", study, "--as", LEAD).out
    refused = workbench("practice", "show", "--study", study, "--as", RATER)
    assert (refused.code, refused.out) == (1, "")
