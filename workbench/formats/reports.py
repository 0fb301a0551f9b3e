"""Reports from CSV, JSONL, Parquet and Open-i files and from MIMIC-CXR's folders, text verbatim, one at a time.

A **column mapping** says where things stand: ``id``, ``patient``, ``text`` and ``language`` name a column (a key, in
JSONL) each, and ``section:NAME`` one that holds a single section of the report. Give ``text`` or sections, not both.
What a mapping leaves out is looked for under its usual names; without a patient each report is a patient of its own.
MIMIC-CXR's folders have no columns: see ``workbench.formats.mimic``.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter
from pathlib import Path

from workbench.domain.reports import NEVER_READ, Report, Section
from workbench.errors import InputError
from workbench.formats import openi
from workbench.formats.json_lines import all_keys, read_objects, text_of
from workbench.formats.mimic import is_mimic, iter_mimic
from workbench.formats.parquet import read_columns
from workbench.formats.tables import NOTHING, Place, listed, read_table
from workbench.text.differences import first_difference
from workbench.text.sections import split_sections

FORMS = ("csv", "jsonl", "openi", "parquet", "mimic")
USUAL: Mapping[str, tuple[str, ...]] = {
    "id": ("report_id", "id", "study_id", "uid"),
    "patient": ("patient_id", "patient", "subject_id"),
    "text": ("text", "report", "report_text"),
    "language": ("language", "lang"),
}
USUAL_SECTIONS = ("indication", "history", "comparison", "technique", "findings", "impression")

_FORM_OF_SUFFIX = {".csv": "csv", ".jsonl": "jsonl", ".ndjson": "jsonl", ".parquet": "parquet"}
_SECTION = "section:"
_NOTHING_UNREAD = NOTHING - {"none"}  # as a comparison "None" is a radiologist's word, and stays

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
    """Yield the reports of a file in file order, holding few at a time (and one number per id).

    Args:
        path: the file, or the folder or zip archive of MIMIC-CXR.
        form: one of ``FORMS``; by the file's suffix when None.
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
    form = form or form_of(path)
    if form == "mimic":
        if columns:
            raise InputError(f"{path} has no columns; leave the column mapping out.")
        return _once(path, lambda: _from_mimic(path, language, encoding))
    if form == "openi":
        columns = {**openi.COLUMNS, **(columns or {})}

    def numbered() -> Iterator[tuple[int, Report]]:
        source = _open(path, form, encoding)
        return _numbered(source, _layout(source, columns or {}), language)

    return _once(path, numbered)


def form_of(path: Path) -> str:
    """Return the form that a file's suffix tells; a folder or zip archive is MIMIC-CXR's.

    Raises:
        InputError: it tells none.
    """
    form = "mimic" if is_mimic(path) else _FORM_OF_SUFFIX.get(path.suffix.lower())
    if form is None:
        raise InputError(f"{path}: its name does not tell its form; say which of {', '.join(FORMS)} it is.")
    return form


def _from_mimic(path: Path, language: str, encoding: str) -> Iterator[tuple[int, Report]]:
    for found in iter_mimic(path, encoding):
        sections = split_sections(found.text)
        yield 0, Report(found.id, found.patient_id, found.text, sections, language, found.file)


def _open(path: Path, form: str, encoding: str) -> _Source:
    if form == "parquet":
        place = Place(path)
        names, cells = read_columns(place)
        return _Source(place, names, cells)
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


def _said(cell: str | None, nothing: frozenset[str] = NOTHING) -> str:
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
        said = _said(cell, _NOTHING_UNREAD if name in NEVER_READ else NOTHING)
        if said:
            start = at + len(head)
            at = start + len(said)
            sections.append(Section(name, start, at))
            parts.append(head + said)
            at += 2
    return "\n\n".join(parts), tuple(sections)


def _once(path: Path, numbered: Callable[[], Iterator[tuple[int, Report]]]) -> Iterator[Report]:
    """Yield each report once. Of those already seen only a number is kept, so a clash is looked up in the file.

    A report comes with its row, or with 0 where it is a file of its own.
    """
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
    (first, second), (here, there) = (one[1], other[1]), (_where(*one), _where(*other))
    if first.text == second.text:
        return (
            f"{path}: report {first.id} belongs to patient {first.patient_id} in {here} and to {second.patient_id} in "
            f"{there}; correct one of them."
        )
    said, then = first_difference(first.text, second.text)
    return (
        f"{path}: report {first.id} has two different texts: {here} “{said}”, {there} “{then}”; remove one of them or "
        "give it another id."
    )


def _where(row: int, report: Report) -> str:
    return f"row {row}" if row else report.source
