"""Answers of a language model, written down one by one as they come: what was paid for outlives a kill.

The first line of the file says whose answers they are. Each other line is one answer: the number of the report in its
source, what tells that it is the same report, and what was said of it. Reports come in any order.
"""

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import astuple, dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import BinaryIO

from workbench.domain.runs import Usage
from workbench.errors import ConflictError, InputError
from workbench.formats.locks import alone

_KIND = "answers of a labelling"


@dataclass(frozen=True, slots=True)
class Answer:
    """What a model said of a report: codes in label-set order, or why there are none; and what it took."""

    said: Sequence[int] | str
    usage: Usage = field(default_factory=Usage)


class Journal:
    """An open file of answers. Made by ``open_journal``."""

    def __init__(self, file: BinaryIO, known: dict[int, tuple[str, Answer]]) -> None:
        self._file = file
        self._known = known

    @property
    def usage(self) -> Usage:
        """Return what the answers took that were known and not taken yet."""
        return sum((answer.usage for _, answer in self._known.values()), Usage())

    def take(self, number: int, report: str, text: str) -> Answer | None:
        """Return the answer to a report if it was known when the file was opened, once."""
        key, answer = self._known.pop(number, ("", None))
        return answer if key == _key(report, text) else None

    def add(self, number: int, report: str, text: str, answer: Answer) -> None:
        """Write down an answer. When it returns, it outlives the process (not a power cut)."""
        said = answer.said if isinstance(answer.said, str) else list(answer.said)
        self._file.write(_line([number, _key(report, text), said, *astuple(answer.usage)]))
        self._file.flush()


@contextmanager
def open_journal(path: Path, owner: str, *, first: int = 0) -> Iterator[Journal]:
    """Give the file of answers at ``path``, made when it is missing, with those it holds from report ``first`` on.

    A last line that was being written when the process was killed is left out. One that holds no answer in the end is
    taken away: nothing was paid for, and it would keep the place from another labelling.

    Args:
        path: the file.
        owner: identifies what is labelled by what.
        first: the number of the first report whose answer is still of use.

    Raises:
        ConflictError: it holds the answers of another owner, or another process has it open.
        InputError: it cannot be read or written, or was changed.
    """
    try:
        path.touch()
    except OSError as error:
        raise InputError(f"{path} cannot be written: {error.strerror or error}.") from None
    header = _line({"holds": _KIND, "of": owner})
    with alone(path):
        try:
            with path.open("r+b") as file:
                known, end = _read(path, file, owner, first)
                file.seek(end)
                file.truncate()
                if not end:
                    file.write(header)
                    file.flush()
                yield Journal(file, known)
        finally:
            if path.exists() and path.stat().st_size == len(header) and path.read_bytes() == header:
                path.unlink()


def _read(path: Path, file: BinaryIO, owner: str, first: int) -> tuple[dict[int, tuple[str, Answer]], int]:
    """Return the answers by report number, and where the last whole line ends."""
    known: dict[int, tuple[str, Answer]] = {}
    end, is_own = 0, True
    for row, line in enumerate(file, start=1):
        if not line.endswith(b"\n"):
            break
        try:
            if row == 1:
                is_own = _is_own(path, json.loads(line), owner)
            elif not is_own:
                raise ConflictError(
                    f"{path} keeps answers that were given to another source, prompt or labeler; go on with those, "
                    "delete it, or write the labels elsewhere."
                )
            else:
                number, key, said, *usage = json.loads(line)
                if number >= first:
                    known[number] = key, Answer(said, Usage(*usage))
        except (ValueError, TypeError):
            raise InputError(
                f"{path}, line {row}, is no answer that was written there; delete the file to ask for all again."
            ) from None
        end += len(line)
    return known, end if is_own else 0  # of another labelling that was ended before its first answer


def _is_own(path: Path, header: object, owner: str) -> bool:
    if not isinstance(header, dict) or header.get("holds") != _KIND:
        raise InputError(f"{path} is not a file of answers; move it away, or write the labels elsewhere.")
    return header.get("of") == owner


def _line(value: object) -> bytes:
    return json.dumps(value, ensure_ascii=True, separators=(",", ":")).encode() + b"\n"


def _key(report: str, text: str) -> str:
    return sha256(f"{len(report)} {report}{text}".encode("utf-8", "surrogatepass")).hexdigest()[:32]
