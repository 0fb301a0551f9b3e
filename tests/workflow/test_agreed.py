"""Two views of the same votes, by hand."""

import numpy as np
import pytest

from workbench.domain.findings import MISSING, Policies, Policy, State
from workbench.workflow.agreed import View, agreed, categories

ASKED = (State.PRESENT, State.UNCERTAIN, State.NOT_MENTIONED)
# report by report, two raters: both present; present and uncertain; both not mentioned; absent and not mentioned
CODES = np.array([[[1, 1]], [[1, -1]], [[-2, -2]], [[0, -2]]], dtype=np.int8)


def of(view: View, policy: Policy = Policy.ABSENT, codes: np.ndarray = CODES) -> object:
    patients = [str(i) for i in range(len(codes))]
    return agreed(view, ["f"], codes, policies=Policies(policy), asked=ASKED, patients=patients)


def test_two_states_follow_the_vote_policy_and_four_states_do_not() -> None:
    # two states: absent and not mentioned are one, uncertain is by policy
    for policy, percent in ((Policy.ABSENT, 3 / 4), (Policy.PRESENT, 1.0)):
        assert of(View.TWO_STATES, policy).agreement.findings[0].percent.value == percent
        assert of(View.FOUR_STATES, policy).agreement.findings[0].percent.value == 2 / 4


def test_an_uncertain_vote_that_is_excluded_is_missing_in_two_states_alone() -> None:
    assert of(View.TWO_STATES, Policy.EXCLUDE).gaps.missing == 1
    assert of(View.FOUR_STATES, Policy.EXCLUDE).gaps.missing == 0


def test_the_answers_are_those_asked_for_and_those_given() -> None:
    assert of(View.FOUR_STATES).states == tuple(State)  # an imported absent is an answer too
    without = np.where(CODES == 0, -2, CODES).astype(np.int8)
    assert categories(View.FOUR_STATES, without, ASKED) == (1, -1, -2)
    assert categories(View.FOUR_STATES, np.full((2, 1, 2), MISSING, dtype=np.int8), ASKED) == (1, -1, -2)
    assert categories(View.TWO_STATES, CODES, ASKED) == (0, 1)
    # Brennan-Prediger with three answers: (3/4 - 1/3) / (2/3) = 5/8; with the four, (2/4 - 1/4) / (3/4) = 1/3
    assert of(View.FOUR_STATES, codes=without).agreement.findings[0].brennan_prediger.value == pytest.approx(5 / 8)
    assert of(View.FOUR_STATES).agreement.findings[0].brennan_prediger.value == pytest.approx(1 / 3)


def test_each_view_says_what_it_is() -> None:
    assert "primary" in View.TWO_STATES.words
    assert "primary" not in View.FOUR_STATES.words
