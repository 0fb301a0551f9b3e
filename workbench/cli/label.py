"""The command that labels a file, folder or archive of reports."""

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from workbench.cli.data import REPORTS_HELP, ColumnOption, FormatOption, columns_of
from workbench.cli.options import EncodingOption, JsonOption, StudyOption
from workbench.cli.output import Output
from workbench.domain.hashing import short
from workbench.formats.parts_manifest import MANIFEST
from workbench.workflow.label import PART_REPORTS, Labelled, Labelling, Source, label_file, label_parts, labelling


def register(app: typer.Typer) -> None:
    """Add this command to the program."""
    app.command("label")(label_command)


def label_command(
    file: Annotated[Path, typer.Argument(help=f"{REPORTS_HELP}.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="File for the labels; with --parts a folder.")],
    *,
    form: FormatOption = None,
    column: ColumnOption = [],  # noqa: B006 - typer reads the default and never changes it
    encoding: EncodingOption = "utf-8",
    binary: Annotated[bool, typer.Option("--binary", help="1 and 0; uncertain by the label set's policies.")] = False,
    prompt: Annotated[Path | None, typer.Option(help="A prompt file; the highest accepted when left out.")] = None,
    parts: Annotated[
        str | None, typer.Option(help="csv or parquet: fill the folder OUT in parts, and go on where it was stopped.")
    ] = None,
    part_reports: Annotated[int, typer.Option(help="Reports in a part.", min=1)] = PART_REPORTS,
    workers: Annotated[int | None, typer.Option(help="Processes; all cores when left out.", min=1)] = None,
    study: StudyOption = None,
    as_json: JsonOption = False,
) -> None:
    """Label reports with the rules labeler: no database, any number, all cores.

    Report id first, then one column per finding: 1 present, 0 absent, -1 uncertain, blank not mentioned. Reports that
    cannot be labelled go to OUT.failures.csv with the reason, never into OUT. An OUT that ends in .parquet is Parquet.

    For an archive use --parts: the folder OUT gets parts, their manifest.json, and failures.csv. When it is stopped,
    the same command goes on after the last whole part; with another prompt, source or labeler it refuses to.

    \b
    Examples:
      workbench label reports.csv -o labels.csv --column id=StudyID --column text=Report
      workbench label openi.csv --format openi --binary -o labels.csv
      workbench label mimic-cxr/files --parts parquet -o labels   # files/p10/p10000032/s50414267.txt
    """
    using = labelling(study, prompt=prompt)
    source = Source(file, form, columns_of(column), encoding)
    with Console(stderr=True).status("Labelling") as status:

        def tell(count: int) -> None:
            status.update(f"Labelling: {count:,} reports")

        if parts is None:
            done = label_file(using, source, out, binary=binary, workers=workers, on_progress=tell)
        else:
            done = label_parts(
                using,
                source,
                out,
                form=parts,
                part_reports=part_reports,
                binary=binary,
                workers=workers,
                on_progress=tell,
            )
    Output(as_json).answer(_as_json(using, done, binary=binary), *_lines(using, done))


def _as_json(using: Labelling, done: Labelled, *, binary: bool) -> dict[str, object]:
    return {
        "out": str(done.out),
        "labelled": done.labelled,
        "failed": done.failed,
        "failures": str(done.failures) if done.failures else None,
        "parts": done.parts,
        "kept_parts": done.kept,
        "prompt": {"file": using.prompt_file.name, "hash": using.prompt.hash},
        "label_set": {"id": using.label_set.id, "version": using.label_set.version, "hash": using.label_set.hash},
        "binary": binary,
        "prediction_policies": using.label_set.prediction_policies.as_json() if binary else None,
    }


def _lines(using: Labelling, done: Labelled) -> list[str]:
    lines = [
        f"{done.labelled} reports labelled by {using.prompt_file.name} ({short(using.prompt.hash)}) into {done.out}."
    ]
    if done.parts:
        before = f", {done.kept} of which stood there before" if done.kept else ""
        lines.append(f"{done.parts} parts{before}; {done.out / MANIFEST} says what is in each.")
    if done.failures:
        lines.append(f"{done.failed} could not be labelled; the reasons are in {done.failures}.")
    return lines
