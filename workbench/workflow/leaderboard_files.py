"""A leaderboard as files: one page of HTML, and the numbers as JSON and CSV."""

import json
import math
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from workbench.domain.hashing import short
from workbench.evaluation.numbers import Figure
from workbench.evaluation.ranking import RankedSystem
from workbench.evaluation.scores import FEW
from workbench.formats.exports import Column as TableColumn
from workbench.formats.exports import Kind, write_table
from workbench.formats.leaderboard_heat import Cell, Heat
from workbench.formats.leaderboard_page import (
    LeaderboardPage,
    MetricColumn,
    PlainTable,
    SystemRow,
    leaderboard_html,
    tie_bars,
)
from workbench.formats.writing import make_folder, replacing
from workbench.workflow.export import refuse_own_file
from workbench.workflow.extractor import order_words
from workbench.workflow.leaderboard import HERE, Board, Column
from workbench.workflow.leaderboard_json import board_json
from workbench.workflow.leaderboard_words import (
    SHARED,
    apart_words,
    counted,
    coverage_words,
    direction,
    figure_words,
    policy_words,
    rank_numbers,
    rank_words,
    unranked_words,
)

PAGE, SCORES_JSON, SCORES_CSV, FINDINGS_CSV = "leaderboard.html", "scores.json", "scores.csv", "per_finding.csv"

_ABOUT = ("data_set", "data_set_hash", "task", "label_set_hash", "revision", "prompt_hash", "labeler", "labeler_hash")
_SCORES = (
    *map(TableColumn, (*_ABOUT, "uncertain_counts_as", "system", "metric")),
    TableColumn("higher_is_better", Kind.FLAG),
    *(TableColumn(name, Kind.NUMBER) for name in ("value", "low", "high")),
    *(TableColumn(name, Kind.WHOLE) for name in ("n", "studies", "rank", "rank_low", "rank_high")),
    *map(TableColumn, ("tied_with", "reason")),
    *(TableColumn(name, Kind.WHOLE) for name in ("scored", "empty", "failed", "missing")),
    TableColumn("own_value", Kind.NUMBER),
    TableColumn("own_n", Kind.WHOLE),
)
ASIDE = ("bleu1", "bleu3")  # with them the table of all metrics is wider than a screen
_INVENTED = "Invented findings without support"
_FIGURES = ("precision", "recall", "specificity", "f1")
_FINDINGS = (
    *map(TableColumn, (*_ABOUT, "uncertain_counts_as", "system", "finding")),
    *(TableColumn(name, Kind.WHOLE) for name in ("n", "support", "tp", "fp", "fn", "tn", "failed", "excluded")),
    *(TableColumn(name, Kind.NUMBER) for figure in _FIGURES for name in (figure, f"{figure}_low", f"{figure}_high")),
    TableColumn("too_few", Kind.FLAG),
)


def write_leaderboard(board: Board, folder: Path) -> list[Path]:
    """Write a leaderboard into a folder, which is made when it is missing, and return the files.

    ``leaderboard.html`` opens without a server; ``scores.json`` holds everything, ``scores.csv`` a row per system and
    metric, ``per_finding.csv`` a row per system and finding, over the studies that every system has. What is undefined
    is blank in CSV and null in JSON.

    Raises:
        InputError: it cannot be written there.
        ConflictError: a file would take the place of one of the study's own.
    """
    paths = [folder / name for name in (PAGE, SCORES_JSON, SCORES_CSV, FINDINGS_CSV)]
    for path in paths:
        refuse_own_file(board.scoring.reading.study, path)
    make_folder(folder)
    with replacing(paths[0]) as file:
        file.write(leaderboard_html(page_of(board)))
    with replacing(paths[1]) as file:
        file.write(json.dumps(board_json(board), indent=1, allow_nan=False, ensure_ascii=False) + "\n")
    write_table(paths[2], _SCORES, _score_rows(board))
    write_table(paths[3], _FINDINGS, _finding_rows(board))
    return paths


def facts_of(board: Board) -> list[tuple[str, str]]:
    """Return what every number of a leaderboard rests on, as (name, words)."""
    scoring = board.scoring
    reading = scoring.reading
    out = {why: n for why, n in scoring.no_reference.items() if n}
    without = "".join(f", {n} without one ({why.replace('_', ' ')})" for why, n in out.items())
    assumed = "" if scoring.patients_known else " (one patient per study assumed)"
    return [
        ("Data set", f"{scoring.data_set.name} · {short(scoring.data_set.hash)}"),
        ("Task", scoring.data_set.task),
        ("Studies with a reference", f"{len(scoring.study_ids):,}{without}"),
        ("Studies that every system has", f"{int(scoring.common.sum()):,}"),
        ("Patients", f"{len(set(scoring.patients)):,}{assumed}"),
        ("Prompt revision", f"{scoring.revision} · {short(reading.prompt.hash)}"),
        ("Labeler", f"{reading.labeler.name} · {short(reading.labeler.hash)}"),
        ("Uncertain counts as", policy_words(reading.study.label_set)),
        ("Label set", f"{reading.study.label_set.id} {reading.study.label_set.version}"),
    ]


def page_of(board: Board) -> LeaderboardPage:
    """Return the leaderboard as its page of HTML shows it."""
    scoring, ranking = board.scoring, board.columns[0].ranking
    names = board.systems
    bars = tie_bars(names, [ranking.of(name).tied_with for name in names])
    rows = []
    for name, ties in zip(names, bars, strict=True):
        place = ranking.of(name)
        rank, interval = rank_words(ranking, name)
        coverage = coverage_words(scoring.of(name))
        told = f"place {interval}" if interval else ""
        rows.append(SystemRow(name, rank, told, ", ".join(place.tied_with), coverage, ties))
    return LeaderboardPage(
        title=f"{scoring.data_set.name}: generated reports by Ran Score",
        lead=f"{counted(len(names), 'system')} on {counted(int(scoring.common.sum()), 'study', 'studies')}. "
        "One prompt read the reference and the generated reports alike; the Ran Score is the mean F1 over findings. "
        + " ".join(part for part in (board.ground, unranked_words(ranking)) if part),
        facts=facts_of(board),
        systems=rows,
        metrics=[_metric_column(board, column) for column in board.columns if column.metric.id not in ASIDE],
        heat=_heat(board),
        tables=[_beside(board), _pairs(board), *_errors(board), _coverage(board), *_reciprocal(board)],
        notes=_notes(board),
    )


def _metric_column(board: Board, column: Column) -> MetricColumn:
    places = [column.ranking.of(name) for name in board.systems]
    return MetricColumn(
        column.metric.name,
        direction(column.metric.higher_is_better),
        f"{column.metric.definition}{'' if column.source == HERE else ' ' + (column.judge or 'Imported.')}",
        "studies" if column.ranking.n_findings is None else "findings",
        [_ranked_cell(column, place) for place in places],
        [rank_words(column.ranking, place.system)[0] for place in places],
    )


def _cell(figure: Figure) -> Cell:
    return Cell(figure.value, figure.low, figure.high, figure.n, "" if figure.defined else figure.reason)


def _ranked_cell(column: Column, place: RankedSystem) -> Cell:
    """Return what a system is ranked by, and its figure over all its own studies where those are others."""
    own = column.own[place.system]
    if not place.value.defined and own.defined:
        return replace(_cell(own), note=f"over its own studies: {place.value.reason}")
    if own.value is None or own.n == place.value.n:
        return _cell(place.value)
    return replace(_cell(place.value), note=f"its own {own.value:.3f}, n {own.n:,}")


def _heat(board: Board) -> Heat:
    label_set, findings = board.scoring.reading.study.label_set, board.findings
    values = []
    for name in board.systems:
        score = board.scoring.of(name).common
        values.append(
            [
                Cell(None, note="no study that every system has")
                if score is None
                else _cell(score.evaluation.of(finding).f1)
                for finding, _ in findings
            ]
        )
    return Heat([(label_set.get(finding).name, n) for finding, n in findings], values, FEW)


def _beside(board: Board) -> PlainTable:
    aside, rows = [column for column in board.columns if column.metric.id in ASIDE], []
    for name in board.systems:
        score = board.scoring.of(name).common
        if score is None:
            continue
        label_set = board.scoring.reading.study.label_set
        invented = ", ".join(f"{label_set.get(finding).name} {n}" for finding, n in score.invented)
        figures = (score.evaluation.micro_f1, score.exact_match, score.report_f1)
        more = [column.ranking.of(name).value for column in aside]
        rows.append([name, *map(figure_words, (*figures, *more)), invented or "none"])
    return PlainTable(
        "Beside Ran Score",
        "On the studies that every system has. Micro-F1 sums the counts of all findings; exact match is the share of "
        "reports that agree on every finding; report F1 is the mean of the F1 of single reports. What a system claims "
        "of findings that no reference has costs the Ran Score nothing, so it is listed. "
        + " ".join(f"{column.metric.name}: {column.metric.definition}" for column in aside),
        ["System", "Micro-F1", "Exact match", "Report F1", *(column.metric.name for column in aside), _INVENTED],
        rows,
    )


def _pairs(board: Board) -> PlainTable:
    rows = [
        [
            f"{pair.first} before {pair.second}",
            figure_words(pair.difference),
            "—" if pair.p_holm is None else f"{pair.p_holm:.4f}",
            apart_words(pair),
        ]
        for pair in board.columns[0].ranking.pairs
    ]
    return PlainTable(
        "Pairs of systems by Ran Score",
        "Each two compared by swapping their reports within patients; p-values corrected by Holm over all pairs.",
        ["Pair", "Difference (95 %)", "p (Holm)", ""],
        rows,
    )


def _errors(board: Board) -> list[PlainTable]:
    if board.errors is None:
        return []
    return [
        PlainTable(
            "What the labeler's own errors leave open",
            "What each Ran Score would be without them, from the labeler's sensitivity and specificity where raters "
            f"have labelled the same reports. {' '.join(order_words(board.errors)).strip()} Where many tables had "
            "to be emptied, too few reports were labelled for this to be of use.",
            ["System", "Ran Score, as read", "Without the labeler's errors (95 %)", "Tables emptied"],
            error_rows(board),
        )
    ]


def error_rows(board: Board) -> list[list[str]]:
    """Return per system what its Ran Score could be without the labeler's errors; none where nobody knows them."""
    if board.errors is None:
        return []
    by_name = {one.system: one for one in board.errors.spread.systems}
    return [
        [
            name,
            figure_words(by_name[name].extracted),
            figure_words(by_name[name].corrected),
            "—" if math.isnan(by_name[name].emptied) else f"{by_name[name].emptied:.0%}",
        ]
        for name in board.systems
    ]


def _coverage(board: Board) -> PlainTable:
    rows = []
    for name in board.systems:
        system = board.scoring.of(name)
        scores = [figure_words(score.evaluation.macro_f1) if score else "—" for score in (system.common, system.own)]
        it = system.coverage
        counts = [str(n) for n in (it.scored, it.empty, it.failed, it.missing)]
        rows.append([name, *scores, *counts, f"{system.submission.file} · {short(system.submission.hash)}"])
    return PlainTable(
        "On how much each score rests",
        "A system that leaves studies out is ranked on those that every system has; its score over all that it has "
        "stands beside. An empty report mentions nothing; one whose extraction failed counts as wrong.",
        ["System", "Ran Score, common", "Ran Score, its own", "scored", "empty", "failed", "left out", "file"],
        rows,
    )


def _reciprocal(board: Board) -> list[PlainTable]:
    if not board.reciprocals:
        return []
    return [
        PlainTable(
            "1 / RadCliQ-v1, as ReXrank shows it",
            "The reciprocal of the mean, never a mean of reciprocals; higher is better.",
            ["System", "1 / mean RadCliQ-v1"],
            [[name, figure_words(board.reciprocals[name])] for name in board.systems],
        )
    ]


def _notes(board: Board) -> list[str]:
    ranking = board.columns[0].ranking
    return [
        *board.uneven,
        (
            f"Intervals are 95 %, from resampling patients ({ranking.resamples:,} times, seed {ranking.seed}); the "
            "findings averaged are fixed before any resampling."
        ),
        (
            f"A rank counts the systems that are better and separated. {SHARED} The place under it is the 95 % "
            "interval of the order by value."
        ),
        "A finding that no reference report has is left out of the Ran Score; — means undefined, never 0.",
        *(
            []
            if board.errors
            else ["The labeler errs too, on both sides; how much is not known, as it has no score on a reference here."]
        ),
    ]


def _about(board: Board) -> list[object]:
    scoring = board.scoring
    reading = scoring.reading
    policies = json.dumps(reading.study.label_set.prediction_policies.as_json(), sort_keys=True)
    return [
        scoring.data_set.name,
        scoring.data_set.hash,
        scoring.data_set.task,
        reading.study.label_set.hash,
        str(scoring.revision),
        reading.prompt.hash,
        reading.labeler.name,
        reading.labeler.hash,
        policies,
    ]


def _score_rows(board: Board) -> Iterator[list[object]]:
    about = _about(board)
    for name in board.systems:
        coverage = board.scoring.of(name).coverage
        for column in board.columns:
            place = column.ranking.of(name)
            value = place.value
            yield [
                *about,
                name,
                column.metric.id,
                column.metric.higher_is_better,
                *(value.value, value.low, value.high, value.n, column.ranking.n_studies),
                *rank_numbers(column.ranking, name),
                "; ".join(place.tied_with) or None,
                value.reason or None,
                *(coverage.scored, coverage.empty, coverage.failed, coverage.missing),
                *(column.own[name].value, column.own[name].n),
            ]


def _finding_rows(board: Board) -> Iterator[list[object]]:
    about = _about(board)
    for name in board.systems:
        score = board.scoring.of(name).common
        for row in score.evaluation.findings if score else ():
            figures = [getattr(row, figure) for figure in _FIGURES]
            yield [
                *about,
                name,
                row.finding_id,
                *(row.n, row.support, row.tp, row.fp, row.fn, row.tn, row.failed, row.excluded),
                *(number for figure in figures for number in (figure.value, figure.low, figure.high)),
                row.too_few,
            ]
