"""Ranks in words: ties, a system that stands alone, and where nothing can be ranked."""

import math

import numpy as np
import pytest

from workbench.evaluation.numbers import Figure, undefined
from workbench.evaluation.ranking import RankedSystem, Ranking, rank_systems
from workbench.workflow.leaderboard_words import counted, figure_words, rank_words, tie_words, unranked_words


def ranked(rows: list[list[float]], patients: list[str] | None = None) -> Ranking:
    names = [f"s{i}" for i in range(len(rows))]
    return rank_systems(names, rows, patients or [f"p{i}" for i in range(len(rows[0]))])


def test_a_tie_is_marked_and_what_is_apart_is_not() -> None:
    high, low = np.linspace(0.6, 0.9, 40), np.linspace(0.1, 0.4, 40)
    ranking = ranked([high.tolist(), low.tolist(), high.tolist()])
    assert [rank_words(ranking, f"s{i}") for i in range(3)] == [("1=", "1"), ("3", "3"), ("1=", "1")]
    assert unranked_words(ranking) == ""
    assert tie_words(ranking) == "Tied, as their difference may be chance: s0 and s2."
    apart = ranked([high.tolist(), low.tolist()])
    assert tie_words(apart) == "No two systems are tied."


def test_a_system_tied_with_one_of_another_rank_has_its_rank_alone_and_the_tie_is_told() -> None:
    # a and b are tied, b and c are tied, a and c are not: one system is better than c and apart from it.
    places = [
        RankedSystem("a", Figure(0.9, 9), 1, 1, 1, 2, ("b",)),
        RankedSystem("b", Figure(0.8, 9), 2, 1, 1, 3, ("a", "c")),
        RankedSystem("c", Figure(0.7, 9), 3, 2, 2, 3, ("b",)),
    ]
    ranking = Ranking(tuple(places), (), True, 9, 0, 9, 9, 1000, 1000, 1)
    assert [rank_words(ranking, name)[0] for name in "abc"] == ["1=", "1=", "2"]
    assert tie_words(ranking) == "Tied, as their difference may be chance: a and b; b and c."


@pytest.mark.parametrize(
    ("rows", "patients", "told"),
    [
        ([[0.5, 0.6]], None, "No ranks: only “s0” has a score here. Add another system to compare it with."),
        ([[0.5, 0.6], [math.nan] * 2], None, "No ranks: only “s0” has a score here."),
        ([[0.5], [0.9]], None, "No ranks: on one study alone"),
        ([[0.5, 0.6], [0.9, 0.9]], ["p", "p"], "No ranks: on the studies of one patient alone"),
    ],
)
def test_where_there_is_nothing_to_rank_against_nobody_has_a_rank_and_it_is_said(
    rows: list[list[float]], patients: list[str] | None, told: str
) -> None:
    ranking = ranked(rows, patients)
    assert unranked_words(ranking).startswith(told)
    assert tie_words(ranking) == ""
    assert [rank_words(ranking, f"s{i}") for i in range(len(rows))] == [("", "")] * len(rows)


def test_where_no_system_has_a_value_that_is_no_matter_of_ranks() -> None:
    ranking = ranked([[math.nan, 0.1], [0.2, math.nan]])
    assert unranked_words(ranking) == ""
    assert rank_words(ranking, "s0") == ("", "")


def test_numbers_in_words() -> None:
    assert (counted(1, "study", "studies"), counted(2347, "study", "studies")) == ("1 study", "2,347 studies")
    assert figure_words(undefined("no study")) == "— (no study)"
