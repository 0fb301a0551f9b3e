"""Reports from CSV, JSONL and Open-i files, text verbatim, one at a time.

A **column mapping** says where things stand: ``id``, ``patient``, ``text`` and ``language`` name a column (a key, in
JSONL) each, and ``section:NAME`` one that holds a single section of the report. Give ``text`` or sections, not both.
What a mapping leaves out is looked for under its usual names; without a patient each report is a patient of its own.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter
from pathlib import Path

from workbench.domain.reports import NEVER_READ, Report, Section
from workbench.errors import InputError
from workbench.formats import openi
from workbench.formats.json_lines import all_keys, read_objects, text_of
from workbench.formats.tables import Place, listed, read_table
from workbench.text.differences import first_difference
from workbench.text.sections import split_sections

FORMS = ("csv", "jsonl", "openi")
USUAL: Mapping[str, tuple[str, ...]] = {
    "id": ("report_id", "id", "study_id", "uid"),
    "patient": ("patient_id", "patient", "subject_id"),
    "text": ("text", "report", "report_text"),
    "language": ("language", "lang"),
}
USUAL_SECTIONS = ("indication", "history", "comparison", "technique", "findings", "impression")

_FORM_OF_SUFFIX = {".csv": "csv", ".jsonl": "jsonl", ".ndjson": "jsonl"}
_SECTION = "section:"
# What programs write for a cell that holds nothing. As a comparison "None" is a radiologist's word, and stays.
_NOTHING = frozenset({"nan", "none", "null", "<na>"})
_NOTHING_UNREAD = _NOTHING - {"none"}

_Cells = Sequence[str | None]


@dataclass(frozen=True, slots=True)
class _Source:
    """An opened file: where reading stands, its columns, and how the cells of some of them are had row by row."""

    place: Place
    columns: list[str]
    cells: Callable[[Sequence[str]], Iterator[_Cells]]


@dataclass(frozen=True, slots=True)
class _Layout:
    """Which columns are read. ``sections`` is empty where one column holds the whole text."""

    id: str
    patient: str
    language: str | None
    text: str | None
    sections: tuple[tuple[str, str], ...]  # (section name, column)

    def columns(self) -> list[str]:
        """Return the columns in the order in which cells come: id, patient, language, then text or sections."""
        texts = [self.text] if self.text else [column for _, column in self.sections]
        return [self.id, self.patient, self.language or self.id, *texts]


def read_reports(
    path: Path,
    *,
    form: str | None = None,
    columns: Mapping[str, str] | None = None,
    language: str = "en",
    encoding: str = "utf-8",
) -> list[Report]:
    """Return every report of a file, as ``iter_reports`` yields them; none when anything is wrong with it."""
    return list(iter_reports(path, form=form, columns=columns, language=language, encoding=encoding))


def iter_reports(
    path: Path,
    *,
    form: str | None = None,
    columns: Mapping[str, str] | None = None,
    language: str = "en",
    encoding: str = "utf-8",
) -> Iterator[Report]:
    """Yield the reports of a file in file order, holding one at a time (and one number per id).

    Args:
        path: the file.
        form: csv, jsonl or openi; by the file's suffix when None.
        columns: the column mapping described above; openi has its own, of which single entries can be replaced.
        language: of reports whose row does not say.
        encoding: of the file; a byte-order mark is left out.

    The text is what the file holds. Where sections have columns of their own the text is put together in the order
    of the mapping, "FINDINGS: " and the like before each, a blank line between them; the section spans are exactly
    the cells. A blank cell and the bare words nan, None and null are missing: no text is made of them (None stays
    where runs never read, as in "COMPARISON: None"). A report without any text is yielded with the text "". A row
    that repeats id, patient and text of an earlier one is left out.

    Raises:
        InputError: something is wrong with the file, the mapping or a row, which is named; or an id comes with two
            different texts or patients, both of which are shown.
    """
    form = form or _form_of(path)
    if form == "openi":
        columns = {**openi.COLUMNS, **(columns or {})}

    def numbered() -> Iterator[tuple[int, Report]]:
        source = _open(path, form, encoding)
        return _numbered(source, _layout(source, columns or {}), language)

    return _once(path, numbered)


def _form_of(path: Path) -> str:
    form = _FORM_OF_SUFFIX.get(path.suffix.lower())
    if form is None:
        raise InputError(f"{path}: its name does not tell its form; say which of {', '.join(FORMS)} it is.")
    return form


def _open(path: Path, form: str, encoding: str) -> _Source:
    if form == "jsonl":
        place = Place(path)

        def from_objects(names: Sequence[str]) -> Iterator[_Cells]:
            for value in read_objects(place, encoding):
                yield [text_of(value.get(name), name, place) for name in names]

        return _Source(place, all_keys(path, encoding), from_objects)
    if form not in FORMS:
        raise InputError(f"There is no report form {form}; choose one of {', '.join(FORMS)}.")
    table = read_table(path, encoding)

    def from_rows(names: Sequence[str]) -> Iterator[_Cells]:
        return map(itemgetter(*map(table.column, names)), table.rows)

    return _Source(table.place, table.columns, from_rows)


def _layout(source: _Source, columns: Mapping[str, str]) -> _Layout:
    for key, column in columns.items():
        _check_entry(key, column, source)
    sections = [(key[len(_SECTION) :].lower(), column) for key, column in columns.items() if key not in USUAL]
    if sections and "text" in columns:
        raise InputError("A column mapping names a text column and section columns; give one or the other.")
    text = columns.get("text") or (None if sections else _usual("text", source))
    if not text and not sections:
        sections = [(name, name) for name in USUAL_SECTIONS if name in source.columns]
    report_id = columns.get("id") or _usual("id", source)
    if not report_id or not (text or sections):
        what = "text" if report_id else "id"
        raise InputError(
            f"{source.place.path} has no column that is known to hold the reports' {what}; it has "
            f"{listed(source.columns)}. Say which it is ({what}=COLUMN)."
        )
    patient = columns.get("patient") or _usual("patient", source) or report_id
    return _Layout(report_id, patient, columns.get("language") or _usual("language", source), text, tuple(sections))


def _check_entry(key: str, column: str, source: _Source) -> None:
    if key not in USUAL and (not key.startswith(_SECTION) or not key[len(_SECTION) :].strip()):
        raise InputError(f"A column mapping has no entry {key}; use {', '.join(USUAL)} or section:NAME.")
    if column not in source.columns:
        raise InputError(f"{source.place.path} has no column {column}; it has {listed(source.columns)}.")


def _usual(key: str, source: _Source) -> str | None:
    return next((name for name in USUAL[key] if name in source.columns), None)


def _numbered(source: _Source, layout: _Layout, language: str) -> Iterator[tuple[int, Report]]:
    """Yield each report with the row it stands in."""
    place = source.place
    file = place.path.name
    names = [name for name, _ in layout.sections]
    heads = [f"{name.upper()}: " for name in names]
    for report_id, patient, spoken, *texts in source.cells(layout.columns()):
        known_as = (report_id or "").strip()
        if not known_as:
            raise InputError(f"{place}: {layout.id} is blank; every report needs an id.")
        if layout.text:
            text = _said(texts[0])
            sections = split_sections(text)
        else:
            text, sections = _composed(names, heads, texts)
        yield (
            place.row,
            Report(
                id=known_as,
                patient_id=_said(patient).strip() or known_as,
                text=text,
                sections=sections,
                language=(_said(spoken).strip() or language) if layout.language else language,
                source=file,
            ),
        )


def _said(cell: str | None, nothing: frozenset[str] = _NOTHING) -> str:
    """Return a cell as it is, or nothing where it says that it holds nothing."""
    if cell is None or cell.isspace() or (len(cell) < 8 and cell.strip().lower() in nothing):
        return ""
    return cell


def _composed(names: list[str], heads: list[str], cells: _Cells) -> tuple[str, tuple[Section, ...]]:
    """Return one text made of the sections that are there, and where each cell stands in it."""
    parts: list[str] = []
    sections: list[Section] = []
    at = 0
    for name, head, cell in zip(names, heads, cells, strict=True):
        said = _said(cell, _NOTHING_UNREAD if name in NEVER_READ else _NOTHING)
        if said:
            start = at + len(head)
            at = start + len(said)
            sections.append(Section(name, start, at))
            parts.append(head + said)
            at += 2
    return "\n\n".join(parts), tuple(sections)


def _once(path: Path, numbered: Callable[[], Iterator[tuple[int, Report]]]) -> Iterator[Report]:
    """Yield each report once. Of those already seen only a number is kept, so a clash is looked up in the file."""
    seen: dict[str, int] = {}
    for row, report in numbered():
        what = hash((report.patient_id, report.text))
        before = seen.get(report.id)
        if before is None:
            seen[report.id] = what
            yield report
        elif before != what:
            first = next(found for found in numbered() if found[1].id == report.id)
            raise InputError(_two_versions(path, first, (row, report)))


def _two_versions(path: Path, one: tuple[int, Report], other: tuple[int, Report]) -> str:
    (row, first), (later, second) = one, other
    if first.text == second.text:
        return (
            f"{path}: report {first.id} belongs to patient {first.patient_id} in row {row} and to "
            f"{second.patient_id} in row {later}; correct one of them."
        )
    said, then = first_difference(first.text, second.text)
    return (
        f"{path}: report {first.id} has two different texts: row {row} “{said}”, row {later} “{then}”; remove one of "
        "them or give it another id."
    )
