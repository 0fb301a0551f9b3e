"""Typed tables: the same values in CSV and Parquet, nothing undefined ever a number, no cell a formula."""

import csv
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from workbench.errors import InputError
from workbench.formats import exports
from workbench.formats.exports import Column, Form, Kind, form_of, write_table

COLUMNS = (
    Column("text"),
    Column("whole", Kind.WHOLE),
    Column("label", Kind.LABEL),
    Column("number", Kind.NUMBER),
    Column("flag", Kind.FLAG),
    Column("at", Kind.INSTANT),
)
AT = datetime(2026, 3, 1, 9, 30, tzinfo=UTC)
ROWS = [
    ("=cmd()", -7, -1, 0.1, True, AT),
    (None, None, None, None, None, None),
    ("a,b\n“积液” 😀 <script>", 0, 0, 0.0, False, AT.astimezone(timezone(timedelta(hours=8)))),
]


def test_csv_guards_text_and_leaves_numbers_alone(tmp_path: Path) -> None:
    assert write_table(tmp_path / "t.csv", COLUMNS, ROWS) == 3
    with (tmp_path / "t.csv").open(encoding="utf-8", newline="") as file:
        assert list(csv.reader(file)) == [
            ["text", "whole", "label", "number", "flag", "at"],
            ["'=cmd()", "-7", "-1", "0.1", "1", "2026-03-01T09:30:00.000000+00:00"],
            ["", "", "", "", "", ""],
            ["a,b\n“积液” 😀 <script>", "0", "0", "0.0", "0", "2026-03-01T09:30:00.000000+00:00"],
        ]


def test_parquet_has_types_and_null_where_there_is_nothing(tmp_path: Path) -> None:
    assert write_table(tmp_path / "t.parquet", COLUMNS, ROWS, Form.PARQUET) == 3
    table = pq.read_table(tmp_path / "t.parquet")
    assert [str(field.type) for field in table.schema] == [
        "string",
        "int64",
        "int8",
        "double",
        "bool",
        "timestamp[us, tz=UTC]",
    ]
    rows = [tuple(row.values()) for row in table.to_pylist()]
    assert rows == [*ROWS[:2], (*ROWS[2][:5], AT)]  # text is as it is: no spreadsheet runs Parquet


def test_parquet_is_written_a_few_rows_at_a_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exports, "ROWS_AT_ONCE", 10)
    groups: list[int] = []
    real = pa.record_batch
    monkeypatch.setattr(pa, "record_batch", lambda arrays, schema: groups.append(taken) or real(arrays, schema=schema))
    taken = 0

    def rows() -> Iterator[tuple[int]]:
        nonlocal taken
        for taken in range(1, 26):
            yield (taken,)

    assert write_table(tmp_path / "t.parquet", [Column("n", Kind.WHOLE)], rows(), Form.PARQUET) == 25
    assert groups == [10, 20, 25]
    assert pq.read_table(tmp_path / "t.parquet")["n"].to_pylist() == list(range(1, 26))


@pytest.mark.parametrize("form", list(Form))
def test_a_table_without_rows_still_has_its_columns(tmp_path: Path, form: Form) -> None:
    path = tmp_path / f"t.{form}"
    assert write_table(path, COLUMNS, [], form) == 0
    names = pq.read_schema(path).names if form is Form.PARQUET else path.read_text().strip().split(",")
    assert names == [column.name for column in COLUMNS]


@pytest.mark.parametrize("form", list(Form))
@pytest.mark.parametrize("value", [float("nan"), float("inf"), datetime(2026, 3, 1)])  # noqa: DTZ001
def test_what_is_no_number_and_no_moment_is_never_written(tmp_path: Path, form: Form, value: object) -> None:
    kind = Kind.INSTANT if isinstance(value, datetime) else Kind.NUMBER
    with pytest.raises(ValueError, match="no number that a table may hold|no time zone"):
        write_table(tmp_path / "t", [Column("x", kind)], [(value,)], form)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("name", "form", "expected"),
    [("a.csv", None, Form.CSV), ("a.PARQUET", None, Form.PARQUET), ("a.dat", "parquet", Form.PARQUET)],
)
def test_the_format_goes_by_name_or_ending(name: str, form: str | None, expected: Form) -> None:
    assert form_of(Path(name), form) is expected


@pytest.mark.parametrize(("name", "form"), [("a.xlsx", None), ("a", None), ("a.csv", "xlsx")])
def test_a_format_that_is_not_known_is_refused_with_those_there_are(name: str, form: str | None) -> None:
    with pytest.raises(InputError, match="use csv or parquet"):
        form_of(Path(name), form)
