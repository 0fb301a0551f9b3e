"""By hand first, then scipy."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import kendalltau, rankdata, spearmanr

from workbench.evaluation import correlation_draws
from workbench.evaluation.concordance import ranks
from workbench.evaluation.correlation import correlation, correlations, kendall, spearman


def test_by_hand() -> None:
    one, other = [1, 2, 3, 4], [1, 3, 2, 4]
    assert kendall(one, other) == pytest.approx((5 - 1) / 6)
    assert spearman(one, other) == pytest.approx(1 - 6 * 2 / (4 * 15))


def test_ties_by_hand() -> None:
    # Pairs: 1-2 tied in the first; 1-3 and 2-3 rise in the first; in the second 1-3 rises, 2-3 is tied, 1-2 rises.
    assert kendall([1, 1, 2], [1, 2, 2]) == pytest.approx(1 / math.sqrt(2 * 2))
    assert ranks([5, 1, 5]).tolist() == [2.5, 1, 2.5]


@pytest.mark.parametrize(("other", "expected"), [([1.0, 2.0, 9.0], 1.0), ([3.0, 2.0, -1.0], -1.0)])
def test_the_same_and_the_reverse_order_are_the_extremes(other: list[float], expected: float) -> None:
    assert kendall([0.1, 0.2, 0.3], other) == pytest.approx(expected)
    assert spearman([0.1, 0.2, 0.3], other) == pytest.approx(expected)


@given(st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), min_size=2, max_size=40))
def test_scipy_gives_the_same_with_ties(pairs: list[tuple[int, int]]) -> None:
    one, other = ([pair[side] for pair in pairs] for side in (0, 1))
    assert ranks(one) == pytest.approx(rankdata(one))
    if len(set(one)) == 1 or len(set(other)) == 1:
        assert math.isnan(kendall(one, other))
        assert math.isnan(spearman(one, other))
    else:
        assert kendall(one, other) == pytest.approx(kendalltau(one, other).statistic, abs=1e-12)
        assert spearman(one, other) == pytest.approx(spearmanr(one, other).statistic, abs=1e-12)


def test_scipy_gives_the_same_on_many_reports() -> None:
    rng = np.random.default_rng(1)
    one = rng.normal(size=2347)
    other = one + rng.normal(size=2347)
    assert kendall(one, other) == pytest.approx(kendalltau(one, other).statistic, abs=1e-12)


def test_intervals_are_those_of_a_plain_loop_over_draws_with_ties_and_several_reports_a_patient() -> None:
    rng = np.random.default_rng(4)
    one, other = rng.integers(0, 5, 25).astype(float), rng.integers(0, 4, 25).astype(float)
    patients = [f"p{i // 2:02}" for i in range(25)]
    found = correlation("a", "b", {"a": one, "b": other}, patients, resamples=300, seed=6)
    loop = []
    for draw in np.random.default_rng(6).integers(0, 13, size=(300, 13)):
        reports = [i for patient in draw for i in (2 * patient, 2 * patient + 1) if i < 25]
        loop.append((kendalltau(one[reports], other[reports]).statistic, spearmanr(one[reports], other[reports])[0]))
    low, high = np.nanpercentile(loop, (2.5, 97.5), axis=0)
    assert [found.kendall.low, found.spearman.low] == pytest.approx(low, abs=1e-9)
    assert [found.kendall.high, found.spearman.high] == pytest.approx(high, abs=1e-9)


def test_with_many_reports_the_interval_is_that_of_all_pairs_of_reports(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(7)
    of_patient = np.repeat(rng.normal(size=(400, 2)), 5, axis=0)
    one, other = (np.round(of_patient[:, 0] + s * of_patient[:, 1] + rng.normal(size=2000), 1) for s in (0.8, -0.5))
    scores, patients = {"a": one, "b": other, "c": -one}, [f"p{i // 5:03}" for i in range(2000)]
    exact = correlations(scores, patients)
    monkeypatch.setattr(correlation_draws, "FEW_REPORTS", 1999)
    quick = correlations(scores, patients)
    for every, first_order in zip(exact, quick, strict=True):
        for near, there in ((first_order.kendall, every.kendall), (first_order.spearman, every.spearman)):
            assert (near.value, near.n) == (there.value, there.n)
            # Against a width of .09 or more the two ends differ by less than .002.
            assert near.low == pytest.approx(there.low, abs=0.002)
            assert near.high == pytest.approx(there.high, abs=0.002)
    assert (exact[0].kendall.high or 0) - (exact[0].kendall.low or 0) > 0.08
    reverse = quick[1]  # the first score and itself turned round
    assert (reverse.kendall.high, reverse.spearman.high) == pytest.approx((-1, -1), abs=1e-9)


@pytest.mark.parametrize("apart", [1, 2, 3])
def test_draws_in_which_a_score_does_not_vary_count_for_nothing_with_many_reports_too(
    apart: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(9)
    few = np.zeros(500)
    few[:apart] = [0.4, 0.7, 1.0][:apart]  # of one in 500 reports, e^-1 of the draws have none
    scores, patients = {"a": rng.normal(size=500), "b": few}, [f"p{i:03}" for i in range(500)]
    (exact,) = correlations(scores, patients)
    monkeypatch.setattr(correlation_draws, "FEW_REPORTS", 499)
    (quick,) = correlations(scores, patients)
    for near, there in ((quick.kendall, exact.kendall), (quick.spearman, exact.spearman)):
        assert near.low == pytest.approx(there.low, abs=0.02)
        assert near.high == pytest.approx(there.high, abs=0.02)
        assert near.value is not None
        assert (near.low or 0) - 1e-9 <= near.value <= (near.high or 0) + 1e-9


def test_of_more_reports_than_can_be_compared_one_by_one_the_interval_holds_the_value() -> None:
    rng = np.random.default_rng(8)
    skill = np.tile(rng.normal(size=2347), 4)
    scores = {name: skill + rng.normal(size=len(skill)) for name in "ab"}
    (found,) = correlations(scores, [f"p{i % 2347:04}" for i in range(len(skill))])
    for figure in (found.kendall, found.spearman):
        assert figure.low is not None
        assert figure.high is not None
        assert figure.low < (figure.value or 0) < figure.high < figure.low + 0.08
        assert figure.n == 9388


def test_pairs_of_scores_are_told_as_they_are_done() -> None:
    told: list[tuple[int, int]] = []
    scores = {"a": [1.0, 2.0, 3.0], "b": [2.0, 1.0, 3.0], "c": [1.0, math.nan, 0.0]}
    correlations(scores, list("xyz"), on_progress=lambda done, of: told.append((done, of)))
    assert told == [(1, 3), (2, 3), (3, 3)]


def test_intervals_hold_what_they_promise() -> None:
    # Of two independent scores the correlation is 0; 95 of 100 intervals should hold it.
    rng = np.random.default_rng(2)
    held = 0
    for trial in range(100):
        scores = {"a": rng.normal(size=40), "b": rng.normal(size=40)}
        found = correlation("a", "b", scores, [f"p{i}" for i in range(40)], resamples=200, seed=trial)
        assert found.kendall.low is not None
        assert found.kendall.high is not None
        held += found.kendall.low <= 0 <= found.kendall.high
    assert held >= 87


def test_reports_of_a_patient_are_drawn_together() -> None:
    rng = np.random.default_rng(3)
    one = rng.normal(size=30)
    other = one + rng.normal(size=30)
    alone = correlation("a", "b", {"a": one, "b": other}, [f"p{i:02}" for i in range(30)])
    thrice = {"a": np.repeat(one, 3), "b": np.repeat(other, 3)}
    together = correlation("a", "b", thrice, [f"p{i // 3:02}" for i in range(90)])
    # Three copies of each report say no more than one.
    assert (together.spearman.low, together.spearman.high) == pytest.approx(
        (alone.spearman.low, alone.spearman.high), abs=1e-9
    )


def test_reports_without_both_values_are_left_out() -> None:
    scores = {"a": [1.0, 2.0, 3.0, math.nan, 9.0], "b": [1.0, 2.0, 3.0, 4.0, math.nan]}
    found = correlation("a", "b", scores, list("vwxyz"))
    assert (found.kendall.value, found.kendall.n) == (1.0, 3)


@pytest.mark.parametrize(
    ("other", "reason"),
    [([1.0, 1.0, 1.0], "never varies"), ([1.0, math.nan, math.nan], "fewer than two")],
)
def test_without_an_order_it_is_undefined_with_a_reason(other: list[float], reason: str) -> None:
    found = correlation("a", "b", {"a": [1.0, 2.0, 3.0], "b": other}, list("xyz"))
    assert found.kendall.value is None
    assert reason in found.kendall.reason
    assert reason in found.spearman.reason


def test_every_pair_comes_once_in_the_order_of_the_scores() -> None:
    scores = {name: [1.0, 3.0, 2.0] for name in "abc"}
    found = correlations(scores, list("xyz"), resamples=0)
    assert [(c.first, c.second) for c in found] == [("a", "b"), ("a", "c"), ("b", "c")]
    assert found[0].kendall.low is None
    assert found[0].kendall.reason.startswith("no interval")


def test_a_score_of_another_length_is_refused() -> None:
    with pytest.raises(ValueError, match="do not go with"):
        correlation("a", "b", {"a": [1.0], "b": [1.0, 2.0]}, ["x", "y"])
