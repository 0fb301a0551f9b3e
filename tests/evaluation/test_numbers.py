import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.evaluation.numbers import Figure, mean_of_defined, ratio, undefined


@pytest.mark.parametrize("bad", [float("nan"), float("inf")])
def test_a_figure_is_never_nan_or_infinite(bad: float) -> None:
    with pytest.raises(ValueError, match="finite"):
        Figure(bad, 3)
    with pytest.raises(ValueError, match="finite"):
        Figure(0.5, 3, bad, 1.0)


def test_an_undefined_figure_has_a_reason_and_no_interval() -> None:
    assert undefined("no variation", 4) == Figure(None, 4, reason="no variation")
    assert not undefined("no variation").defined
    with pytest.raises(ValueError, match="reason"):
        Figure(None, 3)
    with pytest.raises(ValueError, match="no interval"):
        Figure(None, 3, 0.0, 1.0, "because")


def test_an_interval_has_two_ends() -> None:
    with pytest.raises(ValueError, match="two ends"):
        Figure(0.5, 3, low=0.1)


@given(
    st.floats(0, 1),
    st.integers(0, 10**6),
    st.none() | st.tuples(st.floats(-1, 1), st.floats(-1, 1)),
    st.text(max_size=5),
)
def test_json_gives_the_same_figure_back(value: float, n: int, ends: tuple[float, float] | None, reason: str) -> None:
    figure = Figure(value, n, *(ends or (None, None)), reason)
    assert Figure.from_json(json.loads(json.dumps(figure.as_json()))) == figure
    gap = undefined(reason or "none", n)
    assert Figure.from_json(json.loads(json.dumps(gap.as_json()))) == gap


def test_json_with_anything_but_a_number_is_refused() -> None:
    with pytest.raises(TypeError, match="number"):
        Figure.from_json({**Figure(0.5, 3).as_json(), "value": "0.5"})
    with pytest.raises(TypeError, match="number"):
        Figure.from_json({**Figure(0.5, 3).as_json(), "value": True})


def test_a_ratio_over_nothing_is_undefined_and_not_zero() -> None:
    assert ratio(3, 4, 4, "none") == Figure(0.75, 4)
    assert ratio(0, 0, 0, "nothing was scored") == undefined("nothing was scored")


def test_a_mean_leaves_undefined_figures_out_and_says_over_how_many() -> None:
    # (0.5 + 1.0) / 2 = 0.75 over 2 of 3
    assert mean_of_defined([Figure(0.5, 9), undefined("x"), Figure(1.0, 7)], "none") == Figure(0.75, 2)
    assert mean_of_defined([undefined("x")], "no finding") == undefined("no finding")
