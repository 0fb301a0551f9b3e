"""Repeats of a run compared, by hand first."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.domain.findings import FAILED, Policy
from workbench.evaluation.numbers import Figure
from workbench.evaluation.stability import stability

P, A, U, N, F = 1, 0, -1, -2, FAILED
EXCLUDE = (Policy.EXCLUDE, Policy.EXCLUDE)


def test_by_hand() -> None:
    # Four reports, findings a and b, three repeats; the fourth report failed once.
    first = [[P, A], [P, N], [U, U], [P, P]]
    second = [[P, N], [P, N], [P, U], [P, P]]
    third = [[P, A], [P, N], [U, U], [F, F]]
    found = stability(("a", "b"), [first, second, third], (Policy.PRESENT, Policy.EXCLUDE))
    assert (found.repeats, found.n_reports, found.answered) == (3, 4, 3)
    a, b = found.findings
    assert (a.finding_id, a.states, a.scored) == ("a", Figure(2 / 3, 3), Figure(1.0, 3))  # uncertain counts as present
    assert (b.states, b.scored) == (Figure(2 / 3, 3), Figure(1.0, 3))  # absent and not mentioned are scored alike
    assert found.reports == Figure(1 / 3, 3)


def test_what_a_policy_leaves_out_once_is_not_the_same_as_what_is_scored_the_next_time() -> None:
    found = stability(("a",), [[[U]], [[P]]], (Policy.EXCLUDE,))
    assert found.findings[0].scored == Figure(0.0, 1)
    assert stability(("a",), [[[U]], [[U]]], (Policy.EXCLUDE,)).findings[0].scored == Figure(1.0, 1)


def test_where_nothing_was_answered_each_time_it_is_undefined() -> None:
    found = stability(("a", "b"), [[[F, F], [P, P]], [[P, P], [F, F]]], EXCLUDE)
    assert (found.answered, found.reports.value) == (0, None)
    assert found.findings[0].states.reason == "no report was answered in every repeat"
    assert stability(("a",), np.empty((2, 0, 1)), (Policy.PRESENT,)).reports.value is None


@pytest.mark.parametrize("shape", [(1, 3, 2), (3, 2), (2, 3, 1)])
def test_other_shapes_are_refused(shape: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match="two repeats or more"):
        stability(("a", "b"), np.zeros(shape), EXCLUDE)


rows = st.lists(st.sampled_from([[P, P], [A, N], [U, P], [N, U], [F, F]]), min_size=4, max_size=4)


@given(st.lists(rows, min_size=2, max_size=4), st.sampled_from(list(product(Policy, repeat=2))))
def test_against_counting_one_by_one(codes: list[list[list[int]]], policies: tuple[Policy, Policy]) -> None:
    found = stability(("a", "b"), codes, policies)
    kept = [r for r in range(4) if all(repeat[r][0] != F for repeat in codes)]
    assert found.answered == len(kept)
    for column, figure in enumerate(found.findings):
        same = [r for r in kept if len({repeat[r][column] for repeat in codes}) == 1]
        alike = {P: 1, A: 0, N: 0, U: {Policy.PRESENT: 1, Policy.ABSENT: 0, Policy.EXCLUDE: 9}[policies[column]]}
        scored = [r for r in kept if len({alike[repeat[r][column]] for repeat in codes}) == 1]
        if kept:
            assert figure.states.value == len(same) / len(kept)
            assert figure.scored.value == len(scored) / len(kept)
            assert figure.states.value <= figure.scored.value
