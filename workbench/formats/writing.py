"""Writing a file whole or not at all, and keeping spreadsheets from running a cell as a formula."""

import csv
import os
import re
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

from workbench.errors import InputError

# Some spreadsheets trim a cell before they look at it, and East Asian ones read the full-width signs as the plain ones.
_FORMULA = ("=", "+", "-", "@", "'", "\t", "\r", "\n", "＝", "＋", "－", "＠")
_NUMBER = re.compile(r"[+-]?\d+(\.\d+)?")


def guard(cell: str) -> str:
    """Return a text cell that no spreadsheet takes for a formula.

    An apostrophe goes before ``= + - @``, plain or full-width, before a tab or the end of a line, and before ``'``.
    Numbers such as -1 are left alone.
    """
    return f"'{cell}" if cell.startswith(_FORMULA) and not _NUMBER.fullmatch(cell) else cell


def unguard(cell: str) -> str:
    """Return the text cell that ``guard`` was given. An apostrophe that guards nothing ("'tis") stays."""
    return cell[1:] if cell[:1] == "'" and cell[1:].startswith(_FORMULA) else cell


def make_folder(folder: Path) -> None:
    """Make a folder, and those it lies in, where it is missing.

    Raises:
        InputError: it cannot be made, or a file has its name.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{folder} cannot be made a folder: {error.strerror or error}.") from error


@contextmanager
def replacing(path: Path) -> Iterator[TextIO]:
    """Give a UTF-8 text file that takes the place of ``path`` when all went well and leaves no trace otherwise.

    Raises:
        InputError: the folder is missing, ``path`` is a folder, or it may not be written to.
    """
    with replacing_path(path) as aside, aside.open("w", encoding="utf-8", newline="") as file:
        yield file


def require_writable(path: Path) -> None:
    """Raise InputError where no file can be put: a folder, a device or pipe, a name the system does not take."""
    try:
        if path.is_dir():
            raise InputError(f"{path} is a folder; name the file to write in it.")
        if path.exists() and not path.is_file():
            raise InputError(f"{path} is a device or a pipe, which a file cannot replace; name a file.")
    except OSError as error:
        raise InputError(f"{path} cannot be written: {_reason(error)}.") from error


@contextmanager
def replacing_path(path: Path, *, private: bool = False) -> Iterator[Path]:
    """Give the path of an empty file that takes the place of ``path`` when all went well, as ``replacing`` does.

    ``private`` lets nobody but its owner read the file, whatever stood there before.

    Raises:
        InputError: the folder is missing, ``path`` is a folder, or it may not be written to.
    """
    require_writable(path)
    target = Path(os.path.realpath(path))  # a link stays one, and what it points at is written
    try:
        handle, name = tempfile.mkstemp(prefix=f".{target.name}.", suffix=".partial", dir=target.parent)
    except OSError as error:
        raise InputError(f"{path} cannot be written: {_reason(error)}.") from error
    aside = Path(name)
    try:
        with os.fdopen(handle, "rb") as file:
            yield aside
            os.fsync(file.fileno())
        if not private:
            _take_usual_rights(aside, target)
        aside.replace(target)
    except OSError as error:
        aside.unlink(missing_ok=True)
        raise InputError(f"{path} could not be written: {_reason(error)}; nothing was changed.") from error
    except BaseException:
        aside.unlink(missing_ok=True)
        raise


def row_writer(file: TextIO) -> Callable[[Sequence[str]], object]:
    """Return a function that writes one CSV row, line feed at the end."""
    plain = csv.writer(file, lineterminator="\n")
    quoted = csv.writer(file, lineterminator="\n", quoting=csv.QUOTE_ALL)

    def write(cells: Sequence[str]) -> object:
        # Python's writer leaves a lone carriage return unquoted, which its own reader then refuses.
        return (quoted if any("\r" in cell for cell in cells) else plain).writerow(cells)

    return write


def _take_usual_rights(aside: Path, path: Path) -> None:
    """Give the file the rights it had, or those of any new file: temporary files are closed to everybody else."""
    if path.exists():
        mode = path.stat().st_mode & 0o777
    else:
        mask = os.umask(0)
        os.umask(mask)
        mode = 0o666 & ~mask
    aside.chmod(mode)


def _reason(error: OSError) -> str:
    if isinstance(error, FileNotFoundError):
        return "its folder does not exist"
    if isinstance(error, PermissionError):
        return "you may not write in its folder"
    return error.strerror or "the system refused"
