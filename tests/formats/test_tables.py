"""Whatever is wrong with a table is said in one sentence that names the file and the row."""

import csv
import io
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from workbench.errors import InputError
from workbench.formats.tables import LONGEST_CELL, read_table

Make = Callable[..., Path]


def rows(path: Path, encoding: str = "utf-8") -> list[list[str]]:
    return list(read_table(path, encoding).rows)


def test_rows_come_as_they_are_and_are_counted_as_in_a_spreadsheet(file: Make) -> None:
    table = read_table(file('id,text\n1,"two\nlines, one cell"\n\n2,"said ""no"""\n'))
    assert table.columns == ["id", "text"]
    counted = [(table.place.row, cells) for cells in table.rows]
    assert counted == [(2, ["1", "two\nlines, one cell"]), (4, ["2", 'said "no"'])]


def test_quotation_marks_inside_a_plain_cell_are_part_of_it(file: Make) -> None:
    assert rows(file('id,text\n1,the "heart" is large\n')) == [["1", 'the "heart" is large']]


def test_line_ends_inside_a_cell_stay_as_they_are(file: Make) -> None:
    assert rows(file(b'id,text\r\n1,"a\r\nb\rc"\r\n')) == [["1", "a\r\nb\rc"]]


def test_a_byte_order_mark_is_no_part_of_the_first_column(file: Make) -> None:
    assert read_table(file(b"\xef\xbb\xbfid,text\n1,a\n")).columns == ["id", "text"]
    assert read_table(file(b"\xef\xbb\xbfid,text\n1,a\n"), "utf-8-sig").columns == ["id", "text"]


@pytest.mark.parametrize("encoding", ["gb18030", "utf-16", "utf-16-le", "big5", "utf-8"])
def test_other_encodings_are_read_when_named(file: Make, encoding: str) -> None:
    content = '编号,文本\n1,"双肺清晰。\n心影不大"\n'
    if encoding == "big5":
        content = '編號,文本\n1,"雙肺清晰。\n心影不大"\n'
    assert rows(file(content.encode(encoding)), encoding) == [["1", content.split('"')[1]]]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16-le", "utf-16-be", "utf-32-le", "gb18030"])
def test_a_byte_order_mark_is_left_out_in_every_encoding_that_has_one(file: Make, encoding: str) -> None:
    assert read_table(file("\ufeffid,text\n1,a\n".encode(encoding)), encoding).columns == ["id", "text"]


@pytest.mark.skipif(not Path("/dev/fd").exists(), reason="this system does not name its open files")
def test_a_pipe_is_refused_in_one_sentence() -> None:
    reading, writing = os.pipe()
    try:
        os.write(writing, b"id,text\n1,a\n")
        with pytest.raises(InputError, match="is a pipe and not a file; save what comes through it"):
            read_table(Path(f"/dev/fd/{reading}"))
    finally:
        os.close(reading)
        os.close(writing)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", r"file\.csv is empty"),
        (b"id,text,id\n", r"file\.csv has the column id twice"),
        (b"id,text\n1,a\n2\n", r"file\.csv, row 3 has 1 cells and the header 2"),
        (b"id,text\n1,a,b\n", r"file\.csv, row 2 has 3 cells and the header 2"),
        (b'id,text\n1,a\n2,"open\n3,c\n', r"file\.csv, row 3: a quotation mark that opens a cell is never closed"),
        (b'id,text\n1,"a" b\n', r"file\.csv, row 2: the quotation marks do not match"),
        (b"id,text\n1,a\n2,b\0c\n", r"file\.csv, row 3: a NUL byte"),
        (b"id,text\r1,a\r", r"file\.csv, row 1: a line ends with a carriage return alone"),
        (b"id,text\n1,a\n2,caf\xe9\n", r"file\.csv, row 3: byte 17 \(0xe9\) is not UTF-8"),
        (b"\xef\xbb\xbfid\n\xff\n", r"file\.csv, row 2: byte 6 \(0xff\)"),
        ("id\n1\n".encode("utf-16"), r"file\.csv is in UTF-16"),
    ],
)
def test_a_fault_names_file_and_row(file: Make, content: bytes, message: str) -> None:
    with pytest.raises(InputError, match=message):
        rows(file(content))


def test_the_byte_is_counted_over_cells_with_line_breaks(file: Make) -> None:
    content = b'id,text\n1,"a\nb"\n2,"c\nd\xff"\n'
    with pytest.raises(InputError, match=rf"row 3: byte {content.index(0xFF)} \(0xff\) is not UTF-8"):
        rows(file(content))


def test_a_quotation_mark_that_swallows_a_long_file_is_found(file: Make) -> None:
    with pytest.raises(InputError, match="row 2: a quotation mark that opens a cell is never closed"):
        rows(file('id,text\n1,"open\n' + "2,b\n" * (LONGEST_CELL // 4 + 10)))


def test_a_long_report_is_no_fault(file: Make) -> None:
    text = "x" * 300_000  # above the limit that Python's reader has by itself
    assert rows(file(f"id,text\n1,{text}\n")) == [["1", text]]


def test_commas_left_at_the_end_of_a_line_are_no_cells(file: Make) -> None:
    assert rows(file("id,text\n1,a,,\n")) == [["1", "a"]]


@pytest.mark.parametrize("encoding", ["latin-2-and-a-half", "hex"])
def test_an_unknown_encoding_is_said_to_be_one(file: Make, encoding: str) -> None:
    with pytest.raises(InputError, match=f"no encoding called {encoding}"):
        rows(file("id\n1\n"), encoding)


def test_a_missing_file_and_a_folder_are_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"There is no file .*none\.csv"):
        read_table(tmp_path / "none.csv")
    with pytest.raises(InputError, match=f"{tmp_path} is a folder"):
        read_table(tmp_path)


def test_a_missing_column_is_answered_with_those_there_are(file: Make) -> None:
    table = read_table(file("a,,c\n"))
    with pytest.raises(InputError, match=r"has no column uid; it has a, \(blank\), c\."):
        table.column("uid")
    many = read_table(file(",".join(f"c{n}" for n in range(20)) + "\n"))
    with pytest.raises(InputError, match=r"c11 and 8 more\."):
        many.column("uid")


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(
        st.lists(st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"])), min_size=2, max_size=2),
        max_size=5,
    )
)
def test_any_text_that_a_csv_writer_writes_is_read_back(file: Make, cells: list[list[str]]) -> None:
    out = io.StringIO(newline="")
    csv.writer(out, quoting=csv.QUOTE_ALL).writerows([["id", "text"], *cells])
    assert rows(file(out.getvalue())) == cells
