"""Parquet: columns of reports in, labels out. Its library is imported when it is used."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.domain.findings import LabelSet, State
from workbench.errors import InputError
from workbench.formats.json_lines import text_of
from workbench.formats.tables import Place
from workbench.formats.writing import replacing_path

if TYPE_CHECKING:
    import pyarrow as pa

_ROWS_READ = 1_000  # held at a time
_ROWS_WRITTEN = 10_000  # per row group
_VALUE: dict[int | None, int | None] = {None: None, **{state.code: state.code for state in State}}
_VALUE[State.NOT_MENTIONED.code] = None

Cells = Callable[[Sequence[str]], Iterator[list[str | None]]]


def read_columns(place: Place) -> tuple[list[str], Cells]:
    """Return the names of a file's columns, and a function that yields the cells of some of them row by row.

    Cells are text, None where they are null; whole numbers, which ids often are, become their digits. ``place.row``
    is the row last read, from 1.

    Raises:
        InputError: the file is missing, damaged or no Parquet; and, of the function, a column holds neither text nor
            whole numbers, or a cell holds what no text does.
    """
    import pyarrow as pa  # noqa: PLC0415
    import pyarrow.parquet as pq  # noqa: PLC0415

    path = place.path
    try:
        with pq.ParquetFile(path) as file:
            schema = file.schema_arrow
    except (pa.ArrowException, OSError) as error:
        raise InputError(_unreadable(path, error)) from None
    twice = sorted({name for name in schema.names if schema.names.count(name) > 1})
    if twice:
        raise InputError(f"{path} has the column {twice[0]} twice; rename or remove one.")

    def cells(names: Sequence[str]) -> Iterator[list[str | None]]:
        for name in names:
            _require_text(path, name, schema.field(name).type)
        try:
            with pq.ParquetFile(path) as file:
                for batch in file.iter_batches(_ROWS_READ, columns=sorted(set(names)), use_threads=False):
                    for row in zip(*(batch.column(name).to_pylist() for name in names), strict=True):
                        place.row += 1
                        yield [text_of(value, name, place) for name, value in zip(names, row, strict=True)]
        except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
            raise InputError(_unreadable(path, error)) from None

    return list(schema.names), cells


def _require_text(path: Path, name: str, kind: "pa.DataType") -> None:
    import pyarrow.types as is_a  # noqa: PLC0415

    if is_a.is_dictionary(kind):
        kind = kind.value_type
    texts = (is_a.is_string, is_a.is_large_string, is_a.is_string_view, is_a.is_integer, is_a.is_null)
    if not any(test(kind) for test in texts):
        raise InputError(f"{path}: the column {name} holds {kind} values and should hold text; write it as text.")


def _unreadable(path: Path, error: Exception) -> str:
    if isinstance(error, FileNotFoundError):
        return f"There is no file {path}."
    if isinstance(error, IsADirectoryError) or path.is_dir():
        return f"{path} is a folder; name a file in it."
    if isinstance(error, PermissionError):
        return f"You may not read {path}."
    return f"{path} is no Parquet file or is damaged; write it again."


@contextmanager
def writing_parquet(path: Path, label_set: LabelSet) -> Iterator[Callable[[str, Sequence[int | None]], object]]:
    """Give a function that writes one report's labels, as ``labels.writing_codes`` does for CSV.

    Columns are report_id (text) and the findings (whole numbers 1, 0, -1; null where not mentioned, and for None). The
    file appears whole when the block ends without an exception, or not at all. Equal labels give equal bytes.

    Raises:
        KeyError: a code is no state's, such as that of a failed reply, which must never be read as a label.
        InputError: the file cannot be written there.
    """
    import pyarrow as pa  # noqa: PLC0415
    import pyarrow.parquet as pq  # noqa: PLC0415

    schema = pa.schema([("report_id", pa.string()), *((finding, pa.int8()) for finding in label_set.ids)])
    with replacing_path(path) as aside, pq.ParquetWriter(aside, schema, compression="zstd") as file:
        ids: list[str] = []
        codes: list[list[int | None]] = [[] for _ in label_set.ids]

        def write_group() -> None:
            if ids:
                file.write_table(pa.table([ids, *codes], schema=schema))
            ids.clear()
            for values in codes:
                values.clear()

        def write(report_id: str, states: Sequence[int | None]) -> None:
            for values, code in zip(codes, states, strict=True):
                values.append(_VALUE[code])
            ids.append(report_id)
            if len(ids) == _ROWS_WRITTEN:
                write_group()

        yield write
        write_group()
