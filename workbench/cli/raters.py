"""The command that compares the raters of a reference with each other, with themselves and with the model."""

from typing import Annotated

import typer
from rich.table import Table

from workbench.cli.options import AsOption, JsonOption, StudyOption
from workbench.cli.output import Output, figure, table
from workbench.domain.hashing import short
from workbench.workflow.history import history
from workbench.workflow.opening import open_study
from workbench.workflow.raters import RaterStatistics, rater_statistics
from workbench.workflow.reference import get_reference


def register(app: typer.Typer) -> None:
    """Add this command to a group."""
    app.command("raters")(raters_command)


def raters_command(
    name: Annotated[str | None, typer.Argument(help="Name or hash; the primary one when left out.")] = None,
    *,
    labeler: Annotated[str, typer.Option(help="Whose last accepted revision stands beside them.")] = "rules",
    study: StudyOption = None,
    as_name: AsOption = None,
    as_json: JsonOption = False,
) -> None:
    """Compare raters: each two, each with themselves, and each against the vote of the others beside the model.

    \b
    Example:
      workbench reference raters development-1
    """
    opened = open_study(study)
    actor = opened.actor(as_name)
    reference = get_reference(opened, actor, name)
    scores = [row.score for row in history(opened, actor, reference, labeler=opened.labeler(labeler)) if row.score]
    score = scores[-1] if scores else None
    found = rater_statistics(opened, actor, reference, score=score)
    Output(as_json).answer(
        {
            "reference": {"name": reference.name, "hash": reference.hash, "simulated": reference.simulated},
            "revision": score.prepared.number if score else None,
            "pairs": found.pairs.as_json(),
            "rates": found.rates.as_json(),
            "again": found.again.as_json(),
            "benchmark": found.benchmark.as_json() if found.benchmark else None,
        },
        *_shown(found, f"{reference.name} ({short(reference.hash)})", score.prepared.number if score else None),
        *(["Some of the votes are simulated."] if reference.simulated else []),
    )


def _shown(found: RaterStatistics, head: str, revision: int | None) -> list[Table | str]:
    raters = found.pairs.raters
    kappa = found.pairs.matrix()
    rows = [(rater, *(figure(cell, 2).split(" ")[0] for cell in row)) for rater, row in zip(raters, kappa, strict=True)]
    shown: list[Table | str] = [table(f"{head}: mean Cohen kappa over findings", ["", *raters], rows)]
    each = []
    for rater in raters:
        rates, again = found.rates.of(rater).overall, found.again.of(rater).overall
        against = found.benchmark.of(rater) if found.benchmark else None
        each.append(
            (
                rater,
                figure(rates.rate),
                figure(rates.deviation),
                again.reports,
                figure(again.kappa, 2),
                figure(against.scores.macro_f1) if against else "-",
                figure(against.model.macro_f1) if against and against.model else "-",
            )
        )
    columns = ["rater", "says present", "against others", "read twice", "kappa with themselves", "macro-F1 (95 %)"]
    columns.append(f"revision {revision} there" if revision else "model there")
    shown.append(table("Each rater, and the same cells by the model, against the vote of the others", columns, each))
    return shown
