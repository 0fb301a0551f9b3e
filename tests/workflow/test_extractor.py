"""The labeler's own errors on a leaderboard: known from the study's references, on human and on generated reports."""

import csv
from collections.abc import Callable
from pathlib import Path

import pytest

from workbench.domain.actors import Actor
from workbench.domain.cohorts import Purpose
from workbench.domain.prompts import Prompt
from workbench.errors import ConflictError, InputError, RightsError
from workbench.formats.systems import TASKS, read_generated, select
from workbench.storage import reports as report_store
from workbench.workflow.cohorts import define
from workbench.workflow.extractor import (
    blinded_text,
    labeler_errors,
    order_words,
    rates_by_finding,
    take_in_generated,
    write_blinded,
)
from workbench.workflow.ingest import import_labels, import_reports
from workbench.workflow.prompts import save_candidate
from workbench.workflow.ran_score import Scoring, score_systems
from workbench.workflow.reference import freeze
from workbench.workflow.run import execute, prepare
from workbench.workflow.score import score_run
from workbench.workflow.study import Study
from workbench.workflow.systems import System, add_data_set, add_systems, find_data_set

Write = Callable[[str, str], Path]
Labels = Callable[..., Path]
PAIRS = """study_id,patient_id,reference,generated
1,q1,Pleural effusion.,Left pleural effusion.
2,q2,Pneumothorax.,Clear.
3,q2,Clear.,Pneumothorax.
4,q3,Pleural effusion.,Left pleural effusion.
"""


@pytest.fixture
def scoring(rated: Study, lead: Actor, csv_file: Write, make_prompt: Callable[..., Prompt]) -> Scoring:
    """A system on four studies, read by a prompt that has no score on a reference yet."""
    save_candidate(rated, lead, make_prompt(), message="m", parent=None)
    path = csv_file("system.csv", PAIRS)
    data_set = add_data_set(rated, lead, path)
    add_systems(rated, lead, data_set, [System(path)])
    return score_systems(rated, lead, data_set, revision=1)


def scored(study: Study, lead: Actor, cohort: str) -> str:
    reference = freeze(study, lead, cohort)
    prepared = prepare(study, lead, cohort=cohort, revision=1)
    execute(study, prepared)
    score_run(study, lead, prepared.run.hash, reference)
    return reference.name


def test_without_a_score_on_a_reference_nobody_knows_them(rated: Study, lead: Actor, scoring: Scoring) -> None:
    freeze(rated, lead, "development")
    assert labeler_errors(rated, lead, scoring) is None


def test_they_are_those_on_the_studys_reference(rated: Study, lead: Actor, scoring: Scoring) -> None:
    name = scored(rated, lead, "development")
    found = labeler_errors(rated, lead, scoring)
    assert found is not None
    assert (found.human, found.machine, found.spread.machine_assumed) == (name, "", True)
    rates = {finding.finding_id: finding for finding in found.spread.findings}
    # Of the two effusions that the vote has (r1 and r2) the prompt finds the one that is called so.
    sensitivity = rates["pleural_effusion"].sensitivity
    assert (sensitivity.value, sensitivity.n) == (0.5, 2)
    assert "raters have labelled no generated report" in " ".join(order_words(found))
    assert {machine for _, _, machine in rates_by_finding(found)} == {None}


def test_of_systems_without_a_common_study_no_order_is_said_to_be_open(
    rated: Study, lead: Actor, scoring: Scoring, csv_file: Write
) -> None:
    scored(rated, lead, "development")
    for name, text in (("one", "1,Pleural effusion."), ("two", "2,Pneumothorax.")):
        path = csv_file(f"{name}.csv", f"study_id,generated\n{text}\n")
        add_systems(rated, lead, scoring.data_set, [System(path)])
    apart = score_systems(rated, lead, scoring.data_set, revision=1, systems=["one", "two"])
    found = labeler_errors(rated, lead, apart)
    assert found is not None
    told = order_words(found)[0]
    assert told == (
        "What the labeler's errors do to the order cannot be told of: one and two (no positive in the extracted "
        "reference)."
    )
    # As read, a system's Ran Score is the one it is ranked by: over the studies that all have.
    both = score_systems(rated, lead, scoring.data_set, revision=1, systems=["system", "one"])
    found = labeler_errors(rated, lead, both)
    assert found is not None
    assert [one.extracted.n for one in found.spread.systems] == [1, 1]


def test_of_one_system_alone_no_order_is_told(rated: Study, lead: Actor, scoring: Scoring) -> None:
    name = scored(rated, lead, "development")
    found = labeler_errors(rated, lead, score_systems(rated, lead, scoring.data_set, revision=1, systems=["system"]))
    assert found is not None
    order, source = order_words(found)
    assert order == ""
    assert source.startswith(f"They are those on the reference {name};")


def test_generated_reports_go_through_a_round_blinded_and_tell_of_those(
    rated: Study, lead: Actor, scoring: Scoring, tmp_path: Path, write_labels: Labels
) -> None:
    scored(rated, lead, "development")
    out = tmp_path / "blinded.csv"
    assert write_blinded(rated, lead, scoring.data_set, out) == 3  # one text stands twice
    again = tmp_path / "again.csv"
    write_blinded(rated, lead, scoring.data_set, again)
    assert out.read_bytes() == again.read_bytes()
    with out.open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert {row["text"] for row in rows} == {"Left pleural effusion.", "Clear.", "Pneumothorax."}
    assert all(row["report_id"].startswith("g-") and "system" not in row["report_id"] for row in rows)
    import_reports(rated, lead, out)
    define(rated, lead, "generated", Purpose.EXTERNAL, [row["report_id"] for row in rows])
    for i in range(6):
        said = [
            (row["report_id"], "1", {"pneumothorax": "1" if row["text"] == "Pneumothorax." else ""}) for row in rows
        ]
        import_labels(rated, lead, write_labels(f"rater{i + 1}.csv", *said))
    name = scored(rated, lead, "generated")
    found = labeler_errors(rated, lead, scoring)
    assert found is not None
    assert (found.human, found.machine, found.spread.machine_assumed) == ("development-1", name, False)
    by_source = {(f.finding_id, f.source): f for f in found.spread.findings}
    assert by_source["pneumothorax", "machine"].sensitivity.n == 1
    # The raters say that the effusion is none, so reading one there is an error of the labeler.
    assert by_source["pleural_effusion", "machine"].specificity.value == pytest.approx(2 / 3)
    told = {finding: (human, machine) for finding, human, machine in rates_by_finding(found)}
    assert told["pleural_effusion"] == tuple(by_source["pleural_effusion", source] for source in ("human", "machine"))
    assert "fracture" not in told  # nobody saw one, and the labeler read none


def test_generated_reports_are_a_cohort_in_one_step_or_not_at_all(
    rated: Study, lead: Actor, scoring: Scoring, csv_file: Write
) -> None:
    made = take_in_generated(rated, lead, scoring.data_set, "machine", size=2)
    assert (len(made.members), made.purpose) == (2, Purpose.EXTERNAL)
    with rated.database.read() as conn:
        held = {report.id: report.text for report in report_store.by_ids(conn, list(made.members))}
        before = report_store.count(conn)
    assert set(held.values()) < {"Left pleural effusion.", "Clear.", "Pneumothorax."}
    with pytest.raises(ConflictError, match="already a cohort machine"):
        take_in_generated(rated, lead, scoring.data_set, "machine")  # the third report is not left behind
    with rated.database.read() as conn:
        assert report_store.count(conn) == before
    assert set(take_in_generated(rated, lead, scoring.data_set, "more").members) > set(made.members)
    path = csv_file("own.csv", "study_id,patient_id,reference,generated\n1,p1,Clear.,Effusion of a known patient.\n")
    known = add_data_set(rated, lead, path)
    add_systems(rated, lead, known, [System(path)])
    with pytest.raises(ConflictError, match="patient p1 is already in the development cohort"):
        take_in_generated(rated, lead, known, "own")


def test_neither_headings_nor_other_sections_tell_systems_apart_and_a_labeler_reads_the_same() -> None:
    for one, other in (
        ("Findings: Heart large.  Impression: CHF.", "FINDINGS:\nHeart large.\nIMPRESSION:\nCHF."),
        ("History: cough. Findings: Heart large.", "Findings: Heart large. Impression: None"),
    ):
        assert blinded_text(one, "findings+impression") == blinded_text(other, "findings+impression")
    assert blinded_text("Heart large.", "findings+impression") == "Heart large."
    assert blinded_text("Findings: Heart large. Impression: CHF.", "findings") == "Heart large."
    assert blinded_text("Findings: None", "findings") == ""


def test_a_labeler_reads_the_same_in_a_blinded_text_as_in_the_whole_one_of_real_systems(shared: Path) -> None:
    files = sorted((shared / "submissions").glob("*.csv"))
    texts = [text for file in files for text in read_generated(file).studies.values() if text]
    assert len(texts) > 500
    for text in texts:
        for task in TASKS:
            assert " ".join(select(blinded_text(text, task), task).split()) == " ".join(select(text, task).split())


def test_only_leads_take_generated_reports_out(
    rated: Study, lead: Actor, scoring: Scoring, tmp_path: Path, csv_file: Write
) -> None:
    with pytest.raises(RightsError):
        write_blinded(rated, rated.actor("Dr. Rater"), scoring.data_set, tmp_path / "x.csv")
    assert write_blinded(rated, lead, scoring.data_set, tmp_path / "x.csv", size=2) == 2
    add_data_set(rated, lead, csv_file("none.csv", "study_id,reference\n1,Wet.\n"))
    with pytest.raises(InputError, match="No system has submitted a report"):
        write_blinded(rated, lead, find_data_set(rated, lead, "none"), tmp_path / "x.csv")
