"""Labelling reports of any number, without a database: into one file, or into a folder in parts."""

import csv
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from itertools import chain, islice
from pathlib import Path

from workbench.domain.runs import Usage
from workbench.errors import InputError
from workbench.formats.parts import (
    FAILURE_COLUMNS,
    PARTS_FORMS,
    LabelledRow,
    Parts,
    Row,
    Write,
    open_parts,
    writing_labels,
)
from workbench.formats.parts_manifest import LabelerMark, LabelSetMark, PromptMark, SourceMark, Task
from workbench.formats.reports import form_of, iter_reports
from workbench.formats.sources import source_hash
from workbench.formats.writing import guard, replacing, require_writable, row_writer
from workbench.text.sections import SPLITTING_VERSION
from workbench.workflow.labelling import DEFAULT_MEANS, Kept, Labelling, LabelStream, Means, labelled

PART_REPORTS = 10_000
_TOLD_EVERY = 5_000


@dataclass(frozen=True, slots=True)
class Source:
    """Reports to be labelled: a file (or folder) as ``formats.reports.iter_reports`` takes it."""

    path: Path
    form: str | None = None
    columns: Mapping[str, str] | None = None
    encoding: str = "utf-8"


@dataclass(frozen=True, slots=True)
class Labelled:
    """What became of a source: rows labelled into ``out``, rows that failed into ``failures`` (None: there were none).

    Where ``out`` is a folder, ``parts`` is how many stand in it, ``kept`` how many of them stood there before.
    ``reasons`` counts the failed rows by why, the most frequent first.
    """

    out: Path
    labelled: int
    failed: int
    failures: Path | None
    parts: int = 0
    kept: int = 0
    usage: Usage = field(default_factory=Usage)
    reasons: Mapping[str, int] = field(default_factory=dict)


def label_file(
    using: Labelling,
    source: Source,
    out: Path,
    *,
    binary: bool = False,
    means: Means = DEFAULT_MEANS,
    on_progress: Callable[[int], None] = lambda _: None,
) -> Labelled:
    """Label every report of a source, in its order, in constant memory, into one file.

    ``out`` gets the report id and a column per finding: 1, 0, -1, blank (not mentioned). With ``binary`` uncertain is
    collapsed by the label set's prediction policies: 1 or 0, blank under ``exclude``; not mentioned is 0. It is CSV,
    or Parquet where its name ends so. A report that cannot be labelled goes to ``OUT.failures.csv`` with the reason.
    Both files take their place when all is done; when anything is wrong neither is written. The answers of a language
    model are kept in ``OUT.journal`` until then, and the same call asks for none of them again.

    Raises:
        InputError: the source cannot be read as said, or ``out`` cannot be written; names the row.
        RightsError: the labeler's server may not be sent reports.
        ConflictError: the journal is that of another labelling.
        WorkbenchError: the rules engine does not pass its own check, or the labeler's server answers no more, or the
            cap is reached.
    """
    require_writable(out)
    failures = out.with_name(f"{out.stem}.failures.csv")
    if source.path.resolve() in {out.resolve(), failures.resolve()}:
        what = "labels" if out.resolve() == source.path.resolve() else "labels, beside which the failures are put"
        raise InputError(f"{source.path} is the file to be labelled; name another file for the {what}.")
    form = "parquet" if out.suffix.lower() == ".parquet" else "csv"
    journal = out.with_name(f"{out.name}.journal")
    owner = "" if using.labeler.kind == "rules" else _task(using, source, form=form, binary=binary).hash
    with ExitStack() as files:
        rows = _rows(using, source)
        stream = files.enter_context(labelled(using, rows, means, Kept(journal, owner), binary=binary))
        write = files.enter_context(writing_labels(out, using.label_set, form))
        reasons: dict[str, str] = {}
        count = _write_rows(stream.labels, write, reasons, on_progress)
        if reasons:
            write_reason = row_writer(files.enter_context(replacing(failures)))
            write_reason(FAILURE_COLUMNS)
            for report, reason in reasons.items():
                write_reason((guard(report), guard(reason)))
    if not reasons:
        failures.unlink(missing_ok=True)  # of an earlier labelling of the same name
    if owner:
        journal.unlink(missing_ok=True)
    why = dict(Counter(reasons.values()).most_common())
    return Labelled(out, count, len(reasons), failures if reasons else None, usage=stream.usage(), reasons=why)


def label_parts(
    using: Labelling,
    source: Source,
    folder: Path,
    *,
    form: str = "csv",
    part_reports: int = PART_REPORTS,
    binary: bool = False,
    means: Means = DEFAULT_MEANS,
    on_progress: Callable[[int], None] = lambda _: None,
) -> Labelled:
    """Label every report of a source as ``label_file`` does, into a folder in parts that stay when it is stopped.

    The same call goes on after the last whole part and ends in the very bytes of a labelling that was never stopped;
    it reads what was labelled before, to see that it is still the same. See ``formats.parts`` for the folder.

    Args:
        using: what labels.
        source: the reports.
        folder: made when it is missing; else what an earlier call left there.
        form: of the parts, csv or parquet.
        part_reports: reports per part.
        binary: as for ``label_file``.
        means: what labelling may take.
        on_progress: told how many reports are done, those of earlier calls included.

    Raises:
        InputError: the source cannot be read as said, or the folder is not one of labels or was meddled with.
        ConflictError: the folder was begun with another source, prompt, label set, labeler or choice; or another
            process is writing into it.
        RightsError: the labeler's server may not be sent reports.
        WorkbenchError: the rules engine does not pass its own check, or the labeler's server answers no more, or the
            cap is reached; the same call goes on, and asks for no answer again that it has.
    """
    if form not in PARTS_FORMS:
        raise InputError(f"There are no parts of the form {form}; choose one of {', '.join(PARTS_FORMS)}.")
    task = _task(using, source, form=form, part_reports=part_reports, binary=binary)
    if source.path.is_dir() and source.path.resolve() == folder.resolve():
        raise InputError(f"{folder} holds the reports to be labelled; name another folder for the labels.")
    journal = folder / "journal.jsonl"
    with open_parts(folder, task, using.label_set) as parts:
        known = parts.manifest
        told = _Told(on_progress)
        rows = parts.rest(_rows(using, source), told)
        kept = Kept(journal, task.hash, known.reports, parts.usage)
        with labelled(using, rows, means, kept, binary=binary) as stream:
            _add_parts(parts, stream, told)
        journal.unlink(missing_ok=True)
        done = parts.manifest
    failures = folder / done.failures.file if done.failures else None
    return Labelled(
        folder, done.labelled, done.failed, failures, len(done.parts), len(known.parts), parts.usage, _reasons(failures)
    )


def _add_parts(parts: Parts, stream: LabelStream, told: "_Told") -> None:
    for first in stream.labels:
        part = chain([first], islice(stream.labels, parts.manifest.task.part_reports - 1))
        parts.add(told.passing(part), stream.usage)
    if not parts.manifest.finished:
        parts.finish()


def _reasons(failures: Path | None) -> dict[str, int]:
    """Return how often each reason stands in a file of failures, the most frequent first."""
    if failures is None:
        return {}
    with failures.open(encoding="utf-8", newline="") as file:
        found = Counter(row[FAILURE_COLUMNS[1]] for row in csv.DictReader(file))
    return dict(found.most_common())


def _task(using: Labelling, source: Source, *, form: str, part_reports: int = 1, binary: bool) -> Task:
    path, label_set, labeler = source.path, using.label_set, using.labeler
    return Task(
        source=SourceMark(
            name=path.resolve().name,
            form=source.form or form_of(path),
            sha256=source_hash(path),
            columns=dict(source.columns or {}),
            encoding=source.encoding,
        ),
        prompt=PromptMark(file=using.prompt_file.name, hash=using.prompt.hash),
        label_set=LabelSetMark(id=label_set.id, version=label_set.version, hash=label_set.hash),
        labeler=LabelerMark(
            name=labeler.name,
            kind=labeler.kind,
            hash=labeler.hash,
            engine=labeler.options.get("engine", ""),
            model=labeler.model,
        ),
        sections=using.settings.sections,
        splitting=SPLITTING_VERSION,
        binary=binary,
        policies=label_set.prediction_policies.as_json() if binary else None,
        form="parquet" if form == "parquet" else "csv",
        part_reports=part_reports,
    )


def _rows(using: Labelling, source: Source) -> Iterator[Row]:
    reports = iter_reports(source.path, form=source.form, columns=source.columns, encoding=source.encoding)
    return ((report.id, report.select(using.settings.sections)) for report in reports)


def _write_rows(
    labels: Iterator[LabelledRow], write: Write, reasons: dict[str, str], on_progress: Callable[[int], None]
) -> int:
    labelled = 0
    for report, states in labels:
        if isinstance(states, str):
            reasons[report] = states
            continue
        write(report, states)
        labelled += 1
        if labelled % _TOLD_EVERY == 0:
            on_progress(labelled)
    return labelled


class _Told:
    """Counts reports and tells every few thousand of them."""

    def __init__(self, on_progress: Callable[[int], None]) -> None:
        self._count = 0
        self._on_progress = on_progress

    def __call__(self) -> None:
        self._count += 1
        if self._count % _TOLD_EVERY == 0:
            self._on_progress(self._count)

    def passing(self, labels: Iterable[LabelledRow]) -> Iterator[LabelledRow]:
        for row in labels:
            self()
            yield row
