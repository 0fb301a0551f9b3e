"""Commands that bring data in: import, cohort."""

from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from workbench.cli.options import AsOption, EncodingOption, JsonOption, StudyOption, columns_of
from workbench.cli.output import Output, table
from workbench.domain.cohorts import Purpose
from workbench.domain.hashing import short
from workbench.errors import InputError
from workbench.workflow import cohorts, ingest
from workbench.workflow.extractor import take_in_generated
from workbench.workflow.opening import open_study
from workbench.workflow.systems import find_data_set

import_app = typer.Typer(help="Bring reports or raters' labels into the study.", no_args_is_help=True)
cohort_app = typer.Typer(help="Fixed sets of reports, allocated by patient.", no_args_is_help=True)

ColumnOption = Annotated[
    list[str],
    typer.Option("--column", help="WHAT=COLUMN; WHAT is id, patient, text, language, or section:NAME.", metavar="W=C"),
]
REPORTS_HELP = "CSV, JSONL, Parquet, Open-i's CSV as published, or MIMIC-CXR's folder or zip archive of reports"
FormatOption = Annotated[
    str | None,
    typer.Option("--format", help="csv, jsonl, parquet, openi or mimic; by the ending when left out."),
]


@import_app.command("reports")
def import_reports(
    file: Annotated[Path, typer.Argument(help=f"{REPORTS_HELP}.")],
    *,
    form: FormatOption = None,
    column: ColumnOption = [],  # noqa: B006 - typer reads the default and never changes it
    encoding: EncodingOption = "utf-8",
    study: StudyOption = None,
    as_name: AsOption = None,
    as_json: JsonOption = False,
) -> None:
    """Take reports into the study, all of a file or nothing of it.

    \b
    Examples:
      workbench import reports reports.csv --column id=StudyID --column patient=PatientID --column text=Report
      workbench import reports openi.csv --format openi
      workbench import reports mimic-cxr/files/p10                # a part of the tree, patient by folder
    """
    opened = open_study(study)
    done = ingest.import_reports(
        opened, opened.actor(as_name), file, form=form, columns=columns_of(column), encoding=encoding
    )
    lines = [f"{done.file}: {done.added} reports added, {done.known} already known."]
    if done.unreadable:
        read = ", ".join(opened.settings.sections)
        lines.append(f"{len(done.unreadable)} reports have nothing to read ({read}); the first: {done.unreadable[0]}.")
    Output(as_json).answer(
        {"file": done.file, "added": done.added, "known": done.known, "unreadable": list(done.unreadable)}, *lines
    )


@import_app.command("labels")
def import_labels(
    file: Annotated[Path, typer.Argument(help="CSV: a column per finding, 1 / 0 / -1 / blank, or exported votes.")],
    *,
    rater: Annotated[
        str | None, typer.Option(help="Whose labels; by the column rater, else by the file's name.")
    ] = None,
    report_column: Annotated[str, typer.Option(help="Column with the report id.")] = "report_id",
    rater_column: Annotated[str | None, typer.Option(help="Column with the rater, for one file of several.")] = None,
    cohort: Annotated[str | None, typer.Option(help="Take only the rows of this cohort's reports.")] = None,
    simulated: Annotated[bool, typer.Option("--simulated", help="No person made these labels.")] = False,
    encoding: EncodingOption = "utf-8",
    study: StudyOption = None,
    as_name: AsOption = None,
    as_json: JsonOption = False,
) -> None:
    """Take raters' labels into the study, all of a file or nothing of it.

    A row counts as submitted when its `reviewed` column says 1 or any finding in it is labelled: a blank row alone
    could be a normal report or one that nobody opened.

    \b
    Examples:
      workbench import labels dr-chan.csv --rater "Dr. Chan"
      workbench import labels all.csv --rater-column reader
      workbench import labels votes.csv                        # as `workbench export votes` wrote it
    """
    opened = open_study(study)
    done = ingest.import_labels(
        opened,
        opened.actor(as_name),
        file,
        rater=rater,
        report_column=report_column,
        rater_column=rater_column,
        cohort=cohorts.get_cohort(opened, cohort) if cohort else None,
        encoding=encoding,
        simulated=simulated,
    )
    counts = ", ".join(f"{name}: {n}" for name, n in done.submitted.items()) or "none"
    again = f" {done.second_readings} second readings, which never vote." if done.second_readings else ""
    Output(as_json).answer(
        {
            "file": done.file,
            "submitted": dict(done.submitted),
            "not_reviewed": done.not_reviewed,
            "second_readings": done.second_readings,
        },
        f"{done.file}: reports submitted by rater - {counts}; {done.not_reviewed} rows without a review.{again}",
    )


@cohort_app.command("allocate")
def allocate(
    name: Annotated[str, typer.Argument(help="Name of the cohort.")],
    *,
    size: Annotated[int, typer.Option(help="How many reports.", min=1)],
    purpose: Annotated[Purpose | None, typer.Option(help="What it is for; its name when left out.")] = None,
    seed: Annotated[int, typer.Option(help="Seed of the draw.")] = 0,
    enrich: Annotated[float, typer.Option(help="How many times likelier a report with a rare finding is.")] = 1.0,
    preview: Annotated[bool, typer.Option("--preview", help="Show what would be drawn and fix nothing.")] = False,
    study: StudyOption = None,
    as_name: AsOption = None,
    as_json: JsonOption = False,
) -> None:
    """Draw a cohort from the reports in none yet: by patient, near-duplicates together, fixed once made.

    It prints the positives to expect per finding, by phrase hits of the accepted prompt.

    \b
    Examples:
      workbench cohort allocate development --size 300 --seed 7 --preview
      workbench cohort allocate development --size 300 --seed 7
      workbench cohort allocate rare --purpose development --size 300 --enrich 5
    """
    if purpose is None:
        if name not in set(Purpose):
            raise InputError(f"Say what the cohort {name} is for with --purpose ({', '.join(Purpose)}).")
        purpose = Purpose(name)
    opened = open_study(study)
    made = cohorts.allocate(
        opened, opened.actor(as_name), name, purpose, size=size, seed=seed, enrich=enrich, preview=preview
    )
    shown: list[Table | str] = [
        (
            f"Cohort {name} ({purpose}): {len(made.cohort.members)} reports of {made.patients} patients, "
            f"{short(made.cohort.hash)}{' - a preview, nothing is fixed' if preview else ''}."
        )
    ]
    if made.fewer:
        shown.append(made.fewer)
    if made.expected is None:
        shown.append("No prompt is accepted yet, so the positives to expect cannot be told.")
    else:
        rows = [(f, int(n), "too few to assess" if n < 10 else "") for f, n in made.expected.items()]
        shown.append(table("Positives to expect, by phrase hits", ["finding", "positives", ""], rows))
    Output(as_json).answer(
        {
            "name": name,
            "purpose": purpose.value,
            "hash": made.cohort.hash,
            "reports": len(made.cohort.members),
            "patients": made.patients,
            "preview": preview,
            "enriched": made.cohort.enriched,
            "fewer_because": made.fewer,
            "expected_positives": dict(made.expected) if made.expected is not None else None,
        },
        *shown,
    )


@cohort_app.command("generated")
def generated(
    name: Annotated[str, typer.Argument(help="Name of the cohort.")],
    *,
    data_set: Annotated[str | None, typer.Option(help="Whose reports; the newest data set when left out.")] = None,
    task: Annotated[str | None, typer.Option(help="findings, or findings+impression.")] = None,
    size: Annotated[int | None, typer.Option(help="How many at most; all when left out.", min=1)] = None,
    purpose: Annotated[Purpose, typer.Option(help="What it is for.")] = Purpose.EXTERNAL,
    study: StudyOption = None,
    as_name: AsOption = None,
    as_json: JsonOption = False,
) -> None:
    """Take generated reports in, blinded to the system, as a cohort to be rated: it tells how a labeler errs on them.

    \b
    Example:
      workbench cohort generated machine --data-set iu --size 100
    """
    opened = open_study(study)
    actor = opened.actor(as_name)
    made = take_in_generated(
        opened, actor, find_data_set(opened, actor, data_set, task), name, size=size, purpose=purpose
    )
    Output(as_json).answer(
        {"name": made.name, "purpose": made.purpose.value, "hash": made.hash, "reports": len(made.members)},
        f"Cohort {made.name} ({made.purpose}): {len(made.members)} generated reports, blinded to the system.",
        f'Next: workbench round open {made.name} --rater "Dr. A" ..., as with any other cohort.',
    )


@cohort_app.command("list")
def list_cohorts(*, study: StudyOption = None, as_json: JsonOption = False) -> None:
    """List the study's cohorts.

    \b
    Example:
      workbench cohort list
    """
    views = cohorts.list_cohorts(open_study(study))
    rows = [
        (v.cohort.name, v.cohort.purpose, v.reports, v.patients, short(v.cohort.hash), "locked" if v.locked else "")
        for v in views
    ]
    Output(as_json).answer(
        {
            "cohorts": [
                {
                    "name": v.cohort.name,
                    "purpose": v.cohort.purpose.value,
                    "reports": v.reports,
                    "patients": v.patients,
                    "hash": v.cohort.hash,
                    "seed": v.cohort.seed,
                    "locked": v.locked,
                }
                for v in views
            ]
        },
        table("Cohorts", ["name", "purpose", "reports", "patients", "hash", ""], rows) if rows else "No cohort yet.",
    )


@cohort_app.command("unlock")
def unlock(
    name: Annotated[str, typer.Argument(help="The validation cohort.")],
    *,
    reason: Annotated[str, typer.Option(help="Why now.")],
    revision: Annotated[str, typer.Option(help="The revision that will be validated.")],
    labeler: Annotated[str, typer.Option(help="The labeler it will be run with.")],
    policies: Annotated[str, typer.Option(help="The policies it will be scored with.")],
    endpoint: Annotated[str, typer.Option(help="The figure that decides, and from which value on.")],
    study: StudyOption = None,
    as_name: AsOption = None,
    as_json: JsonOption = False,
) -> None:
    """Unlock a validation cohort on record, naming beforehand what will be validated.

    \b
    Example:
      workbench cohort unlock validation --reason "prompt final" --revision 4 --labeler rules \\
        --policies "as in the label set" --endpoint "macro-F1 at least 0.85"
    """
    opened = open_study(study)
    details = {"revision": revision, "labeler": labeler, "policies": policies, "endpoint": endpoint}
    cohorts.unlock(opened, opened.actor(as_name), name, reason=reason, details=details)
    Output(as_json).answer({"cohort": name, "unlocked": True, **details}, f"The cohort {name} is unlocked, on record.")
