"""Trying a prompt file and taking suggestions from the command line."""

import json
import re
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


def advised(study: str) -> None:
    """Give the study a labeler whose replies propose edits."""
    reply = {
        "edits": [
            {"field": "synonyms", "action": "add", "text": "broken rib", "why": "Another word."},
            {"field": "negation.before", "action": "add", "text": "no", "why": "It denies."},
        ]
    }
    data = Path(study) / "data"
    (data / "advice.jsonl").write_text(json.dumps({"default": True, "reply": reply}) + "\n", encoding="utf-8")
    with (data / "study.toml").open("a", encoding="utf-8") as settings:
        settings.write('\n[labelers.advisor]\nkind = "scripted"\nfile = "data/advice.jsonl"\n')


def test_a_language_models_edits_are_numbered_and_accepted_by_number(workbench: Run, study: str) -> None:
    advised(study)
    asked = ("prompt", "suggest", "1", "--by", "advisor", "--finding", "fracture", "--study", study)
    shown = workbench(*asked, "--json").json
    cue = next(each for each in shown["suggestions"] if each["edit"]["phrase"] == "no")
    assert cue["source"] == "advisor"
    assert cue["why"] == "It denies."
    assert cue["held_out"]["fixed"] > 0
    assert "It denies." in workbench(*asked).out
    taken = workbench(*asked, "--accept", str(cue["number"]), "--json").json
    assert taken["candidate"] == 5
    assert '"no"' in str(workbench("prompt", "show", "5", "--study", study).out)


def test_a_language_model_is_asked_for_one_finding_and_never_by_a_search(workbench: Run, study: str) -> None:
    advised(study)
    whole = workbench("prompt", "suggest", "1", "--by", "advisor", "--study", study)
    assert (whole.code, "--finding" in whole.err) == (1, True)
    search = workbench("prompt", "suggest", "1", "--by", "advisor", "--auto-loop", "--study", study)
    assert "asks no language model" in search.err
    rules = workbench("prompt", "suggest", "1", "--by", "rules", "--finding", "fracture", "--study", study)
    assert "rules asks no language model" in rules.err


def test_an_adjudicator_signs_a_scored_revision(workbench: Run, study: str, tmp_path: Path) -> None:
    file = tmp_path / "mended.md"
    text = workbench("prompt", "show", "4", "--study", study).out
    file.write_text(re.sub("^title: .*", "title: Mended", text, count=1, flags=re.MULTILINE), encoding="utf-8")
    workbench("user", "add", "Dr. B", "--role", "adjudicator", "--study", study)
    assert workbench("prompt", "import", str(file), "-m", "title", "--study", study).code == 0
    early = workbench("prompt", "sign", "5", "--as", "Dr. B", "--study", study)
    assert (early.code, "Revision 5 has no score on development-1 yet" in early.err) == (1, True), early.err
    assert workbench("run", "--prompt", "5", "--cohort", "development", "--study", study).code == 0
    assert workbench("evaluate", "--prompt", "5", "--cohort", "development", "--study", study).code == 0
    signed = workbench("prompt", "sign", "5", "--as", "Dr. B", "--comment", "read all", "--study", study, "--json")
    assert signed.code == 0, signed.err
    assert (signed.json["revision"], signed.json["by"]) == (5, "Dr. B")
    assert workbench("prompt", "sign", "5", "--as", "Dr. B", "--study", study).code != 0


def test_a_prompt_that_is_known_is_said_to_be_known(workbench: Run, study: str, tmp_path: Path) -> None:
    file = tmp_path / "again.md"
    text = workbench("prompt", "show", "4", "--study", study).out
    file.write_text(text, encoding="utf-8")
    told = workbench("prompt", "import", str(file), "-m", "again", "--study", study).out
    assert "is this prompt already; its status is accepted." in told
    file.write_text(re.sub("^title: .*", "title: Mended", text, count=1, flags=re.MULTILINE), encoding="utf-8")
    assert "Revision 5" in (told := workbench("prompt", "import", str(file), "-m", "new", "--study", study).out)
    assert "is a new candidate." in told


def test_failed_replies_bring_macro_f1_over_answered_reports_beside_the_other(workbench: Run, study: str) -> None:
    on = ("--labeler", "simulated-replies", "--prompt", "4", "--cohort", "development", "--study", study)
    assert workbench("run", *on).code == 0
    scores = workbench("evaluate", *on, "--json").json["scores"]
    assert scores["n_failed"] > 0
    alone = scores["macro_f1_answered"]["value"]
    assert alone > scores["macro_f1"]["value"]
    told = workbench("evaluate", *on).out
    assert f"Over the answered reports alone, macro-F1 is {alone:.3f}" in told
    rules = ("--prompt", "4", "--cohort", "development", "--study", study)
    assert "answered reports alone" not in workbench("evaluate", *rules).out
