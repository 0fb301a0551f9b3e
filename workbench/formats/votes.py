"""Raters' votes as tables: long, one row per report, rater and finding, with all that is known of each; and wide.

Both say which reports a rater reviewed: a reviewed normal report has the state not_mentioned throughout (long) or is
blank with a 1 under ``reviewed`` (wide); one that its rater never submitted is blank with a 0. ``reading`` is 2 where a
rater read the same report a second time, unannounced: it tells how they agree with themselves and never votes. Columns
come in a fixed order, findings in that of the label set.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from workbench.domain.annotations import Annotation, Mark
from workbench.domain.findings import LabelSet, State
from workbench.errors import InputError
from workbench.formats.exports import Column, Kind
from workbench.formats.labels import COMMENT, RATER, READING, REPORT, REVIEWED, SIMULATED, reading_of
from workbench.formats.tables import Table, listed, read_table
from workbench.formats.writing import unguard

FINDING, STATE = "finding", "state"
LONG = (
    Column(REPORT),
    Column(RATER),
    Column(READING, Kind.WHOLE),
    Column(FINDING),
    Column(STATE),
    Column("submitted_at", Kind.INSTANT),
    Column(REVIEWED, Kind.FLAG),
    Column("seconds", Kind.NUMBER),
    Column("source"),
    Column(SIMULATED, Kind.FLAG),
    Column("marks"),
    Column("reason"),
    Column("label_set"),
    Column("label_set_version"),
    Column("label_set_hash"),
    Column(COMMENT),
    Column("evidence"),
)
_NEEDED = (REPORT, RATER, FINDING, STATE, REVIEWED)
_OF_VOTE = (REVIEWED, "submitted_at", "seconds", "source", SIMULATED, "marks", "reason", "label_set_hash", COMMENT)
_STATES = {state.value: state for state in State}
_FLAGS = {"1": True, "0": False, "true": True, "false": False}
_LABELS = {State.PRESENT: 1, State.ABSENT: 0, State.UNCERTAIN: -1, State.NOT_MENTIONED: None}

Vote = tuple[str, str, Annotation | None]  # report id, rater, and what was submitted (None: nothing was)


@dataclass(frozen=True, slots=True)
class ReadVote:
    """One rater's labels of one report as a long table has them, and the first row that holds them.

    ``given`` is None where the rater did not review the report.
    """

    report_id: str
    rater: str
    given: Annotation | None
    row: int


def wide_columns(label_set: LabelSet) -> tuple[Column, ...]:
    """Return the columns of the wide form, which ``labels.read_labels`` reads: 1 / 0 / -1 / blank per finding."""
    findings = (Column(finding, Kind.LABEL) for finding in label_set.ids)
    return (
        Column(REPORT),
        Column(RATER),
        Column(READING, Kind.WHOLE),
        Column(REVIEWED, Kind.FLAG),
        *findings,
        Column(COMMENT),
        Column(SIMULATED, Kind.FLAG),
    )


def wide_row(label_set: LabelSet, vote: Vote) -> list[object]:
    """Return the row of one reading of a report in the wide form."""
    report_id, rater, given = vote
    states = given.states if given else {}
    labels = (_LABELS[states.get(finding, State.NOT_MENTIONED)] for finding in label_set.ids)
    rest = (given.comment or None, given.simulated) if given else (None, None)
    return [report_id, rater, given.reading if given else 1, given is not None, *labels, *rest]


def long_rows(label_set: LabelSet, votes: Iterable[Vote]) -> Iterator[Sequence[object]]:
    """Yield the rows of votes in the long form: for each vote one per finding, in label-set order."""
    named = (label_set.id, label_set.version, label_set.hash)
    for report_id, rater, given in votes:
        if given is None:
            for finding in label_set.ids:
                yield (report_id, rater, 1, finding, None, None, False, *[None] * 5, *named, None, None)
            continue
        noted = (" ".join(sorted(given.marks)) or None, given.reason or None)
        about = (given.at, True, given.seconds, given.source or None, given.simulated, *noted, *named)
        for finding in label_set.ids:
            state = given.states.get(finding, State.NOT_MENTIONED).value
            quoted = given.evidence.get(finding) or None
            yield (report_id, rater, given.reading, finding, state, *about, given.comment or None, quoted)


def is_long(path: Path, encoding: str = "utf-8") -> bool:
    """Return whether a CSV file holds votes in the long form, by its column names.

    Raises:
        InputError: as ``tables.read_table``.
    """
    columns = read_table(path, encoding).columns
    return FINDING in columns and STATE in columns


def read_long(path: Path, label_set: LabelSet, *, now: datetime, encoding: str = "utf-8") -> list[ReadVote]:
    """Return the votes of a long table, in the order in which each first appears.

    Rows may come in any order. Columns report_id, rater, finding, state and reviewed are needed; where others are
    missing, ``now`` is when the labels were submitted, the file is their source and all are first readings.

    Raises:
        InputError: a column is missing or unknown, a value is not what its column holds, a finding of a vote is missing
            or given twice, rows of one vote contradict one another, or the labels were given by another label set.
    """
    table = read_table(path, encoding)
    reader = _LongReader(table, label_set, now)
    for cells in table.rows:
        reader.add(cells)
    return reader.votes()


@dataclass(slots=True)
class _Open:
    """A vote whose rows are still coming in."""

    row: int
    common: tuple[str, ...]
    states: dict[str, State | None] = field(default_factory=dict)
    evidence: dict[str, str] = field(default_factory=dict)


class _LongReader:
    """Gathers the rows of one long table, whose columns it has checked."""

    def __init__(self, table: Table, label_set: LabelSet, now: datetime) -> None:
        known = [column.name for column in LONG]
        strange = [name for name in table.columns if name and name not in known]
        if strange:
            raise InputError(
                f"{table.place.path} has the column {strange[0]}, which a long table of votes does not have "
                f"({', '.join(known)}); remove it."
            )
        self.at = {name: table.column(name) for name in _NEEDED}
        self.at |= {name: table.columns.index(name) for name in known if name in table.columns}
        self.place = table.place
        self.label_set = label_set
        self.findings = frozenset(label_set.ids)
        self.label_set_hash = label_set.hash
        self.now = now
        self.read: dict[tuple[str, str, int], _Open | ReadVote] = {}

    def add(self, cells: Sequence[str]) -> None:
        report_id, rater = (unguard(cells[self.at[name]].strip()) for name in (REPORT, RATER))
        if not report_id or not rater:
            raise InputError(f"{self.place}: the {'rater' if report_id else 'report id'} is blank.")
        key = report_id, rater, reading_of(cells[self.at[READING]], self.place) if READING in self.at else 1
        common = tuple(cells[self.at[name]] if name in self.at else "" for name in _OF_VOTE)
        vote = self.read.setdefault(key, _Open(self.place.row, common))
        if isinstance(vote, ReadVote):
            raise InputError(
                f"{self.place}: {rater} labels report {report_id} from row {vote.row} on and once more here; keep one."
            )
        if vote.common != common:
            what = next(n for n, one, other in zip(_OF_VOTE, vote.common, common, strict=True) if one != other)
            raise InputError(
                f"{self.place}: {what} of {rater} on report {report_id} is not as in row {vote.row}; make them equal."
            )
        finding = cells[self.at[FINDING]].strip()
        if finding not in self.findings or finding in vote.states:
            what = "is there twice" if finding in vote.states else f"is no finding of {self.label_set.id}"
            raise InputError(f"{self.place}: {finding or '(blank)'} {what}; correct or remove the row.")
        vote.states[finding] = self._state(finding, cells[self.at[STATE]].strip())
        if "evidence" in self.at and (quoted := unguard(cells[self.at["evidence"]])):
            vote.evidence[finding] = quoted
        if len(vote.states) == len(self.findings):  # nothing more can come, and a vote is smaller than its rows
            self.read[key] = self._vote(*key, vote)

    def _state(self, finding: str, cell: str) -> State | None:
        if cell and cell not in _STATES:
            raise InputError(f"{self.place}, {finding}: {cell!r} is no state; use {', '.join(_STATES)}.")
        return _STATES.get(cell)

    def votes(self) -> list[ReadVote]:
        """Return what was read, once every row is in."""
        return [vote if isinstance(vote, ReadVote) else self._vote(*key, vote) for key, vote in self.read.items()]

    def _vote(self, report_id: str, rater: str, reading: int, vote: _Open) -> ReadVote:
        return ReadVote(report_id, rater, self._given(report_id, rater, reading, vote), vote.row)

    def _given(self, report_id: str, rater: str, reading: int, vote: _Open) -> Annotation | None:
        where = f"{self.place.path}, row {vote.row}"
        common = dict(zip(_OF_VOTE, vote.common, strict=True))
        self._check_label_set(where, common["label_set_hash"].strip())
        reviewed = _flag(where, REVIEWED, common[REVIEWED])
        if not reviewed:
            self._check_blank(where, vote.states)
            return None
        missing = [finding for finding in self.label_set.ids if vote.states.get(finding) is None]
        if missing:
            raise InputError(
                f"{where}: {rater} reviewed report {report_id} and no state is given for {listed(missing)}; "
                "a finding that the report does not speak of is not_mentioned."
            )
        return Annotation(
            report_id=report_id,
            rater=rater,
            states={f: s for f in self.label_set.ids if (s := vote.states[f]) and s is not State.NOT_MENTIONED},
            submitted=True,
            at=_instant(where, common["submitted_at"].strip()) or self.now,
            label_set_hash=self.label_set_hash,
            evidence=vote.evidence,
            comment=unguard(common[COMMENT]),
            seconds=_seconds(where, common["seconds"].strip()),
            source=unguard(common["source"]) if "source" in self.at else self.place.path.name,
            simulated=bool(common[SIMULATED].strip()) and _flag(where, SIMULATED, common[SIMULATED]),
            reading=reading,
            marks=_marks(where, common["marks"]),
            reason=unguard(common["reason"]),
        )

    def _check_label_set(self, where: str, label_set_hash: str) -> None:
        if label_set_hash and label_set_hash != self.label_set_hash:
            raise InputError(
                f"{where}: these labels were given by another label set than this study's {self.label_set.id} "
                f"{self.label_set.version}, so the findings may not mean the same; open a study with that label set."
            )

    def _check_blank(self, where: str, states: Mapping[str, State | None]) -> None:
        given = [finding for finding, state in states.items() if state is not None]
        if given:
            raise InputError(f"{where}: {given[0]} has a state and the report was not reviewed; correct one of them.")


def _flag(where: str, name: str, cell: str) -> bool:
    said = cell.strip().lower()
    if said not in _FLAGS:
        raise InputError(f"{where}: {name} is {cell!r}; use 1 or 0.")
    return _FLAGS[said]


def _marks(where: str, cell: str) -> frozenset[Mark]:
    unknown = set(cell.split()) - set(Mark)
    if unknown:
        raise InputError(f"{where}: {min(unknown)} is no mark; use {', '.join(Mark)}, with spaces between them.")
    return frozenset(map(Mark, cell.split()))


def _seconds(where: str, cell: str) -> float | None:
    if not cell:
        return None
    try:
        seconds = float(cell)
    except ValueError:
        seconds = -1.0
    if not 0 <= seconds < float("inf"):
        raise InputError(f"{where}: seconds is {cell!r}; use a number of 0 or more, or leave it blank.")
    return seconds


def _instant(where: str, cell: str) -> datetime | None:
    if not cell:
        return None
    try:
        at = datetime.fromisoformat(cell)
    except ValueError:
        at = None
    if at is None or at.tzinfo is None:
        raise InputError(f"{where}: submitted_at is {cell!r}; write it as 2026-03-01T09:30:00+00:00, with a time zone.")
    return at
