"""The command that tests which metric of generated reports can be trusted: trust."""

from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from workbench.cli.data import FormatOption
from workbench.cli.judges import JudgeByOption, MaxCostOption, MaxTokensOption, benches
from workbench.cli.options import AsOption, EncodingOption, JsonOption, StudyOption, columns_of, directions_of
from workbench.cli.output import Output, figure, table, under_way
from workbench.cli.scoring import LabelerOption, RevisionOption, TaskOption
from workbench.domain.hashing import short
from workbench.domain.pairs import EditedPair
from workbench.errors import InputError
from workbench.formats.alterations import read_alterations
from workbench.formats.pairs import read_pair_scores, read_pairs
from workbench.formats.reports import iter_reports
from workbench.running.spending import Cap
from workbench.workflow import trust
from workbench.workflow.opening import open_study
from workbench.workflow.systems import DEFAULT_TASK
from workbench.workflow.trust import DEFAULT_METRICS, MetricTrust, TrustTable
from workbench.workflow.trust_files import judge_words, trust_json, words, write_trust
from workbench.workflow.trust_pairs import make_pairs

SHIPPED_WORDS = Path(__file__).resolve().parents[2] / "data" / "alterations.yaml"


def register(app: typer.Typer) -> None:
    """Add this command to the program."""
    app.command("trust")(trust_command)


def trust_command(
    reports: Annotated[
        Path | None, typer.Argument(help="Reports of any kind, from which edited copies are made.", metavar="FILE")
    ] = None,
    *,
    pairs: Annotated[
        Path | None, typer.Option(help="Pairs made by people (or pairs.csv of before) instead of reports.")
    ] = None,
    form: FormatOption = None,
    column: Annotated[list[str] | None, typer.Option(help="Which column holds what, as in import reports.")] = None,
    count: Annotated[int, typer.Option("--reports", min=1, help="How many reports are edited, at most.")] = 500,
    seed: Annotated[int, typer.Option(help="Of the sample and of the edits.")] = 1,
    words_file: Annotated[Path | None, typer.Option("--words", help="Word list of the edits; the shipped one.")] = None,
    metric: Annotated[list[str] | None, typer.Option(help="A metric computed here; give it once per metric.")] = None,
    scores: Annotated[
        Path | None, typer.Option(help="Scores of the pairs computed elsewhere: pair_id, metric, value.")
    ] = None,
    higher_is_better: Annotated[list[str] | None, typer.Option(help="A metric of --scores, so.")] = None,
    lower_is_better: Annotated[list[str] | None, typer.Option(help="A metric of --scores, so.")] = None,
    judge: Annotated[
        list[Path] | None, typer.Option(help="What a judge is told, as data/judges/one-pass.yaml; once per judge.")
    ] = None,
    judge_by: JudgeByOption = None,
    revision: RevisionOption = None,
    labeler: LabelerOption = "rules",
    task: TaskOption = DEFAULT_TASK,
    max_tokens: MaxTokensOption = None,
    max_cost: MaxCostOption = None,
    encoding: EncodingOption = "utf-8",
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Folder for table, picture and pairs.", metavar="FOLDER")
    ] = None,
    study: StudyOption = None,
    as_name: AsOption = None,
    as_json: JsonOption = False,
) -> None:
    """Test which metric can be trusted: does it drop for an error that matters, and not for other words?

    Reports are edited by rule, in ways that matter and in harmless ones; every metric compares each edited copy with
    the original. Each kind has at most a fifth as many edits as there are reports, and all kinds count the same. Pairs
    made by people are taken as well (`pair_id`, `significant`, `reference`, `generated`).

    \b
    Examples:
      workbench trust reports.csv --reports 500 -o trust
      workbench trust openi.csv --format openi --metric ran_score --metric bleu4 -o trust
      workbench trust --pairs trust/pairs.csv --scores bertscore.csv -o trust
      workbench trust reports.csv --judge data/judges/one-pass.yaml --judge data/judges/two-pass.yaml --judge-by qwen
    """
    opened, said = open_study(study), Output(as_json)
    actor = opened.actor(as_name)
    if pairs is not None and reports is None:
        made = read_pairs(pairs, encoding=encoding)
    elif reports is not None and pairs is None:
        source = iter_reports(reports, form=form, columns=columns_of(column), encoding=encoding)
        made = make_pairs(source, read_alterations(words_file or SHIPPED_WORDS), count=count, seed=seed)
    else:
        raise InputError("Name a file of reports to edit, or pairs with --pairs FILE; one of the two.")
    cap = Cap(max_tokens, max_cost)
    asked = [name for name in (judge_by, None if labeler == "rules" else labeler) if name]
    with under_way(f"{' and '.join(asked)} at work" if asked else "", shown=not as_json) as told:
        found = trust.measure(
            opened,
            actor,
            made,
            metrics=metric or DEFAULT_METRICS,
            scores=read_pair_scores(scores, encoding=encoding) if scores else None,
            directions=directions_of(higher_is_better, lower_is_better),
            judges=benches(opened, judge or [], judge_by),
            revision=revision,
            labeler=labeler,
            task=task,
            cap=cap if cap.set else None,
            on_progress=told,
        )
    _answer(found, made, out, said)


def _answer(found: TrustTable, made: list[EditedPair], out: Path | None, said: Output) -> None:
    written = write_trust(found, made, out) if out else []
    said.answer(
        {**trust_json(found), "written": [str(path) for path in written]},
        _overall(found),
        _by_kind(found, significant=True),
        _by_kind(found, significant=False),
        *(
            f"{metric.name} does not notice: {', '.join(map(words, metric.blind_to))}."
            for metric in found.metrics
            if metric.blind_to
        ),
        *judge_words(found),
        f"{found.reports} reports, {sum(found.by_kind.values())} edits ({short(found.pairs_hash)}), {found.task}; "
        f"Ran Score of a pair by revision {found.revision} ({short(found.reading.prompt.hash)}) and labeler "
        f"{found.reading.labeler.name}.",
        *([f"Written: {', '.join(map(str, written))}."] if written else []),
    )


def _overall(found: TrustTable) -> Table:
    columns = ["metric", "probability (95 %)", "all pairs alike", "discrimination", "robustness", "threshold", "edits"]
    return table(
        "Does an error that matters cost more than a harmless edit? Every kind of edit counts the same.",
        columns,
        [
            (
                metric.name,
                figure(metric.trust.probability),
                figure(metric.trust.pooled),
                figure(metric.trust.discrimination),
                figure(metric.trust.robustness),
                "-" if metric.trust.threshold is None else f"{metric.trust.threshold:.3f}",
                f"{metric.trust.n_significant} / {metric.trust.n_harmless}",
            )
            for metric in found.metrics
        ],
    )


def _by_kind(found: TrustTable, *, significant: bool) -> Table:
    title = "Probability by kind: errors that matter" if significant else "Probability by kind: harmless edits"
    kinds = [kind.kind for kind in found.metrics[0].trust.kinds if kind.significant is significant]
    return table(
        title,
        ["kind", "n", *(metric.name for metric in found.metrics), *(["not noticed"] if significant else [])],
        [
            (
                words(kind),
                found.by_kind[kind],
                *(_with_n(metric, kind, found.by_kind[kind]) for metric in found.metrics),
                *([" / ".join(_unnoticed(metric, kind) for metric in found.metrics)] if significant else []),
            )
            for kind in kinds
        ],
    )


def _with_n(metric: MetricTrust, kind: str, edits: int) -> str:
    """Return a figure, with its n where some edits of the kind have no value."""
    found = metric.trust.of(kind)
    return figure(found.probability) + (f" n {found.right.n:,}" if found.right.n < edits else "")


def _unnoticed(metric: MetricTrust, kind: str) -> str:
    found = metric.trust.of(kind)
    return f"{100 * found.blind / found.right.n:.0f} %" if found.right.n else "-"
