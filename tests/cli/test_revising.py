"""Trying a prompt file and taking suggestions from the command line."""

from collections.abc import Callable
from pathlib import Path

Run = Callable[..., object]


def test_suggestions_are_shown_accepted_as_a_candidate_and_declined_for_good(workbench: Run, study: str) -> None:
    shown = workbench("prompt", "suggest", "1", "--study", study, "--json").json
    first, second = shown["suggestions"][:2]
    assert shown["revision"] == 1
    assert first["held_out"]["gain"] >= second["held_out"]["gain"] > 0
    taken = workbench("prompt", "suggest", "1", "--accept", "1", "--decline", "2", "--study", study, "--json").json
    assert taken["candidate"] == 5
    changed = workbench("prompt", "diff", "1", "5", "--study", study, "--json").json
    assert len(changed["changes"]) == 1
    assert first["edit"]["phrase"] in changed["changes"][0]
    again = workbench("prompt", "suggest", "1", "--study", study, "--json").json
    assert second["edit"] not in [each["edit"] for each in again["suggestions"]]
    assert again["declined_before"] == 1


def test_a_suggestion_that_is_not_there_is_named_and_nothing_is_saved(workbench: Run, study: str) -> None:
    refused = workbench("prompt", "suggest", "1", "--accept", "99", "--study", study)
    assert refused.code == 1
    assert "no suggestion 99" in refused.err
    both = workbench("prompt", "suggest", "1", "--accept", "1", "--decline", "1", "--study", study)
    assert "either accepted or declined" in both.err
    assert len(workbench("prompt", "list", "--study", study, "--json").json["revisions"]) == 4


def test_a_prompt_file_is_tried_on_all_or_some_reports_and_not_saved(
    workbench: Run, study: str, tmp_path: Path
) -> None:
    file = tmp_path / "mended.md"
    file.write_text(workbench("prompt", "show", "2", "--study", study).out, encoding="utf-8")
    whole = workbench("prompt", "try", str(file), "--against", "1", "--study", study, "--json").json
    assert len(whole["reports"]) == 300
    assert whole["macro_f1_after"] > whole["macro_f1_before"]
    assert whole["fixed"] == sum(flip["fixed"] for flip in whole["flips"]) > 0
    some = workbench(
        "prompt", "try", str(file), "--against", "1", "--errors", "--finding", "fracture", "--study", study, "--json"
    ).json
    assert 0 < len(some["reports"]) < 300
    assert some["macro_f1_after"] is None
    two = workbench("prompt", "try", str(file), "--errors", "--report", "x", "--study", study)
    assert "Choose one of" in two.err
    assert len(workbench("prompt", "list", "--study", study, "--json").json["revisions"]) == 4


def test_a_search_leaves_a_curve_that_rises_and_accepts_nothing(workbench: Run, study: str) -> None:
    found = workbench("prompt", "suggest", "1", "--auto-loop", "--study", study, "--json")
    values = [step["macro_f1"] for step in found.json["curve"]]
    assert len(values) > 1
    assert values == sorted(values)
    listed = workbench("prompt", "list", "--study", study, "--json").json["revisions"]
    assert {each["status"] for each in listed[4:]} == {"candidate"}
