"""CSV from outside, read row by row: whatever is wrong with it is said in one sentence that names the row.

Rows are counted as a spreadsheet counts them: the header is row 1, a cell with line breaks is still one row.
"""

import codecs
import csv
import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from workbench.errors import InputError

LONGEST_CELL = 2_000_000  # characters; a longer one is a quotation mark that was never closed
NOTHING = frozenset({"nan", "none", "null", "<na>"})  # what programs write where there is nothing
_MARK = "\ufeff"
_WIDE = {"utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-32-le", "utf-32-be"}  # no line feed byte ends a line


@dataclass(slots=True)
class Place:
    """How far reading has come, for messages."""

    path: Path
    row: int = 0

    def __str__(self) -> str:
        return f"{self.path}, row {self.row}"


@dataclass(slots=True)
class Table:
    """A CSV file being read: its column names and the rows that follow, each as long as the header."""

    place: Place
    columns: list[str]
    rows: Iterator[list[str]] = field(repr=False)

    def column(self, name: str) -> int:
        """Return the position of a column.

        Raises:
            InputError: there is no such column; the message lists those there are.
        """
        if name not in self.columns:
            raise InputError(f"{self.place.path} has no column {name}; it has {listed(self.columns)}.")
        return self.columns.index(name)


def read_table(path: Path, encoding: str = "utf-8") -> Table:
    """Open a CSV file; rows are read as they are asked for, in constant memory.

    Blank lines are skipped. ``Table.place.row`` is the row last read.

    Raises:
        InputError: the file is missing, a folder, empty, wrongly encoded, has a column twice; and, while rows are
            read, a row with too many or too few cells, a quotation mark that is not closed, or a NUL byte.
    """
    place = Place(path)
    records = _records(place, encoding)
    header = next(records, None)
    if header is None:
        raise InputError(f"{path} is empty; it should begin with a row of column names.")
    columns = [name.strip() for name in header]
    twice = sorted({name for name in columns if name and columns.count(name) > 1})
    if twice:
        raise InputError(f"{path} has the column {twice[0]} twice; rename or remove one.")
    return Table(place, columns, _even(records, len(columns), place))


def lines(path: Path, encoding: str, place: Place) -> Iterator[str]:
    """Yield the lines of a text file with their ends as they are, a byte-order mark left out.

    Raises:
        InputError: the file cannot be opened, or bytes are not in the encoding (byte and row are named).
    """
    codec = codec_of(encoding)
    try:
        with path.open("rb") as file:
            if not file.seekable():
                raise InputError(f"{path} is a pipe and not a file; save what comes through it and name that file.")
            start = file.read(4)
            if codec not in _WIDE and start.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
                raise InputError(f"{path} is in UTF-16; name that encoding or save the file as UTF-8.")
            file.seek(len(codecs.BOM_UTF8) if codec == "utf-8" and start.startswith(codecs.BOM_UTF8) else 0)
            if codec in _WIDE:
                text = _decoded(file.read(), codec, place, 0).removeprefix(_MARK)
                yield from io.StringIO(text, newline="\n")
                return
            offset = file.tell()
            for line in file:
                text = _decoded(line, codec, place, offset)
                yield text if offset else text.removeprefix(_MARK)  # gb18030 has a mark of its own
                offset += len(line)
    except OSError as error:
        raise InputError(cannot_open(path, error)) from error


def listed(names: Sequence[str]) -> str:
    """Return names for a message, the first dozen of them."""
    shown = ", ".join(name or "(blank)" for name in names[:12])
    return shown + (f" and {len(names) - 12} more" if len(names) > 12 else "")


def codec_of(encoding: str) -> str:
    """Return the usual name of an encoding.

    Raises:
        InputError: there is none of that name.
    """
    try:
        name = codecs.lookup(encoding).name
    except LookupError as error:
        raise InputError(no_encoding(encoding)) from error
    return "utf-8" if name == "utf-8-sig" else name


def _decoded(data: bytes, codec: str, place: Place, offset: int) -> str:
    try:
        return data.decode(codec)
    except UnicodeDecodeError as error:
        byte = data[error.start : error.start + 1].hex()
        raise InputError(
            f"{place.path}, row {place.row + 1}: byte {offset + error.start} (0x{byte}) is not {codec.upper()}; "
            "name the file's encoding (gb18030, latin-1, ...) or save it as UTF-8."
        ) from error
    except LookupError as error:  # "hex" and its like are codecs, but not of text
        raise InputError(no_encoding(codec)) from error
    except UnicodeError as error:  # UTF-16 without its mark
        raise InputError(f"{place.path} is not {codec.upper()}: {error}.") from error


def no_encoding(name: str) -> str:
    """Return the sentence for an encoding that is none."""
    return f"There is no encoding called {name}; use utf-8, gb18030 or latin-1, say."


def _records(place: Place, encoding: str) -> Iterator[list[str]]:
    """Yield every row that is not blank, the header included."""
    csv.field_size_limit(LONGEST_CELL)
    reader = csv.reader(_without_nul(lines(place.path, encoding, place), place), strict=True)
    while True:
        try:
            record = next(reader, None)
        except csv.Error as error:
            raise InputError(f"{place.path}, row {place.row + 1}: {_what(error)}") from error
        if record is None:
            return
        place.row += 1
        if record:
            yield record


def _without_nul(source: Iterator[str], place: Place) -> Iterator[str]:
    for line in source:
        if "\0" in line:
            raise InputError(
                f"{place.path}, row {place.row + 1}: a NUL byte, so this is damaged or no text file; export it again."
            )
        yield line


def _even(records: Iterator[list[str]], width: int, place: Place) -> Iterator[list[str]]:
    for record in records:
        if len(record) != width:
            if len(record) < width or any(record[width:]):
                raise InputError(
                    f"{place} has {len(record)} cells and the header {width}; a comma in a text needs quotation marks "
                    "around the text."
                )
            del record[width:]  # commas that a spreadsheet left at the end of the line
        yield record


def _what(error: csv.Error) -> str:
    said = str(error)
    if "unexpected end of data" in said:
        return "a quotation mark that opens a cell is never closed."
    if "field larger" in said:
        return (
            "a quotation mark that opens a cell is never closed, or the cell is no report: it has more than "
            f"{LONGEST_CELL:,} characters."
        )
    if "new-line character" in said:
        return "a line ends with a carriage return alone; save the file as CSV UTF-8 again."
    return f"the quotation marks do not match ({said}); one inside a text must be doubled."


def cannot_open(path: Path, error: OSError) -> str:
    """Return the sentence for a file that the system does not open."""
    if isinstance(error, FileNotFoundError):
        return f"There is no file {path}."
    if isinstance(error, IsADirectoryError):
        return f"{path} is a folder; name a file in it."
    if isinstance(error, PermissionError):
        return f"You may not read {path}."
    return f"{path} cannot be read: {error.strerror or error}."
