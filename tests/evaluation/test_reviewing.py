"""Ratings of generated reports: agreement on an ordered scale by hand and by the package, means over studies."""

import itertools
import math

import krippendorff
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.evaluation.reviewing import (
    NO_PAIR,
    NO_VARIATION,
    NOT_RATED,
    mean_over_reviewers,
    reviewer_agreement,
    system_means,
)

NAN = math.nan
# Krippendorff's own example (Computing Krippendorff's Alpha-Reliability, 2011): four observers, twelve units.
OBSERVERS = [
    [1, 2, 3, 3, 2, 1, 4, 1, 2, NAN, NAN, NAN],
    [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, NAN, 3],
    [NAN, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, NAN],
    [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, NAN],
]


def names(n: int) -> list[str]:
    return [f"p{i}" for i in range(n)]


def test_alpha_by_hand() -> None:
    # Coincidences: (1,2) and (2,1) once, (2,2) and (3,3) twice; n = 6, n1 = 1, n2 = 3, n3 = 2.
    # Distances: d12 = (4 - 2)^2 = 4, d13 = (6 - 1.5)^2 = 20.25, d23 = (5 - 2.5)^2 = 6.25. Observed 2 x 4 = 8, expected
    # 2 (1x3x4 + 1x2x20.25 + 3x2x6.25) = 180. Alpha = 1 - 5 x 8 / 180.
    found = reviewer_agreement([[1, 2], [2, 2], [3, 3]], names(3), resamples=0)
    assert found.alpha.value == pytest.approx(1 - 40 / 180)
    assert found.percent.value == pytest.approx(2 / 3)
    assert found.within_one.value == 1
    assert (found.items, found.ratings, found.alpha.n) == (3, 6, 3)


def test_percent_agreement_of_three_by_hand() -> None:
    # First text: of the pairs 1-1, 1-3, 1-3 one is equal and none other within a step. Second: 4-5 is within a step.
    found = reviewer_agreement([[1, 1, 3], [4, NAN, 5]], names(2), resamples=0)
    assert found.percent.value == pytest.approx((1 / 3 + 0) / 2)
    assert found.within_one.value == pytest.approx((1 / 3 + 1) / 2)


def test_alpha_of_krippendorffs_own_example() -> None:
    found = reviewer_agreement(np.array(OBSERVERS).T, names(12), resamples=0)
    assert found.alpha.value == pytest.approx(0.815, abs=0.0005)
    assert found.items == 11  # the twelfth unit has one rating
    assert found.ratings == 41


@given(st.lists(st.lists(st.sampled_from([NAN, 1, 2, 3, 4, 5]), min_size=3, max_size=3), min_size=2, max_size=12))
def test_alpha_is_the_packages(rows: list[list[float]]) -> None:
    found = reviewer_agreement(rows, names(len(rows)), resamples=0)
    paired = [row for row in rows if sum(not math.isnan(r) for r in row) >= 2]
    said = {rating for row in paired for rating in row if not math.isnan(rating)}
    if not paired:
        assert found.alpha.reason == NO_PAIR
    elif len(said) == 1:
        assert found.alpha.reason == NO_VARIATION
        assert found.percent.value == 1
    else:
        theirs = krippendorff.alpha(np.array(paired).T, value_domain=[1, 2, 3, 4, 5], level_of_measurement="ordinal")
        assert found.alpha.value == pytest.approx(theirs, abs=1e-9)


@given(st.lists(st.lists(st.sampled_from([NAN, 1, 2, 3, 4, 5]), min_size=3, max_size=3), min_size=2, max_size=12))
def test_percentages_are_those_of_a_plain_loop(rows: list[list[float]]) -> None:
    found = reviewer_agreement(rows, names(len(rows)), resamples=0)
    equal, near = [], []
    for row in rows:
        pairs = list(itertools.combinations([r for r in row if not math.isnan(r)], 2))
        if pairs:
            equal.append(sum(a == b for a, b in pairs) / len(pairs))
            near.append(sum(abs(a - b) <= 1 for a, b in pairs) / len(pairs))
    if equal:
        assert found.percent.value == pytest.approx(sum(equal) / len(equal))
        assert found.within_one.value == pytest.approx(sum(near) / len(near))
    else:
        assert found.percent.value is None


def test_the_interval_of_alpha_is_that_of_alphas_of_drawn_patients() -> None:
    # Two patients: a draw is the first twice, both, or the second twice (chance 1/4, 1/2, 1/4). So of many draws the
    # percentiles are the smallest and largest of the three alphas.
    rows = [[1, 2], [2, 3], [5, 5], [4, 4], [1, 1]]
    found = reviewer_agreement(rows, ["a", "a", "b", "b", "b"], resamples=400)
    first, second = rows[:2] * 2, rows[2:] * 2
    each = [
        float(krippendorff.alpha(np.array(part, dtype=float).T, level_of_measurement="ordinal"))
        for part in (first, second, rows)
    ]
    assert (found.alpha.low, found.alpha.high) == pytest.approx((min(each), max(each)))


def test_a_rating_off_the_scale_is_refused() -> None:
    with pytest.raises(ValueError, match="none of"):
        reviewer_agreement([[0, 1]], ["a"])


def test_a_mean_takes_reviewers_first_and_then_studies() -> None:
    # Study 1 was rated 1, 3 (mean 2), study 2 by one alone with 5: (2 + 5) / 2, and not 9 / 3.
    found = system_means([[[1, 3], [5, NAN], [NAN, NAN]]], names(3), resamples=200)
    assert (found[0].value, found[0].n) == (3.5, 2)
    assert (found[0].low, found[0].high) == (2, 5)


def test_a_system_that_nobody_rated_has_no_mean() -> None:
    found = system_means([[[1, 1]], [[NAN, NAN]]], ["a"], resamples=10)
    assert found[0].value == 1
    assert (found[1].value, found[1].reason) == (None, NOT_RATED)
    nothing = system_means([[[NAN]]], ["a"], resamples=10)
    assert nothing[0].value is None


def test_equal_systems_have_equal_intervals() -> None:
    # Drawn together: the same patients for all systems.
    one = [[1.0], [2.0], [5.0], [4.0]]
    first, second = system_means([one, one], names(4), resamples=300)
    assert first == second
    assert first.low is not None
    assert first.low < 3 < (first.high or 0)


def test_means_over_reviewers() -> None:
    found = mean_over_reviewers([[[1, 2], [NAN, NAN]]])
    assert found[0, 0] == 1.5
    assert np.isnan(found[0, 1])
