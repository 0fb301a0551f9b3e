"""The command that compares two runs."""

from typing import Annotated

import typer

from workbench.cli.options import AsOption, JsonOption, StudyOption
from workbench.cli.output import Output, figure, table
from workbench.domain.hashing import short
from workbench.evaluation.numbers import Figure
from workbench.workflow.compare import Compared, FindingChange, Flip, compare, point
from workbench.workflow.opening import open_study
from workbench.workflow.reference import cohort_of, get_reference
from workbench.workflow.score import Score

PointArgument = Annotated[str, typer.Argument(help="A revision (number or hash), or a run (beginning of its hash).")]


def register(app: typer.Typer) -> None:
    """Add this command to the program."""
    app.command("compare")(compare_command)


def compare_command(
    before: PointArgument,
    after: PointArgument,
    *,
    reference: Annotated[str | None, typer.Option(help="Name of the reference; the primary one when left out.")] = None,
    labeler: Annotated[str, typer.Option(help="The labeler whose run of a revision is meant.")] = "rules",
    flips: Annotated[bool, typer.Option("--flips", help="List every label that became right or wrong.")] = False,
    study: StudyOption = None,
    as_name: AsOption = None,
    as_json: JsonOption = False,
) -> None:
    """Compare two scored runs on one reference, finding by finding, the one that got worst first.

    Recall is compared on the reference's positives and specificity on its negatives, with exact paired tests and Holm's
    adjustment over the findings; macro-F1 with a paired bootstrap over patients. P-values inform and decide nothing.

    \b
    Examples:
      workbench compare 3 4
      workbench compare 3 4 --flips
      workbench compare 4 9f2c1ab0 --json       # revision 4 with the rules, and a run of a model
    """
    opened = open_study(study)
    actor = opened.actor(as_name)
    ref = get_reference(opened, actor, reference)
    old, new = (point(opened, actor, name, ref, labeler=labeler) for name in (before, after))
    found = compare(opened, actor, old, new)
    title = f"{_name(old)} against {_name(new)} on {cohort_of(opened, ref).name}, reference {ref.name}"
    shown = [table(title, COLUMNS, [_row(row) for row in found.findings if not row.same])] if found.flips else []
    listed = [table("Labels that flipped", FLIP_COLUMNS, [_flip(flip) for flip in found.flips])] if flips else []
    Output(as_json).answer(_json(found), *shown, *(listed if found.flips else []), *_sentences(found))


COLUMNS = (
    "finding",
    "F1 before",
    "after",
    "change (95 %)",
    "fixed",
    "broken",
    "recall",
    "its p",
    "specificity",
    "and its p",
)
FLIP_COLUMNS = ("finding", "report", "reference", "before", "after", "")


def _name(score: Score) -> str:
    return f"Revision {score.prepared.number} with {score.prepared.run.labeler.name}"


def _signed(value: Figure) -> str:
    if value.value is None:
        return "-"
    interval = "" if value.low is None or value.high is None else f" ({value.low:+.3f} to {value.high:+.3f})"
    return f"{value.value:+.3f}{interval}"


def _p(value: Figure) -> str:
    return "<0.001" if value.value is not None and value.value < 0.001 else figure(value)


def _row(row: FindingChange) -> tuple[object, ...]:
    it = row.change
    return (
        it.finding_id,
        figure(row.before.f1),
        figure(row.after.f1),
        _signed(it.f1_change),
        it.fixed,
        it.broken,
        _signed(it.recall_change),
        _p(it.recall_p_holm),
        _signed(it.specificity_change),
        _p(it.specificity_p_holm),
    )


def _flip(flip: Flip) -> tuple[object, ...]:
    told = "right now" if flip.fixed else "wrong now"
    return (
        flip.finding_id,
        flip.report_id,
        "present" if flip.present else "not present",
        flip.before or "failed",
        flip.after or "failed",
        f"{told}; a repeat said otherwise" if flip.unsteady else told,
    )


def _sentences(found: Compared) -> list[str]:
    if found.unchanged:
        return [f"No change: the two say the same of every finding in all {found.old.n_reports} reports."]
    fixed = sum(flip.fixed for flip in found.flips)
    told = []
    if found.worse:
        worse = ", ".join(f"{row.finding_id} {_signed(row.change.f1_change)}" for row in found.worse)
        told.append(f"F1 got worse: {worse}.")
    told.append(
        f"Macro-F1 {figure(found.old.macro_f1)} before, {figure(found.new.macro_f1)} after: "
        f"{_signed(found.change.macro_f1_change)} over {found.change.macro_f1_change.n} findings. "
        f"{fixed} labels become right, {len(found.flips) - fixed} wrong. P-values: {found.change.test}, Holm."
    )
    if found.old.n_failed or found.new.n_failed:
        told.append(
            f"Failed replies count as wrong: {found.old.n_failed} before, {found.new.n_failed} after. Over the reports "
            f"that both answered: {_signed(found.answered)}."
        )
    told += [
        f"Asked again, {which} gives {wobble.value:.1%} of its labels otherwise; between the two {moved:.1%} differ."
        for which, wobble in (("the first", found.wobble_before), ("the second", found.wobble_after))
        if wobble.value is not None and (moved := found.moved.value or 0.0) >= 0
    ]
    if found.left_out:
        told.append(f"Left out, since a prompt quotes them: {', '.join(found.left_out)}.")
    return told


def _json(found: Compared) -> dict[str, object]:
    return {
        "before": _score_json(found.before),
        "after": _score_json(found.after),
        "reference": found.before.reference.name,
        "unchanged": found.unchanged,
        "n_reports": found.old.n_reports,
        "left_out": list(found.left_out),
        "macro_f1_before": found.old.macro_f1.as_json(),
        "macro_f1_after": found.new.macro_f1.as_json(),
        "macro_f1_change": found.change.macro_f1_change.as_json(),
        "macro_f1_change_answered": found.answered.as_json(),
        "failed_before": found.old.n_failed,
        "failed_after": found.new.n_failed,
        "test": found.change.test,
        "labels_differing": found.moved.as_json(),
        "wobble_before": found.wobble_before.as_json(),
        "wobble_after": found.wobble_after.as_json(),
        "worse": [row.finding_id for row in found.worse],
        "findings": [_finding_json(row) for row in found.findings],
        "flips": [
            {
                "report": flip.report_id,
                "finding": flip.finding_id,
                "reference": "present" if flip.present else "not_present",
                "before": flip.before,
                "after": flip.after,
                "fixed": flip.fixed,
                "unsteady": flip.unsteady,
            }
            for flip in found.flips
        ],
    }


def _score_json(score: Score) -> dict[str, object]:
    run = score.prepared.run
    return {
        "revision": score.prepared.number,
        "labeler": run.labeler.name,
        "run": short(run.hash),
        "looks": score.looks,
    }


def _finding_json(row: FindingChange) -> dict[str, object]:
    it = row.change
    figures = {
        "f1_before": row.before.f1,
        "f1_after": row.after.f1,
        "f1_change": it.f1_change,
        "recall_change": it.recall_change,
        "recall_p": it.recall_p,
        "recall_p_holm": it.recall_p_holm,
        "specificity_change": it.specificity_change,
        "specificity_p": it.specificity_p,
        "specificity_p_holm": it.specificity_p_holm,
    }
    return {
        "finding": it.finding_id,
        "fixed": it.fixed,
        "broken": it.broken,
        **{name: value.as_json() for name, value in figures.items()},
    }
