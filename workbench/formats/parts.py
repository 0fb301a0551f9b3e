"""Labels in a folder, in parts: what was written stays, and the same labelling goes on after the last whole part.

``manifest.json`` says what is labelled by what (``Task``) and, of each part, its file, how many reports it is for,
their first and last id, and two SHA-256: of the file, and of what was read for it. Nothing in it depends on when or in
how many goes the parts were written, so a labelling that was stopped and taken up again ends in the same bytes.
Reports without labels stand in ``failures.csv``, whose length after each part is kept for the same reason.
"""

import hashlib
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import asdict
from itertools import islice
from pathlib import Path
from typing import TextIO

from workbench.domain.findings import LabelSet
from workbench.domain.runs import Usage
from workbench.errors import ConflictError, InputError
from workbench.formats.labels import writing_codes
from workbench.formats.locks import alone
from workbench.formats.parquet import writing_parquet
from workbench.formats.parts_manifest import (
    FailuresMark,
    PartMark,
    PartsManifest,
    Task,
    UsageMark,
    file_hash,
    known_manifest,
    require_same,
    require_whole,
    save_manifest,
)
from workbench.formats.writing import guard, row_writer

PARTS_FORMS = ("csv", "parquet")
FAILURES = "failures.csv"
FAILURE_COLUMNS = ("report_id", "reason")

Row = tuple[str, str]  # report id and the text that is labelled
LabelledRow = tuple[str, Sequence[int | None] | str]  # codes in label-set order, or why there are none
Write = Callable[[str, Sequence[int | None]], object]


def writing_labels(path: Path, label_set: LabelSet, form: str) -> AbstractContextManager[Write]:
    """Return what ``labels.writing_codes`` or ``parquet.writing_parquet`` gives, by the form csv or parquet."""
    return writing_parquet(path, label_set) if form == "parquet" else writing_codes(path, label_set)


@contextmanager
def open_parts(folder: Path, task: Task, label_set: LabelSet) -> Iterator["Parts"]:
    """Give the folder to write a task's parts in, made when it is missing, with the parts that stand there already.

    Nobody else can open it meanwhile (see ``formats.locks``).

    Raises:
        ConflictError: parts of another task stand there, or somebody else is writing into it.
        InputError: it is a file, cannot be made, holds other things, or a file in it was changed or is missing.
    """
    try:
        folder.mkdir(exist_ok=True)
    except FileExistsError:
        raise InputError(f"{folder} is a file; name a folder for the parts.") from None
    except OSError as error:
        raise InputError(f"The folder {folder} cannot be made: {error.strerror or error}.") from None
    with alone(folder):
        for aside in folder.glob(".*.partial"):  # of a labelling that was killed
            aside.unlink()
        manifest = known_manifest(folder)
        if manifest is None:
            manifest = PartsManifest(task=task)
            save_manifest(folder, manifest)
        require_same(folder, manifest.task, task)
        require_whole(folder, manifest)
        yield Parts(folder, label_set, manifest)


class Parts:
    """A folder whose parts are written one after the other. ``manifest`` says what stands there."""

    def __init__(self, folder: Path, label_set: LabelSet, manifest: PartsManifest) -> None:
        self.folder = folder
        self.manifest = manifest
        self._label_set = label_set
        self._read: dict[int, _ReadHash] = {}

    def rest(self, rows: Iterator[Row], on_row: Callable[[], object] = lambda: None) -> Iterator[Row]:
        """Read the rows of the parts that stand, and return an iterator over those that are still to be labelled.

        ``on_row`` is called for each row of a part that stands.

        Raises:
            ConflictError: those rows are not what the parts were made from.
        """
        for part in self.manifest.parts:
            found = _ReadHash()
            for row in islice(rows, part.reports):
                found.add(row)
                on_row()
            if found.hex != part.read_sha256:
                raise ConflictError(
                    f"{self.manifest.task.source.name} has changed: what is read for {part.first} to {part.last} is no "
                    f"longer what {self.folder / part.file} was labelled from; name another folder."
                )
        return self._noted(rows, len(self.manifest.parts))

    def _noted(self, rows: Iterator[Row], number: int) -> Iterator[Row]:
        """Yield rows, noting what is read for each part. They may be read well ahead of the labels."""
        size = self.manifest.task.part_reports
        for at, row in enumerate(rows):
            self._read.setdefault(number + at // size, _ReadHash()).add(row)
            yield row

    def add(self, labels: Iterable[LabelledRow], usage: Callable[[], Usage] = Usage) -> PartMark:
        """Write the next part: the labels of ``part_reports`` of the rows that ``rest`` gave, or of all the last ones.

        ``usage`` is asked, after the last label was taken, what the model took for them. When this returns, the part,
        its failures and the manifest that names them are on the disk.
        """
        known, number = self.manifest, len(self.manifest.parts)
        file = f"part-{number + 1:05d}.{known.task.form}"
        counts, ends = [0, 0], ["", ""]
        with (
            _failures(self.folder, known.failures) as fail,
            writing_labels(self.folder / file, self._label_set, known.task.form) as write,
        ):
            for report, states in labels:
                ends = [ends[0] or report, report]
                if isinstance(states, str):
                    counts[1] += 1
                    fail(report, states)
                else:
                    counts[0] += 1
                    write(report, states)
        part = PartMark(
            file=file,
            reports=sum(counts),
            rows=counts[0],
            failed=counts[1],
            first=ends[0],
            last=ends[1],
            sha256=file_hash(self.folder / file),
            read_sha256=self._read.pop(number, _ReadHash()).hex,
            usage=None if (used := usage()) == Usage() else UsageMark(**asdict(used)),
        )
        self._save(
            parts=(*known.parts, part),
            reports=known.reports + part.reports,
            labelled=known.labelled + part.rows,
            failed=known.failed + part.failed,
            failures=_failures_mark(self.folder, known.failed + part.failed),
        )
        return part

    @property
    def usage(self) -> Usage:
        """Return what a model took for the parts that stand."""
        marks = (part.usage for part in self.manifest.parts)
        return sum((Usage(**mark.model_dump()) for mark in marks if mark), Usage())

    def finish(self) -> None:
        """Say in the manifest that there are no more parts."""
        self._save(finished=True)

    def _save(self, **changes: object) -> None:
        self.manifest = self.manifest.model_copy(update=changes)
        save_manifest(self.folder, self.manifest)


class _ReadHash:
    def __init__(self) -> None:
        self._sha = hashlib.sha256()

    def add(self, row: Row) -> None:
        report, text = row
        self._sha.update(f"{len(report)} {len(text)} {report}{text}".encode("utf-8", "surrogatepass"))

    @property
    def hex(self) -> str:
        return self._sha.hexdigest()


@contextmanager
def _failures(folder: Path, mark: FailuresMark | None) -> Iterator[Callable[[str, str], object]]:
    """Give a function that adds a report and its reason to the file of failures, after those of whole parts.

    The file is not made before there is one.
    """
    path = folder / FAILURES
    file: TextIO | None = None
    if mark is None:
        path.unlink(missing_ok=True)
    else:
        with path.open("r+b") as known:
            known.truncate(mark.bytes)

    def fail(report: str, reason: str) -> None:
        nonlocal file
        if file is None:
            file = path.open("a", encoding="utf-8", newline="")
            if mark is None:
                row_writer(file)(FAILURE_COLUMNS)
        row_writer(file)((guard(report), guard(reason)))

    try:
        yield fail
        if file is not None:
            file.flush()
            os.fsync(file.fileno())
    finally:
        if file is not None:
            file.close()


def _failures_mark(folder: Path, rows: int) -> FailuresMark | None:
    if not rows:
        return None
    path = folder / FAILURES
    return FailuresMark(file=FAILURES, rows=rows, bytes=path.stat().st_size, sha256=file_hash(path))
