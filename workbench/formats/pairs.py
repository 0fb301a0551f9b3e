"""Pairs of reports and edited copies, out and in, and scores of them that were computed elsewhere, as CSV."""

from collections.abc import Iterable, Mapping
from pathlib import Path

from workbench.domain.pairs import UNEDITED, EditedPair
from workbench.errors import InputError
from workbench.formats.metric_scores import score_of
from workbench.formats.tables import Table, read_table
from workbench.formats.writing import guard, replacing, row_writer, unguard

COLUMNS = ("pair_id", "report_id", "patient_id", "kind", "significant", "done", "reference", "generated")
_OPTIONAL = ("report_id", "patient_id", "kind", "done")
_SAID = {"1": True, "true": True, "yes": True, "0": False, "false": False, "no": False}

PairScores = Mapping[str, Mapping[str, float]]


def write_pairs(path: Path, pairs: Iterable[EditedPair]) -> int:
    """Write pairs, after those of a report the report with itself (kind ``unedited``); return how many rows.

    The unedited rows are there to be scored elsewhere too: a drop is measured from them. ``read_pairs`` passes over
    them. The file appears whole or not at all.

    Raises:
        InputError: it cannot be written there.
    """
    rows = 0
    with replacing(path) as file:
        write = row_writer(file)
        write(COLUMNS)
        for pair in pairs:
            write(_row(pair))
            rows += 1
    return rows


def with_unedited(pairs: Iterable[EditedPair]) -> list[EditedPair]:
    """Return the pairs with one of each report with itself before its first edit; its id is what drops refer to."""
    found: list[EditedPair] = []
    known: set[str] = set()
    for pair in pairs:
        if pair.report_id not in known:
            known.add(pair.report_id)
            found.append(
                EditedPair(
                    unedited_id(pair.report_id),
                    pair.report_id,
                    pair.patient_id,
                    UNEDITED,
                    False,
                    "",
                    pair.reference,
                    pair.reference,
                )
            )
        found.append(pair)
    return found


def unedited_id(report_id: str) -> str:
    """Return the id of the pair of a report with itself."""
    return f"{report_id}:{UNEDITED}"


def read_pairs(path: Path, *, encoding: str = "utf-8") -> list[EditedPair]:
    """Return the pairs of a CSV in file order: ``pair_id``, ``significant`` (1 or 0), ``reference`` and ``generated``.

    ``report_id`` (else the pair's own), ``patient_id`` (else the report's), ``kind`` (else "made by people, matters" or
    "made by people, harmless") and ``done`` may be missing. Rows of the kind ``unedited`` are passed over.

    Raises:
        InputError: the file cannot be read, lacks a column, says neither 1 nor 0, has a blank id or text, an id twice,
            two references of one report, a kind that is now significant and now harmless, or no pair; names the row.
    """
    table = read_table(path, encoding)
    at = {name: table.column(name) for name in COLUMNS if name not in _OPTIONAL or name in table.columns}
    pairs: dict[str, EditedPair] = {}
    references: dict[str, str] = {}
    kinds: dict[str, bool] = {}
    for cells in table.rows:
        row = {name: unguard(cells[i]) for name, i in at.items()}
        if row.get("kind") == UNEDITED:
            continue
        pair = _pair(row, table)
        if pair.id in pairs:
            raise InputError(f"{table.place}: the pair {pair.id} is there already; give each an id of its own.")
        if references.setdefault(pair.report_id, pair.reference) != pair.reference:
            raise InputError(f"{table.place}: report {pair.report_id} has another reference above; make it one.")
        if kinds.setdefault(pair.kind, pair.significant) != pair.significant:
            raise InputError(
                f"{table.place}: the kind {pair.kind} is significant in one row and harmless in another; use two kinds."
            )
        pairs[pair.id] = pair
    if not pairs:
        raise InputError(f"{path} holds no pair; it should have a row per pair of reports.")
    return list(pairs.values())


def read_pair_scores(path: Path, *, encoding: str = "utf-8") -> PairScores:
    """Return scores that were computed elsewhere: metric -> pair id -> value; a blank value is no score.

    The columns are ``pair_id``, ``metric`` and ``value``.

    Raises:
        InputError: the file cannot be read, lacks a column, has a value that is no finite number, or another value of
            the same pair; names the row.
    """
    table = read_table(path, encoding)
    at = [table.column(name) for name in ("pair_id", "metric", "value")]
    found: dict[str, dict[str, float]] = {}
    for cells in table.rows:
        pair, metric, said = (unguard(cells[i]).strip() for i in at)
        if not pair or not metric:
            raise InputError(f"{table.place}: every score needs a pair_id and a metric.")
        value = score_of(said, table.place, "pair")
        if value is None:
            continue
        if found.setdefault(metric, {}).setdefault(pair, value) != value:
            raise InputError(f"{table.place}: {metric} of pair {pair} has another value above; remove one of them.")
    return found


def _row(pair: EditedPair) -> tuple[str, ...]:
    texts = (pair.id, pair.report_id, pair.patient_id, pair.kind)
    return (*map(guard, texts), str(int(pair.significant)), *map(guard, (pair.done, pair.reference, pair.generated)))


def _pair(row: Mapping[str, str], table: Table) -> EditedPair:
    said = _SAID.get(row["significant"].strip().lower())
    if said is None:
        raise InputError(f"{table.place}: significant should be 1 or 0, not {row['significant']!r}.")
    pair_id = row["pair_id"].strip()
    for name in ("pair_id", "reference", "generated"):
        if not row[name].strip():
            raise InputError(f"{table.place}: {name} is blank; every pair needs an id and two texts.")
    report_id = row.get("report_id", "").strip() or pair_id
    return EditedPair(
        id=pair_id,
        report_id=report_id,
        patient_id=row.get("patient_id", "").strip() or report_id,
        kind=row.get("kind", "").strip() or f"made by people, {'matters' if said else 'harmless'}",
        significant=said,
        done=row.get("done", ""),
        reference=row["reference"],
        generated=row["generated"],
    )
