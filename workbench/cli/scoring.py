"""Commands that score report generators: score, leaderboard."""

from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from workbench.cli.options import AsOption, EncodingOption, JsonOption, StudyOption, columns_of
from workbench.cli.output import Output, figure, table, under_way
from workbench.domain.actors import Actor
from workbench.errors import InputError, WorkbenchError
from workbench.running.spending import Cap
from workbench.storage.leaderboard import DataSetRecord
from workbench.workflow import leaderboard, leaderboard_files, ran_score, systems
from workbench.workflow.extractor import order_words, write_blinded
from workbench.workflow.leaderboard import Board, Column
from workbench.workflow.leaderboard_json import board_json
from workbench.workflow.leaderboard_words import coverage_words, rank_words, tie_words, unranked_words
from workbench.workflow.opening import open_study
from workbench.workflow.study import Study
from workbench.workflow.systems import DEFAULT_TASK, System, TakenIn, find_data_set

SCORING = "Reading and scoring reports"
RevisionOption = Annotated[str | None, typer.Option(help="Prompt revision; the highest accepted when left out.")]
LabelerOption = Annotated[str, typer.Option(help="A labeler of data/study.toml; it reads both sides.")]
TaskOption = Annotated[str, typer.Option(help="What is read: findings, or findings+impression.")]
OutOption = Annotated[
    Path | None, typer.Option("--out", "-o", help="Folder for leaderboard.html and the numbers.", metavar="FOLDER")
]


def register(app: typer.Typer) -> None:
    """Add these commands to the program."""
    app.command("score")(score_command)
    app.command("leaderboard")(leaderboard_command)


def score_command(
    *,
    reference: Annotated[Path | None, typer.Option(help="File with the reference reports.", metavar="FILE")] = None,
    generated: Annotated[
        list[Path] | None,
        typer.Option(help="File with one system's reports; give it once per system.", metavar="FILE"),
    ] = None,
    system: Annotated[
        list[str] | None,
        typer.Option(help="Name of the system, in the order of --generated; its file's name when left out."),
    ] = None,
    data_set: Annotated[str | None, typer.Option(help="Name of the data set; the reference file's by default.")] = None,
    task: TaskOption = DEFAULT_TASK,
    column: Annotated[
        list[str] | None,
        typer.Option(help="Which column holds what: id=, generated=, reference= or patient=COLUMN."),
    ] = None,
    encoding: EncodingOption = "utf-8",
    revision: RevisionOption = None,
    labeler: LabelerOption = "rules",
    max_tokens: Annotated[int | None, typer.Option(min=0, help="Stop a model before it has taken more.")] = None,
    max_cost: Annotated[float | None, typer.Option(min=0, help="Stop a model before it has cost more.")] = None,
    out: OutOption = None,
    study: StudyOption = None,
    as_name: AsOption = None,
    as_json: JsonOption = False,
) -> None:
    """Score report generators by Ran Score: one prompt reads the reference and the generated reports alike.

    Files are ReXrank's JSON (`report`, `model_prediction`), CSV or JSON Lines (`study_id`, `reference`, `generated`).
    Systems that were scored before on the same reference stay on the leaderboard. A model is asked nothing twice: the
    same command goes on where it stopped.

    \b
    Examples:
      workbench score --reference iu.csv --generated a.csv --generated b.csv -o board
      workbench score --reference rexrank.json --generated mine.json --system "Mine" --task findings -o board
    """
    opened = open_study(study)
    actor, said = opened.actor(as_name), Output(as_json)
    columns = columns_of(column)
    named = _named(generated or [], system or [], columns, encoding)
    if reference is not None:
        side = System(reference, data_set, columns=columns, encoding=encoding)
        known, taken = systems.add_scored(opened, actor, side, named, task=task)
        if known.name != (data_set or reference.stem):
            said.tell(f"The references of {reference} are the data set {known.name}.")
    elif data_set is not None:
        known = find_data_set(opened, actor, data_set, task)
        taken = systems.add_systems(opened, actor, known, named)
    else:
        raise InputError("Say which reference reports with --reference FILE, or which data set with --data-set NAME.")
    for each in taken:
        said.tell(_taken(each))
    cap = Cap(max_tokens, max_cost)
    with under_way("" if labeler == "rules" else f"{labeler} reads both sides", shown=not as_json) as told:
        stopped = ran_score.label_systems(
            opened, actor, known, revision=revision, labeler=labeler, cap=cap if cap.set else None, on_progress=told
        )
    if stopped:
        raise WorkbenchError(f"{stopped} The same command goes on.")
    with under_way(SCORING, shown=not as_json) as told:
        board = leaderboard.leaderboard(opened, actor, known, revision=revision, labeler=labeler, on_progress=told)
    _answer(board, out, said)


def leaderboard_command(
    name: Annotated[
        str | None, typer.Argument(help="A data set; the newest when left out.", metavar="DATA_SET")
    ] = None,
    *,
    task: Annotated[str | None, typer.Option(help="findings, or findings+impression.")] = None,
    system: Annotated[list[str] | None, typer.Option(help="Only these systems; once per system.")] = None,
    revision: RevisionOption = None,
    labeler: LabelerOption = "rules",
    blinded: Annotated[
        Path | None,
        typer.Option(help="Write the generated reports to be rated instead, blinded to the system.", metavar="FILE"),
    ] = None,
    size: Annotated[int | None, typer.Option(min=1, help="With --blinded: how many at most.")] = None,
    list_all: Annotated[bool, typer.Option("--list", help="List the data sets instead.")] = False,
    out: OutOption = None,
    study: StudyOption = None,
    as_name: AsOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show the systems of a data set by every metric, with intervals, ranks and ties; write it as a page.

    \b
    Examples:
      workbench leaderboard
      workbench leaderboard iu --task findings -o board
      workbench leaderboard --list
      workbench leaderboard iu --blinded generated.csv --size 100
    """
    opened = open_study(study)
    actor, said = opened.actor(as_name), Output(as_json)
    if list_all:
        _list(opened, actor, said)
        return
    known = find_data_set(opened, actor, name, task)
    if blinded is not None:
        count = write_blinded(opened, actor, known, blinded, size=size)
        said.answer(
            {"file": str(blinded), "reports": count},
            f"{count} generated reports in {blinded}, blinded to the system.",
            f"Next: workbench import reports {blinded}; then a cohort and a round of them, as of any others.",
        )
        return
    with under_way(SCORING, shown=not as_json) as told:
        board = leaderboard.leaderboard(
            opened, actor, known, revision=revision, labeler=labeler, systems=system or None, on_progress=told
        )
    _answer(board, out, said)


def opened_with(
    study: Path | None, as_name: str | None, data_set: str | None, task: str | None
) -> tuple[Study, Actor, DataSetRecord]:
    """Return the study that is meant, who acts, and the data set; the newest one where none is named."""
    opened = open_study(study)
    actor = opened.actor(as_name)
    return opened, actor, find_data_set(opened, actor, data_set, task)


def _named(files: list[Path], names: list[str], columns: dict[str, str] | None, encoding: str) -> list[System]:
    if len(names) > len(files):
        raise InputError(f"{len(names)} names of systems do not go with {len(files)} files; give --system per file.")
    padded = [*names, *[None] * (len(files) - len(names))]
    return [System(f, name, columns=columns, encoding=encoding) for f, name in zip(files, padded, strict=True)]


def _taken(each: TakenIn) -> str:
    rest = [(each.empty, "empty"), (each.missing, "left out"), (each.unknown, "not in the data set")]
    rest.append((each.other_references, "references that it gives otherwise (those of the data set count)"))
    told = "".join(f", {n} {what}" for n, what in rest if n)
    return f"{each.file}: {each.system}, {each.written} reports{told}{'' if each.new else '; known already'}."


def _answer(board: Board, out: Path | None, said: Output) -> None:
    files = leaderboard_files.write_leaderboard(board, out) if out is not None else []
    facts = "; ".join(f"{name}: {value}" for name, value in leaderboard_files.facts_of(board))
    where = [f"Written: {', '.join(str(path) for path in files)}."] if files else []
    said.answer(
        {**board_json(board), "files": [str(path) for path in files]},
        _table(board),
        f"{facts}.",
        unranked_words(board.columns[0].ranking) or tie_words(board.columns[0].ranking),
        *([board.ground] if board.ground else []),
        *board.uneven,
        *(f"{column.metric.name}: {column.judge}" for column in board.columns if column.judge),
        *_invented(board),
        *(words for words in order_words(board.errors) if words) if board.errors else (),
        *where,
    )


def _table(board: Board) -> Table:
    rows = []
    for name in board.systems:
        rank, interval = rank_words(board.columns[0].ranking, name)
        first, *rest = board.columns
        own = figure(first.own[name]).split(" ")[0]
        values = [figure(first.ranking.of(name).value), own, *(_value(column, name) for column in rest)]
        rows.append((rank, interval, name, *values, coverage_words(board.scoring.of(name))))
    names = [f"{c.metric.name}{'' if c.metric.higher_is_better else ' (lower is better)'}" for c in board.columns]
    columns = ["rank", "place (95 %)", "system", f"{names[0]} (95 %)", "its own", *names[1:], "studies"]
    return table(f"{board.scoring.data_set.name}, {board.scoring.data_set.task}", columns, rows)


def _value(column: Column, system: str) -> str:
    """Return what a system is ranked by, or where it has no place its own mean with its n."""
    shown = column.shown(system)
    told = figure(shown).split(" ")[0]
    return told if column.ranking.of(system).value.defined or not shown.defined else f"{told} n {shown.n:,}"


def _invented(board: Board) -> list[str]:
    found = [(name, board.scoring.of(name).common) for name in board.systems]
    lines = [
        f"{name} invented, where no reference has it: {', '.join(f'{f} {n}' for f, n in score.invented)}."
        for name, score in found
        if score and score.invented
    ]
    reciprocals = [f"{name} {figure(value)}" for name, value in board.reciprocals.items() if value.defined]
    undefined = [f"{name} is {value.reason}" for name, value in board.reciprocals.items() if not value.defined]
    if reciprocals:
        lines.append(f"1 / mean RadCliQ-v1, higher is better: {', '.join(reciprocals)}.")
    if undefined:
        lines.append(f"1 / mean RadCliQ-v1 of {'; of '.join(undefined)}.")
    return lines


def _list(study: Study, actor: Actor, said: Output) -> None:
    known = systems.data_sets(study, actor)
    rows = [
        (d.name, d.task, ", ".join(s.system for s in systems.submissions(study, actor, d)), d.actor, f"{d.at:%Y-%m-%d}")
        for d in known
    ]
    said.answer(
        {
            "data_sets": [
                {"name": d.name, "task": d.task, "hash": d.hash, "systems": row[2].split(", ")}
                for d, row in zip(known, rows, strict=True)
            ]
        },
        table("Data sets", ["name", "task", "systems", "by", "since"], rows) if rows else "No data set yet.",
    )
