"""By hand first; then scipy's Mann-Whitney U, scikit-learn's ROC curve and a plain loop over draws."""

import math

import numpy as np
import pytest
from scipy.stats import mannwhitneyu
from sklearn.metrics import roc_auc_score, roc_curve

from workbench.evaluation.trust import Trust, drops, trust


def judged(significant: list[float], harmless: list[float], **settings: int) -> Trust:
    kinds = ["negated"] * len(significant) + ["synonym"] * len(harmless)
    matters = [kind == "negated" for kind in kinds]
    return trust(kinds, matters, significant + harmless, [f"p{i:03}" for i in range(len(kinds))], **settings)


def test_by_hand() -> None:
    # 0.3 exceeds all three, 0.1 exceeds 0.0 and equals 0.1: (3 + 1 + 0.5) / 6.
    found = judged([0.3, 0.1], [0.0, 0.1, 0.2])
    assert found.probability.value == pytest.approx(4.5 / 6)
    # Above 0: 2 of 2 and 1 of 3 right; above 0.2: 1 of 2 and 3 of 3. The sum is greatest for the second, 1.5.
    assert found.threshold == pytest.approx(0.25)
    assert (found.discrimination.value, found.robustness.value) == (0.5, 1.0)
    assert (found.n_significant, found.n_harmless) == (2, 3)
    assert found.of("negated").mean_drop.value == pytest.approx(0.2)


def test_every_kind_counts_the_same_however_many_edits_it_has() -> None:
    kinds = ["invented"] * 3 + ["side", "synonym"]
    found = trust(kinds, [True] * 4 + [False], [0.9, 0.9, 0.9, 0.0, 0.1], list("vwxyz"), resamples=0)
    # Invented 1.0, side 0.0: the mean over kinds is 1/2, over all pairs alike 3/4. The harmless kind loses likewise.
    assert (found.probability.value, found.pooled.value) == (0.5, 0.75)
    assert (found.discrimination.value, found.robustness.value) == (0.5, 1.0)
    assert found.of("synonym").probability.value == 0.5
    assert (found.probability.n, found.pooled.n, found.of("invented").probability.n) == (4, 4, 3)


def test_the_best_threshold_is_that_of_the_kinds_too() -> None:
    kinds = ["a"] * 8 + ["b", "c", "d"]
    drop = [0.5] * 8 + [0.1, 0.2, 0.05]
    # Above 0.05: a and b right, c wrong: 2/2 + 1/2. Above 0.2: a right, b wrong: 1/2 + 2/2. Equal: the higher one.
    # Of edits alike it would be the higher one by far; one more "b" at 0.3 settles it for the lower by kinds.
    found = trust(kinds, [True] * 9 + [False] * 2, drop, list("abcdefghijk"), resamples=0)
    assert found.threshold == pytest.approx(0.35)
    more = trust([*kinds, "e"], [True] * 9 + [False] * 2 + [True], [*drop, 0.15], list("abcdefghijkl"), resamples=0)
    assert more.threshold == pytest.approx(0.075)


def test_a_metric_that_tells_them_apart_has_one() -> None:
    found = judged([0.5, 0.6], [0.1, 0.2])
    assert (found.probability.value, found.discrimination.value, found.robustness.value) == (1.0, 1.0, 1.0)
    assert found.threshold == pytest.approx(0.35)


def test_a_metric_that_never_moves_is_of_no_use_and_blind() -> None:
    found = judged([0.0] * 5, [0.0] * 5)
    assert found.probability.value == 0.5
    assert (found.discrimination.value, found.robustness.value) == (0.0, 1.0)
    assert found.of("negated").blind == 5
    assert found.of("synonym").blind == 0


def test_a_metric_that_punishes_wording_more_than_errors_is_below_one_half() -> None:
    assert judged([0.1, 0.2], [0.3, 0.4]).probability.value == 0.0


def test_drops_of_rounding_are_equal() -> None:
    assert judged([0.1 + 0.2], [0.3]).probability.value == 0.5


def test_a_metric_of_which_lower_is_better_drops_by_rising() -> None:
    assert drops([-1.0, -1.0], [0.5, -1.0], higher_is_better=False).tolist() == [1.5, 0.0]
    assert drops([1.0], [0.25], higher_is_better=True).tolist() == [0.75]


def test_other_implementations_give_the_same() -> None:
    rng = np.random.default_rng(1)
    significant, harmless = rng.integers(0, 9, 40) / 8 + 0.25, rng.integers(0, 9, 50) / 8
    found = judged(significant.tolist(), harmless.tolist())
    truth, values = np.r_[np.ones(40), np.zeros(50)], np.r_[significant, harmless]
    assert found.probability.value == pytest.approx(roc_auc_score(truth, values))
    assert found.probability.value == pytest.approx(mannwhitneyu(significant, harmless).statistic / 2000)
    false, true, _ = roc_curve(truth, values, drop_intermediate=False)
    assert found.discrimination.value is not None
    assert found.robustness.value is not None
    assert found.discrimination.value + found.robustness.value - 1 == pytest.approx((true - false).max())


def test_intervals_are_those_of_a_plain_loop_over_draws_of_patients() -> None:
    rng = np.random.default_rng(2)
    kinds = ["negated", "removed", "synonym"] * 12
    matters = [kind != "synonym" for kind in kinds]
    values = rng.random(36) + 0.3 * np.array(matters)
    patients = [f"p{i // 4}" for i in range(36)]  # nine patients, four edits each
    found = trust(kinds, matters, values, patients, resamples=300, seed=4)
    assert found.threshold is not None
    loop = []
    for draw in np.random.default_rng(4).integers(0, 9, size=(300, 9)):
        rows = np.concatenate([np.arange(4 * patient, 4 * patient + 4) for patient in draw])
        is_sig, drawn = np.array(matters)[rows], values[rows]
        removed = np.array(kinds)[rows] == "removed"
        against = removed | ~is_sig
        negated = np.array(kinds)[rows] == "negated"
        even = np.select([removed, negated], [1 / removed.sum(), 1 / negated.sum()], 1.0)
        above = drawn > found.threshold
        loop.append(
            (
                roc_auc_score(is_sig, drawn, sample_weight=even),
                roc_auc_score(is_sig, drawn),
                roc_auc_score(removed[against], drawn[against]),
                (above[removed].mean() + above[negated].mean()) / 2,
                (~above[~is_sig]).mean(),
                drawn[removed].mean(),
            )
        )
    low, high = np.percentile(loop, (2.5, 97.5), axis=0)
    removed_kind = found.of("removed")
    figures = [found.probability, found.pooled, removed_kind.probability, found.discrimination, found.robustness]
    figures.append(removed_kind.mean_drop)
    assert [figure.low for figure in figures] == pytest.approx(low, abs=1e-7)
    assert [figure.high for figure in figures] == pytest.approx(high, abs=1e-7)


def test_a_kind_is_compared_with_all_kinds_of_the_other_sort() -> None:
    kinds = ["negated", "side", "synonym", "order"]
    found = trust(kinds, [True, True, False, False], [0.9, 0.0, 0.1, 0.0], list("wxyz"), resamples=0)
    assert [k.kind for k in found.kinds] == kinds
    assert [k.probability.value for k in found.kinds] == [1.0, 0.25, 0.5, 0.75]
    assert [k.right.value for k in found.kinds] == [1.0, 0.0, 1.0, 1.0]
    assert found.of("side").blind == 1
    assert all(k.probability.n == 1 for k in found.kinds)
    assert found.probability.reason.startswith("no interval")


def test_edits_without_a_value_are_left_out_and_counted() -> None:
    found = trust(["a", "a", "b"], [True, True, False], [0.5, math.nan, 0.1], list("xyz"))
    assert (found.left_out, found.n_significant, found.probability.value) == (1, 1, 1.0)
    gone = trust(["a", "b", "c"], [True, False, True], [0.5, 0.1, math.nan], list("xyz"))
    assert gone.of("c").probability.value is None
    assert gone.of("c").right.reason == "no edit of this sort has a value"


@pytest.mark.parametrize(
    ("matters", "reason"), [(True, "of the other sort are needed"), (False, "no edit of this sort")]
)
def test_with_edits_of_one_sort_only_nothing_can_be_told(matters: bool, reason: str) -> None:
    found = trust(["a", "a"], [matters] * 2, [0.5, 0.1], list("xy"))
    assert found.threshold is None
    assert reason in found.probability.reason
    assert not found.discrimination.defined
    assert not found.of("a").right.defined
    assert found.of("a").mean_drop.value == pytest.approx(0.3)


def test_no_edits_at_all_give_no_figures_and_no_error() -> None:
    found = trust([], [], [], [])
    assert found.kinds == ()
    assert not found.probability.defined


def test_one_patient_gives_no_interval() -> None:
    found = trust(["a", "b"], [True, False], [0.5, 0.1], ["x", "x"])
    assert found.probability.value == 1.0
    assert found.probability.low is None


def test_a_kind_that_is_both_and_lists_that_do_not_fit_are_refused() -> None:
    with pytest.raises(ValueError, match="either significant or harmless"):
        trust(["a", "a"], [True, False], [0.1, 0.2], list("xy"))
    with pytest.raises(ValueError, match="do not go together"):
        trust(["a"], [True], [0.1, 0.2], list("xy"))
    with pytest.raises(KeyError):
        trust(["a"], [True], [0.1], ["x"]).of("b")
