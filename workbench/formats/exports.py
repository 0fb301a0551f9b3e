"""Tables for others to work with, as CSV or Parquet: typed columns, written row by row in constant memory.

What is undefined or not there is blank in CSV and null in Parquet, never 0 and never the word NaN.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from itertools import islice
from pathlib import Path
from typing import Any

from workbench.errors import InputError
from workbench.formats.writing import guard, replacing, replacing_path, row_writer

ROWS_AT_ONCE = 50_000  # of Parquet held in memory; also its row groups


class Form(StrEnum):
    """The file formats that tables are written in."""

    CSV = "csv"
    PARQUET = "parquet"


class Kind(StrEnum):
    """What a column holds; any of them may be missing."""

    TEXT = "text"
    WHOLE = "whole"
    LABEL = "label"  # 1 / 0 / -1
    NUMBER = "number"
    FLAG = "flag"  # 1 or 0 in CSV, a truth value in Parquet
    INSTANT = "instant"  # UTC


@dataclass(frozen=True, slots=True)
class Column:
    """One column of a table."""

    name: str
    kind: Kind = Kind.TEXT


def form_of(path: Path, form: str | None = None) -> Form:
    """Return the format of a file: as named, else by its ending.

    Raises:
        InputError: the name or ending is none that is known.
    """
    asked = form or path.suffix.removeprefix(".")
    if asked.lower() not in set(Form):
        what = f"There is no table format {form}" if form else f"{path} does not say by its ending what to write"
        raise InputError(f"{what}; use {' or '.join(Form)}.")
    return Form(asked.lower())


def write_table(path: Path, columns: Sequence[Column], rows: Iterable[Sequence[Any]], form: Form = Form.CSV) -> int:
    """Write a table and return how many rows it has. The file appears whole or not at all.

    Args:
        path: where to.
        columns: names and kinds.
        rows: values in the order of the columns, None where there is nothing; taken one at a time.
        form: CSV (UTF-8, line feeds, text guarded against being run as a formula) or Parquet.

    Raises:
        InputError: it cannot be written there.
        ValueError: a number is not finite, a row is not as long as the columns, or an instant has no time zone.
    """
    return (_write_csv if form is Form.CSV else _write_parquet)(path, columns, rows)


def _write_csv(path: Path, columns: Sequence[Column], rows: Iterable[Sequence[Any]]) -> int:
    cells = [_CELL[column.kind] for column in columns]
    count = 0
    with replacing(path) as file:
        write = row_writer(file)
        write([column.name for column in columns])
        for row in rows:
            write(["" if v is None else cell(v) for cell, v in zip(cells, row, strict=True)])
            count += 1
    return count


def _write_parquet(path: Path, columns: Sequence[Column], rows: Iterable[Sequence[Any]]) -> int:
    import pyarrow as pa  # noqa: PLC0415 - a tenth of a second that most commands need not wait
    import pyarrow.parquet as pq  # noqa: PLC0415

    types = {
        Kind.TEXT: pa.string(),
        Kind.WHOLE: pa.int64(),
        Kind.LABEL: pa.int8(),
        Kind.NUMBER: pa.float64(),
        Kind.FLAG: pa.bool_(),
        Kind.INSTANT: pa.timestamp("us", tz="UTC"),
    }
    schema = pa.schema([pa.field(column.name, types[column.kind]) for column in columns])
    checks = [_CHECK.get(column.kind) for column in columns]
    count = 0
    source = iter(rows)
    with replacing_path(path) as aside, pq.ParquetWriter(aside, schema, compression="zstd") as writer:
        while batch := list(islice(source, ROWS_AT_ONCE)):
            by_column = zip(*batch, strict=True)
            arrays = [
                pa.array(values if check is None else map(check, values), type=field.type, size=len(batch))
                for field, check, values in zip(schema, checks, by_column, strict=True)
            ]
            writer.write_batch(pa.record_batch(arrays, schema=schema))
            count += len(batch)
    return count


def _finite(value: float) -> float:
    if not math.isfinite(value):
        raise ValueError(f"{value} is no number that a table may hold; what is undefined is left out")
    return value


def _instant_cell(value: datetime) -> str:
    return _zoned(value).astimezone(UTC).isoformat(timespec="microseconds")


def _zoned(value: datetime) -> datetime:
    if value.tzinfo is None:
        raise ValueError(f"{value.isoformat()} has no time zone")
    return value


def _unless_missing(check: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return lambda value: None if value is None else check(value)


_CELL: dict[Kind, Callable[[Any], str]] = {
    Kind.TEXT: guard,
    Kind.WHOLE: str,
    Kind.LABEL: str,
    Kind.NUMBER: lambda value: repr(_finite(float(value))),
    Kind.FLAG: lambda value: "1" if value else "0",
    Kind.INSTANT: _instant_cell,
}
# pyarrow takes NaN for a number and a time without a zone for UTC.
_CHECK = {Kind.NUMBER: _unless_missing(_finite), Kind.INSTANT: _unless_missing(_zoned)}
