"""Radiologists' ratings of generated reports as CSV: one row per study, system and reviewer.

Columns study_id, system, reviewer, rating (1 to 5), optionally comment, and one column per finding (and ``other``) in
which kinds of fault stand, separated by semicolons: missed, invented, place, degree. Blank is no fault. What else a
file that was exported here holds is passed over.
"""

from collections.abc import Mapping
from pathlib import Path

from workbench.domain.findings import LabelSet
from workbench.domain.reviews import OTHER, RATINGS, Fault, ImportedRating, Judgement, Marks
from workbench.errors import InputError
from workbench.formats.exports import Column, Kind
from workbench.formats.tables import Table, listed, read_table
from workbench.formats.writing import unguard

NEEDED = ("study_id", "system", "reviewer", "rating")
COMMENT = "comment"
# Written and not read: they say where a rating comes from, which an import says anew.
TOLD = ("patient_id", "seconds", "at", "source", "current")


def columns(label_set: LabelSet) -> list[Column]:
    """Return the columns that ``workbench review export`` writes."""
    kinds = {"rating": Kind.WHOLE, "seconds": Kind.NUMBER, "at": Kind.INSTANT, "current": Kind.FLAG}
    names = (*NEEDED, *(f.id for f in label_set.findings), OTHER, COMMENT, *TOLD)
    return [Column(name, kinds.get(name, Kind.TEXT)) for name in names]


def faults_text(marks: Marks, finding: str) -> str | None:
    """Return the cell of a finding: its faults in the order of ``Fault``, None without one."""
    return ";".join(fault.value for fault in Fault if fault in marks.get(finding, ())) or None


def read_ratings(path: Path, label_set: LabelSet, *, encoding: str = "utf-8") -> list[ImportedRating]:
    """Return the ratings of a file, in its order.

    Raises:
        InputError: the file cannot be read as said, holds no rating, lacks or has an unknown column, a cell is blank
            or none of its values, or a pair is rated twice by one reviewer; names file and row.
    """
    table = read_table(path, encoding)
    for name in NEEDED:
        table.column(name)
    findings = {*label_set.ids, OTHER}
    unknown = [name for name in table.columns if name and name not in {*findings, *NEEDED, *TOLD, COMMENT}]
    if unknown:
        raise InputError(
            f"{path} has the column {unknown[0]}, which is no finding of this study; its findings are "
            f"{listed(label_set.ids)}."
        )
    seen: dict[tuple[str, str, str], int] = {}
    ratings = []
    for cells in table.rows:
        row = {name: unguard(cell).strip() for name, cell in zip(table.columns, cells, strict=True)}
        rating = _rating(table, row, findings)
        key = (rating.study_id, rating.system, rating.reviewer)
        if key in seen:
            raise InputError(
                f"{table.place}: {rating.reviewer} rated study {key[0]} of {key[1]} in row {seen[key]} already; keep "
                "one of the two."
            )
        seen[key] = table.place.row
        ratings.append(rating)
    if not ratings:
        raise InputError(f"{path} holds no rating; it should have a row per study, system and reviewer.")
    return ratings


def _rating(table: Table, row: Mapping[str, str], findings: set[str]) -> ImportedRating:
    for name in NEEDED:
        if not row[name]:
            raise InputError(f"{table.place}: {name} is blank; every rating needs {listed(NEEDED)}.")
    said = row["rating"].removesuffix(".0")
    if said not in {str(value) for value in RATINGS}:
        raise InputError(f"{table.place}: the rating is {row['rating']}; write a whole number from 1 to 5.")
    marks = {}
    for finding in findings & row.keys():
        faults = {part.strip().lower() for part in row[finding].split(";")} - {""}
        if strange := sorted(faults - set(Fault)):
            raise InputError(f"{table.place}, {finding}: {strange[0]} is no fault; use {listed(list(Fault))}.")
        if faults:
            marks[finding] = frozenset(map(Fault, faults))
    return ImportedRating(
        row["study_id"], row["system"], row["reviewer"], Judgement(int(said), marks, row.get(COMMENT, ""))
    )
