"""Labelling a file of reports of any length, without a database."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from workbench.domain.findings import LabelSet, Policy, State
from workbench.domain.prompts import Prompt, RevisionStatus
from workbench.errors import InputError, NotFoundError
from workbench.evaluation.consensus import per_finding
from workbench.formats.label_sets import read_label_set
from workbench.formats.labels import writing_codes
from workbench.formats.reports import iter_reports
from workbench.formats.writing import guard, replacing, require_writable, row_writer
from workbench.prompting.files import parse_prompt, read_prompt
from workbench.running.bulk import label_many
from workbench.storage import prompts as prompt_store
from workbench.storage.database import Database
from workbench.workflow.settings import StudySettings, read_settings
from workbench.workflow.study import find_study, with_policies

_TOLD_EVERY = 5_000
Write = Callable[[str, Sequence[int | None]], object]


@dataclass(frozen=True, slots=True)
class Labelling:
    """What labels a file: the accepted prompt of a study with its label set and settings."""

    prompt: Prompt
    prompt_file: Path
    label_set: LabelSet
    settings: StudySettings


@dataclass(frozen=True, slots=True)
class Labelled:
    """What became of a file: rows labelled into ``out``, rows that failed into ``failures`` (None: there were none)."""

    out: Path
    labelled: int
    failed: int
    failures: Path | None


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
    source: Path,
    out: Path,
    *,
    form: str | None = None,
    columns: Mapping[str, str] | None = None,
    encoding: str = "utf-8",
    binary: bool = False,
    workers: int | None = None,
    on_progress: Callable[[int], None] = lambda _: None,
) -> Labelled:
    """Label every report of a file, in its order, in constant memory, on all cores.

    ``out`` gets the report id and a column per finding: 1, 0, -1, blank (not mentioned). With ``binary`` uncertain is
    collapsed by the label set's prediction policies: 1 or 0, blank under ``exclude``; not mentioned is 0. A report
    that cannot be labelled goes to ``OUT.failures.csv`` with the reason. Both files take their place when all is done;
    when anything is wrong neither is written.

    Raises:
        InputError: the source cannot be read as said, or ``out`` cannot be written; names the row.
        WorkbenchError: the rules engine does not pass its own check.
    """
    require_writable(out)
    failures = out.with_name(f"{out.stem}.failures.csv")
    if source.resolve() in {out.resolve(), failures.resolve()}:
        what = "labels" if out.resolve() == source.resolve() else "labels, beside which the failures are put"
        raise InputError(f"{source} is the file to be labelled; name another file for the {what}.")
    reports = iter_reports(source, form=form, columns=columns, encoding=encoding)
    rows = ((report.id, report.select(using.settings.sections)) for report in reports)
    labels = label_many(rows, using.prompt, using.label_set, workers=workers)
    cells = _binary_cells(using.label_set) if binary else _four_state_cells
    with ExitStack() as files:
        write = files.enter_context(writing_codes(out, using.label_set))
        reasons: dict[str, str] = {}
        labelled = _write_rows(labels, write, cells, reasons, on_progress)
        if reasons:
            write_reason = row_writer(files.enter_context(replacing(failures)))
            write_reason(("report_id", "reason"))
            for report, reason in reasons.items():
                write_reason((guard(report), reason))
    if not reasons:
        failures.unlink(missing_ok=True)  # of an earlier labelling of the same name
    return Labelled(out, labelled, len(reasons), failures if reasons else None)


def _write_rows(
    labels: Iterator[tuple[str, Sequence[int] | str]],
    write: Write,
    cells: Callable[[Sequence[int]], Sequence[int | None]],
    reasons: dict[str, str],
    on_progress: Callable[[int], None],
) -> int:
    labelled = 0
    for report, states in labels:
        if isinstance(states, str):
            reasons[report] = states
            continue
        write(report, cells(states))
        labelled += 1
        if labelled % _TOLD_EVERY == 0:
            on_progress(labelled)
    return labelled


def _four_state_cells(codes: Sequence[int]) -> Sequence[int | None]:
    return codes


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
