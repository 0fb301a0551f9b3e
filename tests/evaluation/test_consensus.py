from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.domain.findings import FAILED, MISSING, Policies, Policy, State
from workbench.domain.references import Outcome, VoteRule
from workbench.errors import InputError
from workbench.evaluation.consensus import collapse, per_finding, tally

FOUR_OF_SIX = VoteRule(4, 6)
P, A, U, N = (state.code for state in (State.PRESENT, State.ABSENT, State.UNCERTAIN, State.NOT_MENTIONED))


def one(votes: list[int], rule: VoteRule = FOUR_OF_SIX) -> tuple[int, int, int, bool]:
    result = tally(np.array([[votes]]), rule)
    outcome, present, missing = (int(a[0, 0]) for a in (result.outcome, result.present, result.missing))
    return outcome, present, missing, bool(result.tie[0, 0])


def test_each_state_becomes_what_its_findings_policy_says() -> None:
    row = [P, A, U, N, MISSING, FAILED]
    votes = np.array([[row, row, row]])
    collapsed = collapse(votes, [Policy.PRESENT, Policy.ABSENT, Policy.EXCLUDE])
    assert collapsed.tolist() == [
        [[1, 0, 1, 0, MISSING, FAILED], [1, 0, 0, 0, MISSING, FAILED], [1, 0, MISSING, 0, MISSING, FAILED]]
    ]
    assert collapsed.dtype == np.int8


def test_predictions_collapse_like_votes() -> None:
    assert collapse([[U, U], [P, FAILED]], [Policy.PRESENT, Policy.EXCLUDE]).tolist() == [[1, MISSING], [1, FAILED]]


def test_what_cannot_be_collapsed_is_refused() -> None:
    with pytest.raises(ValueError, match=r"unknown state codes \[2\]"):
        collapse([[2]], [Policy.ABSENT])
    with pytest.raises(ValueError, match="unknown state codes"):
        collapse([[0.5]], [Policy.ABSENT])
    with pytest.raises(ValueError, match="2 policies"):
        collapse([[1]], [Policy.ABSENT, Policy.ABSENT])


def test_policies_go_by_finding_id() -> None:
    policies = Policies(Policy.ABSENT, {"b": Policy.EXCLUDE})
    assert per_finding(policies, ["a", "b"]) == (Policy.ABSENT, Policy.EXCLUDE)


@pytest.mark.parametrize(
    ("votes", "expected"),
    [
        # (outcome, present, missing, tie); 4 of 6
        ([1, 1, 1, 1, 0, 0], (1, 4, 0, False)),
        ([1, 1, 1, 1, MISSING, MISSING], (1, 4, 2, False)),  # two missing votes cannot change 4
        ([1, 1, 1, 0, 0, 0], (0, 3, 0, True)),  # a full vote split evenly
        ([1, 1, 1, 0, 0, MISSING], (MISSING, 3, 1, False)),  # 3 + 1 could still be 4
        ([1, 1, 0, 0, 0, MISSING], (0, 2, 1, False)),  # 2 + 1 never reaches 4
        ([1, 1, MISSING, MISSING, 0, 0], (MISSING, 2, 2, False)),
        ([0, 0, 0, MISSING, MISSING, MISSING], (0, 0, 3, False)),
        ([0, 0, MISSING, MISSING, MISSING, MISSING], (MISSING, 0, 4, False)),
        ([MISSING] * 6, (MISSING, 0, 6, False)),
        ([0] * 6, (0, 0, 0, False)),
    ],
)
def test_four_of_six(votes: list[int], expected: tuple[int, int, int, bool]) -> None:
    assert one(votes) == expected


def test_fewer_raters_than_the_rule_counts_as_missing_votes() -> None:
    assert one([1, 1, 1]) == (MISSING, 3, 3, False)
    assert one([1, 1, 1, 1]) == (1, 4, 2, False)
    assert one([1, 1, 1, 0, 0]) == (MISSING, 3, 1, False)  # no tie: the vote is not full


@pytest.mark.parametrize(
    ("becomes", "code"), [(Outcome.NOT_PRESENT, 0), (Outcome.PRESENT, 1), (Outcome.SHORT, MISSING)]
)
def test_a_tie_becomes_what_the_rule_says_and_is_flagged_all_the_same(becomes: Outcome, code: int) -> None:
    assert one([1, 0, 1, 0, 1, 0], VoteRule(4, 6, becomes)) == (code, 3, 0, True)
    assert one([1, 0, 1, 0, 0, 0], VoteRule(4, 6, becomes)) == (0, 2, 0, False)


def test_an_odd_vote_has_no_tie_and_one_rater_decides_alone() -> None:
    assert one([1, 1, 0], VoteRule(2, 3)) == (1, 2, 0, False)
    assert one([1], VoteRule(1, 1)) == (1, 1, 0, False)
    assert one([0], VoteRule(1, 1)) == (0, 0, 0, False)
    assert one([MISSING], VoteRule(1, 1)) == (MISSING, 0, 1, False)


def test_an_uncertain_vote_under_exclude_is_a_missing_vote() -> None:
    votes = np.array([[[P, P, P, U, A, N]]])
    as_missing = tally(collapse(votes, [Policy.EXCLUDE]), FOUR_OF_SIX)
    assert (as_missing.outcome.item(), as_missing.present.item(), as_missing.missing.item()) == (MISSING, 3, 1)
    assert tally(collapse(votes, [Policy.PRESENT]), FOUR_OF_SIX).outcome.item() == 1
    as_absent = tally(collapse(votes, [Policy.ABSENT]), FOUR_OF_SIX)
    assert (as_absent.outcome.item(), as_absent.tie.item()) == (0, True)


def test_more_raters_than_the_rule_knows_are_refused() -> None:
    with pytest.raises(InputError, match="4 of 6 but 7 raters voted"):
        one([1] * 7)


@pytest.mark.parametrize("bad", [FAILED, State.UNCERTAIN.code, 2])
def test_only_collapsed_votes_are_counted(bad: int) -> None:
    with pytest.raises(ValueError, match="1, 0 or MISSING"):
        one([1, bad])


@given(st.data())
def test_an_outcome_is_what_every_completion_of_the_missing_votes_agrees_on(data: st.DataObject) -> None:
    """The rule by its meaning: fill the missing votes in all ways; decided if all completions say the same."""
    n = data.draw(st.integers(1, 7))
    rule = VoteRule(data.draw(st.integers(n // 2 + 1, n)), n)
    votes = data.draw(st.lists(st.sampled_from([1, 0, MISSING]), min_size=n, max_size=n))
    given_sum, gaps = votes.count(1), votes.count(MISSING)
    answers = {given_sum + sum(filling) >= rule.k for filling in product([0, 1], repeat=gaps)}
    expected = MISSING if len(answers) == 2 else int(answers.pop())
    tie = gaps == 0 and votes.count(1) == votes.count(0)
    assert one(votes, rule) == (expected, given_sum, gaps, tie)
