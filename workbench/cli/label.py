"""The command that labels a file of reports."""

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from workbench.cli.data import ColumnOption, FormatOption, columns_of
from workbench.cli.options import EncodingOption, JsonOption, StudyOption
from workbench.cli.output import Output
from workbench.domain.hashing import short
from workbench.workflow.label import label_file, labelling


def register(app: typer.Typer) -> None:
    """Add this command to the program."""
    app.command("label")(label_command)


def label_command(
    file: Annotated[Path, typer.Argument(help="CSV, JSONL, or Open-i's CSV as published.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="File for the labels.")],
    *,
    form: FormatOption = None,
    column: ColumnOption = [],  # noqa: B006 - typer reads the default and never changes it
    encoding: EncodingOption = "utf-8",
    binary: Annotated[bool, typer.Option("--binary", help="1 and 0; uncertain by the label set's policies.")] = False,
    prompt: Annotated[Path | None, typer.Option(help="A prompt file; the highest accepted when left out.")] = None,
    workers: Annotated[int | None, typer.Option(help="Processes; all cores when left out.", min=1)] = None,
    study: StudyOption = None,
    as_json: JsonOption = False,
) -> None:
    """Label the reports of a file with the rules labeler: no database, any length, all cores.

    Report id first, then one column per finding: 1 present, 0 absent, -1 uncertain, blank not mentioned. Reports that
    cannot be labelled go to OUT.failures.csv with the reason, never into OUT.

    \b
    Examples:
      workbench label reports.csv -o labels.csv --column id=StudyID --column text=Report
      workbench label openi.csv --format openi --binary -o labels.csv
    """
    using = labelling(study, prompt=prompt)
    console = Console(stderr=True)
    with console.status("Labelling") as status:
        done = label_file(
            using,
            file,
            out,
            form=form,
            columns=columns_of(column),
            encoding=encoding,
            binary=binary,
            workers=workers,
            on_progress=lambda n: status.update(f"Labelling: {n:,} reports"),
        )
    lines = [
        f"{done.labelled} reports labelled by {using.prompt_file.name} ({short(using.prompt.hash)}) into {done.out}."
    ]
    if done.failures:
        lines.append(f"{done.failed} could not be labelled; the reasons are in {done.failures}.")
    Output(as_json).answer(
        {
            "out": str(done.out),
            "labelled": done.labelled,
            "failed": done.failed,
            "failures": str(done.failures) if done.failures else None,
            "prompt": {"file": using.prompt_file.name, "hash": using.prompt.hash},
            "label_set": {"id": using.label_set.id, "version": using.label_set.version, "hash": using.label_set.hash},
            "binary": binary,
            "prediction_policies": using.label_set.prediction_policies.as_json() if binary else None,
        },
        *lines,
    )
