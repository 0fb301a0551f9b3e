import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.domain.findings import FAILED, MISSING, Policy
from workbench.evaluation.mistakes import Mistake, MistakeKind, mistakes
from workbench.evaluation.scores import evaluate


def test_costs_by_hand() -> None:
    # finding 0: tp 1, fp 1, fn 1 -> 2/4. finding 1: tp 0, fn 1 -> 0. finding 2 has no support, one invented.
    truth = [[1, 0, 0], [1, 1, 0], [0, 0, 0]]
    labels = [[1, 0, 1], [0, 0, 0], [1, 0, 0]]
    found = mistakes(truth, labels, [Policy.ABSENT] * 3)
    assert found == [
        Mistake(1, 1, MistakeKind.MISSED, positive=True, cost=(1 - 0) / 2),  # 2 / 2 - 0
        Mistake(1, 0, MistakeKind.MISSED, positive=True, cost=pytest.approx((4 / 5 - 2 / 4) / 2)),
        Mistake(2, 0, MistakeKind.INVENTED, positive=False, cost=pytest.approx((2 / 3 - 2 / 4) / 2)),
        Mistake(0, 2, MistakeKind.INVENTED, positive=False, cost=0.0),
    ]


def test_failed_replies_are_mistakes_of_their_own_kind() -> None:
    found = mistakes([[1], [0]], [[FAILED], [FAILED]], [Policy.ABSENT])
    assert [(m.report, m.kind, m.positive, m.cost) for m in found] == [
        (0, MistakeKind.FAILED, True, 1.0),
        (1, MistakeKind.FAILED, False, 0.0),
    ]


def test_short_votes_and_excluded_labels_are_no_mistakes() -> None:
    assert mistakes([[MISSING], [1], [0]], [[1], [-1], [-1]], [Policy.EXCLUDE]) == []
    assert [m.kind for m in mistakes([[1], [0]], [[-1], [-1]], [Policy.PRESENT])] == [MistakeKind.INVENTED]


@given(st.data())
def test_a_cost_is_what_macro_f1_gains_when_that_cell_alone_is_set_right(data: st.DataObject) -> None:
    cell = st.tuples(st.sampled_from([1, 0, MISSING]), st.sampled_from([1, 0, FAILED]))
    rows = data.draw(st.lists(st.tuples(cell, cell), min_size=1, max_size=5))
    truth = np.array([[true for true, _ in row] for row in rows])
    labels = np.array([[label for _, label in row] for row in rows])
    policies, patients = [Policy.ABSENT] * 2, [str(i) for i in range(len(rows))]

    def macro(given_labels: np.ndarray) -> float:
        return evaluate(["a", "b"], truth, given_labels, policies, patients, resamples=0).macro_f1.value or 0.0

    found = mistakes(truth, labels, policies)
    assert {(m.report, m.finding) for m in found} == {
        (r, f) for r, row in enumerate(rows) for f, (true, label) in enumerate(row) if true not in (MISSING, label)
    }
    for mistake in found:
        corrected = labels.copy()
        corrected[mistake.report, mistake.finding] = truth[mistake.report, mistake.finding]
        assert mistake.cost == pytest.approx(macro(corrected) - macro(labels), abs=1e-12)
    assert [m.cost for m in found] == sorted((m.cost for m in found), reverse=True)
