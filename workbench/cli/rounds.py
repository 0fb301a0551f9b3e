"""Commands on rounds of rating: open, close, reopen, withdraw, show."""

from typing import Annotated

import typer

from workbench.cli.options import AsOption, JsonOption, StudyOption
from workbench.cli.output import Output, table
from workbench.errors import NotFoundError
from workbench.workflow import rounds
from workbench.workflow.browse import rating_progress
from workbench.workflow.cohorts import get_cohort
from workbench.workflow.opening import open_study
from workbench.workflow.rounds import RoundView
from workbench.workflow.study import Study

round_app = typer.Typer(help="Rounds in which raters label a cohort.", no_args_is_help=True)
CohortArgument = Annotated[str, typer.Argument(help="The cohort that is rated.")]


@round_app.command("open")
def open_round(
    cohort: CohortArgument,
    *,
    rater: Annotated[list[str], typer.Option(help="Who takes part; give it once for each rater.")],
    twice: Annotated[int | None, typer.Option(help="Reports that come twice to each rater; 15 when left out.")] = None,
    seed: Annotated[int, typer.Option(help="Seed of the raters' orders.")] = 0,
    study: StudyOption = None,
    as_name: AsOption = None,
    as_json: JsonOption = False,
) -> None:
    """Open a round: raters, guideline, vote rule and policies are fixed with it.

    \b
    Example:
      workbench round open development --rater "Dr. A" --rater "Dr. B" --rater "Dr. C" \\
        --rater "Dr. D" --rater "Dr. E" --rater "Dr. F"
    """
    opened = open_study(study)
    view = rounds.open_round(opened, opened.actor(as_name), cohort, raters=rater, twice=twice, seed=seed)
    _answer(view, Output(as_json))


@round_app.command("close")
def close_round(
    cohort: CohortArgument,
    *,
    reason: Annotated[str, typer.Option(help="Why now.")] = "",
    study: StudyOption = None,
    as_name: AsOption = None,
    as_json: JsonOption = False,
) -> None:
    """Close the open round of a cohort; it takes no more labels.

    \b
    Example:
      workbench round close development
    """
    opened = open_study(study)
    _answer(rounds.close_round(opened, opened.actor(as_name), cohort, reason=reason), Output(as_json))


@round_app.command("reopen")
def reopen_round(
    cohort: CohortArgument,
    *,
    reason: Annotated[str, typer.Option(help="Why; it stays on record.")],
    study: StudyOption = None,
    as_name: AsOption = None,
    as_json: JsonOption = False,
) -> None:
    """Let a closed round take labels again, on record; what was frozen stays as it is.

    \b
    Example:
      workbench round reopen development --reason "Dr. C labelled the wrong side of the report"
    """
    opened = open_study(study)
    _answer(rounds.reopen_round(opened, opened.actor(as_name), cohort, reason=reason), Output(as_json))


@round_app.command("withdraw")
def withdraw_round(
    cohort: CohortArgument,
    *,
    reason: Annotated[str, typer.Option(help="Why; it stays on record.")],
    study: StudyOption = None,
    as_name: AsOption = None,
    as_json: JsonOption = False,
) -> None:
    """Take back a round that was opened by mistake, on record, while nobody has saved a label in it.

    \b
    Example:
      workbench round withdraw development --reason "Dr. E was named and does not take part"
    """
    opened = open_study(study)
    _answer(rounds.withdraw_round(opened, opened.actor(as_name), cohort, reason=reason), Output(as_json))


@round_app.command("show")
def show_round(
    cohort: CohortArgument, *, study: StudyOption = None, as_name: AsOption = None, as_json: JsonOption = False
) -> None:
    """Show the last round of a cohort and how many reports each rater has submitted; no labels.

    \b
    Example:
      workbench round show development
    """
    opened = open_study(study)
    view = rounds.round_of(opened, get_cohort(opened, cohort))
    if view is None:
        before = rounds.withdrawn_rounds(opened, get_cohort(opened, cohort))
        told = f", {before[-1].round.name} was withdrawn" if before else " yet"
        raise NotFoundError(f"No round stands on the cohort {cohort}{told}; open one with `workbench round open`.")
    _answer(view, Output(as_json), _progress(opened, as_name, cohort, view))


def _progress(study: Study, as_name: str | None, cohort: str, view: RoundView) -> dict[str, int]:
    counts = rating_progress(study, study.actor(as_name), cohort)
    return {rater: counts.get(rater, 0) for rater in view.round.raters}


def _answer(view: RoundView, out: Output, submitted: dict[str, int] | None = None) -> None:
    held = view.round
    rows = [(e.action, e.actor, f"{e.at:%Y-%m-%d %H:%M}", e.reason) for e in view.events]
    head = f"{held.name}: {held.rule.k} of {held.rule.n}, {view.state}"
    out.answer(
        {
            "name": held.name,
            "hash": held.hash,
            "open": view.open,
            "state": view.state,
            "rule": {"k": held.rule.k, "n": held.rule.n, "tie": held.rule.tie.value},
            "guideline": held.label_set_hash,
            "states": [state.value for state in held.states],
            "raters": list(held.raters),
            "twice": held.twice,
            "submitted": submitted,
            "events": [
                {"action": e.action.value, "actor": e.actor, "at": e.at.isoformat(), "reason": e.reason}
                for e in view.events
            ],
        },
        table(head, ["event", "by", "at (UTC)", "why"], rows),
        table("Reports submitted", ["rater", "reports"], list(submitted.items())) if submitted else "",
    )
