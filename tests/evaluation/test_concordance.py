"""By hand, then by comparing every two reports."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from workbench.evaluation.concordance import concordance


def test_by_hand() -> None:
    # a below b and c in both; b and c the other way round; d ties with c in the first and is above all in the second.
    assert concordance([1, 2, 3, 3], [1, 3, 2, 4]).tolist() == [3, 1, 0, 2]


def test_reports_that_tie_count_for_nothing() -> None:
    assert concordance([5, 5, 5], [1, 2, 3]).tolist() == [0, 0, 0]
    assert concordance([7], [7]).tolist() == [0]


@given(st.lists(st.tuples(st.integers(-3, 5), st.integers(0, 70)), min_size=1, max_size=60))
def test_comparing_every_two_reports_gives_the_same(pairs: list[tuple[int, int]]) -> None:
    one, other = (np.array([pair[side] for pair in pairs]) for side in (0, 1))
    every = np.sign(one[:, None] - one) * np.sign(other[:, None] - other)
    assert concordance(one, other).tolist() == every.sum(axis=1).tolist()
