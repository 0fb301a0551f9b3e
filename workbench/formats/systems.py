"""What report generators wrote, study by study, in the forms it is handed in: ReXrank's JSON, CSV, JSON Lines.

ReXrank's form is one object, study id -> {"report", "section_findings", "section_impression", "model_prediction"},
the last "Findings: ... Impression: ..."; a list of such objects with an id in each is read too. In CSV and JSON Lines a
row is a study. Three things are told apart, since they are scored differently:

- a study that is not in the file, or whose text is null, a bare NaN or the bare word None or nan, is **missing**:
  nobody knows what the system would have said of it (None);
- a blank text is an **empty** report, which mentions nothing ("");
- everything else is a report, verbatim.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from workbench.domain.hashing import content_hash
from workbench.errors import InputError
from workbench.formats.json_lines import read_objects, text_of
from workbench.formats.tables import NOTHING, Place, cannot_open, listed, read_table
from workbench.formats.writing import unguard
from workbench.text.differences import first_difference
from workbench.text.sections import split_sections

FORMS = ("csv", "jsonl", "json")
TASKS: Mapping[str, tuple[str, ...]] = {
    "findings": ("findings", "unlabelled"),
    "findings+impression": ("findings", "impression", "unlabelled"),
}

_FORM_OF_SUFFIX = {".csv": "csv", ".jsonl": "jsonl", ".ndjson": "jsonl", ".json": "json"}
_ID = ("study_id", "id", "report_id", "uid", "image_id")
_GENERATED = ("generated", "model_prediction", "prediction", "generated_report", "hypothesis", "candidate")
_REFERENCE = ("reference", "report", "ground_truth", "reference_report", "text", "report_text")
_SECTIONS = (("findings", ("section_findings", "findings")), ("impression", ("section_impression", "impression")))
_PATIENT = ("patient_id", "subject_id", "patient")
_NOTHING = frozenset({"n/a", *NOTHING})


@dataclass(frozen=True, slots=True)
class Generated:
    """What a file holds of each study, in file order.

    ``studies`` has what the system wrote, ``references`` the reference report, each only where the file has a place
    for it; None is missing and "" empty. ``patients`` has the patient of each study where the file says.
    """

    studies: Mapping[str, str | None]
    references: Mapping[str, str | None]
    patients: Mapping[str, str]
    file: str

    @property
    def hash(self) -> str:
        """Return the identity of what the system wrote."""
        return content_hash("submission", sorted(self.studies.items()))


@dataclass(frozen=True, slots=True)
class _Row:
    """One study as it stands in one row. ``generated`` and ``reference`` are absent where the file has no place."""

    row: int
    id: str
    texts: Mapping[str, str | None]  # generated, reference
    patient: str


def read_generated(
    path: Path, form: str | None = None, *, columns: Mapping[str, str] | None = None, encoding: str = "utf-8"
) -> Generated:
    """Return what a file holds of each study, verbatim.

    A row that repeats a study with the same texts is left out.

    Args:
        path: the file.
        form: one of ``FORMS``; by the file's ending when None.
        columns: which column (a key, in JSON) holds ``id``, ``generated``, ``reference`` and ``patient``, where it is
            not one of the usual names.
        encoding: of the file.

    Raises:
        InputError: the file cannot be read as said, names a study twice with different texts (both rows are told), or
            holds no study; names file and row.
    """
    form = form or _FORM_OF_SUFFIX.get(path.suffix.lower(), "")
    if form not in FORMS:
        raise InputError(f"{path}: its name does not tell its form; say which of {', '.join(FORMS)} it is.")
    seen: dict[str, _Row] = {}
    for row in _rows(path, form, columns or {}, encoding):
        before = seen.setdefault(row.id, row)
        if before.texts != row.texts:
            raise InputError(_two_texts(path, before, row))
    if not seen:
        raise InputError(f"{path} holds no study; it should have a row or entry for each.")
    return Generated(
        {i: row.texts["generated"] for i, row in seen.items() if "generated" in row.texts},
        {i: row.texts["reference"] for i, row in seen.items() if "reference" in row.texts},
        {i: row.patient for i, row in seen.items() if row.patient},
        path.name,
    )


def select(text: str, task: str) -> str:
    """Return what a task reads of a report: its sections, blank-line separated; the whole text where it has no header.

    A section that holds only a word for nothing ("Findings: None") counts as not there. Empty where nothing is left.

    Raises:
        KeyError: there is no such task.
    """
    names = TASKS[task]
    parts = [text[s.start : s.end].strip() for s in split_sections(text) if s.name in names]
    return "\n\n".join(part for part in parts if part and part.rstrip(" .").lower() not in _NOTHING)


def _rows(path: Path, form: str, columns: Mapping[str, str], encoding: str) -> Iterator[_Row]:
    if form == "csv":
        table = read_table(path, encoding)
        names = table.columns
        layout = _layout(path, names, columns)
        for cells in table.rows:
            values = {name: unguard(cell) for name, cell in zip(names, cells, strict=True)}
            yield _row(table.place, layout, values)
        return
    place = Place(path)
    objects = read_objects(place, encoding) if form == "jsonl" else _entries(place, encoding)
    known: _Layout | None = None
    for value in objects:
        # Each object has its own keys: programs leave out what is missing.
        known = _layout(path, list(value), columns, known=known)
        yield _row(place, known, value)


@dataclass(frozen=True, slots=True)
class _Layout:
    id: str
    generated: str | None
    reference: str | None
    sections: tuple[tuple[str, str], ...]
    patient: str | None


def _layout(path: Path, names: Sequence[str], columns: Mapping[str, str], *, known: "_Layout | None" = None) -> _Layout:
    for key, column in columns.items():
        if key not in {"id", "generated", "reference", "patient"}:
            raise InputError(f"A column mapping has no entry {key}; use id, generated, reference or patient.")
        if column not in names and known is None:
            raise InputError(f"{path} has no column {column}; it has {listed(names)}.")

    def found(key: str, usual: Sequence[str]) -> str | None:
        return columns.get(key) or next((name for name in usual if name in names), None)

    known_as = found("id", _ID)
    if known_as is None:
        raise InputError(f"{path} has no column that is known to hold the study's id; it has {listed(names)}.")
    sections = [(name, next((u for u in usual if u in names), "")) for name, usual in _SECTIONS]
    generated, reference = found("generated", _GENERATED), found("reference", _REFERENCE)
    return _Layout(
        known_as,
        generated or (known.generated if known else None),
        reference or (known.reference if known else None),
        tuple((name, column) for name, column in sections if column),
        found("patient", _PATIENT),
    )


def _row(place: Place, layout: _Layout, values: Mapping[str, Any]) -> _Row:
    def cell(column: str | None) -> str | None:
        return _said(text_of(values.get(column), column, place)) if column else None

    study = (cell(layout.id) or "").strip()
    if not study:
        raise InputError(f"{place}: {layout.id} is blank; every study needs an id.")
    texts: dict[str, str | None] = {}
    if layout.generated:
        texts["generated"] = cell(layout.generated)
    if layout.reference:
        texts["reference"] = cell(layout.reference)
    if layout.sections and not (texts.get("reference") or "").strip():
        parts = [f"{name.capitalize()}: {said.strip()}" for name, column in layout.sections if (said := cell(column))]
        texts["reference"] = "\n\n".join(parts) or texts.get("reference")
    return _Row(place.row, study, texts, (cell(layout.patient) or "").strip())


def _said(cell: str | None) -> str | None:
    """Return a text as it stands, "" where it is blank, None where it is a word for nothing."""
    if cell is None or (len(cell) < 8 and cell.strip().lower() in _NOTHING):
        return None
    return "" if cell.isspace() else cell


class _Pairs(list[tuple[str, Any]]):
    """A JSON object as it stands, so that a key that comes twice is seen."""


def _entries(place: Place, encoding: str) -> Iterator[dict[str, Any]]:
    """Yield each study of a JSON file as an object with its id in it; ``place.row`` counts the entries."""
    value = _parsed(place.path, encoding)
    if isinstance(value, _Pairs):
        listed_entries = [(str(study), entry) for study, entry in value]
    elif isinstance(value, list):
        listed_entries = [("", entry) for entry in value]
    else:
        raise InputError(f"{place.path} holds no studies; it should be one object, or a list of objects.")
    for study, entry in listed_entries:
        place.row += 1
        if isinstance(entry, _Pairs):
            names = [name for name, _ in entry]
            if twice := next((name for name in names if names.count(name) > 1), None):
                raise InputError(f"{place}: the entry names {twice} twice; keep one.")
            yield {**dict(entry), **({_ID[0]: study} if study else {})}
        elif study:
            yield {_ID[0]: study, _GENERATED[0]: entry}
        else:
            raise InputError(f"{place}: an entry of the list is no object with an id and a text.")


def _parsed(path: Path, encoding: str) -> Any:
    try:
        text = path.read_bytes().decode("utf-8-sig" if encoding == "utf-8" else encoding)
    except OSError as error:
        raise InputError(cannot_open(path, error)) from error
    except (UnicodeError, LookupError) as error:
        raise InputError(f"{path} is not {encoding}; name the file's encoding or save it as UTF-8.") from error
    try:
        return _loaded(text)
    except (ValueError, RecursionError):
        pass
    try:  # a Python dictionary printed as it is has a bare None; strings are stepped over whole
        return _loaded(re.sub(r'"(?:[^"\\]|\\.)*"|\bNone\b', lambda m: m[0] if m[0] != "None" else "null", text))
    except json.JSONDecodeError as error:
        raise InputError(f"{path}, line {error.lineno}: this is no JSON: {error.msg}.") from error
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path} is no JSON that can be read: {error}.") from error


def _loaded(text: str) -> Any:
    return json.loads(text, object_pairs_hook=_Pairs, parse_constant=lambda _: None)


def _two_texts(path: Path, one: _Row, other: _Row) -> str:
    side = next(s for s in ("generated", "reference") if one.texts.get(s) != other.texts.get(s))
    said, then = first_difference(one.texts.get(side) or "(nothing)", other.texts.get(side) or "(nothing)")
    return (
        f"{path}: study {one.id} has two different texts ({side}): row {one.row} “{said}”, row {other.row} “{then}”; "
        "remove one of them."
    )
