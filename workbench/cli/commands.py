"""All commands, put together."""

from typing import Annotated

import typer

from workbench import __version__
from workbench.cli import (
    backup,
    chexpert,
    comparing,
    data,
    errors,
    export,
    history,
    label,
    labelers,
    metrics,
    people,
    practice,
    prompts,
    raters,
    reference,
    review,
    revising,
    rounds,
    run,
    scoring,
    study,
    trust,
)

app = typer.Typer(
    help="Human-in-the-loop prompt optimization for radiology reports.\n\n"
    "Start with `workbench demo`. Each command explains itself by example: `workbench run --help`.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


def _show_version(asked: bool) -> None:
    if asked:
        typer.echo(__version__)
        raise typer.Exit


@app.callback()
def _program(
    *,
    version: Annotated[
        bool, typer.Option("--version", help="Show the version and exit.", is_eager=True, callback=_show_version)
    ] = False,
) -> None: ...


study.register(app)
app.add_typer(data.import_app, name="import")
app.add_typer(data.cohort_app, name="cohort")
app.add_typer(rounds.round_app, name="round")
app.add_typer(practice.practice_app, name="practice")
raters.register(reference.reference_app)
app.add_typer(reference.reference_app, name="reference")
app.add_typer(export.export_app, name="export")
revising.register(prompts.prompt_app)
app.add_typer(prompts.prompt_app, name="prompt")
app.add_typer(people.user_app, name="user")
run.register(app)
errors.register(app)
comparing.register(app)
history.register(app)
scoring.register(app)
chexpert.register(app)
app.add_typer(metrics.metrics_app, name="metrics")
trust.register(app)
label.register(app)
app.add_typer(review.review_app, name="review")
app.add_typer(labelers.labeler_app, name="labeler")
app.add_typer(labelers.data_use_app, name="data-use")
backup.register(app)
