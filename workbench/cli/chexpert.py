"""The command that holds CheXbert beside the prompt: chexbert."""

from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from workbench.cli.options import AsOption, EncodingOption, JsonOption, StudyOption
from workbench.cli.output import Output, figure, table
from workbench.cli.prompts import score_of
from workbench.workflow.chexpert import ChexpertBenchmark, chexpert_benchmark
from workbench.workflow.opening import open_study


def register(app: typer.Typer) -> None:
    """Add the command to the program."""
    app.command("chexbert")(chexbert)


def chexbert(
    path: Annotated[
        Path,
        typer.Argument(help="CSV of CheXbert or chexpert-labeler: 14 columns of 1, 0, -1 or blank.", metavar="FILE"),
    ],
    *,
    prompt: Annotated[str | None, typer.Option(help="Revision; the highest accepted when left out.")] = None,
    labeler: Annotated[str, typer.Option(help="The labeler that carried the prompt out.")] = "rules",
    reference: Annotated[str | None, typer.Option(help="A reference; the primary one when left out.")] = None,
    id_column: Annotated[
        str | None, typer.Option(help="Column with the report id; else by usual names, else by text.")
    ] = None,
    encoding: EncodingOption = "utf-8",
    study: StudyOption = None,
    as_name: AsOption = None,
    as_json: JsonOption = False,
) -> None:
    """Hold CheXbert's labels beside the prompt's on the study's reference: F1 side by side and the difference.

    Only findings that mean the same are compared; data/comparable_chexpert.yaml says which. The prompt's score has to
    be there (`workbench evaluate`).

    \b
    Example:
      workbench chexbert labeled_reports.csv --prompt 4
    """
    opened = open_study(study)
    actor = opened.actor(as_name)
    score = score_of(opened, actor, revision=prompt, reference_name=reference, labeler=labeler)
    found = chexpert_benchmark(opened, actor, score, path, id_column=id_column, encoding=encoding)
    Output(as_json).answer(_json(found), *_shown(found))


def _shown(found: ChexpertBenchmark) -> list[Table | str]:
    rows = [
        (
            ours.finding_id,
            found.observations[ours.finding_id],
            ours.support,
            figure(ours.f1),
            figure(theirs.f1),
            figure(change.f1_change),
            "too few to assess" if ours.too_few else "",
        )
        for ours, theirs, change in zip(
            found.prompt.findings, found.other.findings, found.difference.findings, strict=True
        )
    ]
    number, name = found.score.prepared.number, found.score.prepared.run.labeler.name
    columns = ["finding", "CheXpert's", "support", f"F1, revision {number}", "F1, CheXbert", "difference (95 %)", ""]
    missing = f"; {found.not_labelled} reports are not in the file" if found.not_labelled else ""
    return [
        table(f"Revision {number} with {name} and CheXbert on {found.score.reference.name}", columns, rows),
        (
            f"Macro-F1 over {found.prompt.macro_f1.n} findings: {figure(found.prompt.macro_f1)} and "
            f"{figure(found.other.macro_f1)}; difference {figure(found.difference.macro_f1_change)}. "
            f"{found.prompt.n_reports} reports, {found.prompt.n_patients} patients{missing}."
        ),
    ]


def _json(found: ChexpertBenchmark) -> dict[str, object]:
    return {
        "evaluation": found.score.hash,
        "reference": {"name": found.score.reference.name, "hash": found.score.reference.hash},
        "revision": found.score.prepared.number,
        "labeler": found.score.prepared.run.labeler.name,
        "observations": found.observations,
        "prompt": found.prompt.as_json(),
        "chexbert": found.other.as_json(),
        "macro_f1_change": found.difference.macro_f1_change.as_json(),
        "f1_changes": {row.finding_id: row.f1_change.as_json() for row in found.difference.findings},
        "not_labelled": found.not_labelled,
    }
