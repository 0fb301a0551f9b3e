"""Reports and labels come in whole or not at all."""

from collections.abc import Callable
from pathlib import Path

import pytest

from workbench.domain.actors import Actor
from workbench.domain.findings import State
from workbench.errors import ConflictError, InputError, RightsError
from workbench.storage import annotations, reports
from workbench.workflow.ingest import import_labels, import_reports
from workbench.workflow.study import Study

Write = Callable[[str, str], Path]
TWO = 'id,patient_id,text\nr1,p1,"FINDINGS: Small effusion."\nr2,p2,"INDICATION: cough."\n'


def known(study: Study) -> dict[str, str]:
    with study.database.read() as conn:
        return {r.id: r.text for r in reports.list_all(conn)}


def test_reports_are_added_once_and_those_with_nothing_to_read_are_named(
    study: Study, lead: Actor, csv_file: Write
) -> None:
    first = import_reports(study, lead, csv_file("a.csv", TWO))
    again = import_reports(study, lead, csv_file("b.csv", TWO))
    assert (first.added, first.known, first.unreadable) == (2, 0, ("r2",))
    assert (again.added, again.known) == (0, 2)


def test_a_known_id_with_another_text_stops_the_import_and_nothing_of_the_file_stays(
    study: Study, lead: Actor, csv_file: Write
) -> None:
    import_reports(study, lead, csv_file("a.csv", TWO))
    other = csv_file("b.csv", 'id,patient_id,text\nr9,p9,"FINDINGS: New."\nr1,p1,"FINDINGS: Large effusion."\n')
    with pytest.raises(ConflictError, match="r1"):
        import_reports(study, lead, other)
    assert set(known(study)) == {"r1", "r2"}
    assert known(study)["r1"] == "FINDINGS: Small effusion."


def test_a_rater_may_not_import_reports(study: Study, rater: Actor, csv_file: Write) -> None:
    with pytest.raises(RightsError, match="Dr. Rater may not import reports"):
        import_reports(study, rater, csv_file("a.csv", TWO))
    assert known(study) == {}


def test_labels_keep_four_states_and_a_blank_unreviewed_row_is_not_submitted(
    study: Study, lead: Actor, csv_file: Write, write_labels: Callable[..., Path]
) -> None:
    import_reports(study, lead, csv_file("a.csv", TWO))
    cells = {"pleural_effusion": "1", "pneumonia": "-1", "fracture": "0"}
    labels = write_labels("dr-a.csv", ("r1", "1", cells), ("r2", "", {}))
    done = import_labels(study, lead, labels)
    assert (dict(done.submitted), done.not_reviewed) == ({"dr-a": 1}, 1)
    with study.database.read() as conn:
        (row,) = annotations.latest(conn, ["r1", "r2"], study.label_set.hash)
    states = [
        row.states.get(f, State.NOT_MENTIONED) for f in ("pleural_effusion", "pneumonia", "fracture", "atelectasis")
    ]
    assert states == [State.PRESENT, State.UNCERTAIN, State.ABSENT, State.NOT_MENTIONED]


def test_a_reviewed_blank_row_is_a_normal_report(
    study: Study, lead: Actor, csv_file: Write, write_labels: Callable[..., Path]
) -> None:
    import_reports(study, lead, csv_file("a.csv", TWO))
    done = import_labels(study, lead, write_labels("dr-a.csv", ("r2", "1", {})))
    assert dict(done.submitted) == {"dr-a": 1}


def test_labels_of_an_unknown_report_are_refused_by_row_and_nothing_stays(
    study: Study, lead: Actor, csv_file: Write, write_labels: Callable[..., Path]
) -> None:
    import_reports(study, lead, csv_file("a.csv", TWO))
    labels = write_labels("dr-a.csv", ("r1", "1", {"pneumonia": "1"}), ("r7", "1", {"pneumonia": "1"}))
    with pytest.raises(InputError, match=r"dr-a.csv, row 3: report r7 is not in this study"):
        import_labels(study, lead, labels)
    with study.database.read() as conn:
        assert annotations.latest(conn, ["r1"], study.label_set.hash) == []


def test_a_patients_folder_of_mimic_is_taken_with_the_patient_and_the_place_of_each_report(
    study: Study, lead: Actor, tmp_path: Path
) -> None:
    for number in (1, 2):
        path = tmp_path / "files" / "p10" / "p10000001" / f"s5000000{number}.txt"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"     FINAL REPORT\n \n FINDINGS: \n \n Heart size is normal, as in study {number} of ___.\n")
    done = import_reports(study, lead, tmp_path / "files" / "p10")
    assert (done.file, done.added, done.known, done.unreadable) == ("p10", 2, 0, ())
    with study.database.read() as conn:
        report = reports.get(conn, "s50000002")
    assert report is not None
    assert (report.patient_id, report.source) == ("p10000001", "p10000001/s50000002.txt")
    assert report.select() == "Heart size is normal, as in study 2 of ___."
    again = import_reports(study, lead, tmp_path / "files")
    assert (again.added, again.known) == (0, 2)


def test_labels_in_parquet_are_refused_in_words(study: Study, lead: Actor, tmp_path: Path) -> None:
    (tmp_path / "v.parquet").write_bytes(b"PAR1")
    with pytest.raises(InputError, match="v.parquet: labels are imported from CSV"):
        import_labels(study, lead, tmp_path / "v.parquet", rater="Dr. A")
