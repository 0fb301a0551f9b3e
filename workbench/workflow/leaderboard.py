"""The leaderboard of a data set: every system by every metric, with intervals, ranks and ties (method 20 and 21)."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from workbench.domain.actors import Actor
from workbench.domain.findings import MISSING
from workbench.errors import InputError
from workbench.evaluation.correlation import Correlation, Progress, correlations
from workbench.evaluation.intervals import Numbers
from workbench.evaluation.numbers import Figure, undefined
from workbench.evaluation.ranking import NO_STUDY, NO_VALUE, Ranking, rank_macro_f1, rank_systems
from workbench.metrics.base import Metric
from workbench.metrics.radcliq import radcliq_v1, reciprocal_of_mean
from workbench.metrics.registry import METRICS, RAN_SCORE, text_scores
from workbench.storage import leaderboard as store
from workbench.storage.leaderboard import DataSetRecord, ScoreSource
from workbench.workflow.extractor import LabelerErrors, labeler_errors
from workbench.workflow.judged import source_words
from workbench.workflow.ran_score import Scoring, score_systems
from workbench.workflow.study import Study

RADCLIQ = "radcliq_v1"
NOT_POSITIVE = "not defined: the mean is not positive"
NO_RADCLIQ = "not defined: it has no RadCliQ-v1"
FIRST = ("bleu2_rexrank", "rouge_l")  # of the computed ones, what other leaderboards show
HERE, IMPORTED = "computed here", "imported"


@dataclass(frozen=True, slots=True)
class Column:
    """One metric of the leaderboard. ``values`` [system, study] are its scores per study, NaN where there is none.

    Those of Ran Score are the F1 of single pairs; its ranking is by macro-F1 over findings, which is no mean of them.
    The ranking is over the studies that all systems share that have the metric; ``own`` is each system's figure over
    all studies that it has a score for, without an interval but for Ran Score. ``judge`` says in words whose scores
    these are where a language model of the study judged; ``sources`` where all came from that were not computed here.
    """

    metric: Metric
    ranking: Ranking
    values: Numbers
    source: str
    own: Mapping[str, Figure]
    judge: str = ""
    sources: tuple[ScoreSource, ...] = ()

    def shown(self, system: str) -> Figure:
        """Return the figure that a system is ranked by, its own where there is none; undefined where it has neither."""
        ranked = self.ranking.of(system).value
        return ranked if ranked.defined else self.own[system]

    @property
    def coverage(self) -> str:
        """Return in a sentence which studies the ranking is over, and each system's own mean."""
        own = [f"{name} {it.value:.3f} (n {it.n:,})" for name, it in self.own.items() if it.value is not None]
        none = [name for name, it in self.own.items() if not it.defined]
        n = self.ranking.n_studies
        told = (
            f"ranked on the {n:,} studies of all systems that have it" if n > 1 else "ranked on one study" if n else ""
        )
        lacking = f"; no score of {', '.join(none)}" if none else ""
        return f"{self.metric.name}: {told or NO_STUDY}; over all its own studies {', '.join(own)}{lacking}."


@dataclass(frozen=True, slots=True)
class Board:
    """All systems of a data set by all metrics, best by Ran Score first.

    Every ranking is over the studies that every system has that has the metric; its own n says how many. A system that
    has it on no study has no place in it. ``reciprocals`` is ReXrank's
    1 / RadCliQ-v1 by system, the reciprocal of the mean; empty where there is no RadCliQ-v1. ``errors`` says how far
    the labeler's own errors could move each system, None where nobody knows them.
    """

    scoring: Scoring
    columns: tuple[Column, ...]
    reciprocals: Mapping[str, Figure]
    errors: LabelerErrors | None = None

    @property
    def systems(self) -> tuple[str, ...]:
        """Return the systems, best by Ran Score first."""
        return tuple(place.system for place in self.columns[0].ranking.systems)

    @property
    def ground(self) -> str:
        """Return in a sentence which system makes the common studies few; "" where every system has the same ones."""
        had = {system.name: (system.codes != MISSING).all(axis=1) for system in self.scoring.systems}
        had = {name: studies for name, studies in had.items() if studies.any()}
        common = int(self.scoring.common.sum())
        if all(int(studies.sum()) == common for studies in had.values()):
            return ""

        def without(name: str) -> int:
            return int(np.logical_and.reduce([studies for other, studies in had.items() if other != name]).sum())

        # Where no single one makes it small, the one that has fewest is named.
        name = max(had, key=lambda one: (without(one), -int(had[one].sum())))
        begun = "No study has a report of every system, so none is ranked"
        if common:
            studies = "one study" if common == 1 else f"{common:,} studies"
            begun = f"The systems are ranked on the {studies} that all of them have"
        return f"{begun}; without {name}, which has {int(had[name].sum()):,}, there would be {without(name):,}."

    @property
    def uneven(self) -> tuple[str, ...]:
        """Return a sentence per metric that not every scored report has, on who has it where."""
        scored = [system.coverage.scored for system in self.scoring.systems]
        return tuple(
            column.coverage for column in self.columns if (~np.isnan(column.values)).sum(axis=1).tolist() != scored
        )

    def column(self, metric_id: str) -> Column:
        """Return one metric's column. Raises KeyError."""
        found = next((column for column in self.columns if column.metric.id == metric_id), None)
        if found is None:
            raise KeyError(metric_id)
        return found

    @property
    def findings(self) -> tuple[tuple[str, int], ...]:
        """Return the findings with support in the data set and how many studies have them, the rarest first."""
        support = (self.scoring.truth == 1).sum(axis=0).tolist()
        named = zip(self.scoring.finding_ids, support, strict=True)
        return tuple(sorted(((f, n) for f, n in named if n), key=lambda pair: pair[1]))


def leaderboard(
    study: Study,
    actor: Actor,
    data_set: DataSetRecord,
    *,
    revision: str | int | None = None,
    labeler: str = "rules",
    systems: Sequence[str] | None = None,
    on_progress: Progress = lambda *_: None,
) -> Board:
    """Return the leaderboard of a data set, of all its systems or the named ones.

    ``on_progress`` is told how much is done, of how much: first Ran Score, then the metrics of the texts, by system.

    Raises:
        InputError: nothing was submitted, or as ``score_systems``.
        NotFoundError: there is no such revision or labeler.
        RightsError: the person has no role, or rates in an open round.
    """
    scoring = score_systems(
        study,
        actor,
        data_set,
        revision=revision,
        labeler=labeler,
        systems=systems,
        on_progress=lambda done, of: on_progress(done, 2 * of),
    )
    if not scoring.systems:
        raise InputError(f"No system has submitted anything for {data_set.name} yet.")
    columns = [_ran_score(scoring), *_computed(scoring, on_progress), *_imported(study, scoring)]
    if (radcliq := _radcliq(scoring, columns)) is not None:
        columns.append(radcliq)
    return Board(scoring, tuple(columns), _reciprocals(scoring, columns), labeler_errors(study, actor, scoring))


def metric_correlations(board: Board, *, on_progress: Progress = lambda *_: None) -> tuple[Correlation, ...]:
    """Return how every two metrics, imported ratings among them, put the pairs of reports into the same order.

    Every pair of reports of every system is one; draws are of patients, as many whatever the number of pairs. Ran Score
    stands for the F1 of single pairs. ``on_progress`` is told how many pairs of metrics are done, of how many.
    """
    scores = {column.metric.id: column.values.reshape(-1) for column in board.columns}
    patients = list(board.scoring.patients) * len(board.scoring.systems)
    return correlations(scores, patients, on_progress=on_progress)


def _ran_score(scoring: Scoring) -> Column:
    names = [system.name for system in scoring.systems]
    values = np.full((len(names), len(scoring.study_ids)), np.nan)
    for i, system in enumerate(scoring.systems):
        if system.own is not None:
            values[i, [text is not None for text in system.texts]] = system.own.per_report
    own = {
        system.name: system.own.evaluation.macro_f1 if system.own else undefined(NO_VALUE) for system in scoring.systems
    }
    # What a system left out is MISSING, and so leaves the common ground; nothing else here is missing.
    ranking = rank_macro_f1(names, scoring.truth, scoring.given, scoring.patients)
    return Column(METRICS[RAN_SCORE], ranking, values, HERE, own)


def _computed(scoring: Scoring, on_progress: Progress) -> list[Column]:
    """Return the metrics that are computed of the two texts alone."""
    by_system, n = [], len(scoring.systems)
    for system in scoring.systems:
        by_system.append(text_scores(scoring.references, system.texts))
        on_progress(n + len(by_system), 2 * n)
    in_order = sorted(by_system[0], key=lambda metric: (metric not in FIRST, metric))
    return [
        _column(scoring, METRICS[metric], np.stack([found[metric] for found in by_system]), HERE) for metric in in_order
    ]


def _imported(study: Study, scoring: Scoring) -> list[Column]:
    """Return the metrics whose scores were computed elsewhere, or by a judge of the study."""
    with study.database.read() as conn:
        known = store.scores(conn, scoring.data_set.hash)
    columns = []
    for scores in known:
        values = np.array(
            [
                [scores.values.get(system.name, {}).get(study_id, np.nan) for study_id in scoring.study_ids]
                for system in scoring.systems
            ]
        )
        told = METRICS.get(scores.metric) or Metric(
            scores.metric, scores.metric, scores.higher_is_better, "Scores that were computed elsewhere."
        )
        if not np.isnan(values).all():
            columns.append(_column(scoring, told, values, IMPORTED, scores.sources))
    return columns


def _radcliq(scoring: Scoring, columns: Sequence[Column]) -> Column | None:
    """Return RadCliQ-v1 made of its four parts, None where it was imported or a part is not there."""
    by_id = {column.metric.id: column.values for column in columns}
    parts = [by_id.get(part) for part in ("radgraph_f1", "bertscore", "semb_score", "bleu2_rexrank")]
    if RADCLIQ in by_id or any(part is None for part in parts):
        return None
    radgraph, bertscore, semb, bleu2 = (part for part in parts if part is not None)
    return _column(scoring, METRICS[RADCLIQ], radcliq_v1(radgraph, bertscore, semb, bleu2), HERE)


def _reciprocals(scoring: Scoring, columns: Sequence[Column]) -> dict[str, Figure]:
    radcliq = next((column for column in columns if column.metric.id == RADCLIQ), None)
    if radcliq is None:
        return {}
    missing = np.isnan(radcliq.values)
    there = np.asarray(~missing.all(axis=1))
    every = ~missing[there].any(axis=0)
    found, n = {}, int(every.sum())
    for i, system in enumerate(scoring.systems):
        if not there[i] or not n:
            found[system.name] = undefined(f"not defined: {NO_STUDY}" if there[i] else NO_RADCLIQ)
            continue
        value = reciprocal_of_mean(radcliq.values[i, every])
        found[system.name] = undefined(NOT_POSITIVE, n) if value is None else Figure(value, n)
    return found


def _column(
    scoring: Scoring, metric: Metric, values: Numbers, source: str, sources: tuple[ScoreSource, ...] = ()
) -> Column:
    names = [system.name for system in scoring.systems]
    ranking = rank_systems(names, values, scoring.patients, higher_is_better=metric.higher_is_better)
    own = {}
    for name, of_system in zip(names, values, strict=True):
        had = of_system[~np.isnan(of_system)]
        own[name] = Figure(math.fsum(had.tolist()) / len(had), len(had)) if len(had) else undefined(NO_VALUE)
    judge = source_words(sources, {system.name: system.submission for system in scoring.systems})
    return Column(metric, ranking, values, source, own, judge, sources)
