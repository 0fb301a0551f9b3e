"""MIMIC-CXR's folders: patient and report by name, in order, from a folder or an archive; all texts invented."""

import shutil
import tracemalloc
import zipfile
from collections.abc import Mapping
from pathlib import Path

import pytest

from workbench.errors import InputError
from workbench.formats.mimic import mimic_list
from workbench.formats.reports import iter_reports, read_reports

ONE = """                                 FINAL REPORT
 EXAMINATION:  CHEST (PA AND LAT)

 INDICATION:  ___ year old woman with cough  // pneumonia?

 COMPARISON:  ___

 FINDINGS:

 Heart size is top normal.  There is a small left
 pleural effusion, seen by Dr. ___.

 IMPRESSION:

 Small left effusion.
""".replace("\n\n", "\n \n").replace(":\n", ": \n")  # lines of spaces, as the archive has them
FILES = {
    "p11/p11000009/s50000004.txt": "Clear lungs.",
    "p10/p10000002/s50000003.txt": ONE,
    "p10/p10000001/s50000002.txt": "FINDINGS: Clear.\r\n",
    "p10/p10000001/s50000001.txt": "",
}
ORDER = ["s50000001", "s50000002", "s50000003", "s50000004"]


def tree(folder: Path, files: Mapping[str, str | bytes] = FILES) -> Path:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return folder


def zipped(path: Path, folder: Path, names: list[str]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.mkdir("files")
        for name in names:
            archive.write(folder / name, f"files/{name}")
    return path


def test_the_patient_is_the_folder_and_the_id_the_name_in_the_order_of_the_names(tmp_path: Path) -> None:
    reports = read_reports(tree(tmp_path / "files"))
    assert [report.id for report in reports] == ORDER
    assert [report.patient_id for report in reports] == ["p10000001", "p10000001", "p10000002", "p11000009"]
    assert [report.source for report in reports][2] == "p10/p10000002/s50000003.txt"


def test_texts_are_verbatim_and_divided_into_sections(tmp_path: Path) -> None:
    blank, windows, long, plain = read_reports(tree(tmp_path))
    assert (blank.text, windows.text, long.text, plain.text) == ("", "FINDINGS: Clear.\r\n", ONE, "Clear lungs.")
    assert [section.name for section in long.sections] == [
        "preamble",
        "examination",
        "indication",
        "comparison",
        "findings",
        "impression",
    ]
    assert long.select() == (
        "Heart size is top normal.  There is a small left\n pleural effusion, seen by Dr. ___.\n\nSmall left effusion."
    )
    assert plain.select() == "Clear lungs."


@pytest.mark.parametrize(("part", "ids"), [("p10", ORDER[:3]), ("p10/p10000002", ["s50000003"])])
def test_a_part_of_the_tree_is_read_alike(tmp_path: Path, part: str, ids: list[str]) -> None:
    reports = read_reports(tree(tmp_path) / part)
    assert [report.id for report in reports] == ids
    assert reports[-1].patient_id == "p10000002"


def test_a_patients_folder_is_known_by_its_name_from_inside_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tree(tmp_path) / "p10" / "p10000002")
    assert [report.patient_id for report in read_reports(Path())] == ["p10000002"]


def test_an_archive_gives_what_its_folder_gives_whatever_its_order(tmp_path: Path) -> None:
    folder = tree(tmp_path / "files")
    archive = zipped(tmp_path / "mimic-cxr-reports.zip", folder, list(FILES))
    assert [(r.id, r.patient_id, r.text, r.sections) for r in iter_reports(archive)] == [
        (r.id, r.patient_id, r.text, r.sections) for r in iter_reports(folder)
    ]


def test_what_else_lies_in_the_tree_is_not_looked_at(tmp_path: Path) -> None:
    others = {
        "LICENSE.txt": "Terms.",
        "index.html": "<html>",
        "p10/index.html": "<html>",
        "p10/p10000001/._s50000001.txt": b"\0\1",
        "p10/p10000001/s50000001/image.dcm": b"\0",
        "mimic-cxr-2.0.0-metadata.csv.gz": b"\x1f\x8b",
    }
    assert [report.id for report in read_reports(tree(tree(tmp_path), others))] == ORDER


@pytest.mark.parametrize(
    "name", ["p10/p10000001/s50000001 (2).txt", "p10/s50000009.txt/s50000009.txt", "s50000009.txt"]
)
def test_a_report_that_is_not_named_as_the_others_is_refused_rather_than_left_out(tmp_path: Path, name: str) -> None:
    with pytest.raises(InputError, match=r"is not named as MIMIC-CXR names reports"):
        read_reports(tree(tree(tmp_path), {name: "FINDINGS: Clear."}))


def test_one_id_with_two_texts_is_refused_with_both_files_and_both_texts(tmp_path: Path) -> None:
    folder = tree(tree(tmp_path), {"p12/p12000001/s50000003.txt": "FINDINGS: Large effusion."})
    with pytest.raises(InputError) as caught:
        read_reports(folder)
    said = str(caught.value)
    assert "report s50000003 has two different texts" in said
    assert "p10/p10000002/s50000003.txt “FINAL REPORT" in said
    assert "p12/p12000001/s50000003.txt “FINDINGS: Large effusion.”" in said


def test_one_report_of_two_patients_is_refused(tmp_path: Path) -> None:
    folder = tree(tree(tmp_path), {"p12/p12000001/s50000003.txt": ONE})
    with pytest.raises(
        InputError, match=r"patient p10000002 in p10/p10000002/s50000003.txt and to p12000001 in p12/p1"
    ):
        read_reports(folder)


def test_the_same_file_in_two_places_is_one_report(tmp_path: Path) -> None:
    folder = tree(tree(tmp_path), {"copy/p10000002/s50000003.txt": ONE})
    assert [report.id for report in read_reports(folder)].count("s50000003") == 1


def test_bytes_that_are_no_text_name_the_file_and_the_byte(tmp_path: Path) -> None:
    folder = tree(tmp_path, {"p10/p10000001/s1.txt": b"FINDINGS: 5 \xb5m."})
    with pytest.raises(InputError, match=r"s1\.txt: byte 12 \(0xb5\) is not UTF-8; name the encoding"):
        read_reports(folder)
    (report,) = read_reports(folder, encoding="latin-1")
    assert report.text == "FINDINGS: 5 µm."


@pytest.mark.parametrize(
    ("data", "said"),
    [(b"FIND\0INGS", "NUL byte"), (b"x" * 2_000_001, "is no report"), (b"", None), (b"\xef\xbb\xbfOk", None)],
)
def test_a_damaged_file_is_named(tmp_path: Path, data: bytes, said: str | None) -> None:
    folder = tree(tmp_path, {"p10/p10000001/s1.txt": data})
    if said is None:
        assert [report.text for report in read_reports(folder)] == [data.decode("utf-8-sig")]
        return
    with pytest.raises(InputError, match=rf"p10/p10000001/s1\.txt.*{said}"):
        read_reports(folder)


def test_a_folder_or_archive_without_reports_is_refused(tmp_path: Path) -> None:
    (tmp_path / "notes").mkdir()
    with pytest.raises(InputError, match="holds no report named as MIMIC-CXR names them"):
        read_reports(tmp_path / "notes")
    (tmp_path / "no.zip").write_text("no archive")
    with pytest.raises(InputError, match="is no zip archive"):
        read_reports(tmp_path / "no.zip")
    with pytest.raises(InputError, match="There is no file"):
        read_reports(tmp_path / "missing.zip")


def test_a_damaged_archive_is_told_in_a_sentence(tmp_path: Path) -> None:
    archive = zipped(tmp_path / "reports.zip", tree(tmp_path / "files"), list(FILES))
    data = bytearray(archive.read_bytes())
    at = data.index(b"s50000003.txt") + 20
    data[at : at + 40] = b"\xff" * 40
    archive.write_bytes(data)
    with pytest.raises(InputError, match="is damaged"):
        read_reports(archive)


def test_there_are_no_columns_to_map(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="has no columns"):
        read_reports(tree(tmp_path), columns={"id": "study_id"})


def test_the_list_changes_with_a_name_and_with_a_size_and_not_with_the_place_of_the_tree(tmp_path: Path) -> None:
    first = tree(tmp_path / "one")
    count, known = mimic_list(first)
    shutil.copytree(first, tmp_path / "two")
    assert (count, mimic_list(tmp_path / "two")[1]) == (4, known)
    tree(first, {"LICENSE.txt": "Terms."})
    assert mimic_list(first) == (4, known)
    longer = mimic_list(tree(first, {"p11/p11000009/s50000004.txt": "Clear lungs!!"}))[1]
    tree(first, FILES)
    renamed = mimic_list(tree(first, {"p11/p11000009/s50000005.txt": "Clear lungs."}))[1]
    assert len({known, longer, renamed}) == 3


def test_memory_does_not_grow_with_the_tree(tmp_path: Path) -> None:
    def peak(count: int) -> int:
        files = {
            f"p1{i % 10}/p1{i % 10}{i // 20:06d}/s{i:08d}.txt": f"FINDINGS: Clear. {i} " * 200 for i in range(count)
        }
        folder = tree(tmp_path / str(count), files)
        del files
        tracemalloc.start()
        for _ in iter_reports(folder):
            pass
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        return most

    few, many = peak(100), min(peak(1_000), peak(1_000))  # a thread that another test left may allocate meanwhile
    assert many - few < 900 * 300  # an id and a number for each, never a text of 4,000 characters
