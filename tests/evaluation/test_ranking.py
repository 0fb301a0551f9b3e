"""Two small data sets are done by hand; a plain loop over scikit-learn's macro-F1 does the same for a larger one."""

import itertools
import math

import numpy as np
import pytest
from sklearn.metrics import f1_score
from statsmodels.stats.multitest import multipletests

from workbench.domain.findings import FAILED, MISSING, Policy
from workbench.evaluation.ranking import Ranking, rank_macro_f1, rank_systems
from workbench.evaluation.scores import evaluate

NAMES = ["a", "b", "c"]


def studies(n: int) -> list[str]:
    return [f"p{i:03}" for i in range(n)]


def drawn(seed: int, n: int = 60, findings: int = 4, systems: int = 3) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    truth = (rng.random((n, findings)) < 0.4).astype(np.int8)
    wrong = np.linspace(0.05, 0.3, systems)
    return truth, np.stack([np.where(rng.random(truth.shape) < w, 1 - truth, truth) for w in wrong]).astype(np.int8)


def test_means_by_hand() -> None:
    ranking = rank_systems(NAMES, [[1, 2, 3, 4], [3, 4, 5, 6], [3, 4, 5, 6]], studies(4))
    assert [s.system for s in ranking.systems] == ["b", "c", "a"]
    assert [s.value.value for s in ranking.systems] == [4.5, 4.5, 2.5]
    assert [s.position for s in ranking.systems] == [1, 1, 3]
    assert ranking.pair("a", "b").difference.value == 2.0
    # Four differences of 2: of the 16 ways to swap, all or none are as far apart, so p is 1/8, and 3/8 after Holm.
    p = ranking.pair("b", "a").p
    assert p == pytest.approx(1 / 8, abs=0.03)
    # Nothing is separated, so all three share the first rank.
    assert [s.rank for s in ranking.systems] == [1, 1, 1]
    assert ranking.of("a").tied_with == ("b", "c")


def test_equal_systems_are_tied_and_never_differ() -> None:
    ranking = rank_systems(["x", "y"], [[0.1, 0.2, 0.7]] * 2, studies(3))
    pair = ranking.pair("x", "y")
    assert (pair.p, pair.p_holm, pair.difference.value) == (1.0, 1.0, 0.0)
    assert pair.difference.low == pair.difference.high == 0.0
    assert [(s.rank, s.rank_low, s.rank_high) for s in ranking.systems] == [(1, 1, 1), (1, 1, 1)]


def test_lower_is_better_turns_the_order_round() -> None:
    values = np.array([[1.0] * 30, [2.0] * 30, [-1.0] * 30])
    ranking = rank_systems(NAMES, values, studies(30), higher_is_better=False)
    assert [(s.system, s.rank) for s in ranking.systems] == [("c", 1), ("a", 2), ("b", 3)]
    assert ranking.pairs[0].difference.value == -2.0  # c less a: the better one first


def test_a_study_without_a_value_in_one_system_is_out_for_all() -> None:
    ranking = rank_systems(["x", "y"], [[1.0, 5.0, math.nan], [2.0, math.nan, math.nan]], studies(3))
    assert (ranking.n_studies, ranking.left_out, ranking.n_patients) == (1, 1, 1)
    assert [(s.system, s.value.value) for s in ranking.systems] == [("y", 2.0), ("x", 1.0)]
    assert ranking.systems[0].rank_low is None  # one patient cannot be resampled
    assert ranking.pairs[0].p == 1.0  # swapping one patient is all or nothing


def test_without_common_ground_nothing_is_ranked_and_the_reason_is_given() -> None:
    ranking = rank_systems(["x", "y"], [[1.0, math.nan], [math.nan, 1.0]], studies(2))
    assert [s.rank for s in ranking.systems] == [None, None]
    assert ranking.systems[0].value.reason == "no study has a value in every system"
    assert (ranking.pairs[0].p, ranking.pairs[0].p_holm) == (None, None)


def test_a_system_without_any_value_stands_last_and_takes_nothing_from_the_others() -> None:
    both = [[1.0, 5.0, math.nan], [2.0, 3.0, 9.0]]
    ranking = rank_systems(["x", "none", "y"], [both[0], [math.nan] * 3, both[1]], studies(3))
    alone = rank_systems(["x", "y"], both, studies(3))
    assert ranking.systems[:2] == alone.systems
    assert [(s.system, s.value.value) for s in ranking.systems] == [("x", 3.0), ("y", 2.5), ("none", None)]
    assert (ranking.n_studies, ranking.pairs) == (2, alone.pairs)
    assert (ranking.of("none").rank, ranking.of("none").value.reason) == (None, "it has no value on any study")


def test_a_system_that_reports_on_no_study_takes_nothing_from_the_others_macro_f1() -> None:
    truth = [[1], [1], [0]]
    given = [[[MISSING]] * 3, [[1], [0], [0]]]
    ranking = rank_macro_f1(["none", "x"], truth, given, studies(3))
    # x has 1 hit and 1 miss: 2/3.
    assert [(s.system, s.value.value, s.rank) for s in ranking.systems] == [("x", 2 / 3, 1), ("none", None, None)]


def test_macro_f1_by_hand() -> None:
    truth = [[1, 0], [1, 1], [0, 1], [0, 0]]
    good = [[1, 0], [1, 1], [0, 1], [0, 0]]
    bad = [[1, 0], [0, 1], [1, 1], [0, 1]]
    ranking = rank_macro_f1(["good", "bad"], truth, [good, bad], studies(4))
    # bad: finding 1 has 1 hit, 1 miss, 1 invented: 2/4. Finding 2 has 2 hits, 1 invented: 4/5.
    assert ranking.of("good").value.value == 1.0
    assert ranking.of("bad").value.value == pytest.approx((2 / 4 + 4 / 5) / 2)
    assert (ranking.n_findings, ranking.of("bad").value.n) == (2, 2)


def test_values_and_intervals_are_those_of_the_evaluation() -> None:
    truth, predictions = drawn(1)
    predictions[2, 5] = FAILED
    policies = [Policy.ABSENT] * 4
    ranking = rank_macro_f1(NAMES, truth, predictions, studies(60), resamples=300)
    for name, given in zip(NAMES, predictions, strict=True):
        codes = np.where(given == 0, -2, given)  # not mentioned
        expected = evaluate(list("wxyz"), truth, codes, policies, studies(60), resamples=300).macro_f1
        ours = ranking.of(name).value
        assert (ours.value, ours.low, ours.high) == pytest.approx((expected.value, expected.low, expected.high))


def test_a_study_that_one_system_leaves_out_is_out_for_all() -> None:
    truth, predictions = drawn(2)
    left = predictions.copy()
    left[1, :7] = MISSING
    short = rank_macro_f1(NAMES, truth[7:], predictions[:, 7:], studies(60)[7:])
    ranking = rank_macro_f1(NAMES, truth, left, studies(60))
    assert (ranking.n_studies, ranking.left_out) == (53, 7)
    assert [s.value for s in ranking.systems] == [s.value for s in short.systems]


def test_a_finding_without_support_is_no_part_of_the_score() -> None:
    truth = [[1, 0], [0, 0], [1, 0]]
    ranking = rank_macro_f1(["x"], truth, [[[1, 1], [0, 1], [1, 1]]], studies(3))
    assert (ranking.systems[0].value.value, ranking.n_findings) == (1.0, 1)


def test_no_support_at_all_is_undefined() -> None:
    ranking = rank_macro_f1(["x", "y"], [[0], [0]], [[[1], [0]], [[0], [0]]], studies(2))
    assert not ranking.systems[0].value.defined
    assert ranking.systems[0].position is None


def by_loop(truth: np.ndarray, predictions: np.ndarray) -> list[float]:
    return [f1_score(truth, given, average="macro", zero_division=0) for given in predictions]


def test_the_permutation_test_is_that_of_a_plain_loop_over_all_swaps() -> None:
    truth, predictions = drawn(3, n=10, systems=2)
    truth[0] = 1  # every finding has support
    patients = [f"p{i // 2}" for i in range(10)]  # two reports each, swapped together
    observed = np.subtract(*by_loop(truth, predictions))
    far = 0
    for swaps in itertools.product((False, True), repeat=5):
        swap = np.repeat(swaps, 2)[:, None]
        other = np.stack(
            [np.where(swap, predictions[1], predictions[0]), np.where(swap, predictions[0], predictions[1])]
        )
        far += abs(np.subtract(*by_loop(truth, other))) >= abs(observed) - 1e-12
    exact = far / 32
    ranking = rank_macro_f1(["x", "y"], truth, predictions, patients, resamples=20_000)
    assert 0.05 < exact < 0.95, "the example should tell one p-value from another"
    assert ranking.pairs[0].p == pytest.approx(exact, abs=0.015)


def test_rank_intervals_are_those_of_a_plain_loop_over_draws() -> None:
    truth, predictions = drawn(4)
    ranking = rank_macro_f1(NAMES, truth, predictions, studies(60), resamples=2000)
    rng = np.random.default_rng(9)
    positions = []
    for _ in range(2000):
        draw = rng.integers(0, 60, 60)
        values = by_loop(truth[draw], predictions[:, draw])
        positions.append([1 + sum(other > value + 1e-12 for other in values) for value in values])
    low, high = np.quantile(positions, (0.025, 0.975), axis=0, method="inverted_cdf")
    assert [(ranking.of(n).rank_low, ranking.of(n).rank_high) for n in NAMES] == list(zip(low, high, strict=True))


def test_holm_is_over_all_pairs() -> None:
    truth, predictions = drawn(5, n=150, systems=4)
    ranking = rank_macro_f1(list("abcd"), truth, predictions, studies(150))
    expected = multipletests([pair.p for pair in ranking.pairs], method="holm")[1]
    assert [pair.p_holm for pair in ranking.pairs] == pytest.approx(expected)
    assert len(ranking.pairs) == 6


def test_systems_that_are_far_apart_have_ranks_of_their_own() -> None:
    truth, predictions = drawn(6, n=400, systems=3)
    ranking = rank_macro_f1(NAMES, truth, predictions, studies(400))
    assert [(s.system, s.rank, s.tied_with) for s in ranking.systems] == [("a", 1, ()), ("b", 2, ()), ("c", 3, ())]


def test_sixteen_systems_can_still_be_separated_after_holm() -> None:
    # With 120 pairs a thousand permutations could never reach 0.05.
    values = np.repeat(np.arange(16.0)[:, None], 40, axis=1)
    ranking = rank_systems([f"s{i:02}" for i in range(16)], values, studies(40))
    assert [s.rank for s in ranking.systems] == list(range(1, 17))
    assert ranking.permutations == 40 * 120


def test_false_alarms_are_as_rare_as_promised() -> None:
    rng = np.random.default_rng(7)
    alarms = 0
    for _ in range(100):
        values = rng.normal(size=(3, 30))
        ranking: Ranking = rank_systems(NAMES, values, studies(30), resamples=200)
        alarms += any(pair.separated for pair in ranking.pairs)
    assert alarms <= 11  # 5 expected; 12 or more has a chance of 0.4 %


def test_the_same_seed_gives_the_same_ranking_whatever_the_order_of_the_studies() -> None:
    truth, predictions = drawn(8)
    turned = rank_macro_f1(NAMES, truth[::-1], predictions[:, ::-1], studies(60)[::-1])
    assert rank_macro_f1(NAMES, truth, predictions, studies(60)) == turned


@pytest.mark.parametrize(
    ("names", "values", "patients"),
    [
        (["x", "x"], [[1.0], [1.0]], ["p"]),
        (["x"], [[1.0, 2.0]], ["p"]),
        (["x"], [[math.inf]], ["p"]),
    ],
)
def test_what_does_not_fit_is_refused(names: list[str], values: list[list[float]], patients: list[str]) -> None:
    with pytest.raises(ValueError, match=r"name|go with|finite"):
        rank_systems(names, values, patients)
