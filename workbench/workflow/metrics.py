"""Metrics of generated reports: which there are, and scores that were computed elsewhere."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from workbench.domain.actors import Actor, Role
from workbench.domain.judged import JudgeRecord
from workbench.errors import InputError
from workbench.formats.metric_scores import Scores, read_metric_scores
from workbench.metrics.adapters import check_adapter, run_adapter
from workbench.metrics.base import Metric
from workbench.metrics.registry import METRICS, RAN_SCORE
from workbench.storage import leaderboard as store
from workbench.storage.leaderboard import DataSetRecord, MetricScores
from workbench.workflow.blindness import require_no_review, require_sighted
from workbench.workflow.ran_score import texts_of
from workbench.workflow.study import Study

COMPUTED = frozenset({RAN_SCORE, *(metric.id for metric in METRICS.values() if not metric.needs)})


@dataclass(frozen=True, slots=True)
class MetricImport:
    """Scores of one metric that were taken in: values by system, and studies that the data set lacks.

    ``judged`` is what they rest on where a language model of the study judged.
    """

    metric: str
    higher_is_better: bool
    values: Mapping[str, int]
    unknown_studies: int
    judged: JudgeRecord | None = None


def list_metrics() -> tuple[Metric, ...]:
    """Return every metric that the workbench knows, by whether it is computed here and what it needs otherwise."""
    return tuple(METRICS.values())


def imported(study: Study, actor: Actor, data_set: DataSetRecord) -> list[MetricScores]:
    """Return the scores of a data set that were computed elsewhere.

    Raises:
        RightsError: the person rates in an open round.
    """
    require_sighted(study, actor, "see scores of generated reports")
    require_no_review(study, actor, "see scores of generated reports")
    with study.database.read() as conn:
        return store.scores(conn, data_set.hash)


def import_scores(
    study: Study,
    actor: Actor,
    data_set: DataSetRecord,
    path: Path,
    *,
    higher_is_better: Mapping[str, bool] | None = None,
    encoding: str = "utf-8",
) -> list[MetricImport]:
    """Take in scores that were computed elsewhere, all of a file or none; they take part in all that metrics do.

    Args:
        study: the study.
        actor: a lead or admin.
        data_set: whose studies and systems the file names.
        path: a CSV with the columns study_id, system, metric and value.
        higher_is_better: the direction of metrics that the workbench does not know; radiologists' ratings are one.
        encoding: of the file.

    Raises:
        InputError: the file cannot be read as said; it names a system that has submitted nothing, or no study of the
            data set; a metric's direction is not known, or told against what is known; or the workbench computes the
            metric itself.
        RightsError: the person is no lead or admin, or rates in an open round.
    """
    actor.require(Role.LEAD, Role.ADMIN, to="import scores of generated reports")
    require_sighted(study, actor, "import scores of generated reports")
    told = dict(higher_is_better or {})
    read = read_metric_scores(path, encoding=encoding)
    directions = {metric: _direction(metric, told, path) for metric in read}
    if unused := next((metric for metric in told if metric not in read), None):
        raise InputError(f"{path} holds no score of {unused}; it has {', '.join(read)}.")
    with study.database.read() as conn:
        studies = {s.id for s in store.studies(conn, data_set.hash)}
        systems = {s.system for s in store.submissions(conn, data_set.hash)}
    _check(read, studies, systems, data_set, path)
    done = []
    with study.writing(actor) as conn:
        for metric, by_system in read.items():
            kept = {
                system: {study_id: value for study_id, value in values.items() if study_id in studies}
                for system, values in by_system.items()
            }
            scores = MetricScores(metric, directions[metric], kept)
            store.add_scores(conn, data_set.hash, scores, file=path.name, actor=actor.name, at=datetime.now(UTC))
            unknown = len({study_id for values in by_system.values() for study_id in values} - studies)
            counts = {system: len(values) for system, values in kept.items()}
            done.append(MetricImport(metric, directions[metric], counts, unknown))
    return done


def run_metric(
    study: Study,
    actor: Actor,
    data_set: DataSetRecord,
    metric: str,
    *,
    weights: Path,
    systems: Sequence[str] | None = None,
) -> MetricImport:
    """Compute a metric by the field's own package, run apart from this one and without a network; keep its scores.

    Args:
        study: the study.
        actor: a lead or admin.
        data_set: whose reports.
        metric: one that there is an adapter for.
        weights: the folder with a subfolder of weights and checksums for each metric.
        systems: only these; all when None.

    Raises:
        InputError: the workbench computes it itself, there is no adapter, or the package or its weights are missing
            (said within seconds), or it stopped; nothing is kept then. Or no system has submitted anything.
        RightsError: the person is no lead or admin, or rates in an open round.
    """
    actor.require(Role.LEAD, Role.ADMIN, to="run a metric")
    require_sighted(study, actor, "run a metric")
    if metric in COMPUTED:
        raise InputError(
            f"{METRICS[metric].name} is computed by the workbench itself: it stands on the leaderboard already."
        )
    check_adapter(metric, weights=weights)
    texts = texts_of(study, data_set, systems)
    if not texts.submissions:
        raise InputError(f"No system has submitted anything for {data_set.name} yet.")
    values = {}
    for submission, generated in zip(texts.submissions, texts.generated, strict=True):
        scores = run_adapter(metric, texts.references, generated, weights=weights)
        by_study = zip(texts.ids, scores, strict=True)
        values[submission.system] = {study_id: value for study_id, value in by_study if not math.isnan(value)}
    known = METRICS[metric]
    with study.writing(actor) as conn:
        kept = MetricScores(metric, known.higher_is_better, values)
        store.add_scores(conn, data_set.hash, kept, file="run here", actor=actor.name, at=datetime.now(UTC))
    return MetricImport(metric, known.higher_is_better, {name: len(of) for name, of in values.items()}, 0)


def told_direction(metric: str, told: Mapping[str, bool], path: Path | None = None) -> bool:
    """Return whether higher is better in a metric that the workbench does not know, as somebody told.

    Raises:
        InputError: nobody did; names the file with its scores where there is one.
    """
    if metric not in told:
        raise InputError(
            f"{f'{path}: is' if path else 'Is'} higher better in {metric}, or lower? Say it with "
            f"--higher-is-better {metric} or --lower-is-better {metric}."
        )
    return told[metric]


def _direction(metric: str, told: Mapping[str, bool], path: Path) -> bool:
    if metric in COMPUTED:
        raise InputError(f"{path}: {metric} is computed by the workbench itself; give other scores another name.")
    known = METRICS.get(metric)
    if known is None:
        return told_direction(metric, told, path)
    if told.get(metric, known.higher_is_better) != known.higher_is_better:
        word = "higher" if known.higher_is_better else "lower"
        raise InputError(
            f"{path}: in {metric} {word} is better, so say nothing else; rename it if it is another metric."
        )
    return known.higher_is_better


def _check(read: Scores, studies: set[str], systems: set[str], data_set: DataSetRecord, path: Path) -> None:
    for metric, by_system in read.items():
        if unknown := next((system for system in by_system if system not in systems), None):
            raise InputError(
                f"{path}: {data_set.name} has no system called {unknown}; it has "
                f"{', '.join(sorted(systems)) or 'none'}."
            )
        if not any(study_id in studies for values in by_system.values() for study_id in values):
            raise InputError(f"{path}: no study with a score of {metric} is in the data set {data_set.name}.")
