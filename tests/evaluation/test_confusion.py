import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import confusion_matrix, multilabel_confusion_matrix

from workbench.domain.findings import FAILED, MISSING, Policy
from workbench.errors import InputError
from workbench.evaluation.confusion import confusion, sort_cells

ABSENT, UNCERTAIN, NOT_MENTIONED, SHORT = 0, -1, -2, MISSING
FIELDS = ("tp", "fp", "fn", "tn", "failed_positive", "failed_negative", "excluded", "excluded_positive", "short")


def test_counts_by_hand() -> None:
    # reports in rows; finding a under "absent", finding b under "exclude"
    truth = [[1, 1], [1, 1], [1, 0], [0, 0], [0, 0], [0, 0], [SHORT, 1], [1, 0]]
    given_labels = [
        [1, 1],  # a tp, b tp
        [0, UNCERTAIN],  # a fn, b excluded although positive
        [UNCERTAIN, UNCERTAIN],  # a fn, b excluded
        [1, NOT_MENTIONED],  # a fp, b tn
        [0, 1],  # a tn, b fp
        [NOT_MENTIONED, 0],  # a tn, b tn
        [1, 1],  # a short, b tp
        [FAILED, FAILED],  # a failed on a positive, b failed on a negative
    ]
    counts = confusion(truth, given_labels, [Policy.ABSENT, Policy.EXCLUDE])
    assert {name: getattr(counts, name).tolist() for name in FIELDS} == {
        "tp": [1, 2],
        "fp": [1, 1],
        "fn": [3, 0],  # two wrong answers and the failed one
        "tn": [2, 2],
        "failed_positive": [1, 0],
        "failed_negative": [0, 1],
        "excluded": [0, 2],
        "excluded_positive": [0, 1],
        "short": [1, 0],
    }
    assert counts.positives.tolist() == [4, 2]
    assert counts.support.tolist() == [4, 3]
    assert counts.negatives.tolist() == [3, 4]
    assert counts.n.tolist() == [7, 6]
    # rows true absent, present; columns predicted absent, present, failed
    assert counts.table(0).tolist() == [[2, 1, 0], [2, 1, 1]]
    assert counts.table(1).tolist() == [[2, 1, 1], [0, 2, 0]]


def test_the_same_uncertain_prediction_counts_three_ways() -> None:
    truth, uncertain = [[1], [0]], [[UNCERTAIN], [UNCERTAIN]]
    by_policy = {policy: confusion(truth, uncertain, [policy]) for policy in Policy}
    assert [by_policy[Policy.PRESENT].tp.item(), by_policy[Policy.PRESENT].fp.item()] == [1, 1]
    assert [by_policy[Policy.ABSENT].fn.item(), by_policy[Policy.ABSENT].tn.item()] == [1, 1]
    assert [by_policy[Policy.EXCLUDE].excluded.item(), by_policy[Policy.EXCLUDE].n.item()] == [2, 0]


def test_a_report_without_a_prediction_is_not_scored_as_absent() -> None:
    with pytest.raises(InputError, match=r"1 of 3 reports have no prediction yet \(the first is number 2\)"):
        confusion([[1], [1], [0]], [[1], [MISSING], [0]], [Policy.ABSENT])


def test_what_does_not_fit_is_refused() -> None:
    with pytest.raises(ValueError, match="truth is"):
        confusion([[UNCERTAIN]], [[1]], [Policy.ABSENT])
    with pytest.raises(ValueError, match="do not go with truth"):
        confusion([[1], [0]], [[1]], [Policy.ABSENT])
    with pytest.raises(ValueError, match="do not go with truth"):
        sort_cells([[1]], [[UNCERTAIN]])


def test_orientation_and_counts_are_those_of_scikit_learn() -> None:
    rng = np.random.default_rng(5)
    truth = (rng.random((200, 4)) < [0.5, 0.2, 0.02, 0]).astype(int)
    labels = rng.choice([1, ABSENT, NOT_MENTIONED], size=truth.shape, p=[0.3, 0.3, 0.4])
    counts = confusion(truth, labels, [Policy.ABSENT] * 4)
    expected = multilabel_confusion_matrix(truth, (labels == 1).astype(int))
    for finding in range(4):
        assert counts.table(finding)[:, :2].tolist() == expected[finding].tolist()
        assert (
            expected[finding].tolist()
            == confusion_matrix(truth[:, finding], labels[:, finding] == 1, labels=[0, 1]).tolist()
        )


def kind(true: int, label: int, policy: Policy) -> set[str]:
    """Which counts one cell belongs to, by the words of the method."""
    if true == SHORT:
        return {"short"}
    if label == UNCERTAIN and policy is Policy.EXCLUDE:
        return {"excluded", "excluded_positive"} if true == 1 else {"excluded"}
    if label == FAILED:
        return {"fn", "failed_positive"} if true == 1 else {"failed_negative"}
    says_present = label == 1 or (label == UNCERTAIN and policy is Policy.PRESENT)
    return {{(1, True): "tp", (1, False): "fn", (0, True): "fp", (0, False): "tn"}[true, says_present]}


cells = st.tuples(st.sampled_from([1, 0, SHORT]), st.sampled_from([1, 0, UNCERTAIN, NOT_MENTIONED, FAILED]))


@given(st.lists(st.tuples(cells, cells), max_size=12), st.sampled_from(Policy), st.sampled_from(Policy))
def test_counts_equal_counting_cell_by_cell(
    rows: list[tuple[tuple[int, int], tuple[int, int]]], first: Policy, second: Policy
) -> None:
    truth = np.array([[true for true, _ in row] for row in rows]).reshape(-1, 2)
    labels = np.array([[label for _, label in row] for row in rows]).reshape(-1, 2)
    counts = confusion(truth, labels, [first, second])
    for finding, policy in enumerate([first, second]):
        kinds = [kind(*row[finding], policy) for row in rows]
        for name in FIELDS:
            assert getattr(counts, name)[finding] == sum(name in k for k in kinds), name
        assert counts.n[finding] + counts.excluded[finding] + counts.short[finding] == len(rows)
