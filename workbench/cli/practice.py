"""Commands on practice: check the practice reports, show who has practised."""

import typer

from workbench.cli.options import AsOption, JsonOption, StudyOption
from workbench.cli.output import Output, table
from workbench.workflow import practice
from workbench.workflow.opening import open_study
from workbench.workflow.practice import Kind

practice_app = typer.Typer(help="Practice reports that raters label before their first round.", no_args_is_help=True)


@practice_app.command("check")
def check_practice(*, study: StudyOption = None, as_json: JsonOption = False) -> None:
    """Check the study's practice reports: their findings, and that none of them is a report of the study.

    They stand in data/practice/<label set>.yaml; put your own file in the place of the one that ships.

    \b
    Example:
      workbench practice check
    """
    opened, out = open_study(study), Output(as_json)
    made = practice.check(opened)
    file = practice.practice_file(opened)
    out.answer(
        {"file": str(file), "reports": [p.report.id for p in made.reports], "hash": made.hash},
        f"{file}: {len(made.reports)} practice reports, none of them in the study.",
    )


@practice_app.command("show")
def show_practice(*, study: StudyOption = None, as_name: AsOption = None, as_json: JsonOption = False) -> None:
    """Show who has practised, how far, and how their labels compare with the key. For the lead.

    \b
    Example:
      workbench practice show
    """
    opened, out = open_study(study), Output(as_json)
    results = practice.progress(opened, opened.actor(as_name))
    rows = [
        (
            name,
            f"{r.submitted} of {r.total}",
            f"{r.agreed} of {r.cells}",
            f"{r.found} of {r.positives}",
            r.kinds.get(Kind.OVER_CALLED, 0),
            ", ".join(finding for finding, _ in r.differed[:3]),
        )
        for name, r in results.items()
    ]
    out.answer(
        {
            name: {
                "reports": r.total,
                "submitted": r.submitted,
                "cells": r.cells,
                "agreed": r.agreed,
                "positives": r.positives,
                "found": r.found,
                "kinds": {kind.value: n for kind, n in r.kinds.items()},
                "differed": dict(r.differed),
            }
            for name, r in results.items()
        },
        table("Practice", ["rater", "reports", "as in the key", "found", "over-called", "differed most"], rows),
    )
