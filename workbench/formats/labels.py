"""Labels as a table: one row per report, one column per finding, CheXpert's 1 / 0 / -1 / blank.

1 is present, 0 absent, -1 uncertain, blank not mentioned. A row that is blank throughout is ambiguous: it may be a
normal report or one that nobody opened. So a ``reviewed`` column says which rows their rater submitted; without it a
row counts as submitted when it holds any label (method 1).
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from workbench.domain.findings import LabelSet, State
from workbench.errors import InputError
from workbench.formats.tables import Table, listed, read_table
from workbench.formats.writing import guard, replacing, row_writer, unguard

REPORT, RATER, REVIEWED, COMMENT, SIMULATED = "report_id", "rater", "reviewed", "comment", "simulated"
READING = "reading"

_CELL = {State.PRESENT: "1", State.ABSENT: "0", State.UNCERTAIN: "-1", State.NOT_MENTIONED: ""}
_CODE_CELL: dict[int | None, str] = {None: "", **{state.code: cell for state, cell in _CELL.items()}}
_STATE = {
    **{cell: state for state, cell in _CELL.items() if cell},
    **{f"{cell}.0": state for state, cell in _CELL.items() if cell},
}
_BLANK = {"", "nan"}
_YES = {"1", "1.0", "true", "yes", "y", "x"}
_NO = {"0", "0.0", "false", "no", "n"}
_READINGS = {"": 1, "1": 1, "1.0": 1, "2": 2, "2.0": 2}


@dataclass(frozen=True, slots=True)
class RaterRow:
    """One rater's labels of one report as a file has them. ``states`` leaves out what is not mentioned.

    ``reviewed`` says whether the rater submitted the report; ``row`` is the row of the file, 0 for none; ``simulated``
    whether no person made the labels; ``reading`` is 2 for
    a report that its rater read a second time, which tells how they agree with themselves and never votes.
    """

    report_id: str
    rater: str
    states: Mapping[str, State]
    reviewed: bool
    row: int = 0
    comment: str = ""
    simulated: bool = False
    reading: int = 1


def read_labels(
    path: Path,
    label_set: LabelSet,
    *,
    rater: str | None = None,
    report_column: str = REPORT,
    rater_column: str | None = None,
    reviewed_column: str = REVIEWED,
    encoding: str = "utf-8",
) -> list[RaterRow]:
    """Return the rows of a table of labels in file order, those that were not submitted included.

    Args:
        path: a CSV file with a column per finding id, in any order.
        label_set: the findings; every one needs its column, since a missing one would read as never mentioned.
        rater: who labelled the whole file.
        report_column: name of the column of report ids.
        rater_column: name of the column that says who labelled a row; "rater" when the file has that and ``rater``
            is not given.
        reviewed_column: name of the column that marks submitted rows; the file may lack it. A mark decides; where
            it is blank any label in the row does.
        encoding: of the file.

    Values such as 1.0 and -1.0 are read as 1 and -1. The columns ``comment`` and ``simulated`` are read where they
    are there, and ``reading``: without it, and where it is blank, a row is a first reading. The same row twice counts
    once.

    Raises:
        InputError: a column is missing or belongs to no finding, a value is none of the four, a report or rater is
            blank, or one rater labels a report twice differently in one reading; row and finding are named.
    """
    table = read_table(path, encoding)
    if rater is None and rater_column is None:
        if RATER not in table.columns:
            raise InputError(f"{path} does not say who labelled it; name the rater or the column that does.")
        rater_column = RATER
    reader = _Reader(
        table,
        label_set,
        rater=rater,
        report_column=report_column,
        rater_column=rater_column,
        reviewed_column=reviewed_column,
    )
    rows: dict[tuple[str, str, int], RaterRow] = {}
    for cells in table.rows:
        row = reader.row(cells)
        first = rows.setdefault((row.rater, row.report_id, row.reading), row)
        if (first.states, first.reviewed, first.comment) != (row.states, row.reviewed, row.comment):
            raise InputError(
                f"{path}: {row.rater} labels report {row.report_id} in row {first.row} and differently in row "
                f"{row.row}; remove one of them."
            )
    return list(rows.values())


@contextmanager
def writing_codes(path: Path, label_set: LabelSet) -> Iterator[Callable[[str, Sequence[int | None]], object]]:
    """Give a function that writes one report's labels: its id, and the code of each finding in label-set order.

    Codes are those of ``State.code``; None is left blank (an uncertain label under the policy "exclude"). Columns are
    report_id and the findings. The file appears whole when the block ends without an exception, or not at all.

    Raises:
        KeyError: a code is no state's, such as that of a failed reply, which must never be read as a label.
        InputError: the file cannot be written there.
    """
    with replacing(path) as file:
        write = row_writer(file)
        write([REPORT, *label_set.ids])
        yield lambda report_id, codes: write([guard(report_id), *[_CODE_CELL[code] for code in codes]])


def reading_of(cell: str, where: object) -> int:
    """Return which reading of a report a cell says: 1 where it is blank. Raises InputError for any but 1 and 2."""
    reading = _READINGS.get(cell.strip())
    if reading is None:
        raise InputError(f"{where}: the reading is {cell!r}; use 1, or 2 for a report read a second time.")
    return reading


class _Reader:
    """Reads the rows of one table, whose columns it has checked."""

    def __init__(
        self,
        table: Table,
        label_set: LabelSet,
        *,
        rater: str | None,
        report_column: str,
        rater_column: str | None,
        reviewed_column: str,
    ) -> None:
        self.place = table.place
        self.rater = rater
        self.report_at = table.column(report_column)
        self.rater_at = table.column(rater_column) if rater_column else None
        self.reviewed_at = table.columns.index(reviewed_column) if reviewed_column in table.columns else None
        self.comment_at = table.columns.index(COMMENT) if COMMENT in table.columns else None
        self.simulated_at = table.columns.index(SIMULATED) if SIMULATED in table.columns else None
        self.reading_at = table.columns.index(READING) if READING in table.columns else None
        others = {report_column, rater_column or RATER, READING, reviewed_column, COMMENT, SIMULATED, ""}
        _require_findings(table, label_set, others)
        self.findings = [(finding, table.columns.index(finding)) for finding in label_set.ids]

    def row(self, cells: Sequence[str]) -> RaterRow:
        states = {finding: state for finding, at in self.findings if (state := self._state(finding, cells[at]))}
        rater = self.rater if self.rater_at is None else unguard(cells[self.rater_at].strip())
        report_id = unguard(cells[self.report_at].strip())
        if not report_id or not rater:
            raise InputError(f"{self.place}: the {'rater' if report_id else 'report id'} is blank.")
        return RaterRow(
            report_id=report_id,
            rater=rater,
            states=states,
            reviewed=self._mark(cells, self.reviewed_at, REVIEWED, blank=bool(states)),
            row=self.place.row,
            comment="" if self.comment_at is None else unguard(cells[self.comment_at]),
            simulated=self._mark(cells, self.simulated_at, SIMULATED, blank=False),
            reading=1 if self.reading_at is None else reading_of(cells[self.reading_at], self.place),
        )

    def _state(self, finding: str, cell: str) -> State | None:
        said = unguard(cell.strip())
        state = _STATE.get(said)
        if state is None and said.lower() not in _BLANK:
            raise InputError(f"{self.place}, {finding}: {cell!r} is no label; use 1, 0, -1 or leave it blank.")
        return state

    def _mark(self, cells: Sequence[str], at: int | None, name: str, *, blank: bool) -> bool:
        """Return whether a column marks the row; ``blank`` where it says nothing."""
        mark = "" if at is None else cells[at].strip().lower()
        if mark in _BLANK:
            return blank
        if mark not in _YES | _NO:
            raise InputError(f"{self.place}: the {name} mark {mark!r} is neither yes (1) nor no (0).")
        return mark in _YES


def _require_findings(table: Table, label_set: LabelSet, others: set[str]) -> None:
    file = table.place.path
    missing = [finding for finding in label_set.ids if finding not in table.columns]
    unknown = [name for name in table.columns if name not in label_set.ids and name not in others]
    if unknown:
        raise InputError(
            f"{file} has the column {unknown[0]}, which is no finding of {label_set.id} {label_set.version}; "
            "rename it to a finding's id or remove it."
        )
    if missing:
        raise InputError(
            f"{file} has no column for {listed(missing)}; add it, blank where the finding is not mentioned."
        )
