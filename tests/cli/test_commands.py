"""The command line: one JSON object on stdout, messages on stderr, exit codes 0 / 1 / 2, never a traceback."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., Any]


def test_the_demo_climbs_at_each_of_four_accepted_revisions(workbench: Run, tmp_path: Path) -> None:
    result = workbench("demo", "--no-serve", "--json", "--folder", str(tmp_path / "d"))
    assert result.code == 0, result.err
    revisions = result.json["revisions"]
    assert isinstance(revisions, list)
    assert [(r["number"], r["status"]) for r in revisions] == [(n, "accepted") for n in (1, 2, 3, 4)]
    scores = [r["macro_f1"] for r in revisions]
    assert scores == sorted(set(scores))
    assert "simulated" in str(result.json["simulated"])


def test_a_demo_that_is_there_is_kept_with_what_was_done_in_it(workbench: Run, study: str) -> None:
    result = workbench("demo", "--no-serve", "--json", "--folder", study)
    assert result.json["made"] is False


def test_evaluating_names_everything_a_figure_rests_on(workbench: Run, study: str) -> None:
    result = workbench("evaluate", "--prompt", "4", "--cohort", "development", "--study", study, "--json")
    assert result.code == 0, result.err
    value = result.json
    for part in ("revision", "run", "cohort", "labeler", "reference", "vote_policies", "prediction_policies", "looks"):
        assert value[part], part
    reference = value["reference"]
    assert isinstance(reference, dict)
    assert (reference["rule"], reference["simulated"]) == ("4 of 6", True)


def test_history_and_lists_are_one_json_object_each(workbench: Run, study: str) -> None:
    for command in (
        ["history"],
        ["cohort", "list"],
        ["prompt", "list"],
        ["prompt", "show", "1"],
        ["prompt", "diff", "1", "2"],
        ["reference", "show"],
        ["run", "--list"],
    ):
        result = workbench(*command, "--study", study, "--json")
        assert result.code == 0, (command, result.err)
        assert result.json, command


def test_history_for_people_shows_every_revision(workbench: Run, study: str) -> None:
    result = workbench("history", "--study", study)
    assert result.code == 0
    assert "Accuracy history on development" in result.out


def test_history_says_where_scores_of_an_earlier_rules_engine_are(
    workbench: Run, study: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = workbench("history", "--study", study, "--json")
    assert before.err == ""
    monkeypatch.setattr("workbench.labelers.rules.ENGINE_VERSION", "later")
    now = workbench("history", "--study", study, "--json")
    assert [row["macro_f1"] for row in now.json["revisions"]] == [None] * 4
    assert "rules as it was before scored revision 1, 2, 3, 4" in now.err
    named = now.err.split("--labeler ")[1].split("`")[0]
    then = workbench("history", "--labeler", named, "--study", study, "--json")
    assert (then.json["revisions"], then.err) == (before.json["revisions"], "")
    assert "no labeler called" in workbench("history", "--labeler", named[:3], "--study", study).err


def test_a_locked_validation_cohort_is_refused_in_one_line(workbench: Run, study: str) -> None:
    result = workbench("run", "--cohort", "validation", "--study", study)
    assert (result.code, result.out) == (1, "")
    assert result.err.startswith("workbench: The validation cohort validation is locked")
    assert result.err.count("\n") == 1


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["history"], "is no study"),
        (["history", "--study", "nowhere"], "is no study"),
        (["prompt", "show", "9", "--study", "{study}"], "no revision 9; the study has: 1, 2, 3, 4"),
        (["run", "--study", "{study}"], "Say which cohort"),
        (["run", "--cohort", "nope", "--study", "{study}"], "no cohort nope; the study has: development, validation"),
        (["run", "--cohort", "development", "--labeler", "gpt", "--study", "{study}"], "no labeler called gpt"),
        (["reference", "show", "nope", "--study", "{study}"], "no reference nope"),
        (["reference", "freeze", "development", "--k", "3", "--study", "{study}"], "3 of 6 is no majority"),
        (["import", "reports", "missing.csv", "--study", "{study}"], "missing.csv"),
        (["import", "reports", "x.csv", "--column", "id", "--study", "{study}"], "WHAT=COLUMN"),
        (["import", "labels", "missing.csv", "--study", "{study}"], "missing.csv"),
        (["cohort", "allocate", "extra", "--size", "3", "--study", "{study}"], "--purpose"),
        (["prompt", "import", "missing.md", "--study", "{study}"], "missing.md"),
        (["history", "--reference", "nope", "--study", "{study}"], "no reference nope"),
        (["cohort", "list", "--study", "{study}/data/study.toml"], "is no study"),
        (["label", "missing.csv", "-o", "out.csv", "--study", "{study}"], "missing.csv"),
        (["import", "reports", ".", "--study", "{study}", "--as", "Demo rater"], "may not import"),
        (["history", "--bogus", "x", "--study", "{study}"], "No such option"),
    ],
)
def test_what_a_user_can_cause_is_one_sentence(workbench: Run, study: str, arguments: list[str], told: str) -> None:
    result = workbench(*[a.format(study=study) for a in arguments])
    assert result.code in {1, 2}
    assert result.out == ""
    assert told in " ".join(result.err.split())
    assert "Traceback" not in result.err


def test_wrong_usage_exits_with_two(workbench: Run) -> None:
    assert workbench("history", "--nonsense").code == 2
    assert workbench("cohort", "allocate", "development", "--size", "many").code == 2


def test_a_revision_goes_in_and_through_the_gate(workbench: Run, study: str, tmp_path: Path) -> None:
    shown = workbench("prompt", "show", "4", "--study", study)
    mended = tmp_path / "mended.md"
    mended.write_text(shown.out.replace("title: ", "title: mended ", 1), encoding="utf-8")
    imported = workbench("prompt", "import", str(mended), "-m", "a new title", "--study", study, "--json")
    assert (imported.code, imported.json["number"], imported.json["status"]) == (0, 5, "candidate"), imported.err
    early = workbench("prompt", "accept", "5", "--reason", "x", "--study", study)
    assert (early.code, "has not been run on development with rules yet" in early.err) == (1, True)
    assert workbench("run", "--cohort", "development", "--prompt", "5", "--study", study).code == 0
    assert workbench("evaluate", "--cohort", "development", "--prompt", "5", "--study", study).code == 0
    unsigned = workbench("prompt", "accept", "5", "--reason", "title", "--override", "demo", "--study", study)
    assert (unsigned.code, "sign-off" in unsigned.err) == (1, True), unsigned.err
    mistyped = workbench("prompt", "accept", "5", "--missed", "r0 fracture: only suspected", "--study", study)
    assert (mistyped.code, "fracture in report r0 is not newly missed by revision 5" in mistyped.err) == (1, True)
    accepted = workbench(
        "prompt", "accept", "5", "--reason", "title", "--override", "demo", "--sign", "all", "--study", study, "--json"
    )
    assert (accepted.code, accepted.json["status"]) == (0, "accepted"), accepted.err
    assert Path(str(accepted.json["file"])).name == "0005.md"


def test_a_study_of_ones_own_goes_round_from_the_command_line(workbench: Run, tmp_path: Path) -> None:
    reports = tmp_path / "reports.csv"
    rows = [
        f'r{i},p{i},"FINDINGS: {"Large pneumothorax." if i % 2 else "Lungs are clear."} Case {i}."' for i in range(8)
    ]
    reports.write_text("StudyID,PatientID,Report\n" + "\n".join(rows) + "\n", encoding="utf-8")
    made = workbench("init", "mine", "--as", "Dr. Chan", "--json")
    assert (made.code, made.json["revisions"]) == (0, [1, 2, 3, 4]), made.err
    columns = [part for c in ("id=StudyID", "patient=PatientID", "text=Report") for part in ("--column", c)]
    assert workbench("import", "reports", str(reports), *columns, "--study", "mine").code == 0
    drawn = workbench("cohort", "allocate", "development", "--size", "8", "--study", "mine", "--json")
    assert drawn.code == 0, drawn.err
    expected = drawn.json["expected_positives"]
    assert isinstance(expected, dict)
    assert expected["pneumothorax"] == 4
    ids = list(expected)
    for rater in "abcdef":
        lines = [",".join(["report_id", "reviewed", *ids])]
        lines += [
            ",".join([f"r{i}", "1", *("1" if f == "pneumothorax" and i % 2 else "" for f in ids)]) for i in range(8)
        ]
        (tmp_path / f"{rater}.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
        assert workbench("import", "labels", str(tmp_path / f"{rater}.csv"), "--study", "mine").code == 0
    assert workbench("reference", "freeze", "development", "--study", "mine").code == 0
    assert workbench("run", "--cohort", "development", "--study", "mine").code == 0
    scored = workbench("evaluate", "--cohort", "development", "--study", "mine", "--json")
    assert scored.code == 0, scored.err
    scores = scored.json["scores"]
    assert isinstance(scores, dict)
    assert (scores["macro_f1"]["value"], scores["macro_f1"]["n"]) == (1.0, 1)


def test_freezing_a_locked_cohort_is_done_and_shows_nothing_of_it(workbench: Run, study: str) -> None:
    five = [word for i in range(1, 6) for word in ("--rater", f"rater{i}")]
    refused = workbench("reference", "freeze", "validation", *five, "--study", study)
    assert refused.code == 1
    assert "rater3: 11 of 120 reports not submitted" in refused.err
    assert "rater1" not in refused.err  # is done
    frozen = workbench("reference", "freeze", "validation", *five, "--incomplete", "--study", study, "--json")
    assert frozen.json["not_submitted"]["rater3"] == 11
    assert frozen.code == 0, frozen.err
    assert not {"findings", "agreement", "reports"} & set(frozen.json)
    hidden = workbench("reference", "show", str(frozen.json["name"]), "--study", study)
    assert (hidden.code, hidden.out) == (1, "")
    assert "is locked" in hidden.err
    assert workbench("history", "--study", study, "--json").json["reference"]["name"] == "development-1"


def test_freezing_what_was_seen_promises_no_blind_adjudication(workbench: Run, study: str) -> None:
    freeze = ("reference", "freeze", "development", "--reason", "again", "--incomplete", "--study", study)
    told = workbench(*freeze)
    assert "so development-1 can no longer be adjudicated blind" in " ".join(told.out.split()), told.err
    assert "until somebody looks" not in told.out
    frozen = workbench(*freeze, "--json").json
    assert (frozen["to_adjudicate"], frozen["left_open"] > 0) == (0, True)
    assert str(frozen["not_adjudicated_because"]) in " ".join(told.out.split())


def test_a_round_is_withdrawn_and_shown_as_gone(workbench: Run, study: str) -> None:
    refused = workbench("round", "withdraw", "validation", "--reason", "x", "--study", study)
    assert (refused.code, "Labels were saved in the round validation-round-1" in refused.err) == (1, True)
    allocated = workbench("import", "reports", _one_report(), "--study", study)
    assert allocated.code == 0, allocated.err
    cohort = ("cohort", "allocate", "pilot", "--purpose", "external", "--size", "1", "--study", study)
    assert workbench(*cohort).code == 0
    named = workbench("round", "open", "pilot", "--rater", "Demo lead", "--study", study)
    assert (named.code, "Demo lead has not the role rater" in named.err) == (1, True)
    assert workbench("round", "open", "pilot", "--rater", "Demo rater", "--study", study).code == 0
    back = workbench("round", "withdraw", "pilot", "--reason", "a mistake", "--study", study, "--json")
    assert (back.json["state"], back.json["open"]) == ("withdrawn", False)
    shown = workbench("round", "show", "pilot", "--study", study)
    assert (shown.code, "pilot-round-1 was withdrawn" in shown.err) == (1, True)


def _one_report() -> str:
    Path("one.csv").write_text("id,text\nx1,FINDINGS: An invented report that is like no other.\n", encoding="utf-8")
    return "one.csv"


def test_the_version_is_told(workbench: Run) -> None:
    from workbench import __version__

    assert workbench("--version").out == f"{__version__}\n"
