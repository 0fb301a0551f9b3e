"""Labelling reports of any number, without a database: into one file, or into a folder in parts."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path

from workbench.domain.findings import LabelSet, Policy, State
from workbench.domain.prompts import Prompt, RevisionStatus
from workbench.errors import InputError, NotFoundError
from workbench.evaluation.consensus import per_finding
from workbench.formats.label_sets import read_label_set
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
from workbench.labelers.registry import settings_of
from workbench.prompting.files import parse_prompt, read_prompt
from workbench.running.bulk import label_many
from workbench.storage import prompts as prompt_store
from workbench.storage.database import Database
from workbench.workflow.settings import StudySettings, read_settings
from workbench.workflow.study import find_study, with_policies

PART_REPORTS = 10_000
_TOLD_EVERY = 5_000


@dataclass(frozen=True, slots=True)
class Labelling:
    """What labels a file: the accepted prompt of a study with its label set and settings."""

    prompt: Prompt
    prompt_file: Path
    label_set: LabelSet
    settings: StudySettings


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
    """

    out: Path
    labelled: int
    failed: int
    failures: Path | None
    parts: int = 0
    kept: int = 0


def labelling(folder: Path | None = None, *, prompt: Path | None = None) -> Labelling:
    """Return what labels a file in a study: ``prompt``, or its highest accepted revision.

    A study without a database has what stands in its prompts folder.

    Raises:
        NotFoundError: the folder is no study, or has no accepted revision.
        InputError: a file of it cannot be read.
    """
    root = find_study(folder)
    settings = read_settings(root / "data" / "study.toml")
    label_set = with_policies(read_label_set(root / "data" / settings.label_set), settings)
    if prompt is not None:
        return Labelling(read_prompt(prompt, label_set=label_set), prompt, label_set, settings)
    folder = root / "prompts" / label_set.id
    accepted = _accepted(root / "data" / "workbench.db")
    if accepted is not None:
        file = folder / f"{accepted[0]:04d}.md"
        return Labelling(parse_prompt(accepted[1], label_set=label_set, where=file.name), file, label_set, settings)
    files = sorted(folder.glob("[0-9][0-9][0-9][0-9].md"))
    if not files:
        raise NotFoundError(f"{root} has no accepted prompt in prompts/{label_set.id}; name one with --prompt FILE.")
    return Labelling(read_prompt(files[-1], label_set=label_set), files[-1], label_set, settings)


def _accepted(database: Path) -> tuple[int, str] | None:
    """Return number and file text of the highest accepted revision of a database; None without either.

    A file in the prompts folder is a copy of an accepted revision only when the database says so: one that somebody
    put there later is a candidate.
    """
    if not database.exists():
        return None
    with Database(database).read() as conn:
        accepted = [r for r in prompt_store.revisions(conn) if r.status is RevisionStatus.ACCEPTED]
        return (accepted[-1].number, prompt_store.prompt_text(conn, accepted[-1].prompt_hash)) if accepted else None


def label_file(
    using: Labelling,
    source: Source,
    out: Path,
    *,
    binary: bool = False,
    workers: int | None = None,
    on_progress: Callable[[int], None] = lambda _: None,
) -> Labelled:
    """Label every report of a source, in its order, in constant memory, on all cores, into one file.

    ``out`` gets the report id and a column per finding: 1, 0, -1, blank (not mentioned). With ``binary`` uncertain is
    collapsed by the label set's prediction policies: 1 or 0, blank under ``exclude``; not mentioned is 0. It is CSV,
    or Parquet where its name ends so. A report that cannot be labelled goes to ``OUT.failures.csv`` with the reason.
    Both files take their place when all is done; when anything is wrong neither is written.

    Raises:
        InputError: the source cannot be read as said, or ``out`` cannot be written; names the row.
        WorkbenchError: the rules engine does not pass its own check.
    """
    require_writable(out)
    failures = out.with_name(f"{out.stem}.failures.csv")
    if source.path.resolve() in {out.resolve(), failures.resolve()}:
        what = "labels" if out.resolve() == source.path.resolve() else "labels, beside which the failures are put"
        raise InputError(f"{source.path} is the file to be labelled; name another file for the {what}.")
    labels = _labels(using, _rows(using, source), binary=binary, workers=workers)
    form = "parquet" if out.suffix.lower() == ".parquet" else "csv"
    with ExitStack() as files:
        write = files.enter_context(writing_labels(out, using.label_set, form))
        reasons: dict[str, str] = {}
        labelled = _write_rows(labels, write, reasons, on_progress)
        if reasons:
            write_reason = row_writer(files.enter_context(replacing(failures)))
            write_reason(FAILURE_COLUMNS)
            for report, reason in reasons.items():
                write_reason((guard(report), guard(reason)))
    if not reasons:
        failures.unlink(missing_ok=True)  # of an earlier labelling of the same name
    return Labelled(out, labelled, len(reasons), failures if reasons else None)


def label_parts(
    using: Labelling,
    source: Source,
    folder: Path,
    *,
    form: str = "csv",
    part_reports: int = PART_REPORTS,
    binary: bool = False,
    workers: int | None = None,
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
        workers: processes that label; all cores when None.
        on_progress: told how many reports are done, those of earlier calls included.

    Raises:
        InputError: the source cannot be read as said, or the folder is not one of labels or was meddled with.
        ConflictError: the folder was begun with another source, prompt, label set, labeler or choice; or another
            process is writing into it.
        WorkbenchError: the rules engine does not pass its own check.
    """
    if form not in PARTS_FORMS:
        raise InputError(f"There are no parts of the form {form}; choose one of {', '.join(PARTS_FORMS)}.")
    task = _task(using, source, form=form, part_reports=part_reports, binary=binary)
    if source.path.is_dir() and source.path.resolve() == folder.resolve():
        raise InputError(f"{folder} holds the reports to be labelled; name another folder for the labels.")
    with open_parts(folder, task, using.label_set) as parts:
        kept = len(parts.manifest.parts)
        told = _Told(on_progress)
        rows = parts.rest(_rows(using, source), told)
        _add_parts(parts, _labels(using, rows, binary=binary, workers=workers), told)
        done = parts.manifest
    failures = folder / done.failures.file if done.failures else None
    return Labelled(folder, done.labelled, done.failed, failures, len(done.parts), kept)


def _add_parts(parts: Parts, labels: Iterator[LabelledRow], told: "_Told") -> None:
    for first in labels:
        part = chain([first], islice(labels, parts.manifest.task.part_reports - 1))
        parts.add(told.passing(part))
    if not parts.manifest.finished:
        parts.finish()


def _task(using: Labelling, source: Source, *, form: str, part_reports: int, binary: bool) -> Task:
    path, label_set = source.path, using.label_set
    labeler = settings_of("rules", kind="rules")
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
        binary=binary,
        policies=label_set.prediction_policies.as_json() if binary else None,
        form="parquet" if form == "parquet" else "csv",
        part_reports=part_reports,
    )


def _rows(using: Labelling, source: Source) -> Iterator[Row]:
    reports = iter_reports(source.path, form=source.form, columns=source.columns, encoding=source.encoding)
    return ((report.id, report.select(using.settings.sections)) for report in reports)


def _labels(using: Labelling, rows: Iterator[Row], *, binary: bool, workers: int | None) -> Iterator[LabelledRow]:
    labels = label_many(rows, using.prompt, using.label_set, workers=workers)
    if not binary:
        return labels
    cells = _binary_cells(using.label_set)
    return ((report, states if isinstance(states, str) else cells(states)) for report, states in labels)


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


def _binary_cells(label_set: LabelSet) -> Callable[[Sequence[int]], Sequence[int | None]]:
    """Return a function that collapses a row of codes to 1, 0 and None (excluded)."""
    uncertain = {Policy.PRESENT: 1, Policy.ABSENT: 0, Policy.EXCLUDE: None}
    tables: list[dict[int, int | None]] = [
        {
            State.PRESENT.code: 1,
            State.ABSENT.code: 0,
            State.NOT_MENTIONED.code: 0,
            State.UNCERTAIN.code: uncertain[policy],
        }
        for policy in per_finding(label_set.prediction_policies, label_set.ids)
    ]
    return lambda codes: [table[code] for table, code in zip(tables, codes, strict=True)]
