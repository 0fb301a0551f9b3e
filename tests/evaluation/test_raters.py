import json

import numpy as np
import pytest

from workbench.domain.findings import MISSING
from workbench.evaluation.intervals import wilson
from workbench.evaluation.numbers import Figure, undefined
from workbench.evaluation.raters import Rates, present_rates

M = MISSING


def test_rates_and_deviations_by_hand() -> None:
    votes = np.array(
        [
            [1, 0, 0],
            [1, 1, M],
            [0, 0, 1],
            [1, M, M],  # ann alone: in her rate, in no comparison
        ]
    )[:, None, :]
    found = present_rates(["f"], ["ann", "ben", "cai"], votes)
    [ann] = found.of("ann").findings
    assert ann.rate == Figure(3 / 4, 4, *wilson(3, 4))
    # reports 1 to 3: others say 0/2, 1/1, 1/2; ann says 1, 1, 0
    assert ann.others == Figure(1.5 / 3, 3)
    assert ann.deviation.value == pytest.approx((2 - 1.5) / 3)
    [ben] = found.of("ben").findings
    # others 1/2, 1/1, 1/2; ben 0, 1, 0
    assert (ben.rate.value, ben.others.value) == (1 / 3, pytest.approx(2 / 3))
    assert ben.deviation.value == pytest.approx(-1 / 3)
    [cai] = found.of("cai").findings
    # reports 1 and 3: others 1/2, 0/2; cai 0, 1
    assert (cai.rate.value, cai.others.value, cai.deviation.value) == (0.5, 0.25, 0.25)
    assert (cai.rate.n, cai.deviation.n) == (2, 2)


def test_who_over_calls_stands_out_with_an_interval_off_zero() -> None:
    rng = np.random.default_rng(0)
    truth = rng.random((300, 2)) < 0.2
    votes = np.repeat(truth[..., None], 6, axis=2)
    votes[:, 0, 0] |= rng.random(300) < 0.3  # the first rater calls the first finding too often
    found = present_rates(["f", "g"], list("abcdef"), votes.astype(int), patients=[str(i) for i in range(300)])
    over, fine = found.of("a").findings
    assert over.deviation.low is not None
    assert over.deviation.low > 0.1
    assert (fine.deviation.value, fine.deviation.low, fine.deviation.high) == (0, 0, 0)
    assert all(row.findings[0].deviation.value < 0 for row in found.raters[1:])  # type: ignore[operator]
    assert found.of("a").overall.deviation.value == pytest.approx(over.deviation.value / 2)  # type: ignore[operator]
    assert found.of("a").overall.deviation.n == 2


def test_the_deviations_interval_is_that_of_a_plain_loop_over_the_same_draws() -> None:
    rng = np.random.default_rng(2)
    votes = rng.choice([0, 1, M], size=(25, 2, 3), p=[0.6, 0.3, 0.1])
    patients = [f"p{i:02}" for i in range(25)]
    found = present_rates(["f", "g"], list("abc"), votes, patients=patients, resamples=50, seed=6)
    drawn = [
        present_rates(["f", "g"], list("abc"), votes[draw])
        for draw in np.random.default_rng(6).integers(0, 25, size=(50, 25))
    ]
    for j, row in enumerate(found.raters):
        for figure, samples in [
            (row.overall.deviation, [d.raters[j].overall.deviation.value for d in drawn]),
            (row.findings[1].deviation, [d.raters[j].findings[1].deviation.value for d in drawn]),
        ]:
            expected = np.percentile(np.array(samples, dtype=float), [2.5, 97.5])
            assert (figure.low, figure.high) == pytest.approx(expected, abs=1e-12)


def test_what_cannot_be_compared_is_undefined_with_a_reason() -> None:
    alone = present_rates(["f"], ["ann"], np.array([[[1]], [[0]]]), patients=["p", "q"]).raters[0]
    assert alone.findings[0].rate.value == 0.5
    assert alone.findings[0].others == alone.findings[0].deviation == undefined("no other rater rated these reports")
    assert alone.overall.deviation == undefined("defined for no finding")
    silent = present_rates(["f"], ["ann", "ben"], np.array([[[1, M]], [[0, M]]])).of("ben")
    assert silent.findings[0].rate == silent.findings[0].deviation == undefined("the rater rated no report")
    nothing = present_rates(["f"], ["ann", "ben"], np.full((2, 1, 2), M), patients=["p", "q"])
    assert nothing.of("ann").findings[0].rate == undefined("the rater rated no report")


def test_on_four_states_only_present_itself_counts() -> None:
    found = present_rates(["f"], ["ann", "ben"], np.array([[[1, -1]], [[-2, 0]], [[-1, 1]]]))
    assert [row.findings[0].rate.value for row in found.raters] == [1 / 3, 1 / 3]
    with pytest.raises(ValueError, match=r"\[-8\] are no states"):
        present_rates(["f"], ["ann", "ben"], np.full((2, 1, 2), -8))
    with pytest.raises(ValueError, match="2 raters"):
        present_rates(["f"], ["ann", "ben"], np.zeros((2, 1, 3)))


def test_json_gives_the_same_rates_back() -> None:
    votes = np.random.default_rng(0).choice([0, 1, M], size=(9, 2, 3))
    found = present_rates(["f", "g"], list("abc"), votes, patients=[str(i) for i in range(9)], resamples=30)
    assert Rates.from_json(json.loads(json.dumps(found.as_json(), sort_keys=True))) == found
    with pytest.raises(KeyError):
        found.of("zoe")
