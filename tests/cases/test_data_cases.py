"""Inputs that other tools lost, mixed up or made words of, with the right behaviour (public bug cases).

Each name says the case's number. The cases' other halves (agreement, scores, models, screens) are tested elsewhere.
"""

import threading
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from workbench.domain.annotations import Annotation
from workbench.domain.findings import LabelSet, State
from workbench.domain.hashing import text_hash
from workbench.domain.reports import Report
from workbench.errors import ConflictError, InputError
from workbench.formats.exports import write_table
from workbench.formats.label_sets import read_label_set
from workbench.formats.labels import RaterRow, read_labels
from workbench.formats.reports import read_reports
from workbench.formats.votes import Vote, wide_columns, wide_row
from workbench.storage import annotations, imports, label_sets, reports
from workbench.storage.database import Database

NOW = datetime(2026, 3, 1, tzinfo=UTC)
LABEL_SET = """\
id: four
version: "1"
title: Four
policies: {vote: {default: present}, prediction: {default: present}}
findings:
  - {id: effusion, name: Effusion, definition: Fluid.}
  - {id: edema, name: Edema, definition: Water.}
  - {id: cavity, name: Cavity, definition: Hole.}
  - {id: fracture, name: Fracture, definition: Break.}
"""


@pytest.fixture
def label_set(tmp_path: Path) -> LabelSet:
    path = tmp_path / "four.yaml"
    path.write_text(LABEL_SET)
    return read_label_set(path)


@pytest.fixture
def stored(tmp_path: Path, label_set: LabelSet) -> Callable[[list[Report]], Database]:
    def store(some: list[Report]) -> Database:
        database = Database(tmp_path / "workbench.db")
        with database.write() as conn:
            label_sets.add(conn, label_set)
            number = imports.add(conn, "reports", "a.csv", file_hash="", actor="Lena", at=NOW, rows=len(some))
            reports.add(conn, some, number)
        return database

    return store


def csv(tmp_path: Path, content: str, name: str = "a.csv") -> Path:
    path = tmp_path / name
    path.write_text(content)
    return path


def annotation(row: RaterRow, label_set: LabelSet) -> Annotation:
    return Annotation(row.report_id, row.rater, row.states, row.reviewed, NOW, label_set.hash)


def votes(rows: Iterable[RaterRow], label_set: LabelSet) -> list[Vote]:
    return [(row.report_id, row.rater, annotation(row, label_set) if row.reviewed else None) for row in rows]


def write_wide(path: Path, label_set: LabelSet, given: Iterable[Vote]) -> None:
    write_table(path, wide_columns(label_set), (wide_row(label_set, vote) for vote in given))


def test_case_2_blank_0_minus_1_and_1_survive_import_database_export_and_import_again(
    tmp_path: Path, label_set: LabelSet, stored: Callable[[list[Report]], Database]
) -> None:
    path = csv(tmp_path, "report_id,effusion,edema,cavity,fracture\nr1,,0,-1,1\n", "ada.csv")
    imported = read_labels(path, label_set, rater="Ada")
    expected = {"edema": State.ABSENT, "cavity": State.UNCERTAIN, "fracture": State.PRESENT}
    assert imported[0].states == expected

    database = stored([Report("r1", "p1", "x", ())])
    with database.write() as conn:
        annotations.append(conn, annotation(imported[0], label_set))
        (kept,) = annotations.latest(conn, ["r1"], label_set.hash)
    assert kept.states == expected
    assert "effusion" not in kept.states  # not mentioned is not absent

    out = tmp_path / "export.csv"
    write_wide(out, label_set, [(kept.report_id, kept.rater, kept)])
    assert out.read_text().splitlines()[1] == "r1,Ada,1,1,,0,-1,1,,0"
    assert read_labels(out, label_set) == imported


@pytest.mark.parametrize("candidate", ["", " ", "\n"])
def test_case_10_an_empty_report_is_kept_and_has_nothing_to_read(tmp_path: Path, candidate: str) -> None:
    path = csv(tmp_path, f'id,text\nr1,Small effusion.\nr2,"{candidate}"\nr3,Clear.\n')
    selected = {report.id: report.select() for report in read_reports(path)}
    assert selected == {"r1": "Small effusion.", "r2": "", "r3": "Clear."}


@pytest.mark.parametrize("missing", ["", "nan", "NaN", "None", "null"])
def test_case_11_a_missing_section_is_never_a_word_of_the_report(tmp_path: Path, missing: str) -> None:
    path = csv(
        tmp_path,
        f"id,findings,impression\nr1,{missing},No acute disease.\nr2,Clear.,{missing}\nr3,{missing},{missing}\n",
    )
    some = read_reports(path)
    assert [report.select() for report in some] == ["No acute disease.", "Clear.", ""]
    assert [report.text for report in some] == ["IMPRESSION: No acute disease.", "FINDINGS: Clear.", ""]
    assert sum(not report.select() for report in some) == 1  # how many had neither


def test_case_11_the_same_from_json_with_a_bare_nan(tmp_path: Path) -> None:
    path = csv(tmp_path, '{"id": "r1", "findings": NaN, "impression": "No acute disease."}\n', "a.jsonl")
    assert [report.text for report in read_reports(path)] == ["IMPRESSION: No acute disease."]


@pytest.mark.parametrize(
    "text", ["XXXX effusion compared to ___.", "Seen by [**Name**] on [**2010-1-1**].", "<DATE> ▇▇"]
)
def test_case_12_placeholders_are_kept_verbatim_to_the_last(
    tmp_path: Path, stored: Callable[[list[Report]], Database], text: str
) -> None:
    some = read_reports(csv(tmp_path, f"id,text\nr1,{text}\n"))
    with stored(some).read() as conn:
        kept = reports.get(conn, "r1")
    assert kept is not None
    assert kept.text == text
    assert kept.select() == text
    assert kept.hash == text_hash(text)


ONE, OTHER = "Effusion seen on 12 March.", "Effusion seen on 13 March."


def test_case_13_two_texts_of_one_study_stop_the_import_and_both_are_shown(tmp_path: Path) -> None:
    path = csv(tmp_path, f"study_id,text\nB1,Clear.\nA1,{ONE}\nA1,{OTHER}\n")
    with pytest.raises(InputError) as refusal:
        read_reports(path)
    for shown in ("A1", "row 3", ONE, "row 4", OTHER):
        assert shown in str(refusal.value)


def test_case_13_a_second_file_neither_replaces_nor_adds(
    tmp_path: Path, stored: Callable[[list[Report]], Database]
) -> None:
    database = stored(read_reports(csv(tmp_path, f"study_id,text\nA1,{ONE}\n", "one.csv")))
    second = read_reports(csv(tmp_path, f"study_id,text\nNEW,Clear.\nA1,{OTHER}\n", "two.csv"))
    with pytest.raises(ConflictError) as refusal, database.write() as conn:
        reports.add(conn, second, 1)
    for shown in ("A1", "one.csv", ONE, "two.csv", OTHER):
        assert shown in str(refusal.value)
    with database.read() as conn:
        assert [(report.id, report.text) for report in reports.list_all(conn)] == [("A1", ONE)]


def test_case_13_the_identical_row_is_taken_once(tmp_path: Path) -> None:
    assert len(read_reports(csv(tmp_path, f"study_id,text\nA1,{ONE}\nA1,{ONE}\n"))) == 1


def test_case_21_six_raters_save_in_the_same_second_while_a_run_writes(
    label_set: LabelSet, stored: Callable[[list[Report]], Database]
) -> None:
    ids = [f"r{number}" for number in range(30)]
    database = stored([Report(report_id, "p", "x", ()) for report_id in ids])
    together = threading.Barrier(7)
    refused: list[Exception] = []

    def rate(rater: str) -> None:
        together.wait()
        try:
            for report_id in ids:
                with database.write() as conn:
                    annotations.append(
                        conn, Annotation(report_id, rater, {"edema": State.PRESENT}, True, NOW, label_set.hash)
                    )
        except Exception as error:  # noqa: BLE001
            refused.append(error)

    def run() -> None:
        together.wait()
        for number in range(30):
            with database.write() as conn:
                imports.add(conn, "run", str(number), file_hash="", actor="runner", at=NOW, rows=0)

    threads = [threading.Thread(target=rate, args=(f"rater {n}",)) for n in range(6)] + [threading.Thread(target=run)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert refused == []
    with database.read() as conn:
        assert len(annotations.latest(conn, ids, label_set.hash)) == 180
        assert len(imports.list_all(conn)) == 31


def test_case_23_reviewed_and_all_negative_differs_from_never_opened(
    tmp_path: Path, label_set: LabelSet, stored: Callable[[list[Report]], Database]
) -> None:
    path = csv(tmp_path, "report_id,reviewed,effusion,edema,cavity,fracture\nnormal,1,,,,\nunopened,,,,,\n", "ada.csv")
    rows = read_labels(path, label_set, rater="Ada")
    assert [(row.report_id, row.reviewed) for row in rows] == [("normal", True), ("unopened", False)]

    database = stored([Report("normal", "p", "x", ()), Report("unopened", "p", "y", ())])
    with database.write() as conn:
        annotations.append_many(conn, (annotation(row, label_set) for row in rows))
        kept = annotations.latest(conn, ["normal", "unopened"], label_set.hash)
    assert [one.report_id for one in kept] == ["normal"]  # only what was reviewed votes

    out = tmp_path / "export.csv"
    write_wide(out, label_set, votes(rows, label_set))
    assert read_labels(out, label_set) == rows


def test_case_24_the_order_of_labels_makes_no_difference_and_columns_are_stable(
    tmp_path: Path, label_set: LabelSet
) -> None:
    one = read_labels(
        csv(tmp_path, "report_id,effusion,edema,cavity,fracture\nr1,1,1,,\n", "a.csv"), label_set, rater="Ada"
    )
    other = read_labels(
        csv(tmp_path, "edema,fracture,report_id,cavity,effusion\n1,,r1,,1\n", "b.csv"), label_set, rater="Ada"
    )
    assert one == other
    write_wide(tmp_path / "one.csv", label_set, votes(one, label_set))
    write_wide(tmp_path / "other.csv", label_set, votes(other, label_set))
    assert (tmp_path / "one.csv").read_bytes() == (tmp_path / "other.csv").read_bytes()
    assert (
        (tmp_path / "one.csv")
        .read_text()
        .startswith("report_id,rater,reading,reviewed,effusion,edema,cavity,fracture,")
    )
    assert read_labels(tmp_path / "one.csv", label_set) == one
