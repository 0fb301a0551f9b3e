"""What the page Leaderboard asks the workflow for, kept until the study's data change; and its tables."""

from collections.abc import Sequence

import pandas as pd

from workbench.domain.findings import LabelSet
from workbench.evaluation.numbers import Figure
from workbench.evaluation.scores import FEW
from workbench.formats.leaderboard_page import leaderboard_html, tie_bars
from workbench.storage.leaderboard import DataSetRecord
from workbench.ui import data
from workbench.ui.leaderboard_figures import Line, Square
from workbench.ui.state import Here
from workbench.workflow import leaderboard, study_pairs, systems
from workbench.workflow.leaderboard import Board, Column
from workbench.workflow.leaderboard_files import error_rows, page_of
from workbench.workflow.leaderboard_words import apart_words, coverage_words, figure_words, rank_words
from workbench.workflow.study_pairs import Pair


def data_sets(here: Here) -> list[DataSetRecord]:
    """Return the data sets of the study, newest first."""
    return data.kept(here, "data sets", lambda: systems.data_sets(here.study, here.actor)[::-1])


def names(here: Here, data_set: DataSetRecord) -> list[str]:
    """Return the systems of a data set."""

    def read() -> list[str]:
        return [s.system for s in systems.submissions(here.study, here.actor, data_set)]

    return data.kept(here, "systems", read, data_set.hash)


def board(here: Here, data_set: DataSetRecord, revision: int, labeler: str, chosen: Sequence[str]) -> Board:
    """Return the leaderboard of the chosen systems."""

    def read() -> Board:
        return leaderboard.leaderboard(
            here.study, here.actor, data_set, revision=revision, labeler=labeler, systems=list(chosen)
        )

    settings = here.study.labeler(labeler)
    return data.kept(here, "board", read, data_set.hash, revision, settings.hash, tuple(chosen))


def html(here: Here, of: Board) -> str:
    """Return the leaderboard as a page of HTML of its own."""
    return data.kept(here, "board html", lambda: leaderboard_html(page_of(of)), *_key(of))


def _key(of: Board) -> tuple[str | int, ...]:
    it = of.scoring
    return it.data_set.hash, it.revision, it.reading.labeler.hash, *of.systems


def pair(here: Here, of: Board, system: str, study_id: str) -> Pair:
    """Return one study as one system reports it."""
    return study_pairs.pair_of(here.study, here.actor, of.scoring, system, study_id)


def together(here: Here, of: Board) -> pd.DataFrame:
    """Return a row per pair of metrics with how far they put reports into the same order."""
    name = {column.metric.id: column.metric.name for column in of.columns}

    def read() -> pd.DataFrame:
        rows = [
            (name[c.first], name[c.second], figure_words(c.kendall), figure_words(c.spearman), c.kendall.n)
            for c in leaderboard.metric_correlations(of)
        ]
        columns = ["Metric", "and", "Kendall tau-b (95 %)", "Spearman (95 %)", "Reports"]
        return pd.DataFrame(rows, columns=columns)

    return data.kept(here, "metrics together", read, *_key(of))


def lines(column: Column) -> list[Line]:
    """Return the systems as a picture of one metric shows them, best first."""
    places = column.ranking.systems
    bars = tie_bars([p.system for p in places], [p.tied_with for p in places])
    return [
        Line(p.system, column.shown(p.system), rank_words(column.ranking, p.system)[0], ties)
        for p, ties in zip(places, bars, strict=True)
    ]


def squares(of: Board, label_set: LabelSet) -> list[list[Square]]:
    """Return F1 by system and finding, in the order of the board."""
    rows, findings = [], of.findings
    for name in of.systems:
        score = of.scoring.of(name).common
        row = []
        for finding, n in findings:
            figure = score.evaluation.of(finding).f1 if score else None
            few = " · too few to assess" if n < FEW else ""
            counts = ""
            if score:
                it = score.evaluation.of(finding)
                counts = f"\n{it.tp} matched, {it.fn} missed, {it.fp} invented"
            told = figure_words(figure) if figure else "no study that every system has"
            row.append(Square(figure, f"{name}\n{label_set.get(finding).name}: F1 {told}{few}{counts}"))
        rows.append(row)
    return rows


def table(of: Board) -> pd.DataFrame:
    """Return a row per system with every metric, best by Ran Score first."""
    rows = []
    for name in of.systems:
        system = of.scoring.of(name)
        rank, interval = rank_words(of.columns[0].ranking, name)
        row: dict[str, object] = {
            "Rank": rank or None,
            "Place (95 %)": interval or None,
            "System": name,
        }
        for column in of.columns:
            told = column.metric.name + ("" if column.metric.higher_is_better else " ↓")
            if column is of.columns[0]:
                row[told] = _with_interval(column.ranking.of(name).value)
            else:
                row[told] = column.shown(name).value
        if name in of.reciprocals:
            row["1 / mean RadCliQ-v1"] = figure_words(of.reciprocals[name])
        if system.common:
            row["Micro-F1"] = system.common.evaluation.micro_f1.value
            row["Exact match"] = system.common.exact_match.value
            row["Report F1"] = system.common.report_f1.value
        row["Ran Score, its own studies"] = system.own.evaluation.macro_f1.value if system.own else None
        row["Studies"] = coverage_words(system)
        rows.append(row)
    return pd.DataFrame(rows)


def _with_interval(figure: Figure) -> str:
    return figure_words(figure).replace(" to ", "–")


def pairs(of: Board) -> pd.DataFrame:
    """Return a row per two systems with their difference in Ran Score."""
    rows = [
        (p.first, p.second, figure_words(p.difference), p.p_holm, apart_words(p)) for p in of.columns[0].ranking.pairs
    ]
    return pd.DataFrame(rows, columns=["Better", "Other", "Difference (95 %)", "p (Holm)", "So they are"])


def errors(of: Board) -> pd.DataFrame:
    """Return a row per system with what its Ran Score could be without the labeler's errors."""
    columns = ["System", "Ran Score, as read", "Without the labeler's errors (95 %)", "Tables emptied"]
    return pd.DataFrame(error_rows(of), columns=columns)
