import numpy as np
import pytest

from workbench.domain.findings import MISSING
from workbench.evaluation.agreement_splits import differing_reports, split_reports

M = MISSING


def test_the_most_split_reports_come_first() -> None:
    votes = [
        [1, 0, 0, 0, 0, 0],  # 1/6
        [0, 0, 0, 0, 0, 0],  # alike
        [1, 1, 1, 0, 0, 0],  # 1/2
        [1, 0, M, M, M, M],  # 1/2 of two ratings
        [1, 1, 0, 0, 0, 0],  # 1/3
        [0, 1, 1, 1, 1, 1],  # 1/6, later
        [1, M, M, M, M, M],  # rated once
        [M, M, M, M, M, M],
        [1, 0, 0, M, M, M],  # 1/3 of three ratings
    ]
    assert split_reports(votes) == [2, 3, 4, 8, 0, 5]


def test_four_states_split_more_ways() -> None:
    # 1-1-1-1 leaves 3/4 outside the commonest answer, 2-2 one half, 3-1 a quarter
    assert split_reports([[1, 1, 1, 0], [1, 1, -1, -1], [1, 0, -1, -2]]) == [2, 1, 0]


def test_nobody_splits_where_nobody_rated() -> None:
    assert split_reports(np.full((3, 2), M)) == split_reports(np.zeros((0, 6))) == []
    with pytest.raises(ValueError, match="report, rater"):
        split_reports(np.zeros((3, 2, 6)))


def test_reports_on_which_two_readings_differ() -> None:
    assert differing_reports([1, 0, M, 1, -1], [0, 0, 1, M, 1]) == [0, 4]
    with pytest.raises(ValueError, match="twice"):
        differing_reports([1, 0], [1])
