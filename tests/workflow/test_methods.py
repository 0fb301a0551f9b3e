"""What is written for a paper, held against the score it is written from."""

import csv
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from workbench.domain.actors import Actor
from workbench.domain.cohorts import Purpose
from workbench.domain.prompts import Prompt, Revision
from workbench.errors import ConflictError, RightsError
from workbench.prompting.edits import Edit, Part, edited
from workbench.prompting.files import prompt_text
from workbench.workflow import prompts, run
from workbench.workflow.cohorts import define, unlock
from workbench.workflow.ingest import import_reports
from workbench.workflow.methods import UNKNOWN, export_methods, methods
from workbench.workflow.reference import freeze
from workbench.workflow.rounds import close_round, open_round, reopen_round
from workbench.workflow.score import Score, score_run
from workbench.workflow.study import Study

Make = Callable[..., Prompt]


@pytest.fixture
def scored(rated: Study, lead: Actor, make_prompt: Make) -> Score:
    """The score of the conftest's first prompt: one of two effusions found, the one pneumothorax found."""
    made = prompts.save_candidate(rated, lead, make_prompt(), message="first | try", parent=None)
    prepared = run.prepare(rated, lead, cohort="development", revision=made.prompt_hash)
    run.execute(rated, prepared)
    return score_run(rated, lead, prepared.run.hash, freeze(rated, lead, "development"))


def test_the_methods_tell_what_the_records_hold(rated: Study, lead: Actor, scored: Score) -> None:
    text = methods(rated, lead, scored)
    assert "6 reports of 5 patients" in text
    assert "6 raters labelled the reports" in text
    assert "A finding is present by 4 of 6 votes; an even split becomes not present" in text
    assert scored.prepared.run.prompt_hash in text
    assert scored.reference.hash in text
    assert "| Pleural effusion* | 2 | 5 | 0.667" in text
    assert "each report asked once" in text
    assert "was looked at 1 times" in text
    # A bar in a message must not break the table.
    assert "first / try" in text


def test_an_unlocking_and_a_round_opened_again_are_told_with_who_when_where_and_what_was_declared(
    rated: Study, lead: Actor, scored: Score, csv_file: Callable[[str, str], Path]
) -> None:
    import_reports(rated, lead, csv_file("more.csv", 'id,patient_id,text\nv1,p9,"FINDINGS: Normal."\n'))
    define(rated, lead, "validation", Purpose.VALIDATION, ["v1"])
    named = {"revision": "1", "labeler": "rules", "policies": "as set", "endpoint": "macro-F1"}
    unlock(rated, lead, "validation", reason="the prompt is final.", details=named)
    open_round(rated, lead, "validation", raters=["Dr. Rater"])
    close_round(rated, lead, "validation")
    reopen_round(rated, lead, "validation", reason="a typing error")
    close_round(rated, lead, "validation")
    day = f"{datetime.now(UTC):%Y-%m-%d}"
    lines = methods(rated, lead, scored).splitlines()
    assert (
        f"- The cohort validation was unlocked {day} by Dr. Lead: the prompt is final. Declared beforehand: endpoint "
        "macro-F1, labeler rules, policies as set, revision 1." in lines
    )
    told = f"- The round validation-round-1 on the cohort validation was re-opened {day} by Dr. Lead: a typing error."
    assert told in lines


def test_a_revision_that_only_another_labeler_may_have_scored_is_not_called_unscored(
    rated: Study, lead: Actor, make_prompt: Make, scored: Score
) -> None:
    another = edited(make_prompt(), [Edit("pleural_effusion", Part.SYNONYMS, "hydrothorax")])
    prompts.save_candidate(rated, lead, another, message="second", parent=None)
    assert "| 2 | candidate | not scored by this labeler | second |" in methods(rated, lead, scored)


def test_what_no_record_holds_is_left_to_be_filled_in(rated: Study, lead: Actor, scored: Score) -> None:
    assert f"Their experience in years: {UNKNOWN}" in methods(rated, lead, scored)


def test_all_files_are_written_with_the_scores_own_numbers(
    rated: Study, lead: Actor, scored: Score, tmp_path: Path
) -> None:
    written = export_methods(rated, lead, scored, tmp_path / "paper")
    assert written.files == ("methods.md", "numbers.csv", "history.svg", "prompts/001-candidate.md")
    assert all((written.folder / name).is_file() for name in written.files)
    assert ET.parse(written.folder / "history.svg").getroot().tag.endswith("svg")
    with (written.folder / "numbers.csv").open(encoding="utf-8", newline="") as file:
        rows = {(row["finding"], row["figure"]): row for row in csv.DictReader(file)}
    assert float(rows["", "macro_f1"]["value"]) == scored.evaluation.macro_f1.value
    assert rows["pleural_effusion", "fn"]["value"] == "1"
    undefined = rows["fracture", "f1"]
    assert (undefined["value"], undefined["why undefined"]) == ("", "no positive in the reference")


def test_a_revision_that_cannot_be_read_does_not_keep_the_others_from_being_exported(
    rated: Study, lead: Actor, scored: Score, add_unchecked: Callable[[Study, Prompt], Revision], tmp_path: Path
) -> None:
    unreadable = edited(scored.prepared.prompt, [Edit("pneumothorax", Part.SYNONYMS, "heart ...")])
    made = add_unchecked(rated, unreadable)
    written = export_methods(rated, lead, scored, tmp_path / "paper")
    assert "prompts/002-candidate.md" in written.files
    assert made.number == 2
    assert (written.folder / "prompts/002-candidate.md").read_text(encoding="utf-8") == prompt_text(unreadable)


def test_a_folder_that_is_there_is_never_written_into(rated: Study, lead: Actor, scored: Score, tmp_path: Path) -> None:
    (tmp_path / "paper").mkdir()
    with pytest.raises(ConflictError, match="exists already"):
        export_methods(rated, lead, scored, tmp_path / "paper")
    with pytest.raises(ConflictError, match="part of the study"):
        export_methods(rated, lead, scored, rated.folder / "prompts" / "paper")
    assert list((tmp_path / "paper").iterdir()) == []


def test_a_rater_exports_no_methods(rated: Study, rater: Actor, scored: Score, tmp_path: Path) -> None:
    with pytest.raises(RightsError):
        export_methods(rated, rater, scored, tmp_path / "paper")
    assert not (tmp_path / "paper").exists()
