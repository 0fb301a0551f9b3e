"""Reports come in verbatim from each form, and nothing that is missing is made into text."""

import csv
import gc
import json
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import pytest

from workbench.domain.reports import Report, Section
from workbench.errors import InputError
from workbench.formats.reports import iter_reports, read_reports

Make = Callable[..., Path]


def parts(report: Report) -> list[tuple[str, str]]:
    return [(section.name, report.text[section.start : section.end]) for section in report.sections]


def test_a_csv_with_usual_names_needs_no_mapping(file: Make) -> None:
    path = file("report_id,patient_id,text,language\nr1,p1,FINDINGS: Clear.,es\nr2,,No effusion. ,\n")
    assert read_reports(path) == [
        Report("r1", "p1", "FINDINGS: Clear.", (Section("findings", 10, 16),), "es", "file.csv"),
        Report("r2", "r2", "No effusion. ", (Section("unlabelled", 0, 12),), "en", "file.csv"),
    ]


def test_a_mapping_names_the_columns(file: Make) -> None:
    path = file("nr,who,body,text\n1,7,双肺清晰。,not this\n")
    (report,) = read_reports(path, columns={"id": "nr", "patient": "who", "text": "body"}, language="zh")
    assert (report.id, report.patient_id, report.text, report.language) == ("1", "7", "双肺清晰。", "zh")


def test_sections_in_columns_of_their_own_are_pointed_at_exactly(file: Make) -> None:
    path = file('id,f,i,why\nr1," Clear.\n Dry. ",Normal.,Cough\n')
    columns = {"section:indication": "why", "section:Findings": "f", "section:impression": "i"}
    (report,) = read_reports(path, columns=columns)
    assert report.text == "INDICATION: Cough\n\nFINDINGS:  Clear.\n Dry. \n\nIMPRESSION: Normal."
    assert parts(report) == [("indication", "Cough"), ("findings", " Clear.\n Dry. "), ("impression", "Normal.")]
    assert report.select() == "Clear.\n Dry.\n\nNormal."


def test_section_columns_with_usual_names_need_no_mapping(file: Make) -> None:
    (report,) = read_reports(file("study_id,impression,findings\ns1,Normal.,Clear.\n"))
    assert parts(report) == [("findings", "Clear."), ("impression", "Normal.")]


def test_header_words_in_a_section_cell_do_not_divide_it(file: Make) -> None:
    (report,) = read_reports(file("id,findings\nr1,Clear. IMPRESSION: Normal.\n"))
    assert parts(report) == [("findings", "Clear. IMPRESSION: Normal.")]


@pytest.mark.parametrize("missing", ["", "  ", "nan", "NaN", "None", "NULL", "<NA>"])
def test_a_missing_cell_never_becomes_words(file: Make, missing: str) -> None:
    path = file(f"id,findings,impression\nr1,{missing},No acute disease.\nr2,{missing},{missing}\n")
    first, second = read_reports(path)
    assert first.text == "IMPRESSION: No acute disease."
    assert (second.text, second.sections, second.select()) == ("", (), "")


def test_what_a_radiologist_says_in_these_words_stays(file: Make) -> None:
    first, second = read_reports(file("id,comparison,findings\nr1,None.,nan opacity\nr2,None,None.\n"))
    assert parts(first) == [("comparison", "None."), ("findings", "nan opacity")]
    assert parts(second) == [("comparison", "None"), ("findings", "None.")]


def test_placeholders_of_de_identification_stay(file: Make) -> None:
    text = "XXXX effusion compared to ___. [**2010-1-1**] <NAME>"
    (report,) = read_reports(file(f"id,text\nr1,{text}\n"))
    assert report.text == text


def test_formula_like_text_of_a_report_stays_verbatim(file: Make) -> None:
    reports = read_reports(file("id,text\n-1,- no effusion\n=2,'=x\n"))
    assert [(report.id, report.text) for report in reports] == [("-1", "- no effusion"), ("=2", "'=x")]


def test_jsonl_has_one_object_per_line(file: Make) -> None:
    lines = [
        '{"id": 12, "text": "FINDINGS: Clear.", "patient": 7, "extra": [1]}',
        "",
        '{"id": "r2", "text": NaN}',
        '{"id": "r3", "text": null, "patient": null, "language": "zh"}',
        '{"id": "r4"}',
    ]
    reports = read_reports(file("\n".join(lines), "a.jsonl"))
    assert [(r.id, r.patient_id, r.text, r.language) for r in reports] == [
        ("12", "7", "FINDINGS: Clear.", "en"),
        ("r2", "r2", "", "en"),
        ("r3", "r3", "", "zh"),  # a key of this line alone
        ("r4", "r4", "", "en"),
    ]


def test_jsonl_takes_a_mapping_and_sections(file: Make) -> None:
    path = file('{"uid": "a", "F": "Clear.", "I": NaN}\n', "a.ndjson")
    (report,) = read_reports(path, columns={"id": "uid", "section:findings": "F", "section:impression": "I"})
    assert report.text == "FINDINGS: Clear."


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('{"id": "a", "text": "b"}\n{"id": "c", "text": "d"\n', r"a\.jsonl, row 2 is not one JSON object"),
        ('{"id": "a", "text": "b"}\n["c"]\n', r"row 2 is not one JSON object"),
        ('[\n{"id": "a"}]\n', "is one JSON list; write one object per line"),
        ('{"id": "a", "text": "b", "text": "c"}\n', "row 1 names text twice"),
        ('{"id": "a", "text": ["b"]}\n', "row 1: text is .* and should be text"),
        ('{"id": true, "text": "b"}\n', "row 1: id is true and should be text"),
        ('{"id": "a", "text": "b"}\n{"text": "c"}\n', "row 2: id is blank"),
        ('{"id": "a", "text": "\\ud83d"}\n', "row 1: text holds a character that no text has"),
        ('{"id": "a", "text": "\\u0000"}\n', "row 1: text holds a character that no text has"),
        (f'{{"id": {"1" * 5000}, "text": "b"}}', "row 1 is not one JSON object: a number in it is too long"),
        ("[" * 100_000, "is one JSON list|nested too deeply"),
        ("\n\n", r"a\.jsonl is empty"),
    ],
)
def test_a_fault_in_jsonl_names_its_line(file: Make, content: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        read_reports(file(content, "a.jsonl"))


def test_a_key_that_the_first_line_leaves_out_is_read_all_the_same(file: Make) -> None:
    lines = [
        {"id": "a", "findings": "Clear."},
        {"id": "b", "patient_id": "p9", "impression": "Effusion.", "findings": "Blunted angle."},
        {"id": "c", "patient_id": "p9", "impression": "Normal."},
    ]
    path = file("".join(json.dumps(line) + "\n" for line in lines), "a.jsonl")
    first, second, third = read_reports(path)
    assert (first.patient_id, second.patient_id, third.patient_id) == ("a", "p9", "p9")
    assert second.select() == "Blunted angle.\n\nEffusion."
    assert third.select() == "Normal."


def test_the_same_report_twice_is_taken_once(file: Make) -> None:
    reports = read_reports(file("id,text\nA1,Clear.\nB2,Clear.\nA1,Clear.\n"))
    assert [report.id for report in reports] == ["A1", "B2"]


def test_one_id_with_two_texts_shows_both(file: Make) -> None:
    text = "Clear lungs. " * 20 + "Seen on 12 March." + " Normal heart." * 20
    path = file(f"id,text\nB2,x\nA1,{text}\nA1,{text.replace('12', '13')}\n")
    with pytest.raises(InputError, match=r"report A1 has two different texts: row 3 “.*12 March.*”, row 4 “.*13") as no:
        read_reports(path)
    assert len(str(no.value)) < 400


def test_one_id_with_two_patients_shows_both(file: Make) -> None:
    path = file("id,patient_id,text\nA1,p1,x\nA1,p2,x\n")
    with pytest.raises(InputError, match="A1 belongs to patient p1 in row 2 and to p2 in row 3"):
        read_reports(path)


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"id": "uid"}, "has no column uid; it has nr, body, why"),
        ({"id": "nr", "txt": "body"}, "no entry txt; use id, patient, text, language or section:NAME"),
        ({"id": "nr", "section: ": "body"}, "no entry section: ;"),
        ({"id": "nr", "text": "body", "section:findings": "why"}, "one or the other"),
        ({"text": "body"}, r"hold the reports' id; it has nr, body, why\. Say which it is \(id=COLUMN\)"),
        ({"id": "nr"}, r"hold the reports' text; .*\(text=COLUMN\)"),
    ],
)
def test_a_mapping_that_does_not_fit_is_explained(file: Make, columns: dict[str, str], message: str) -> None:
    with pytest.raises(InputError, match=message):
        read_reports(file("nr,body,why\n1,Clear.,Cough\n"), columns=columns)


def test_the_form_is_told_by_the_name_or_asked_for(file: Make) -> None:
    path = file("id,text\nr1,Clear.\n", "reports.txt")
    with pytest.raises(InputError, match="its name does not tell its form; say which of csv, jsonl, openi"):
        read_reports(path)
    with pytest.raises(InputError, match="no report form xml"):
        read_reports(path, form="xml")
    assert len(read_reports(path, form="csv")) == 1


def test_the_encoding_can_be_named(file: Make) -> None:
    path = file("id,text\nr1,双肺清晰。\n".encode("gb18030"))
    with pytest.raises(InputError, match=r"row 2: byte \d+ \(0x..\) is not UTF-8"):
        read_reports(path)
    assert read_reports(path, encoding="gb18030")[0].text == "双肺清晰。"
    lines = '{"id": "r1", "text": "sin derrame, corazón"}\n'.encode("latin-1")
    with pytest.raises(InputError, match=r"row 1: byte 40 \(0xf3\)"):
        read_reports(file(lines, "a.jsonl"))
    assert read_reports(file(lines, "a.jsonl"), encoding="latin-1")[0].text.endswith("corazón")


def test_open_i_is_read_as_published(file: Make) -> None:
    path = file(
        "uid,MeSH,Problems,image,indication,comparison,findings,impression\n"
        "7,normal,normal,PA,Cough,None.,Clear.,Normal chest x-XXXX.\n9,a,b,c,,,,\n"
    )
    first, second = read_reports(path, form="openi")
    assert (first.id, first.patient_id) == ("7", "7")
    assert parts(first) == [
        ("indication", "Cough"),
        ("comparison", "None."),
        ("findings", "Clear."),
        ("impression", "Normal chest x-XXXX."),
    ]
    assert (
        first.text == "INDICATION: Cough\n\nCOMPARISON: None.\n\nFINDINGS: Clear.\n\nIMPRESSION: Normal chest x-XXXX."
    )
    assert second.text == ""


def test_a_large_file_is_not_held_in_memory(tmp_path: Path) -> None:
    path = tmp_path / "large.csv"
    with path.open("w") as out:
        out.write("id,text\n")
        out.writelines(f"{number},{'Clear lungs. ' * 200}\n" for number in range(4_000))
    gc.collect()
    tracemalloc.start()
    count = sum(1 for _ in iter_reports(path))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert count == 4_000
    assert path.stat().st_size > 10_000_000
    assert peak < 2_000_000


def test_all_of_open_i(shared: Path) -> None:
    path = shared / "openi" / "reports.csv"
    reports = read_reports(path, form="openi")
    assert len(reports) == 2_890
    assert sum(not report.select() for report in reports) == 18
    names = ("indication", "comparison", "findings", "impression")
    with path.open(encoding="utf-8", newline="") as raw:
        for report, row in zip(reports, csv.DictReader(raw), strict=True):
            assert report.id == row["uid"]
            assert parts(report) == [(name, row[name]) for name in names if row[name].strip()]


def test_open_i_in_chinese(shared: Path) -> None:
    path = shared / "languages" / "openi_zh.csv"
    reports = read_reports(path, columns={"id": "uid", "text": "caption_zh"}, language="zh")
    with path.open(encoding="utf-8-sig", newline="") as raw:
        assert {r.id: r.text for r in reports} == {row["uid"]: row["caption_zh"] for row in csv.DictReader(raw)}
    assert {report.language for report in reports} == {"zh"}


def test_submissions_in_json_are_no_json_lines(shared: Path) -> None:
    path = shared / "submissions" / "rexrank_iu_xray_valid.json"
    json.loads(path.read_text())
    with pytest.raises(InputError, match="is not one JSON object|is one JSON list"):
        read_reports(path, form="jsonl")
