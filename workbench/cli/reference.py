"""Commands on reference standards: freeze, show, diff, split."""

from typing import Annotated

import typer

from workbench.cli.options import AsOption, JsonOption, StudyOption
from workbench.cli.output import Output, figure, table
from workbench.domain.hashing import short
from workbench.domain.references import Reference, VoteRule
from workbench.errors import InputError
from workbench.workflow import adjudicate, reference, splits, versions
from workbench.workflow.agreed import View
from workbench.workflow.opening import open_study
from workbench.workflow.splits import Split, Word
from workbench.workflow.study import Study
from workbench.workflow.unsubmitted import unsubmitted

reference_app = typer.Typer(help="The reference standard that a vote of raters makes.", no_args_is_help=True)
NameArgument = Annotated[str | None, typer.Argument(help="Name or hash; the primary one when left out.")]
ViewOption = Annotated[
    View, typer.Option("--view", help="Agreement on the votes as two states (primary), or on the four states.")
]


@reference_app.command("freeze")
def freeze(
    cohort: Annotated[str, typer.Argument(help="The cohort whose votes are counted.")],
    *,
    name: Annotated[str | None, typer.Option(help="Name of the reference; COHORT-1 and so on when left out.")] = None,
    rater: Annotated[list[str], typer.Option(help="A rater whose vote counts; everybody when left out.")] = [],  # noqa: B006
    k: Annotated[int | None, typer.Option(help="Votes needed; the study's when left out.")] = None,
    n: Annotated[int | None, typer.Option(help="Votes there are; the study's when left out.")] = None,
    reason: Annotated[str, typer.Option(help="Why there is another version, if there is one already.")] = "",
    incomplete: Annotated[
        bool, typer.Option("--incomplete", help="Freeze although raters of the round have reports left, on record.")
    ] = False,
    study: StudyOption = None,
    as_name: AsOption = None,
    as_json: JsonOption = False,
) -> None:
    """Count the votes and freeze what they decide; a frozen reference never changes.

    \b
    Examples:
      workbench reference freeze development
      workbench reference freeze development --incomplete
      workbench reference freeze development --rater "Dr. Chan" --k 1 --n 1
    """
    opened = open_study(study)
    actor = opened.actor(as_name)
    made = reference.freeze(
        opened,
        actor,
        cohort,
        name=name,
        raters=rater or None,
        rule=_rule(opened, k, n),
        reason=reason,
        incomplete=incomplete,
    )
    left_open = adjudicate.left_open(opened, made)
    left = unsubmitted(opened, actor, cohort, made.raters)
    lines = [
        f"Reference {made.name} ({short(made.hash)}) is frozen: {made.rule.k} of {made.rule.n} votes.",
        *(["A single rater made this reference."] if made.rule.single_rater else []),
        *(["Some of its votes are simulated."] if made.simulated else []),
        *(f"Counted as missing votes: {one.told}." for one in left),
    ]
    if left_open.told:
        lines.append(left_open.told)
    Output(as_json).answer(
        {
            "name": made.name,
            "hash": made.hash,
            "cohort": cohort,
            "rule": {"k": made.rule.k, "n": made.rule.n, "tie": made.rule.tie.value},
            "single_rater": made.rule.single_rater,
            "simulated": made.simulated,
            "raters": list(made.raters),
            "parent": made.parent_hash,
            "reason": made.reason,
            "not_submitted": {one.rater: one.missing for one in left},
            "to_adjudicate": 0 if left_open.closed else left_open.items,
            "left_open": left_open.items,
            "not_adjudicated_because": left_open.closed,
        },
        *lines,
    )


def _rule(study: Study, k: int | None, n: int | None) -> VoteRule | None:
    if k is None and n is None:
        return None
    base = study.vote_rule
    try:
        return VoteRule(k=base.k if k is None else k, n=base.n if n is None else n, tie=base.tie)
    except ValueError as error:
        raise InputError(f"--k and --n: {error}.") from None


@reference_app.command("show")
def show(
    name: NameArgument = None,
    *,
    view: ViewOption = View.TWO_STATES,
    study: StudyOption = None,
    as_name: AsOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show a frozen reference: what the votes on each finding came to, and how far the raters agreed.

    \b
    Examples:
      workbench reference show development-1
      workbench reference show development-1 --view four-states
    """
    opened = open_study(study)
    actor = opened.actor(as_name)
    summary = reference.summarize(opened, actor, reference.get_reference(opened, actor, name))
    frozen, rule = summary.reference, summary.reference.rule
    head = f"Reference {frozen.name} ({short(frozen.hash)}) on {summary.cohort.name}: {rule.k} of {rule.n}"
    rows = [
        (f.finding_id, f.present, f.not_present, f.short, f.ties, *_agreement(summary, view, i))
        for i, f in enumerate(summary.findings)
    ]
    Output(as_json).answer(
        {
            "name": frozen.name,
            "hash": frozen.hash,
            "cohort": summary.cohort.name,
            "rule": {"k": rule.k, "n": rule.n, "tie": rule.tie.value},
            "single_rater": rule.single_rater,
            "simulated": frozen.simulated,
            "raters": list(frozen.raters),
            "vote_policies": frozen.vote_policies.as_json(),
            "parent": frozen.parent_hash,
            "reason": frozen.reason,
            "reports": summary.reports,
            "findings": [
                {
                    "finding": f.finding_id,
                    "present": f.present,
                    "not_present": f.not_present,
                    "short": f.short,
                    "ties": f.ties,
                }
                for f in summary.findings
            ],
            "agreement": summary.agreement.as_json() if summary.agreement else None,
            "agreement_by_view": {
                which.value: {"states": [s.value for s in it.states], "agreement": it.agreement.as_json()}
                for which, it in summary.views.items()
            },
        },
        table(head, ["finding", "present", "not present", "short", "ties", "alpha", "AC1", "positive"], rows),
        *_told(summary, view),
        *_versions(frozen),
        *(["A single rater made this reference."] if rule.single_rater else []),
        *(["Some of its votes are simulated."] if frozen.simulated else []),
    )


def _agreement(summary: reference.ReferenceSummary, view: View, i: int) -> tuple[str, str, str]:
    if not summary.views:
        return "-", "-", "-"
    found = summary.views[view].agreement.findings[i]
    return figure(found.alpha), figure(found.ac1), figure(found.positive)


def _told(summary: reference.ReferenceSummary, view: View) -> list[str]:
    if not summary.views:
        return []
    overall = summary.views[view].agreement.overall
    means = "; ".join(
        f"{name} {figure(f)} over {f.n}"
        for name, f in (("alpha", overall.alpha), ("AC1", overall.ac1), ("positive", overall.positive))
    )
    return [
        f"Agreement on {view.words}.",
        f"Means over the findings where defined: {means}.",
        *summary.views[view].gaps.told(),
    ]


def _versions(frozen: Reference) -> list[str]:
    told = [f"Reason: {frozen.reason}."] if frozen.reason else []
    if frozen.parent_hash:
        told.append(
            f"A later version of {short(frozen.parent_hash)}; see `workbench reference diff {frozen.name}` for what "
            "changed."
        )
    return told


@reference_app.command("diff")
def diff(
    name: Annotated[str, typer.Argument(help="The later version, by name or hash.")],
    before: Annotated[
        str | None, typer.Argument(help="The earlier one; the one it was made from when left out.")
    ] = None,
    *,
    study: StudyOption = None,
    as_name: AsOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show what a later version of a reference decides otherwise than an earlier one.

    \b
    Example:
      workbench reference diff development-2
    """
    opened = open_study(study)
    found = versions.compare(opened, opened.actor(as_name), name, before)
    rows = [(report, finding, old.value, new.value) for report, finding, old, new in found.outcomes]
    Output(as_json).answer(
        {
            "before": {"name": found.old.name, "hash": found.old.hash},
            "after": {"name": found.new.name, "hash": found.new.hash, "reason": found.new.reason},
            "changed": [
                {"report": report, "finding": finding, "before": old, "after": new}
                for report, finding, old, new in rows
            ],
            "recounted": found.recounted,
            "settings": list(found.settings),
        },
        *(
            [table(f"{found.new.name} beside {found.old.name}", ["report", "finding", "before", "after"], rows)]
            if rows
            else []
        ),
        *found.told,
    )


@reference_app.command("split")
def split(
    finding: Annotated[str, typer.Argument(help="Finding id.")],
    name: NameArgument = None,
    *,
    rater: Annotated[
        list[str], typer.Option(help="Two: where they differ. One: where it differs from the vote of the others.")
    ] = [],  # noqa: B006
    again: Annotated[
        bool, typer.Option("--again", help="Where the one rater differs from their first reading.")
    ] = False,
    view: ViewOption = View.TWO_STATES,
    study: StudyOption = None,
    as_name: AsOption = None,
    as_json: JsonOption = False,
) -> None:
    """List the reports behind a figure of agreement: those on which raters differ, with who said what.

    \b
    Examples:
      workbench reference split atelectasis
      workbench reference split atelectasis development-1 --rater rater1 --rater rater2
      workbench reference split atelectasis development-1 --rater rater1
    """
    opened = open_study(study)
    actor = opened.actor(as_name)
    of = reference.get_reference(opened, actor, name)
    if len(rater) > 2 or (again and len(rater) != 1):
        raise InputError("Name two raters, or one, or none; --again goes with one.")
    if len(rater) == 2:
        found = splits.split_between(opened, actor, of, [finding], (rater[0], rater[1]), view=view)
    elif again:
        found = splits.split_from_themselves(opened, actor, of, [finding], rater[0], view=view)
    elif rater:
        found = splits.split_from_others(opened, actor, of, [finding], rater[0])
    else:
        found = splits.split_among_all(opened, actor, of, [finding], view=view)
    rows = [(one.report_id, one.outcome, *map(_state, one.said.values()), *_second(one)) for one in found]
    columns = ["report", "vote", *of.raters, *(["again"] if again else [])]
    Output(as_json).answer(
        {
            "reference": {"name": of.name, "hash": of.hash, "simulated": of.simulated},
            "finding": finding,
            "reports": [
                {
                    "report": one.report_id,
                    "outcome": one.outcome.value,
                    "said": {who: _state(word) for who, word in one.said.items()},
                    "evidence": {who: word.evidence for who, word in one.said.items() if word.evidence},
                    **({"again": _state(one.again)} if one.again else {}),
                }
                for one in found
            ],
        },
        table(f"{of.name} ({short(of.hash)}): {len(found)} reports on which {finding} is split", columns, rows),
        *(["Some of the votes are simulated."] if of.simulated else []),
    )


def _state(word: Word) -> str:
    return word.state.value.replace("_", " ") if word.state else "missing"


def _second(one: Split) -> list[str]:
    return [_state(one.again)] if one.again else []
