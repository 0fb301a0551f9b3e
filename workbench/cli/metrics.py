"""Commands on metrics of generated reports: metrics list, import, run, correlate."""

from pathlib import Path
from typing import Annotated

import typer

from workbench.cli.judges import JudgeByOption, MaxCostOption, MaxTokensOption, only_bench
from workbench.cli.options import AsOption, EncodingOption, JsonOption, StudyOption, directions_of
from workbench.cli.output import Output, figure, table, under_way
from workbench.cli.scoring import SCORING, opened_with
from workbench.domain.judged import by_why
from workbench.domain.runs import ExtractionStatus
from workbench.errors import InputError
from workbench.metrics.registry import RAN_SCORE
from workbench.running.spending import Cap
from workbench.workflow import leaderboard, metrics
from workbench.workflow.judged import GREEN, judge_systems, record_words
from workbench.workflow.leaderboard_words import direction
from workbench.workflow.metrics import COMPUTED, MetricImport

metrics_app = typer.Typer(
    help="Metrics of generated reports: which there are, scores computed elsewhere, how they go together.",
    no_args_is_help=True,
)
DataSetOption = Annotated[str | None, typer.Option(help="Name of the data set; the newest when left out.")]
TaskOption = Annotated[str | None, typer.Option(help="findings, or findings+impression.")]


@metrics_app.command("list")
def list_metrics(*, as_json: JsonOption = False) -> None:
    """List the metrics that the workbench knows: direction, and what each needs.

    \b
    Example:
      workbench metrics list
    """
    known = metrics.list_metrics()
    rows = [(m.id, m.name, direction(m.higher_is_better), _where(m.id, m.needs)) for m in known]
    Output(as_json).answer(
        {
            "metrics": [
                {
                    "id": m.id,
                    "name": m.name,
                    "higher_is_better": m.higher_is_better,
                    "definition": m.definition,
                    "needs": m.needs,
                    "computed_here": m.id in COMPUTED,
                }
                for m in known
            ]
        },
        table("Metrics", ["id", "name", "direction", "where it comes from"], rows),
        "Scores computed elsewhere: workbench metrics import FILE (study_id, system, metric, value).",
    )


@metrics_app.command("import")
def import_scores(
    path: Annotated[Path, typer.Argument(help="CSV: study_id, system, metric, value.", metavar="FILE")],
    *,
    data_set: DataSetOption = None,
    task: TaskOption = None,
    higher: Annotated[list[str] | None, typer.Option("--higher-is-better", help="A metric of your own.")] = None,
    lower: Annotated[list[str] | None, typer.Option("--lower-is-better", help="A metric of your own.")] = None,
    encoding: EncodingOption = "utf-8",
    study: StudyOption = None,
    as_name: AsOption = None,
    as_json: JsonOption = False,
) -> None:
    """Take in scores that were computed elsewhere, per study, system and metric; radiologists' ratings too.

    They stand on the leaderboard with intervals, ranks and ties. With scores of radgraph_f1, bertscore and semb_score
    RadCliQ-v1 is computed.

    \b
    Examples:
      workbench metrics import green.csv --data-set iu
      workbench metrics import ratings.csv --higher-is-better rating
    """
    told = directions_of(higher, lower)
    opened, actor, known = opened_with(study, as_name, data_set, task)
    done = metrics.import_scores(opened, actor, known, path, higher_is_better=told, encoding=encoding)
    Output(as_json).answer(
        {
            "data_set": known.name,
            "metrics": [
                {
                    "metric": one.metric,
                    "higher_is_better": one.higher_is_better,
                    "values": dict(one.values),
                    "unknown_studies": one.unknown_studies,
                }
                for one in done
            ],
        },
        *map(_taken, done),
        f"Next: workbench leaderboard {known.name}",
    )


@metrics_app.command("run")
def run_metric(
    metric: Annotated[str, typer.Argument(help="bertscore, f1chexbert, radgraph_f1, or green.", metavar="METRIC")],
    *,
    judge_by: JudgeByOption = None,
    judge: Annotated[
        Path | None, typer.Option(help="What the judge is told; data/judges/one-pass.yaml.", metavar="FILE")
    ] = None,
    max_tokens: MaxTokensOption = None,
    max_cost: MaxCostOption = None,
    weights: Annotated[
        Path | None,
        typer.Option(help="Folder with a subfolder of weights per metric; weights/ of the study.", metavar="FOLDER"),
    ] = None,
    data_set: DataSetOption = None,
    task: TaskOption = None,
    system: Annotated[list[str] | None, typer.Option(help="Only these systems; once per system.")] = None,
    study: StudyOption = None,
    as_name: AsOption = None,
    as_json: JsonOption = False,
) -> None:
    """Compute a metric that needs weights by the field's own package, or have a language model judge (green).

    A package runs apart from this one and without a network; what is missing, the package, the weights or their
    checksums, is said in a sentence within seconds.

    GREEN is what a labeler's model counts by its kinds of error, every generated report beside its reference. Each pair
    is judged once and kept: the same command goes on where it stopped. What the judge refused, or said in no form that
    can be read, has no score, never 0. A later judge's scores take the place of an earlier one's.

    \b
    Examples:
      workbench metrics run bertscore --weights /models --data-set iu
      workbench metrics run green --judge-by qwen --data-set iu --max-tokens 2000000
      workbench metrics run green --judge-by gpt --judge data/judges/two-pass.yaml --max-cost 20
    """
    opened, actor, known = opened_with(study, as_name, data_set, task)
    said, cap = Output(as_json), Cap(max_tokens, max_cost)
    if metric != GREEN:
        if judge_by or judge or cap.set:
            raise InputError(f"{metric} asks no language model; --judge-by, --judge and caps go with green alone.")
        folder = weights or opened.folder / "weights"
        done = metrics.run_metric(opened, actor, known, metric, weights=folder, systems=system or None)
    else:
        if weights:
            raise InputError("green is judged by a language model, which needs no weights here; leave --weights out.")
        bench = only_bench(opened, judge, judge_by)
        with under_way(f"{bench.labeler.name} judges", shown=not as_json) as told:
            done = judge_systems(
                opened, actor, known, bench, systems=system or None, cap=cap if cap.set else None, on_progress=told
            )
    said.answer(
        {
            "data_set": known.name,
            "metric": done.metric,
            "values": dict(done.values),
            "judged": done.judged.as_json() if done.judged else None,
        },
        _taken(done),
        *_by_judge(done),
        f"Next: workbench leaderboard {known.name}",
    )


@metrics_app.command("correlate")
def correlate(
    name: Annotated[
        str | None, typer.Argument(help="A data set; the newest when left out.", metavar="DATA_SET")
    ] = None,
    *,
    task: TaskOption = None,
    labeler: Annotated[str, typer.Option(help="The labeler of Ran Score.")] = "rules",
    revision: Annotated[str | None, typer.Option(help="Prompt revision; the highest accepted when left out.")] = None,
    study: StudyOption = None,
    as_name: AsOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show how far metrics, and imported ratings, put the same reports into the same order.

    \b
    Example:
      workbench metrics correlate iu
    """
    opened, actor, known = opened_with(study, as_name, name, task)
    with under_way(SCORING, shown=not as_json) as told:
        board = leaderboard.leaderboard(opened, actor, known, revision=revision, labeler=labeler, on_progress=told)
    with under_way("Comparing metrics", shown=not as_json) as told:
        found = leaderboard.metric_correlations(board, on_progress=told)
    rows = [(c.first, c.second, figure(c.kendall), figure(c.spearman), c.kendall.n) for c in found]
    Output(as_json).answer(
        {
            "data_set": known.name,
            "correlations": [
                {"first": c.first, "second": c.second, "kendall": c.kendall.as_json(), "spearman": c.spearman.as_json()}
                for c in found
            ],
        },
        table("Metrics together", ["metric", "and", "Kendall tau-b (95 %)", "Spearman (95 %)", "reports"], rows),
    )


def _where(metric: str, needs: str) -> str:
    if metric == RAN_SCORE:
        return "computed here, by the accepted prompt and a labeler"
    return "computed here, from the two texts" if not needs else f"needs {needs}"


def _by_judge(done: MetricImport) -> list[str]:
    record = done.judged
    if record is None:
        return []
    unanswered = by_why(one.failed for one in record.systems.values()).get(ExtractionStatus.FAILED, 0)
    again = f"{unanswered:,} got no reply; the same command asks for them again."
    return [record_words(record), *([again] if unanswered else [])]


def _taken(one: MetricImport) -> str:
    counts = ", ".join(f"{system} {n}" for system, n in one.values.items())
    unknown = f"; {one.unknown_studies} studies are not in the data set" if one.unknown_studies else ""
    return f"{one.metric} ({direction(one.higher_is_better)}): {counts}{unknown}."
