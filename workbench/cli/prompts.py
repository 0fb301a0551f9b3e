"""Commands on prompt revisions: list, show, diff, import, accept, reject."""

from pathlib import Path
from typing import Annotated

import typer

from workbench.cli.options import AsOption, JsonOption, StudyOption
from workbench.cli.output import Output, table
from workbench.domain.actors import Actor
from workbench.domain.hashing import short
from workbench.domain.prompts import Revision
from workbench.errors import InputError
from workbench.prompting.diff import diff_guidance, diff_text
from workbench.prompting.files import prompt_text
from workbench.workflow import accept as accepting
from workbench.workflow import browse, prompts, reference
from workbench.workflow.history import history
from workbench.workflow.opening import open_study
from workbench.workflow.run import recorded
from workbench.workflow.score import Score, find_score
from workbench.workflow.study import Study

prompt_app = typer.Typer(help="Revisions of the prompt.", no_args_is_help=True)
RevisionArgument = Annotated[str, typer.Argument(help="Number, or the beginning of its hash.")]


def _json(revision: Revision) -> dict[str, object]:
    return {
        "number": revision.number,
        "hash": revision.prompt_hash,
        "parent": revision.parent_hash,
        "status": revision.status.value,
        "author": revision.author,
        "created_at": revision.created_at.isoformat(),
        "message": revision.message,
    }


@prompt_app.command("list")
def list_revisions(*, study: StudyOption = None, as_json: JsonOption = False) -> None:
    """List the revisions.

    \b
    Example:
      workbench prompt list
    """
    opened, out = open_study(study), Output(as_json)
    for sentence in prompts.take_in_files(opened).refused:
        out.tell(sentence)
    known = prompts.revisions(opened)
    rows = [
        (r.number, short(r.prompt_hash), r.status, r.author, f"{r.created_at:%Y-%m-%d %H:%M}", r.message) for r in known
    ]
    columns = ["revision", "hash", "status", "author", "made (UTC)", "message"]
    out.answer(
        {"revisions": [_json(r) for r in known]}, table("Revisions", columns, rows) if rows else "No revision yet."
    )


@prompt_app.command("show")
def show(
    revision: Annotated[str | None, typer.Argument(help="Number or hash; the accepted one when left out.")] = None,
    *,
    report: Annotated[str | None, typer.Option(help="Show the texts a model is sent for this report.")] = None,
    study: StudyOption = None,
    as_name: AsOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show a revision's file, or the exact texts that a model is sent for a report.

    \b
    Examples:
      workbench prompt show 4
      workbench prompt show 4 --report demo-0001
    """
    opened = open_study(study)
    stored = prompts.find_revision(opened, revision)
    out = Output(as_json)
    if report is None:
        text = prompt_text(stored.prompt)
        out.answer({**_json(stored.revision), "text": text}, text)
        return
    sent = browse.rendered(opened, opened.actor(as_name), stored.prompt, report)
    out.answer(
        {
            **_json(stored.revision),
            "report": report,
            "system": sent.system,
            "user": sent.user,
            "tokens_estimate": sent.tokens,
        },
        f"--- system\n{sent.system}\n--- user\n{sent.user}\n--- about {sent.tokens} tokens",
    )


@prompt_app.command("diff")
def diff(
    old: RevisionArgument,
    new: RevisionArgument,
    *,
    as_text: Annotated[bool, typer.Option("--text", help="Show changed lines of the files instead of words.")] = False,
    study: StudyOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show what changed between two revisions, finding by finding.

    \b
    Example:
      workbench prompt diff 3 4
    """
    opened = open_study(study)
    before, after = prompts.find_revision(opened, old), prompts.find_revision(opened, new)
    changes = [str(change) for change in diff_guidance(before.prompt.guidance, after.prompt.guidance)]
    lines = diff_text(before.prompt, after.prompt)
    shown = lines if as_text else "\n".join(changes)
    Output(as_json).answer(
        {"old": before.revision.number, "new": after.revision.number, "changes": changes, "text": lines},
        shown or "The two revisions are the same.",
    )


@prompt_app.command("import")
def import_prompt(
    file: Annotated[Path, typer.Argument(help="A prompt file.")],
    *,
    message: Annotated[str, typer.Option("--message", "-m", help="What changed and why.")] = "",
    study: StudyOption = None,
    as_name: AsOption = None,
    as_json: JsonOption = False,
) -> None:
    """Take a prompt file in as a candidate revision.

    \b
    Example:
      workbench prompt import mended.md -m "effusion: blunted angle"
    """
    opened = open_study(study)
    known = {each.prompt_hash for each in prompts.revisions(opened)}
    revision = prompts.import_prompt(opened, opened.actor(as_name), file, message)
    Output(as_json).answer(_json(revision), _imported(revision, new=revision.prompt_hash not in known))


def _imported(revision: Revision, *, new: bool) -> str:
    name = f"Revision {revision.number} ({short(revision.prompt_hash)})"
    return f"{name} is a new candidate." if new else f"{name} is this prompt already; its status is {revision.status}."


@prompt_app.command("accept")
def accept(
    revision: RevisionArgument,
    *,
    reason: Annotated[str, typer.Option(help="Why it is accepted; needed for anything but --check.")] = "",
    sign: Annotated[list[str], typer.Option(help="Name of a check you sign off; `all` for every one.")] = [],  # noqa: B006
    missed: Annotated[
        list[str], typer.Option(help='A newly missed positive you have read and sign: "REPORT FINDING: why".')
    ] = [],  # noqa: B006
    override: Annotated[str, typer.Option(help="Why a closed gate is passed over.")] = "",
    reference_name: Annotated[str | None, typer.Option("--reference", help="The primary one when left out.")] = None,
    labeler: Annotated[str, typer.Option(help="The labeler whose score counts.")] = "rules",
    check: Annotated[bool, typer.Option("--check", help="Only show the gate.")] = False,
    study: StudyOption = None,
    as_name: AsOption = None,
    as_json: JsonOption = False,
) -> None:
    """Accept a scored revision through the gate; its file is written to the prompts folder.

    \b
    Examples:
      workbench prompt accept 5 --check
      workbench prompt accept 5 --reason "effusion mended" --sign all
      workbench prompt accept 5 --reason "mended" --sign all --missed "r17 pneumothorax: only suspected"
    """
    opened = open_study(study)
    actor = opened.actor(as_name)
    gate = _gate(opened, actor, revision=revision, reference_name=reference_name, labeler=labeler)
    rows = [(c.name, c.status, c.sentence) for c in gate.checks]
    shown = table(f"Gate for revision {gate.score.prepared.number}", ["check", "", "why"], rows)
    as_value = [{"name": c.name, "status": c.status.value, "sentence": c.sentence} for c in gate.checks]
    if check:
        Output(as_json).answer({"revision": gate.score.prepared.number, "checks": as_value}, shown)
        return
    signed = [c.name for c in gate.to_sign] if "all" in sign else sign
    read = dict(map(_missed, missed))
    for report, finding in sorted(read.keys() - set(gate.missed)):
        raise InputError(
            f"--missed: {finding} in report {report} is not newly missed by revision {gate.score.prepared.number}; "
            f"`workbench prompt accept {gate.score.prepared.number} --check` names what is."
        )
    accepted = accepting.accept(opened, actor, gate, reason=reason, signed=signed, missed=read, override=override)
    Output(as_json).answer(
        {**_json(accepted), "checks": as_value, "file": str(prompts.prompt_file(opened, accepted.number))},
        shown,
        f"Revision {accepted.number} is accepted.",
    )


def _missed(text: str) -> tuple[tuple[str, str], str]:
    which, colon, why = text.partition(": ")
    report, _, finding = which.rpartition(" ")
    if not (report and finding and colon):
        raise InputError(f'--missed {text!r}: write the report, the finding and why, as in "r17 pneumothorax: WHY".')
    return (report, finding), why


@prompt_app.command("sign")
def sign(
    revision: RevisionArgument,
    *,
    comment: Annotated[str, typer.Option(help="What you looked at.")] = "",
    reference_name: Annotated[str | None, typer.Option("--reference", help="The primary one when left out.")] = None,
    labeler: Annotated[str, typer.Option(help="The labeler whose score counts.")] = "rules",
    study: StudyOption = None,
    as_name: AsOption = None,
    as_json: JsonOption = False,
) -> None:
    """Sign a scored revision as a second person, where the study asks for one; somebody else then accepts it.

    \b
    Example:
      workbench prompt sign 5 --comment "read every flip of pneumothorax"
    """
    opened = open_study(study)
    actor = opened.actor(as_name)
    score = _score_to_sign(opened, actor, revision=revision, reference_name=reference_name, labeler=labeler)
    made = accepting.sign_second(opened, actor, score, comment=comment)
    Output(as_json).answer(
        {"revision": score.prepared.number, "by": made.actor, "at": made.at.isoformat(), "comment": made.comment},
        f"{made.actor} has signed revision {score.prepared.number}.",
    )


def _gate(opened: Study, actor: Actor, *, revision: str, reference_name: str | None, labeler: str) -> accepting.Gate:
    score = score_of(opened, actor, revision=revision, reference_name=reference_name, labeler=labeler)
    return accepting.open_gate(opened, actor, score)


def score_of(opened: Study, actor: Actor, *, revision: str | None, reference_name: str | None, labeler: str) -> Score:
    """Return the recorded score of a revision on a reference. Raises InputError, telling how to get one."""
    ref = reference.get_reference(opened, actor, reference_name)
    cohort = reference.cohort_of(opened, ref).name
    prepared = recorded(opened, actor, cohort=cohort, revision=revision, labeler=labeler)
    score = find_score(opened, actor, prepared, ref)
    if score is None:
        raise _unscored(prepared.number, ref.name, cohort)
    return score


def _unscored(number: int, reference_name: str, cohort: str) -> InputError:
    return InputError(
        f"Revision {number} has no score on {reference_name} yet; score it with "
        f"`workbench evaluate --prompt {number} --cohort {cohort}`."
    )


def _score_to_sign(opened: Study, actor: Actor, *, revision: str, reference_name: str | None, labeler: str) -> Score:
    """Return the score that the page Accept shows: an adjudicator, who may not score a run, signs one too."""
    ref = reference.get_reference(opened, actor, reference_name)
    wanted = prompts.find_record(opened, revision)
    rows = history(opened, actor, ref, labeler=opened.labeler(labeler), accepted_only=False)
    score = next((row.score for row in rows if row.revision.prompt_hash == wanted.prompt_hash), None)
    if score is None:
        raise _unscored(wanted.number, ref.name, reference.cohort_of(opened, ref).name)
    return score


@prompt_app.command("reject")
def reject(
    revision: RevisionArgument,
    *,
    reason: Annotated[str, typer.Option(help="Why it is rejected.")],
    study: StudyOption = None,
    as_name: AsOption = None,
    as_json: JsonOption = False,
) -> None:
    """Reject a candidate with a reason; it stays on record.

    \b
    Example:
      workbench prompt reject 6 --reason "breaks pneumothorax"
    """
    opened = open_study(study)
    found = prompts.find_record(opened, revision)
    rejected = accepting.reject(opened, opened.actor(as_name), found, reason=reason)
    Output(as_json).answer(_json(rejected), f"Revision {rejected.number} is rejected.")
