import numpy as np
import pytest
from sklearn.metrics import f1_score

from workbench.domain.findings import FAILED, Policy
from workbench.domain.references import VoteRule
from workbench.evaluation.policies import ORDER, policy_table

U = -1


def test_nine_scores_by_hand() -> None:
    # one rater decides; reference by vote policy: present 1 1 0, absent 1 0 0, exclude 1 - 0
    votes = np.array([1, U, 0])[:, None, None]
    predictions = [[1], [U], [U]]
    table = policy_table(["f"], votes, VoteRule(1, 1), predictions, list("pqr"))
    present, absent, exclude = ORDER
    assert (present, absent, exclude) == (Policy.PRESENT, Policy.ABSENT, Policy.EXCLUDE)
    expected = {
        (present, present): 4 / 5,  # 1 1 0 against 1 1 1: tp 2, fp 1
        (present, absent): 2 / 3,  # against 1 0 0: tp 1, fn 1
        (present, exclude): 1.0,  # only the first report is left
        (absent, present): 2 / 4,  # 1 0 0 against 1 1 1: tp 1, fp 2
        (absent, absent): 1.0,
        (absent, exclude): 1.0,
        (exclude, present): 2 / 3,  # 1 - 0 against 1 - 1: tp 1, fp 1
        (exclude, absent): 1.0,
        (exclude, exclude): 1.0,
    }
    for (vote, prediction), score in expected.items():
        assert table.of(vote, prediction).value == pytest.approx(score), (vote, prediction)
    assert table.as_json()["present"]["absent"]["n"] == 1  # type: ignore[index]


def test_how_many_findings_are_averaged_can_change_with_the_vote_policy() -> None:
    votes = np.array([[[1], [U]], [[0], [0]]])
    table = policy_table(["a", "b"], votes, VoteRule(1, 1), [[1, 1], [0, 0]], list("pq"))
    assert [table.of(vote, Policy.ABSENT).n for vote in ORDER] == [2, 1, 1]


def test_six_raters_against_scikit_learn() -> None:
    rng = np.random.default_rng(8)
    votes = rng.choice([1, 0, U, -2], size=(120, 5, 6), p=[0.4, 0.2, 0.2, 0.2])
    predictions = rng.choice([1, 0, U, -2], size=(120, 5))
    predictions[3] = FAILED
    table = policy_table(list("abcde"), votes, VoteRule(4, 6), predictions, [str(i) for i in range(120)])
    for vote, says_vote in ((Policy.PRESENT, [1, U]), (Policy.ABSENT, [1])):
        truth = (np.isin(votes, says_vote).sum(axis=2) >= 4).astype(int)
        for prediction, says in ((Policy.PRESENT, [1, U]), (Policy.ABSENT, [1])):
            expected = f1_score(truth, np.isin(predictions, says).astype(int), average="macro")
            assert table.of(vote, prediction).value == pytest.approx(expected)


def test_intervals_come_on_request() -> None:
    votes, predictions = np.array([[[1]], [[0]], [[1]]]), [[1], [1], [0]]
    assert policy_table(["f"], votes, VoteRule(1, 1), predictions, list("pqr")).of(ORDER[0], ORDER[0]).low is None
    with_intervals = policy_table(["f"], votes, VoteRule(1, 1), predictions, list("pqr"), resamples=50)
    assert with_intervals.of(ORDER[0], ORDER[0]).low is not None
