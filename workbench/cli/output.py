"""What commands print: tables for people, or one JSON object, with messages always on stderr."""

import json
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table
from rich.text import Text

from workbench.evaluation.numbers import Figure


@dataclass(frozen=True, slots=True)
class Output:
    """Where a command's answer goes."""

    as_json: bool

    def tell(self, message: str) -> None:
        """Say on stderr what is going on."""
        sys.stderr.write(f"{message}\n")

    def answer(self, value: Mapping[str, object], *shown: Table | str) -> None:
        """Print the answer: ``value`` as one JSON object, or what is shown to a person."""
        if self.as_json:
            readable = (sys.stdout.encoding or "ascii").lower().startswith("utf")
            sys.stdout.write(json.dumps(value, ensure_ascii=not readable, indent=2, allow_nan=False) + "\n")
            return
        console = Console(width=None if sys.stdout.isatty() else 140)
        for part in shown:
            if isinstance(part, str):
                # Not through rich, which wraps lines and reads ":lungs:" as a picture: a prompt shown into a file is
                # that prompt.
                sys.stdout.write(part if part.endswith("\n") else f"{part}\n")
            else:
                console.print(part)


@contextmanager
def under_way(what: str, *, shown: bool) -> Iterator[Callable[[int, int], None]]:
    """Give what is told how far something is, of how much, and show it on stderr where that is a terminal.

    Args:
        what: what is under way; nothing is shown where it is blank.
        shown: whether messages are for people.
    """
    console = Console(stderr=True)
    columns = (TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, disable=not (shown and console.is_terminal)) as bar:
        task = bar.add_task(what, total=None, visible=bool(what))
        yield lambda done, total: bar.update(task, completed=done, total=total)


def table(title: str, columns: Sequence[str], rows: Sequence[Sequence[object]]) -> Table:
    """Return a table; columns after the first are right-aligned where every value in them is a number or a dash."""
    # Text, since rich would read square brackets in a plain string as its own markup.
    made = Table(title=Text(title), title_justify="left", header_style="bold")
    for index, column in enumerate(columns):
        numeric = index > 0 and all(_is_number(row[index]) for row in rows)
        made.add_column(column, justify="right" if numeric else "left", overflow="fold")
    for row in rows:
        made.add_row(*(Text(str(cell)) for cell in row))
    return made


def _is_number(value: object) -> bool:
    text = str(value).split(" ", maxsplit=1)[0]
    return text in {"", "-"} or text.lstrip("-").replace(".", "", 1).replace("%", "", 1).isdigit()


def figure(value: Figure, digits: int = 3) -> str:
    """Return a figure for people: the value with its interval, a dash where it is undefined."""
    if value.value is None:
        return "-"
    text = f"{value.value:.{digits}f}"
    if value.low is None or value.high is None:
        return text
    return f"{text} ({value.low:.{digits}f}-{value.high:.{digits}f})"
