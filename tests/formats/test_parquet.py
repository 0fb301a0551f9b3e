"""Parquet: reports in as from CSV, labels out with nulls for what is not mentioned."""

from collections.abc import Sequence
from datetime import date
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from workbench.domain.findings import FAILED, Finding, LabelSet, Policies, Policy
from workbench.errors import InputError
from workbench.formats.parquet import writing_parquet
from workbench.formats.reports import read_reports

POLICIES = Policies(Policy.PRESENT)
LABELS = LabelSet("two", "1", "", tuple(Finding(i, i, "", "", "") for i in ("edema", "effusion")), POLICIES, POLICIES)


def written(path: Path, **columns: Sequence[object] | pa.Array) -> Path:
    pq.write_table(pa.table(columns), path)
    return path


def test_rows_are_read_as_those_of_a_csv_file(tmp_path: Path) -> None:
    path = written(
        tmp_path / "in.parquet",
        study_id=[50414267, 50414268],
        subject_id=["a", None],
        text=["FINDINGS: Clear.", None],
        views=[[1], [2]],
    )
    first, second = read_reports(path)
    assert (first.id, first.patient_id, first.text, first.source) == ("50414267", "a", "FINDINGS: Clear.", "in.parquet")
    assert (second.id, second.patient_id, second.text, second.sections) == ("50414268", "50414268", "", ())


def test_sections_may_have_columns_of_their_own_and_names_be_mapped(tmp_path: Path) -> None:
    words = pa.array(["Clear.", "Clear."]).dictionary_encode()
    path = written(tmp_path / "in.parquet", nr=["1", "2"], f=words, i=["nan", "Normal."])
    reports = read_reports(path, columns={"id": "nr", "section:findings": "f", "section:impression": "i"})
    assert [report.text for report in reports] == ["FINDINGS: Clear.", "FINDINGS: Clear.\n\nIMPRESSION: Normal."]


def test_a_form_given_by_name_needs_no_suffix(tmp_path: Path) -> None:
    path = written(tmp_path / "reports", id=["1"], text=["Clear."])
    assert [report.id for report in read_reports(path, form="parquet")] == ["1"]


@pytest.mark.parametrize("values", [[1.5], [date(2026, 1, 1)], [b"x"], [True], [["x"]]])
def test_a_column_that_is_no_text_is_named(tmp_path: Path, values: list[object]) -> None:
    with pytest.raises(InputError, match=r"the column text holds .* values and should hold text"):
        read_reports(written(tmp_path / "in.parquet", id=["1"], text=values))


def test_a_row_is_named(tmp_path: Path) -> None:
    ids = [str(i) for i in range(1500)]
    with pytest.raises(InputError, match=r"in\.parquet, row 1201: text holds a character that no text has"):
        read_reports(written(tmp_path / "in.parquet", id=ids, text=["x"] * 1200 + ["a\0b"] + ["x"] * 299))
    with pytest.raises(InputError, match=r"in\.parquet, row 2: id is blank"):
        read_reports(written(tmp_path / "in.parquet", id=["1", None], text=["x", "y"]))
    with pytest.raises(InputError, match=r"report 1 has two different texts: row 1 “x”, row 3 “y”"):
        read_reports(written(tmp_path / "in.parquet", id=["1", "2", "1"], text=["x", "y", "y"]))


def test_a_file_that_is_none_is_told_in_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "no.parquet").write_text("id,text")
    with pytest.raises(InputError, match="is no Parquet file or is damaged"):
        read_reports(tmp_path / "no.parquet")
    with pytest.raises(InputError, match="There is no file"):
        read_reports(tmp_path / "missing.parquet")
    with pytest.raises(InputError, match="is a folder"):
        read_reports(tmp_path, form="parquet")
    whole = written(tmp_path / "cut.parquet", id=["1"], text=["x" * 1000]).read_bytes()
    (tmp_path / "cut.parquet").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(InputError, match="is no Parquet file or is damaged"):
        read_reports(tmp_path / "cut.parquet")


def test_labels_are_whole_numbers_and_null_where_nothing_is_said(tmp_path: Path) -> None:
    path = tmp_path / "out.parquet"
    with writing_parquet(path, LABELS) as write:
        write("=r1", [1, -2])
        write("r2", [-1, 0])
        write("r3", [None, 1])
    table = pq.read_table(path)
    assert table.schema == pa.schema([("report_id", pa.string()), ("edema", pa.int8()), ("effusion", pa.int8())])
    assert table.to_pydict() == {"report_id": ["=r1", "r2", "r3"], "edema": [1, -1, None], "effusion": [None, 0, 1]}


def test_many_rows_come_back_in_order_and_equal_labels_give_equal_bytes(tmp_path: Path) -> None:
    for name in ("one", "two"):
        with writing_parquet(tmp_path / name, LABELS) as write:
            for i in range(20_500):
                write(str(i), [i % 2, -1])
    table = pq.read_table(tmp_path / "one")
    assert table["report_id"].to_pylist() == [str(i) for i in range(20_500)]
    assert table["edema"].to_pylist() == [i % 2 for i in range(20_500)]
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()


def test_a_failed_reply_is_never_written_as_a_label_and_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(KeyError), writing_parquet(tmp_path / "out.parquet", LABELS) as write:
        write("r1", [FAILED, 1])
    assert list(tmp_path.iterdir()) == []
