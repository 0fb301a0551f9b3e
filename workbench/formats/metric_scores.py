"""Scores of metrics that were computed elsewhere: a CSV with a row per study, system and metric."""

import math
from collections.abc import Mapping
from pathlib import Path

from workbench.errors import InputError
from workbench.formats.tables import NOTHING, Place, read_table
from workbench.formats.writing import unguard

COLUMNS = ("study_id", "system", "metric", "value")
_NOTHING = frozenset({"", "na", "n/a", *NOTHING})

Scores = Mapping[str, Mapping[str, Mapping[str, float]]]


def read_metric_scores(path: Path, *, encoding: str = "utf-8") -> Scores:
    """Return the values of a file: metric -> system -> study -> value, each in the order of first appearance.

    The columns are ``study_id``, ``system``, ``metric`` and ``value``; others are left alone. A blank value, NaN and
    None are missing: the study has no score. The same value twice is one.

    Raises:
        InputError: the file cannot be read, lacks a column, has a blank name, a value that is no finite number, two
            values of one study, system and metric, or no value at all; names the row.
    """
    table = read_table(path, encoding)
    at = [table.column(name) for name in COLUMNS]
    found: dict[str, dict[str, dict[str, float]]] = {}
    rows: dict[tuple[str, str, str], int] = {}
    for cells in table.rows:
        study, system, metric, said = (unguard(cells[i]).strip() for i in at)
        for name, cell in zip(COLUMNS, (study, system, metric), strict=False):
            if not cell:
                raise InputError(f"{table.place}: {name} is blank; every score needs a study, a system and a metric.")
        value = score_of(said, table.place, "study")
        if value is None:
            continue
        known = found.setdefault(metric, {}).setdefault(system, {})
        key = (metric, system, study)
        if known.setdefault(study, value) != value:
            raise InputError(
                f"{table.place}: {metric} of {system} on study {study} is {value:g} here and {known[study]:g} in row "
                f"{rows[key]}; remove one of them."
            )
        rows.setdefault(key, table.place.row)
    if not found:
        raise InputError(f"{path} holds no score; it should have a row per study, system and metric.")
    return found


def score_of(said: str, place: Place, what: str) -> float | None:
    """Return the value in a score's cell; None where it is blank or a word for nothing.

    Args:
        said: the cell, without white space around it.
        place: the row.
        what: what a score is of, as a fault names it.

    Raises:
        InputError: it is no finite number.
    """
    if said.lower() in _NOTHING:
        return None
    try:
        value = float(said)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise InputError(f"{place}: value is {said}, which is no number; leave it blank where a {what} has no score.")
    return value
