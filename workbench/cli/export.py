"""Commands that take data out: export votes, reference, agreement, audit, methods."""

from pathlib import Path
from typing import Annotated

import typer

from workbench.cli.options import AsOption, JsonOption, StudyOption
from workbench.cli.output import Output, figure
from workbench.cli.prompts import score_of
from workbench.workflow import export
from workbench.workflow import methods as writing
from workbench.workflow.agreed import View
from workbench.workflow.export import Exported, Shape
from workbench.workflow.opening import open_study

export_app = typer.Typer(
    help="Take votes, reference, agreement or the audit trail out, as CSV or Parquet. Votes leave once the round is "
    "closed: when a reference is frozen on them. Exporting them counts as looking at them, which ends adjudication.",
    no_args_is_help=True,
)
NameArgument = Annotated[
    str | None, typer.Argument(help="A reference, or a cohort; the primary one when left out.", metavar="REFERENCE")
]
OutOption = Annotated[Path, typer.Option("--out", "-o", help="File to write.", metavar="FILE")]
TableFormatOption = Annotated[str | None, typer.Option("--format", help="csv or parquet; by the ending when left out.")]


@export_app.command("votes")
def votes(
    name: Annotated[str, typer.Argument(help="A cohort (every vote), or a reference (the votes that counted in it).")],
    *,
    out: OutOption,
    wide: Annotated[bool, typer.Option("--wide/--long", help="One column per finding, or one row.")] = False,
    form: TableFormatOption = None,
    study: StudyOption = None,
    as_name: AsOption = None,
    as_json: JsonOption = False,
) -> None:
    """Write the raters' labels of a closed round; `workbench import labels` takes them in again.

    Long: one row per report, rater and finding, with state, time, seconds, source, comment and evidence. Wide: one row
    per report and rater, one column per finding: 1 present, 0 absent, -1 uncertain, blank not mentioned. `reviewed`
    tells a reviewed normal report (1) from one that its rater never submitted (0). `reading` is 2 in the rows of a
    report that came a second time to its rater; only rows with 1 are votes.

    \b
    Examples:
      workbench export votes development -o votes.csv
      workbench export votes development --wide -o votes-wide.csv
      workbench export votes development-1 --format parquet -o votes.parquet
    """
    opened, shape = open_study(study), Shape.WIDE if wide else Shape.LONG
    _tell(export.export_votes(opened, opened.actor(as_name), name, out, form=form, shape=shape), as_json)


@export_app.command("reference")
def reference(
    name: NameArgument = None,
    *,
    out: OutOption,
    form: TableFormatOption = None,
    study: StudyOption = None,
    as_name: AsOption = None,
    as_json: JsonOption = False,
) -> None:
    """Write a frozen reference: per report and finding the outcome, the votes, and the rule and policy behind it.

    \b
    Examples:
      workbench export reference -o reference.csv
      workbench export reference development-1 -o reference.parquet
    """
    opened = open_study(study)
    _tell(export.export_reference(opened, opened.actor(as_name), out, name=name, form=form), as_json)


@export_app.command("agreement")
def agreement(
    name: NameArgument = None,
    *,
    out: OutOption,
    view: Annotated[
        View, typer.Option("--view", help="Agreement on the votes as two states (primary), or on the four states.")
    ] = View.TWO_STATES,
    form: TableFormatOption = None,
    study: StudyOption = None,
    as_name: AsOption = None,
    as_json: JsonOption = False,
) -> None:
    """Write how far the raters of a reference agree, one row per finding, with n and the reason where undefined.

    \b
    Examples:
      workbench export agreement development-1 -o agreement.csv
      workbench export agreement development-1 --view four-states -o agreement-four.csv
    """
    opened = open_study(study)
    written, agreed = export.export_agreement(opened, opened.actor(as_name), out, name=name, form=form, view=view)
    overall = agreed.overall
    mean = f"Mean over {overall.alpha.n} findings: alpha {figure(overall.alpha)}; over {overall.ac1.n}: AC1 "
    _tell(written, as_json, f"Agreement on {view.words}.", f"{mean}{figure(overall.ac1)}.")


@export_app.command("methods")
def methods(
    revision: Annotated[
        str | None, typer.Argument(help="Number, or the beginning of its hash; the highest accepted when left out.")
    ] = None,
    *,
    out: Annotated[Path, typer.Option("--out", "-o", help="New folder to write.", metavar="FOLDER")],
    reference_name: Annotated[str | None, typer.Option("--reference", help="The primary one when left out.")] = None,
    labeler: Annotated[str, typer.Option(help="The labeler whose scores are told.")] = "rules",
    study: StudyOption = None,
    as_name: AsOption = None,
    as_json: JsonOption = False,
) -> None:
    """Write what a paper needs of a scored revision: methods.md, numbers.csv, history.svg, and the prompts as files.

    The methods tell reports, raters, agreement, rules, failures, prompt, labeler, scores with intervals, looks and
    deviations from the records; what no record holds is marked to be filled in.

    \b
    Examples:
      workbench export methods -o paper
      workbench export methods 4 -o paper
    """
    opened = open_study(study)
    actor = opened.actor(as_name)
    score = score_of(opened, actor, revision=revision, reference_name=reference_name, labeler=labeler)
    written = writing.export_methods(opened, actor, score, out)
    Output(as_json).answer(
        {"folder": str(written.folder), "files": list(written.files), "revision": score.prepared.number},
        f"Revision {score.prepared.number}: {len(written.files)} files written to {written.folder}.",
    )


@export_app.command("audit")
def audit(
    *,
    out: OutOption,
    form: TableFormatOption = None,
    study: StudyOption = None,
    as_name: AsOption = None,
    as_json: JsonOption = False,
) -> None:
    """Write who did what and when: imports, cohorts, unlocks, labels, references, revisions, decisions, runs, scores.

    What a rater labelled is told only where the round is closed and its counts were seen.

    \b
    Example:
      workbench export audit -o audit.csv
    """
    opened = open_study(study)
    _tell(export.export_audit(opened, opened.actor(as_name), out, form=form), as_json)


def _tell(written: Exported, as_json: bool, *more: str) -> None:
    of = f" of {written.cohort}, reference {written.reference}" if written.cohort else ""
    Output(as_json).answer(
        {
            "file": str(written.path),
            "format": written.form.value,
            "rows": written.rows,
            "cohort": written.cohort or None,
            "reference": written.reference or None,
            "simulated": written.simulated,
        },
        f"{written.rows} rows{of} written to {written.path}.",
        *(["Some of its votes are simulated."] if written.simulated else []),
        *more,
    )
