"""Files of generated reports: every form, and what is missing, empty or there twice."""

import json
from pathlib import Path

import pytest

from workbench.errors import InputError
from workbench.formats.systems import read_generated, select

TABLE = """study_id,patient_id,reference,generated
1,p,Clear.,Wet.
2,p,Clear.,
3,q,,nan
"""


def written(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def test_rexranks_own_form_is_read_with_none_and_a_bare_nan_as_missing(tmp_path: Path) -> None:
    text = """{"s1": {"report": "Findings: Clear. Impression: Normal.",
        "model_prediction": "Findings: A. Impression: B."},
        "s2": {"report": NaN, "section_findings": "Clear.", "section_impression": NaN, "model_prediction": null},
        "s3": {"report": "None", "model_prediction": "None"},
        "s4": {"report": "Findings: Clear.", "model_prediction": ""},
        "s5": {"report": "Findings: Clear."}}"""
    read = read_generated(written(tmp_path, "a.json", text))
    assert read.studies == {"s1": "Findings: A. Impression: B.", "s2": None, "s3": None, "s4": "", "s5": None}
    assert read.references["s2"] == "Findings: Clear."
    assert read.references["s3"] is None
    assert read.patients == {}


def test_a_printed_python_dictionary_with_a_bare_none_is_read(tmp_path: Path) -> None:
    read = read_generated(written(tmp_path, "a.json", '{"s1": {"generated": None}, "s2": {"generated": "None seen."}}'))
    assert read.studies == {"s1": None, "s2": "None seen."}


def test_csv_and_json_lines_say_the_same(tmp_path: Path) -> None:
    csv = written(tmp_path, "a.csv", TABLE)
    rows = [
        {"study_id": 1, "patient_id": "p", "reference": "Clear.", "generated": "Wet."},
        {"study_id": 2, "patient_id": "p", "reference": "Clear.", "generated": " "},
        {"study_id": 3, "patient_id": "q", "reference": ""},
    ]
    lines = written(tmp_path, "a.jsonl", "\n".join(map(json.dumps, rows)))
    one, other = read_generated(csv), read_generated(lines)
    assert one.studies == other.studies == {"1": "Wet.", "2": "", "3": None}
    assert one.references == other.references == {"1": "Clear.", "2": "Clear.", "3": ""}
    assert one.patients == other.patients == {"1": "p", "2": "p", "3": "q"}
    assert one.hash == other.hash


def test_the_same_study_twice_is_one_and_with_another_text_is_refused_with_both_rows(tmp_path: Path) -> None:
    same = written(tmp_path, "a.csv", "id,generated\n1,Wet.\n1,Wet.\n")
    assert read_generated(same).studies == {"1": "Wet."}
    with pytest.raises(InputError, match=r"study 1 has two different texts.*row 2 “Wet.”, row 3 “Dry.”"):
        read_generated(written(tmp_path, "b.csv", "id,generated\n1,Wet.\n1,Dry.\n"))
    with pytest.raises(InputError, match=r"row 1 “Wet.”, row 2 “Dry.”"):
        read_generated(written(tmp_path, "b.json", '{"1": {"generated": "Wet."}, "1": {"generated": "Dry."}}'))


@pytest.mark.parametrize(
    ("name", "text", "told"),
    [
        ("a.csv", "id,generated\n,Wet.\n", "row 2: id is blank"),
        ("a.csv", "who,generated\n1,Wet.\n", "known to hold the study's id; it has who, generated"),
        ("a.csv", "id,generated\n", "holds no study"),
        ("a.csv", 'id,generated\n1,"Wet.\n', "row 2: a quotation mark"),
        ("a.jsonl", '{"id": 1, "generated": ["a"]}\n', "row 1: generated is"),
        ("a.json", '{"1": {"generated": 1.5}}', "row 1: generated is 1.5 and should be text"),
        ("a.json", '{"1": {"generated": "a", "generated": "b"}}', "row 1: the entry names generated twice"),
        ("a.json", '["a"]', "row 1: an entry of the list is no object"),
        ("a.json", '{"1":\n tru}', "line 2: this is no JSON"),
        ("a.json", "3", "holds no studies"),
        ("a.txt", "", "its name does not tell its form"),
    ],
)
def test_what_is_wrong_with_a_file_is_told_with_the_row(tmp_path: Path, name: str, text: str, told: str) -> None:
    with pytest.raises(InputError, match=told):
        read_generated(written(tmp_path, name, text))


def test_columns_of_other_names_can_be_told(tmp_path: Path) -> None:
    path = written(tmp_path, "a.csv", "study,out\n1,Wet.\n")
    assert read_generated(path, columns={"id": "study", "generated": "out"}).studies == {"1": "Wet."}
    with pytest.raises(InputError, match="has no column nope"):
        read_generated(path, columns={"id": "nope"})
    with pytest.raises(InputError, match="no entry what"):
        read_generated(path, columns={"what": "out"})


@pytest.mark.parametrize(
    ("text", "findings", "both"),
    [
        ("Findings: Wet. Impression: Bad.", "Wet.", "Wet.\n\nBad."),
        ("wet lungs . bad heart .", "wet lungs . bad heart .", "wet lungs . bad heart ."),
        ("Findings: None Impression: Bad.", "", "Bad."),
        ("Findings: nan Impression: None.", "", ""),
        ("Indication: Cough. Findings: Wet.", "Wet.", "Wet."),
        ("Impression: None seen of it.", "", "None seen of it."),
    ],
)
def test_a_task_reads_its_sections_and_nothing_said_is_nothing(text: str, findings: str, both: str) -> None:
    assert select(text, "findings") == findings
    assert select(text, "findings+impression") == both


def test_the_files_of_real_systems_are_read_whole(shared: Path) -> None:
    folder = shared / "submissions"
    for path in sorted(folder.glob("iu_xray_*.csv")):
        read = read_generated(path)
        assert len(read.studies) == len(read.references) == 293
        assert all(read.studies.values())
    valid = read_generated(folder / "rexrank_iu_xray_valid.json")
    assert len(valid.references) == 227
    assert all(valid.references.values())
