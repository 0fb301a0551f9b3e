"""Commands on radiologists' review of generated reports: open, close, show, export, import."""

from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from workbench.cli.options import AsOption, EncodingOption, JsonOption, StudyOption
from workbench.cli.output import Output, figure, table
from workbench.cli.scoring import opened_with
from workbench.domain.reviews import RATINGS, Fault
from workbench.evaluation.marking import COEFFICIENTS, MarksAgreement
from workbench.evaluation.numbers import Figure
from workbench.workflow import review, review_files, review_results
from workbench.workflow.review import Progress, ReviewView
from workbench.workflow.review_results import Outcome, SystemReview

review_app = typer.Typer(help="Radiologists review generated reports, blind to the system.", no_args_is_help=True)
DataSetArgument = Annotated[str, typer.Argument(help="Name of the data set, or how its hash begins.")]
TaskOption = Annotated[str | None, typer.Option(help="findings, or findings+impression, where both have the name.")]


@review_app.command("open")
def open_command(
    data_set: DataSetArgument,
    *,
    reviewer: Annotated[list[str], typer.Option(help="Who takes part; give it once for each reviewer.")],
    studies: Annotated[
        int | None, typer.Option(help=f"How many, the same for every system; {review.STUDIES} when left out.")
    ] = None,
    seed: Annotated[int, typer.Option(help="Draws the studies and each reviewer's order.")] = 0,
    system: Annotated[list[str] | None, typer.Option(help="Only these systems; once per system.")] = None,
    task: TaskOption = None,
    study: StudyOption = None,
    as_name: AsOption = None,
    as_json: JsonOption = False,
) -> None:
    """Open a review: data set, systems, studies and reviewers are fixed with it. They rate on the page Review.

    \b
    Example:
      workbench review open iu --reviewer "Dr. A" --reviewer "Dr. B" --studies 30
    """
    opened, actor, known = opened_with(study, as_name, data_set, task)
    made = review.open_review(
        opened, actor, known, reviewers=reviewer, studies=studies, seed=seed, systems=system or None
    )
    fixed = made.review
    Output(as_json).answer(
        {
            **_view(made),
            "data_set": known.name,
            "systems": [name for name, _ in fixed.submissions],
            "studies": list(fixed.study_ids),
            "reviewers": list(fixed.reviewers),
            "seed": fixed.seed,
        },
        f"{fixed.name} of {known.name} is open: {len(fixed.submissions)} systems, {len(fixed.study_ids)} studies, "
        f"{', '.join(fixed.reviewers)}. They rate on the page Review.",
    )


@review_app.command("close")
def close_command(
    data_set: DataSetArgument,
    *,
    reason: Annotated[str, typer.Option(help="Why now.")] = "",
    task: TaskOption = None,
    study: StudyOption = None,
    as_name: AsOption = None,
    as_json: JsonOption = False,
) -> None:
    """Close the open review of a data set for good; from then on its ratings are seen.

    \b
    Example:
      workbench review close iu
    """
    closed = review.close_review(*opened_with(study, as_name, data_set, task), reason=reason)
    Output(as_json).answer(_view(closed), f"{closed.review.name} is closed.")


@review_app.command("show")
def show_command(
    data_set: DataSetArgument,
    *,
    revision: Annotated[str | None, typer.Option(help="Prompt revision; the highest accepted when left out.")] = None,
    labeler: Annotated[str, typer.Option(help="A labeler of data/study.toml; it reads both sides.")] = "rules",
    task: TaskOption = None,
    study: StudyOption = None,
    as_name: AsOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show how far the reviewers are while a review is open, and what they found once it is closed.

    \b
    Example:
      workbench review show iu
    """
    opened, actor, known = opened_with(study, as_name, data_set, task)
    out = Output(as_json)
    held = [p for p in review.progress(opened, actor) if p.data_set == known] if _leads(actor.roles) else []
    if held:
        _progress(held[0], out)
        return
    found = review_results.results(opened, actor, known, revision=revision, labeler=labeler)
    out.answer(outcome_json(found), *_shown(found))


@review_app.command("export")
def export_command(
    data_set: DataSetArgument,
    *,
    out: Annotated[Path, typer.Option("--out", "-o", help="CSV or Parquet, by its ending.", metavar="FILE")],
    task: TaskOption = None,
    study: StudyOption = None,
    as_name: AsOption = None,
    as_json: JsonOption = False,
) -> None:
    """Write every rating of a data set's closed reviews: one row per study, system and reviewer.

    \b
    Example:
      workbench review export iu -o ratings.csv
    """
    rows = review_files.export_ratings(*opened_with(study, as_name, data_set, task), out)
    Output(as_json).answer({"file": str(out), "rows": rows}, f"{out}: {rows:,} ratings.")


@review_app.command("import")
def import_command(
    file: Annotated[Path, typer.Argument(help="CSV with study_id, system, reviewer and rating (1 to 5).")],
    *,
    data_set: Annotated[str | None, typer.Option(help="The data set; the newest when left out.")] = None,
    task: TaskOption = None,
    encoding: EncodingOption = "utf-8",
    study: StudyOption = None,
    as_name: AsOption = None,
    as_json: JsonOption = False,
) -> None:
    """Take in ratings that were made elsewhere, marked as imported.

    A column per finding (and `other`) may hold kinds of fault: missed, invented, place, degree, with semicolons
    between them.

    \b
    Example:
      workbench review import ratings.csv --data-set iu
    """
    opened, actor, known = opened_with(study, as_name, data_set, task)
    done = review_files.import_ratings(opened, actor, known, file, encoding=encoding)
    Output(as_json).answer(
        {
            "data_set": known.name,
            "ratings": done.ratings,
            "systems": list(done.systems),
            "reviewers": list(done.reviewers),
        },
        f"{done.ratings:,} ratings of {known.name} imported: {', '.join(done.systems)} by {', '.join(done.reviewers)}.",
    )


def _leads(roles: frozenset[str]) -> bool:
    return bool(roles & {"lead", "admin"})


def _view(view: ReviewView) -> dict[str, object]:
    events = [
        {"action": e.action.value, "actor": e.actor, "at": e.at.isoformat(), "reason": e.reason} for e in view.events
    ]
    return {"name": view.review.name, "hash": view.review.hash, "open": view.open, "events": events}


def _progress(held: Progress, out: Output) -> None:
    rows = [(reviewer, rated, held.items) for reviewer, rated in held.rated.items()]
    out.answer(
        {**_view(held.view), "data_set": held.data_set.name, "items": held.items, "rated": dict(held.rated)},
        table(f"{held.view.review.name} of {held.data_set.name}, open", ["reviewer", "rated", "of"], rows),
        "Ratings are seen once it is closed.",
    )


def outcome_json(found: Outcome) -> dict[str, object]:
    """Return what reviewers found as one JSON object; undefined numbers are null with their reason."""
    return {
        "data_set": {"name": found.data_set.name, "task": found.data_set.task, "hash": found.data_set.hash},
        "reviews": [_view(view) for view in found.reviews],
        "reviewers": dict(found.reviewers),
        "imported": found.imported,
        "outdated": found.outdated,
        "one_patient_per_study_assumed": not found.patients_known,
        "systems": [
            {
                "name": one.system,
                "rating": one.rating.as_json(),
                "faults_per_report": one.per_report.as_json(),
                "ratings": one.ratings,
                "given": {str(step): n for step, n in enumerate(one.given, 1)},
                "faults": [
                    {"finding": finding, "fault": fault.value, "ratings": n}
                    for (finding, fault), n in sorted(one.faults.items())
                ],
            }
            for one in found.systems
        ],
        "agreement": found.agreement.as_json(),
        "fault_agreement": found.marks.as_json(),
        "metrics": [
            {
                "id": each.metric.id,
                "higher_is_better": each.metric.higher_is_better,
                "kendall": each.correlation.kendall.as_json(),
                "spearman": each.correlation.spearman.as_json(),
            }
            for each in found.metrics
        ],
        "no_metrics": found.no_metrics,
    }


def _shown(found: Outcome) -> list[Table | str]:
    agreement = found.agreement
    systems = [
        (one.system, figure(one.rating, 2), one.rating.n, *one.given, figure(one.per_report, 2))
        for one in found.systems
    ]
    figures = {
        "Krippendorff's alpha (ordinal)": agreement.alpha,
        "equal": agreement.percent,
        "within one": agreement.within_one,
    }
    told = ", ".join(f"{name} {_told(value)}" for name, value in figures.items())
    columns = ["system", "mean rating (95 %)", "studies", *map(str, RATINGS), "faults a report (95 %)"]
    shown: list[Table | str] = [
        table(f"{found.data_set.name}, {found.data_set.task}: 5 is as good as the reference", columns, systems),
        f"{', '.join(f'{name} {n}' for name, n in found.reviewers.items())} ratings"
        + (f", {found.imported} of them imported" if found.imported else "")
        + (f"; {found.outdated} more are of texts that were replaced since" if found.outdated else "")
        + ("." if found.patients_known else "; one patient per study assumed."),
        f"Agreement on {agreement.items} texts with two ratings: {told}.",
    ]
    faults = [row for one in found.systems for row in _faults(one)]
    if faults:
        shown.append(table("Faults marked", ["system", "finding", *(fault.value for fault in Fault)], faults))
        shown += _marks(found.marks)
    if found.metrics:
        rows = [
            (
                f"{each.metric.name}{'' if each.metric.higher_is_better else ' (lower is better)'}",
                figure(each.correlation.kendall),
                figure(each.correlation.spearman),
                each.correlation.kendall.n,
            )
            for each in found.metrics
        ]
        shown.append(
            table("Metrics and the reviewers' mean rating", ["metric", "Kendall tau-b", "Spearman", "n"], rows)
        )
    else:
        shown.append(f"No agreement with metrics: {found.no_metrics}")
    return shown


def _marks(found: MarksAgreement) -> list[Table | str]:
    rows = [
        (
            row.finding_id if row.fault is None else "",
            row.fault.value if row.fault else "any",
            f"{row.marked} of {row.ratings}",
            row.texts,
            *(figure(value, 2) for value in row.figures().values()),
        )
        for row in found.rows
    ]
    means = [f"{COEFFICIENTS[name]} {_told(value)} over {value.n}" for name, value in found.overall.items()]
    why = sorted({value.reason for row in found.rows for value in row.figures().values() if not value.defined})
    return [
        table(
            "Agreement of the reviewers on faults (95 %)",
            ["finding", "fault", "marked in", "texts of two", *COEFFICIENTS.values()],
            rows,
        ),
        *([f"A dash is undefined: {'; '.join(why)}."] if why else []),
        f"{found.ground}: {'; '.join(means)}.",
    ]


def _told(value: Figure) -> str:
    return figure(value, 2) if value.defined else f"- ({value.reason})"


def _faults(one: SystemReview) -> list[tuple[object, ...]]:
    findings = sorted({finding for finding, _ in one.faults})
    return [(one.system, finding, *(one.faults.get((finding, fault), 0) for fault in Fault)) for finding in findings]
