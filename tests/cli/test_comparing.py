"""Comparing two runs from the command line."""

from collections.abc import Callable
from typing import Any

Run = Callable[..., Any]


def test_two_revisions_are_compared_with_what_got_worse_first(workbench: Run, study: str) -> None:
    found = workbench("compare", "1", "2", "--study", study, "--json").json
    assert found["worse"][0] == found["findings"][0]["finding"] == "pleural_thickening"
    scores = workbench("history", "--study", study, "--json").json["revisions"]
    change = scores[1]["macro_f1"]["value"] - scores[0]["macro_f1"]["value"]
    assert abs(found["macro_f1_change"]["value"] - change) < 1e-9
    assert {flip["fixed"] for flip in found["flips"]} == {True, False}
    assert sum(row["fixed"] + row["broken"] for row in found["findings"]) == len(found["flips"])


def test_people_are_told_first_what_got_worse(workbench: Run, study: str) -> None:
    shown = workbench("compare", "1", "2", "--flips", "--study", study).out
    assert "F1 got worse: pleural_thickening -0.192" in shown
    assert "P-values: exact permutation test over patients" in shown
    assert shown.index("Labels that flipped") < shown.index("F1 got worse")


def test_a_run_against_itself_is_no_change(workbench: Run, study: str) -> None:
    run = workbench("compare", "3", "3", "--study", study, "--json").json["before"]["run"]
    assert workbench("compare", "3", run, "--study", study).out.startswith("No change: the two say the same")
