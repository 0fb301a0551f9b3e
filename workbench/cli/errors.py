"""The command that tells where a run errs, of what kind each error is, and says so otherwise."""

from collections import Counter
from collections.abc import Sequence
from typing import Annotated

import typer
from rich.table import Table

from workbench.cli.options import AsOption, JsonOption, StudyOption
from workbench.cli.output import Output, table
from workbench.domain.actors import Actor
from workbench.domain.error_kinds import RULES, ErrorKind
from workbench.domain.hashing import short
from workbench.errors import InputError, NotFoundError
from workbench.evaluation.mistakes import MistakeKind
from workbench.workflow import errors
from workbench.workflow.errors import Group, Mistake, Wish
from workbench.workflow.opening import open_study
from workbench.workflow.prompts import find_record
from workbench.workflow.reference import get_reference
from workbench.workflow.run import list_records, load
from workbench.workflow.score import Score, find_score
from workbench.workflow.study import Study


def register(app: typer.Typer) -> None:
    """Add this command to the program."""
    app.command("errors")(errors_command)


def errors_command(
    run: Annotated[str | None, typer.Argument(help="Beginning of a run's hash; else the newest scored one.")] = None,
    *,
    revision: Annotated[str | None, typer.Option(help="Number or hash: its newest scored run.")] = None,
    reference: Annotated[str | None, typer.Option(help="Name of the reference; the primary one when left out.")] = None,
    finding: Annotated[str, typer.Option(help="Errors on this finding alone.")] = "",
    kind: Annotated[ErrorKind | None, typer.Option(help="Errors of this kind alone.")] = None,
    direction: Annotated[MistakeKind | None, typer.Option(help="Missed, invented or failed ones alone.")] = None,
    raters: Annotated[str, typer.Option(help="all, unanimous or split.")] = "all",
    length: Annotated[str, typer.Option(help="all, short or long reports.")] = "all",
    language: Annotated[str, typer.Option(help="Reports in this language alone.")] = "",
    source: Annotated[str, typer.Option(help="Reports from this file alone.")] = "",
    tag: Annotated[
        str | None, typer.Option(help="Say of what kind one error is: REPORT:FINDING:KIND.", metavar="R:F:K")
    ] = None,
    comment: Annotated[str, typer.Option(help="Why it is of that kind; needed with --tag.")] = "",
    study: StudyOption = None,
    as_name: AsOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show where a run errs: by finding and kind, and errors that are nearly the same together.

    \b
    Examples:
      workbench errors
      workbench errors --revision 3 --finding fracture --kind history
      workbench errors --tag DX123456:fracture:reference_doubtful --comment "the sentence says healed"
    """
    opened = open_study(study)
    actor = opened.actor(as_name)
    score = _score(opened, actor, run, revision, reference)
    if tag is not None:
        _tag(Output(as_json), opened, actor, score, told=tag, comment=comment)
        return
    wish = Wish(
        _finding(opened, finding),
        kind,
        direction,
        _one_of(raters, "raters", ("all", "unanimous", "split")),
        _one_of(length, "length", ("all", "short", "long")),
        language,
        source,
    )
    found = errors.chosen(errors.mistakes(opened, actor, score), wish, score.prepared.reports)
    groups = errors.grouped(opened, score, found)
    Output(as_json).answer(_json(score, found, groups), *_shown(score, found, groups))


def _score(study: Study, actor: Actor, run: str | None, revision: str | None, reference: str | None) -> Score:
    """Return the newest recorded score that is asked for."""
    known = get_reference(study, actor, reference)
    wanted = find_record(study, revision).prompt_hash if revision else None
    hashes = [load(study, run).run.hash] if run else [record.run.hash for record in reversed(list_records(study))]
    for each in hashes:
        prepared = load(study, each)
        fits = wanted in {None, prepared.run.prompt_hash} and prepared.cohort.hash == known.cohort_hash
        score = find_score(study, actor, prepared, known) if fits else None
        if score is not None:
            return score
    raise NotFoundError(f"No such run is scored on {known.name}; run a revision with `workbench run` first.")


def _finding(study: Study, name: str) -> str:
    if name and name not in study.label_set.ids:
        raise InputError(f"There is no finding {name}; the findings are {', '.join(study.label_set.ids)}.")
    return name


def _one_of(given: str, option: str, allowed: Sequence[str]) -> str:
    if given not in allowed:
        raise InputError(f"--{option} {given}: say one of {', '.join(allowed)}.")
    return given


def _tag(output: Output, study: Study, actor: Actor, score: Score, *, told: str, comment: str) -> None:
    report, _, rest = told.partition(":")
    finding, _, kind = rest.partition(":")
    if kind not in set(ErrorKind):
        raise InputError(f"--tag {told}: write REPORT:FINDING:KIND, the kind one of {', '.join(ErrorKind)}.")
    made = errors.tag(study, actor, score, (report, _finding(study, finding)), kind=ErrorKind(kind), comment=comment)
    queued = " It waits for an adjudicator, among controls." if made.kind is ErrorKind.DOUBTFUL else ""
    output.answer(
        {"report": report, "finding": finding, "kind": kind, "comment": made.comment, "by": made.actor},
        f"{report}, {finding}: {kind}, says {made.actor}.{queued}",
    )


def _json(score: Score, found: Sequence[Mistake], groups: Sequence[Group]) -> dict[str, object]:
    group_of = {(m.report.id, m.finding_id): at for at, group in enumerate(groups, 1) for m in group.mistakes}
    return {
        "run": score.prepared.run.hash,
        "revision": score.prepared.number,
        "reference": {
            "name": score.reference.name,
            "hash": score.reference.hash,
            "simulated": score.reference.simulated,
        },
        "rules": {kind.value: rule for kind, rule in RULES.items()},
        "kinds": dict(Counter(mistake.why.value for mistake in found)),
        "groups": [{"words": group.words, "errors": len(group.mistakes)} for group in groups],
        "errors": [_one(mistake, group_of[mistake.report.id, mistake.finding_id]) for mistake in found],
    }


def _one(mistake: Mistake, group: int) -> dict[str, object]:
    return {
        "report": mistake.report.id,
        "finding": mistake.finding_id,
        "direction": mistake.kind.value,
        "kind": mistake.why.value,
        "kind_by_rule": mistake.cause.kind.value,
        "words": mistake.cause.words,
        "comment": mistake.tag.comment if mistake.tag else "",
        "tagged_by": mistake.tag.actor if mistake.tag else "",
        "predicted": mistake.predicted.value if mistake.predicted else None,
        "evidence": mistake.evidence,
        "reference": mistake.reference.outcome.value,
        "votes_present": mistake.reference.present,
        "votes_missing": mistake.reference.missing,
        "costs_macro_f1": mistake.cost,
        "group": group,
    }


def _shown(score: Score, found: Sequence[Mistake], groups: Sequence[Group]) -> list[Table | str]:
    if not found:
        return ["No errors of this sort."]
    kinds = Counter(mistake.why for mistake in found)
    head = (
        f"{len(found)} errors of revision {score.prepared.number} ({score.prepared.run.labeler.name}) on "
        f"{score.reference.name} ({short(score.reference.hash)})"
    )
    by_finding: dict[str, list[Mistake]] = {}
    for mistake in found:
        by_finding.setdefault(mistake.finding_id, []).append(mistake)
    ordered = [(row.finding_id, cost) for row, cost in errors.costliest_first(score.evaluation)]
    rows = [
        (
            finding,
            "" if cost is None else f"{cost:.4f}",
            len(errs),
            sum(m.kind is MistakeKind.MISSED for m in errs),
            sum(m.kind is MistakeKind.INVENTED for m in errs),
            ", ".join(f"{kind} {n}" for kind, n in Counter(m.why.value for m in errs).most_common()),
        )
        for finding, cost in ordered
        if (errs := by_finding.get(finding))
    ]
    many = [group for group in groups if len(group.mistakes) > 1][:15]
    told = [
        (len(group.mistakes), group.mistakes[0].finding_id, group.mistakes[0].why.value, " ".join(group.words.split()))
        for group in many
    ]
    simulated = ["Some of the votes are simulated."] if score.reference.simulated else []
    return [
        table(head, ["kind", "errors", "by the rule"], [(k.value, n, RULES[k]) for k, n in kinds.most_common()]),
        table("By finding, costliest first", ["finding", "costs", "errors", "missed", "invented", "kinds"], rows),
        errors.COSTLIEST,
        *([table("Nearly the same", ["errors", "finding", "kind", "words"], told)] if told else []),
        *simulated,
    ]
