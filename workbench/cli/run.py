"""Commands that run a prompt and score it: run, evaluate."""

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

from workbench.cli.batch import Batch, currency, spent
from workbench.cli.labelers import basis_text
from workbench.cli.options import AsOption, JsonOption, StudyOption
from workbench.cli.output import Output, figure, table
from workbench.domain.actors import Actor
from workbench.domain.hashing import short
from workbench.domain.runs import RunProgress
from workbench.errors import InputError, WorkbenchError
from workbench.evaluation.evaluations import Evaluation
from workbench.evaluation.stability import Stability
from workbench.running.spending import Cap
from workbench.workflow import data_use, languages, reference, run, score
from workbench.workflow.opening import open_study
from workbench.workflow.run import PreparedRun
from workbench.workflow.stability import run_stability
from workbench.workflow.study import Study

PromptOption = Annotated[str | None, typer.Option("--prompt", help="Revision; the highest accepted when left out.")]
CohortOption = Annotated[str | None, typer.Option(help="Name of the cohort.")]
LabelerOption = Annotated[str, typer.Option(help="A labeler of data/study.toml.")]


def register(app: typer.Typer) -> None:
    """Add these commands to the program."""
    app.command("run")(run_command)
    app.command("evaluate")(evaluate_command)


def run_command(
    *,
    prompt: PromptOption = None,
    cohort: CohortOption = None,
    labeler: LabelerOption = "rules",
    repeats: Annotated[int, typer.Option(help="How often each report is labelled.", min=1, max=20)] = 1,
    resume: Annotated[str | None, typer.Option(help="Go on with the run of this hash.")] = None,
    max_cost: Annotated[
        float | None, typer.Option(min=0, help="Stop before the run has cost more than this, at the labeler's price.")
    ] = None,
    max_tokens: Annotated[
        int | None, typer.Option(min=0, help="Stop before the run has taken more tokens than this.")
    ] = None,
    batch: Annotated[
        bool, typer.Option("--batch", help="Hand the reports over as a batch, answered within a day at a lower price.")
    ] = False,
    wait: Annotated[bool, typer.Option("--wait", help="With --batch: wait until all is answered.")] = False,
    batch_cancel: Annotated[
        bool, typer.Option("--batch-cancel", help="Have what is under way end early; what is answered is collected.")
    ] = False,
    batch_file: Annotated[
        Path | None, typer.Option(help="Write the requests into this file instead, for `vllm run-batch`.")
    ] = None,
    batch_result: Annotated[Path | None, typer.Option(help="Take in the file of answers to such a file.")] = None,
    list_runs: Annotated[bool, typer.Option("--list", help="List the runs instead.")] = False,
    study: StudyOption = None,
    as_name: AsOption = None,
    as_json: JsonOption = False,
) -> None:
    """Run a prompt over a cohort. Running the same again goes on where it stopped and labels nothing twice.

    Reports that brought no reply are asked for again. A cap counts all that the run has taken, earlier attempts too.

    With --batch it returns at once; the same again, or --resume HASH, collects what has come. As long as a batch is
    under way, nothing of the run is asked by call.

    \b
    Examples:
      workbench run --cohort development --prompt 4
      workbench run --cohort development --labeler qwen --max-tokens 500000
      workbench run --cohort development --labeler gpt --batch
      workbench run --cohort development --labeler qwen --batch-file requests.jsonl
      workbench run --list
    """
    opened, out = open_study(study), Output(as_json)
    if list_runs:
        _list(opened, out)
        return
    actor = opened.actor(as_name)
    if resume is not None:
        prepared = run.reopen(opened, actor, resume)
    elif cohort is None:
        raise InputError("Say which cohort with --cohort NAME; `workbench cohort list` shows them.")
    else:
        prepared = run.prepare(opened, actor, cohort=cohort, revision=prompt, labeler=labeler, repeats=repeats)
    for sentence in _of_languages(prepared):
        out.tell(sentence)
    cap = Cap(max_tokens, max_cost)
    how = Batch(submit=batch, wait=wait, cancel=batch_cancel, file=batch_file, result=batch_result)
    if how.asked(opened, prepared):
        how.go(opened, actor, prepared, cap, out)
        return
    _done(opened, prepared, cap, out, shown=not as_json)


def _of_languages(prepared: PreparedRun) -> list[str]:
    """Return what is to be said of the reports' languages before they are read."""
    found = languages.of_run(prepared)
    return [*filter(None, [found.failing]), *found.notes]


def _done(opened: Study, prepared: PreparedRun, cap: Cap, out: Output, *, shown: bool) -> None:
    """Run it here, and say how it ended."""
    progress = _execute(opened, prepared, cap, shown=shown)
    basis = data_use.permission(opened, prepared.run.labeler).opening
    failed = sum(progress.failed.values())
    kinds = ", ".join(f"{kind}: {n}" for kind, n in progress.failed.items())
    name = short(prepared.run.hash)
    out.answer(
        {
            "run": prepared.run.hash,
            "revision": prepared.number,
            "cohort": prepared.cohort.name,
            "labeler": prepared.run.labeler.name,
            "total": progress.total,
            "done": progress.done,
            "failed": dict(progress.failed),
            "tokens": asdict(progress.usage),
            "cost": progress.cost,
            "currency": currency(prepared),
            "opened_on": basis_text(basis) if basis else None,
            "stopped": progress.stopped,
        },
        f"Run {name}: revision {prepared.number} on {prepared.cohort.name}, "
        f"{progress.done} of {progress.total} labelled, {failed} failed{f' ({kinds})' if kinds else ''}.",
        *spent(prepared, progress),
        *([f"Its host was opened on record: {basis_text(basis)}"] if basis else []),
        *(
            [f"{progress.unanswered} got no reply; the same command asks for them again."]
            if progress.unanswered
            else []
        ),
        *([] if progress.stopped else [f"Next: workbench evaluate --run {name}"]),
    )
    if progress.stopped:
        raise WorkbenchError(progress.stopped)


def _note(prepared: PreparedRun, progress: RunProgress) -> str:
    """Return how a run gets on, for the line under way."""
    parts = [f"{sum(progress.failed.values())} failed"] if progress.failed else []
    pace = progress.pace
    if pace and pace.per_second:
        parts.append(f"{pace.per_second:,.1f} calls/s")
    if progress.usage.tokens:
        parts.append(f"{progress.usage.tokens:,} tokens")
    if progress.cost is not None and progress.forecast is not None:
        parts.append(f"{progress.cost:,.2f} of about {progress.forecast:,.2f} {currency(prepared)}")
    if pace and pace.paused_until:
        parts.append(f"waits until {pace.paused_until.astimezone():%H:%M:%S}: {pace.paused_why}")
    return " · ".join(parts)


def _execute(study: Study, prepared: PreparedRun, cap: Cap, *, shown: bool) -> RunProgress:
    console = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    note = TextColumn("{task.fields[note]}", markup=False)
    with Progress(*columns, note, console=console, disable=not (shown and console.is_terminal)) as bar:
        task = bar.add_task(f"Revision {prepared.number} on {prepared.cohort.name}", total=None, note="")

        def update(progress: RunProgress) -> None:
            bar.update(task, total=progress.total, completed=progress.done, note=_note(prepared, progress))

        return run.execute(study, prepared, cap=cap, on_progress=update)


def _list(study: Study, out: Output) -> None:
    views = run.list_runs(study)
    rows = [
        (
            short(v.run.hash),
            v.number,
            v.cohort_name,
            v.run.labeler.name,
            f"{v.progress.done}/{v.progress.total}",
            sum(v.progress.failed.values()),
            v.author,
            f"{v.created_at:%Y-%m-%d %H:%M}",
        )
        for v in views
    ]
    columns = ["run", "revision", "cohort", "labeler", "done", "failed", "author", "made (UTC)"]
    out.answer(
        {
            "runs": [
                {
                    "run": v.run.hash,
                    "revision": v.number,
                    "cohort": v.cohort_name,
                    "labeler": v.run.labeler.name,
                    "done": v.progress.done,
                    "total": v.progress.total,
                    "failed": dict(v.progress.failed),
                }
                for v in views
            ]
        },
        table("Runs", columns, rows) if rows else "No run yet.",
    )


def evaluate_command(
    *,
    run_hash: Annotated[str | None, typer.Option("--run", help="Hash of the run; else --prompt and --cohort.")] = None,
    prompt: PromptOption = None,
    cohort: CohortOption = None,
    labeler: LabelerOption = "rules",
    reference_name: Annotated[str | None, typer.Option("--reference", help="The cohort's first when left out.")] = None,
    study: StudyOption = None,
    as_name: AsOption = None,
    as_json: JsonOption = False,
) -> None:
    """Score a finished run against the reference standard, finding by finding.

    \b
    Examples:
      workbench evaluate --run 3f2a
      workbench evaluate --prompt 4 --cohort development
    """
    opened = open_study(study)
    actor = opened.actor(as_name)
    prepared = _chosen(opened, actor, run_hash=run_hash, prompt=prompt, cohort=cohort, labeler=labeler)
    ref = (
        reference.get_reference(opened, actor, reference_name)
        if reference_name
        else reference.reference_on(opened, actor, prepared.cohort)
    )
    scored = score.score_run(opened, actor, prepared.run.hash, ref)
    Output(as_json).answer(score_json(opened, actor, scored), *score_shown(opened, actor, scored))


def _chosen(
    study: Study, actor: Actor, *, run_hash: str | None, prompt: str | None, cohort: str | None, labeler: str
) -> PreparedRun:
    if run_hash is not None:
        return run.load(study, run_hash)
    if cohort is None:
        raise InputError("Say which run with --run HASH, or --prompt and --cohort; `workbench run --list` shows them.")
    return run.recorded(study, actor, cohort=cohort, revision=prompt, labeler=labeler)


def score_json(study: Study, actor: Actor, scored: score.Score) -> dict[str, object]:
    """Return a score with all it rests on, as JSON."""
    prepared, ref = scored.prepared, scored.reference
    return {
        "evaluation": scored.hash,
        "revision": {"number": prepared.number, "hash": prepared.run.prompt_hash},
        "run": prepared.run.hash,
        "cohort": {"name": prepared.cohort.name, "hash": prepared.cohort.hash},
        "labeler": prepared.run.labeler.identity,
        "reference": {
            "name": ref.name,
            "hash": ref.hash,
            "rule": f"{ref.rule.k} of {ref.rule.n}",
            "single_rater": ref.rule.single_rater,
            "simulated": ref.simulated,
        },
        "vote_policies": ref.vote_policies.as_json(),
        "prediction_policies": scored.prediction_policies.as_json(),
        "left_out": list(scored.left_out),
        "looks": scored.looks,
        "exploratory": scored.exploratory,
        "scores": scored.evaluation.as_json(),
        "policy_table": score.policies_table(study, actor, scored).as_json(),
        "stability": run_stability(study, actor, prepared).as_json() if prepared.run.repeats > 1 else None,
    }


def score_shown(study: Study, actor: Actor, scored: score.Score) -> list[Table | str]:
    """Return a score as tables and lines for people."""
    result, prepared, ref = scored.evaluation, scored.prepared, scored.reference
    rows = [
        (
            f.finding_id,
            f.support,
            f.tp,
            f.fp,
            f.fn,
            f.tn,
            figure(f.accuracy, 2).split(" ")[0],
            figure(f.precision, 2).split(" ")[0],
            figure(f.recall, 2).split(" ")[0],
            figure(f.specificity, 2).split(" ")[0],
            figure(f.f1, 2),
            "too few to assess" if f.too_few else "",
        )
        for f in result.findings
    ]
    title = (
        f"Revision {prepared.number} ({short(prepared.run.prompt_hash)}), {prepared.run.labeler.name}, on "
        f"{prepared.cohort.name}; reference {ref.name} ({short(ref.hash)}), {ref.rule.k} of {ref.rule.n}"
    )
    columns = ["finding", "support", "TP", "FP", "FN", "TN", "accuracy", "precision", "recall", "specificity"]
    columns += ["F1 (95 %)", ""]
    answered = result.n_reports - result.n_failed
    cells = score.policies_table(study, actor, scored)
    names = [policy.value for policy in cells.policies]
    policy_rows = [
        (f"vote: {name}", *(figure(cell) for cell in row)) for name, row in zip(names, cells.macro_f1, strict=True)
    ]
    return [
        table(title, columns, rows),
        (
            f"Macro-F1 {figure(result.macro_f1)} over {result.macro_f1.n} findings; "
            f"micro-F1 {figure(result.micro_f1)}; {answered} of {result.n_reports} reports answered, "
            f"{result.n_patients} patients; "
            f"look {scored.looks} at this cohort."
        ),
        *_answered_alone(result),
        *_reweighted(result),
        *([f"Left out, as the prompt quotes them: {', '.join(scored.left_out)}."] if scored.left_out else []),
        *(["Exploratory: not what was named when this cohort was unlocked."] if scored.exploratory else []),
        *(["A single rater made this reference."] if ref.rule.single_rater else []),
        *(["Some of the reference's votes are simulated."] if ref.simulated else []),
        table("Macro-F1 by policy for uncertain", ["", *(f"prediction: {name}" for name in names)], policy_rows),
        *(_stability_shown(run_stability(study, actor, prepared)) if prepared.run.repeats > 1 else []),
    ]


def _stability_shown(found: Stability) -> list[Table | str]:
    rows = [(f.finding_id, figure(f.states), figure(f.scored)) for f in found.findings]
    title = f"Share of reports of which all {found.repeats} repeats say the same"
    return [
        table(title, ["finding", "four states", "as scored"], rows),
        (
            f"Over {found.answered} of {found.n_reports} reports, answered in each repeat; "
            f"in all findings at once {figure(found.reports)}."
        ),
    ]


def _answered_alone(result: Evaluation) -> list[str]:
    """Return macro-F1 without the failed replies, which stands beside the other and never instead (method 12)."""
    if not result.n_failed:
        return []
    return [f"Over the answered reports alone, macro-F1 is {figure(result.macro_f1_answered)}."]


def _reweighted(result: Evaluation) -> list[str]:
    if result.macro_f1_reweighted is None:
        return []
    shown = figure(result.macro_f1_reweighted)
    return [f"Rare findings were enriched in this cohort; reweighted to the pool, macro-F1 is {shown}."]
