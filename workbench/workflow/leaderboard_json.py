"""A leaderboard as plain values: what every number of it rests on, and the numbers themselves."""

import math
from collections.abc import Mapping

from workbench.evaluation.numbers import Figure
from workbench.evaluation.ran_score import RanScore
from workbench.workflow.extractor import LabelerErrors
from workbench.workflow.leaderboard import Board, Column
from workbench.workflow.leaderboard_words import rank_numbers, unranked_words
from workbench.workflow.ran_score import SystemScore

_RANK = ("rank", "rank_low", "rank_high")


def facts_json(board: Board) -> dict[str, object]:
    """Return what all numbers of a leaderboard rest on: data set, revision, labeler, policy, coverage, resamples."""
    scoring = board.scoring
    reading, ranking = scoring.reading, board.columns[0].ranking
    label_set = reading.study.label_set
    return {
        "data_set": {"name": scoring.data_set.name, "hash": scoring.data_set.hash, "task": scoring.data_set.task},
        "studies": len(scoring.study_ids),
        "without_reference": dict(scoring.no_reference),
        "common_studies": int(scoring.common.sum()),
        "patients": len(set(scoring.patients)),
        "one_patient_per_study_assumed": not scoring.patients_known,
        "label_set": {"id": label_set.id, "version": label_set.version, "hash": label_set.hash},
        "revision": {"number": scoring.revision, "hash": reading.prompt.hash},
        "labeler": {"name": reading.labeler.name, "hash": reading.labeler.hash, **reading.labeler.identity},
        "uncertain_counts_as": label_set.prediction_policies.as_json(),
        "findings_scored": [finding for finding, _ in board.findings],
        "resamples": ranking.resamples,
        "permutations": ranking.permutations,
        "seed": ranking.seed,
    }


def board_json(board: Board) -> dict[str, object]:
    """Return a leaderboard as one JSON object; undefined numbers are null with their reason."""
    return {
        **facts_json(board),
        "systems": [_system(board, board.scoring.of(name)) for name in board.systems],
        "metrics": [_metric(column) for column in board.columns],
        "pairs": [
            {
                "better": pair.first,
                "other": pair.second,
                "difference": pair.difference.as_json(),
                "p": pair.p,
                "p_holm": pair.p_holm,
                "separated": pair.separated,
            }
            for pair in board.columns[0].ranking.pairs
        ],
        "labeler_errors": _errors(board.errors),
    }


def score_json(score: RanScore | None) -> Mapping[str, object] | None:
    """Return one Ran Score with all that stands beside it; None where there is none."""
    if score is None:
        return None
    return {
        "ran_score": score.evaluation.macro_f1.as_json(),
        "micro_f1": score.evaluation.micro_f1.as_json(),
        "exact_match": score.exact_match.as_json(),
        "report_f1": score.report_f1.as_json(),
        "invented_without_support": dict(score.invented),
        "evaluation": score.evaluation.as_json(),
    }


def _system(board: Board, system: SystemScore) -> dict[str, object]:
    coverage = system.coverage
    reciprocal: Figure | None = board.reciprocals.get(system.name)
    return {
        "name": system.name,
        "file": system.submission.file,
        "hash": system.submission.hash,
        "scored": coverage.scored,
        "empty": coverage.empty,
        "failed": coverage.failed,
        "failed_in_another_language": coverage.other_language,
        "missing": coverage.missing,
        "on_common_studies": score_json(system.common),
        "on_its_own_studies": score_json(system.own),
        "reciprocal_of_mean_radcliq_v1": reciprocal.as_json() if reciprocal else None,
    }


def _errors(errors: LabelerErrors | None) -> dict[str, object] | None:
    if errors is None:
        return None
    spread = errors.spread
    return {
        "human_reference": errors.human,
        "machine_reference": errors.machine or None,
        "simulated": errors.simulated,
        "findings": [
            {
                "finding": one.finding_id,
                "source": one.source,
                "sensitivity": one.sensitivity.as_json(),
                "specificity": one.specificity.as_json(),
            }
            for one in spread.findings
        ],
        "systems": [
            {
                "system": one.system,
                "extracted": one.extracted.as_json(),
                "corrected": one.corrected.as_json(),
                "share_emptied": None if math.isnan(one.emptied) else one.emptied,
            }
            for one in spread.systems
        ],
        "orders": [
            {"first": p.first, "second": p.second, "share_first_better": p.share, "settled": p.settled}
            for p in spread.pairs
        ],
        "draws": spread.draws,
        "seed": spread.seed,
    }


def _metric(column: Column) -> dict[str, object]:
    metric, ranking = column.metric, column.ranking
    unranked = unranked_words(ranking)
    return {
        "id": metric.id,
        "name": metric.name,
        "higher_is_better": metric.higher_is_better,
        "definition": metric.definition,
        "source": column.source,
        "sources": [
            {
                "file": source.file,
                "by": source.actor,
                "at": source.at.isoformat(),
                "values": dict(source.standing),
                "judged": source.judged.as_json() if source.judged else None,
            }
            for source in column.sources
        ],
        "studies": ranking.n_studies,
        "patients": ranking.n_patients,
        "no_ranks": unranked,
        "systems": [
            {
                "system": place.system,
                "value": place.value.as_json(),
                "on_its_own_studies": column.own[place.system].as_json(),
                "position": None if unranked else place.position,
                **dict(zip(_RANK, rank_numbers(ranking, place.system), strict=True)),
                "tied_with": list(place.tied_with),
            }
            for place in ranking.systems
        ],
    }
