"""The command that tells how accuracy went from revision to revision."""

from typing import Annotated

import typer

from workbench.cli.options import AsOption, JsonOption, StudyOption
from workbench.cli.output import Output, figure, table
from workbench.domain.hashing import short
from workbench.domain.runs import LabelerSettings
from workbench.errors import NotFoundError
from workbench.workflow.history import HistoryRow, Series, history, series
from workbench.workflow.opening import open_study
from workbench.workflow.reference import cohort_of, get_reference
from workbench.workflow.study import Study

_LEAST = 6  # characters of a hash that name a labeler


def register(app: typer.Typer) -> None:
    """Add this command to the program."""
    app.command("history")(history_command)


def history_command(
    *,
    reference: Annotated[str | None, typer.Option(help="Name of the reference; the primary one when left out.")] = None,
    labeler: Annotated[
        str, typer.Option(help="The labeler whose scores are shown, by name or, as it was before, by hash.")
    ] = "rules",
    everything: Annotated[bool, typer.Option("--all", help="Candidates and rejected revisions too.")] = False,
    study: StudyOption = None,
    as_name: AsOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show each accepted revision's macro-F1 and the findings under the accuracy floor, on one reference.

    \b
    Example:
      workbench history
    """
    opened = open_study(study)
    actor = opened.actor(as_name)
    ref = get_reference(opened, actor, reference)
    every = series(opened, actor, ref)
    settings = _settings(opened, every, labeler)
    rows = history(opened, actor, ref, labeler=settings, accepted_only=not everything)
    for earlier in _earlier(every, settings, rows):
        Output(as_json).tell(earlier)
    floor = f"under {opened.settings.gate.accuracy:.0%} accuracy"
    shown = [
        (
            row.revision.number,
            short(row.revision.prompt_hash),
            row.revision.status,
            figure(row.score.evaluation.macro_f1) if row.score else "-",
            row.score.evaluation.macro_f1.n if row.score else "-",
            ", ".join(row.below_floor) if row.score else "-",
            row.revision.message,
        )
        for row in rows
    ]
    title = f"Accuracy history on {cohort_of(opened, ref).name}, reference {ref.name} ({short(ref.hash)}), {labeler}"
    columns = ["revision", "hash", "status", "macro-F1 (95 %)", "findings", floor, "message"]
    Output(as_json).answer(
        {
            "reference": {"name": ref.name, "hash": ref.hash, "simulated": ref.simulated},
            "labeler": labeler,
            "accuracy_floor": opened.settings.gate.accuracy,
            "revisions": [_json(row) for row in rows],
        },
        table(title, columns, shown) if shown else "No revision has been accepted yet.",
    )


def _settings(study: Study, every: list[Series], labeler: str) -> LabelerSettings:
    """Return the labeler of that name, or the one with scores whose hash begins so."""
    try:
        return study.labeler(labeler)
    except NotFoundError:
        for each in every:
            if len(labeler) >= _LEAST and each.labeler.hash.startswith(labeler):
                return each.labeler
        raise


def _earlier(every: list[Series], labeler: LabelerSettings, rows: list[HistoryRow]) -> list[str]:
    """Return where to find scores that the labeler has not, but had while it was set otherwise, in sentences."""
    without = {row.revision.prompt_hash for row in rows if row.score is None}
    told = []
    for each in every:
        if each.labeler.name != labeler.name or each.labeler.hash == labeler.hash:
            continue
        had = [str(row.revision.number) for row in each.scored if row.revision.prompt_hash in without]
        if had:
            told.append(
                f"{labeler.name} as it was before scored revision {', '.join(had)}, which it has not as it is now: "
                f"`workbench history --labeler {short(each.labeler.hash)}` shows that; `workbench run --prompt N` and "
                "`evaluate` score one anew."
            )
    return told


def _json(row: HistoryRow) -> dict[str, object]:
    scores = row.score.evaluation if row.score else None
    return {
        "number": row.revision.number,
        "hash": row.revision.prompt_hash,
        "parent": row.revision.parent_hash,
        "status": row.revision.status.value,
        "author": row.revision.author,
        "message": row.revision.message,
        "decision": None
        if row.decision is None
        else {
            "status": row.decision.status.value,
            "actor": row.decision.actor,
            "at": row.decision.at.isoformat(),
            "reason": row.decision.reason,
            "signed": list(row.decision.signed),
            "override": row.decision.override,
        },
        "macro_f1": scores.macro_f1.as_json() if scores else None,
        "accuracy": {f.finding_id: f.accuracy.as_json() for f in scores.findings} if scores else None,
        "below_floor": list(row.below_floor),
        "looks": row.score.looks if row.score else None,
    }
