"""Commands that mend a prompt: try, suggest."""

from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from workbench.cli.options import AsOption, JsonOption, StudyOption
from workbench.cli.output import Output, figure, table
from workbench.cli.prompts import score_of
from workbench.domain.actors import Actor
from workbench.domain.error_kinds import ErrorKind
from workbench.errors import InputError, NotFoundError
from workbench.prompting.files import read_prompt
from workbench.workflow import prompts, propose, revise, suggest
from workbench.workflow.opening import open_study
from workbench.workflow.revise import Scope, Trial, Wish
from workbench.workflow.score import Score
from workbench.workflow.study import Study
from workbench.workflow.suggest import Offer, Offers, Round

RevisionArgument = Annotated[
    str | None, typer.Argument(help="Number, or the beginning of its hash; the highest accepted when left out.")
]
ReferenceOption = Annotated[str | None, typer.Option("--reference", help="The primary one when left out.")]
LabelerOption = Annotated[str, typer.Option(help="The labeler whose score counts.")]


def register(app: typer.Typer) -> None:
    """Add these commands to those on prompts."""
    app.command("try")(try_command)
    app.command("suggest")(suggest_command)


def try_command(
    file: Annotated[Path, typer.Argument(help="A prompt file, not imported yet.")],
    *,
    against: Annotated[str | None, typer.Option(help="The scored revision to hold it against.")] = None,
    report: Annotated[str, typer.Option(help="Try it on this report only.")] = "",
    kind: Annotated[ErrorKind | None, typer.Option(help="Try it on reports with an error of this kind only.")] = None,
    errors: Annotated[
        bool, typer.Option("--errors", help="Try it on reports with an error, and as many without any.")
    ] = False,
    finding: Annotated[str, typer.Option(help="Take errors of this finding only.")] = "",
    seed: Annotated[int, typer.Option(help="Draws the reports without any error.")] = 0,
    reference_name: ReferenceOption = None,
    labeler: LabelerOption = "rules",
    study: StudyOption = None,
    as_name: AsOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show what a prompt file would change before it is saved: which labels become right, and which wrong.

    Nothing is recorded but that somebody looked. Without --report, --kind or --errors the whole cohort is labelled.

    \b
    Examples:
      workbench prompt try mended.md --against 4
      workbench prompt try mended.md --errors --finding pneumonia
    """
    if sum((bool(report), kind is not None, errors)) > 1:
        raise InputError("Choose one of --report, --kind and --errors.")
    opened = open_study(study)
    actor = opened.actor(as_name)
    prompt = read_prompt(file, label_set=opened.label_set)
    score = score_of(opened, actor, revision=against, reference_name=reference_name, labeler=labeler)
    scope = Scope.REPORT if report else Scope.KIND if kind else Scope.ERRORS if errors else Scope.COHORT
    trial = revise.try_prompt(opened, actor, prompt, score, Wish(scope, finding, report, kind, seed))
    rows = [
        (f.report_id, f.finding_id, f.before or "failed", f.after or "failed", "right now" if f.fixed else "wrong now")
        for f in trial.flips
    ]
    Output(as_json).answer(
        _trial_json(score, trial),
        *([table("Labels that change", ["report", "finding", "before", "after", ""], rows)] if rows else []),
        f"Against revision {score.prepared.number} on {len(trial.reports)} reports: {trial.fixed} labels become right, "
        f"{trial.broken} wrong; {trial.still_right} stay right and {trial.still_wrong} wrong.",
        *(
            [f"Macro-F1 {figure(trial.before)} before, {figure(trial.after)} after."]
            if trial.after.value is not None
            else []
        ),
        f"Looks at {score.prepared.cohort.name} so far: {trial.looks}.",
    )


def _trial_json(score: Score, trial: Trial) -> dict[str, object]:
    return {
        "against": score.prepared.number,
        "cohort": score.prepared.cohort.name,
        "reports": list(trial.reports),
        "fixed": trial.fixed,
        "broken": trial.broken,
        "still_right": trial.still_right,
        "still_wrong": trial.still_wrong,
        "macro_f1_before": trial.before.value,
        "macro_f1_after": trial.after.value,
        "looks": trial.looks,
        "flips": [
            {
                "report": flip.report_id,
                "finding": flip.finding_id,
                "before": flip.before,
                "after": flip.after,
                "fixed": flip.fixed,
            }
            for flip in trial.flips
        ],
    }


def suggest_command(
    revision: RevisionArgument = None,
    *,
    finding: Annotated[str | None, typer.Option(help="Mend this finding alone, and no cues.")] = None,
    by: Annotated[
        str | None, typer.Option(help="Labeler whose language model is asked, for one --finding.", metavar="LABELER")
    ] = None,
    again: Annotated[bool, typer.Option("--again", help="With --by: ask anew where it has answered before.")] = False,
    accept: Annotated[
        list[str], typer.Option(help="Number of a suggestion to accept; `all` for every one. Makes a candidate.")
    ] = [],  # noqa: B006
    decline: Annotated[list[str], typer.Option(help="Number of a suggestion never to offer again.")] = [],  # noqa: B006
    auto_loop: Annotated[
        bool, typer.Option("--auto-loop", help="Take all, score, and go on until it helps no more; accepts none.")
    ] = False,
    reference_name: ReferenceOption = None,
    labeler: LabelerOption = "rules",
    study: StudyOption = None,
    as_name: AsOption = None,
    as_json: JsonOption = False,
) -> None:
    """Suggest small edits that answer a scored revision's errors, each scored on patients it was not learned from.

    Nothing is applied by itself: --accept makes a candidate revision of those you name, to be run and scored.
    With --by a language model is shown one finding's guidance and words of reports with errors, up to five times; what
    it answered is kept, so that the numbers for --accept hold until you ask --again.

    \b
    Examples:
      workbench prompt suggest 4
      workbench prompt suggest 4 --accept 1 --accept 3 --decline 2
      workbench prompt suggest 4 --by gemma --finding pneumonia
      workbench prompt suggest 1 --auto-loop
    """
    opened, out = open_study(study), Output(as_json)
    actor = opened.actor(as_name)
    score = score_of(opened, actor, revision=revision, reference_name=reference_name, labeler=labeler)
    if auto_loop and by:
        raise InputError("An unattended search asks no language model; leave out --by or --auto-loop.")
    if auto_loop:
        _search(opened, actor, score, out)
        return
    offers = _suggested(opened, actor, score, finding, by, again=again)
    taken, refused = _chosen(offers.offers, accept), _chosen(offers.offers, decline)
    if set(taken) & set(refused):
        raise InputError("A suggestion is either accepted or declined; name each once.")
    shown = _offers_shown(opened, score, offers)
    if not taken and not refused:
        out.answer(_offers_json(score, offers), *shown)
        return
    prompt = suggest.decide_suggestions(opened, actor, score, score.prepared.prompt, accepted=taken, declined=refused)
    answer, told = _offers_json(score, offers), f"{len(refused)} suggestions are declined and not offered again."
    if taken:
        said = "; ".join(str(offer.edit) for offer in taken)
        saved = prompts.save_candidate(
            opened, actor, prompt, message=f"Suggestions accepted: {said}", parent=score.prepared.run.prompt_hash
        )
        cohort = score.prepared.cohort.name
        answer["candidate"] = saved.number
        told = (
            f"Revision {saved.number} is a {saved.status} with {len(taken)} accepted suggestions. "
            f"Next: workbench run --prompt {saved.number} --cohort {cohort}"
        )
    out.answer(answer, *shown, told)


def _suggested(study: Study, actor: Actor, score: Score, finding: str | None, by: str | None, *, again: bool) -> Offers:
    if by is None:
        return suggest.suggestions(study, actor, score, finding_id=finding)
    if finding is None:
        raise InputError("A language model mends one finding at a time: name it with --finding.")
    return propose.proposals(study, actor, score, finding, by=by, again=again)


def _chosen(offers: tuple[Offer, ...], names: list[str]) -> list[Offer]:
    if "all" in names:
        return list(offers)
    for name in names:
        if not name.isdecimal() or not 1 <= int(name) <= len(offers):
            raise NotFoundError(f"There is no suggestion {name}; there are {len(offers)}, numbered from 1.")
    return [offers[int(name) - 1] for name in dict.fromkeys(names)]


def _offers_json(score: Score, offers: Offers) -> dict[str, object]:
    return {
        "revision": score.prepared.number,
        "cohort": score.prepared.cohort.name,
        "looks": offers.looks,
        "declined_before": offers.declined,
        "told": list(offers.told),
        "suggestions": [
            {
                "number": number,
                "edit": offer.edit.as_json(),
                "answers": [list(cell) for cell in offer.answers],
                "breaks": [list(cell) for cell in offer.breaks],
                "held_out": offer.held_out(),
                "source": offer.source,
                "why": offer.why,
            }
            for number, offer in enumerate(offers.offers, 1)
        ],
    }


def _offers_shown(study: Study, score: Score, offers: Offers) -> list[Table | str]:
    if not offers.offers:
        nothing = f"Nothing to suggest for revision {score.prepared.number}: no phrase mends more than it breaks."
        return [nothing, *offers.told]
    rows = [(n, o.edit, *_measured(o)) for n, o in enumerate(offers.offers, 1)]
    columns = ["", "edit", "mends", "breaks", "mends unseen", "breaks unseen", "macro-F1"]
    declined = f" {offers.declined} more were declined before." if offers.declined else ""
    return [
        table(f"Suggestions for revision {score.prepared.number} of {study.settings.title}", columns, rows),
        "Unseen: on patients that the edit was not learned from; macro-F1 is what that adds to what stands above it.",
        *(f"{n}: {o.why}" for n, o in enumerate(offers.offers, 1) if o.why),
        *offers.told,
        f"Looks at {score.prepared.cohort.name} so far: {offers.looks}.{declined}",
    ]


def _measured(offer: Offer) -> tuple[object, ...]:
    if offer.gain is None:
        return ("-",) * 5
    seen = len(offer.answers), len(offer.breaks)
    return (*seen, offer.held_out_fixed, offer.held_out_broken, f"{offer.gain:+.4f}")


def _search(study: Study, actor: Actor, score: Score, out: Output) -> None:
    done = suggest.search(study, actor, score, tell=lambda made: out.tell(_round_told(made)))
    first = (score.prepared.number, score.evaluation.macro_f1)
    curve = [first, *((made.revision.number, made.score.evaluation.macro_f1) for made in done)]
    cohort = score.prepared.cohort.name
    out.answer(
        {
            "cohort": cohort,
            "looks": done[-1].score.looks if done else score.looks,
            "curve": [{"revision": number, "macro_f1": value.value, "n": value.n} for number, value in curve],
        },
        table(f"Macro-F1 on {cohort}", ["revision", "macro-F1 (95 %)"], [(n, figure(value)) for n, value in curve]),
        "None of these is accepted. Read what changed with `workbench prompt diff`, then `workbench prompt accept`."
        if done
        else "Nothing that was suggested helps.",
    )


def _round_told(made: Round) -> str:
    return (
        f"Revision {made.revision.number}: {len(made.edits)} edits, macro-F1 {figure(made.score.evaluation.macro_f1)}"
    )
