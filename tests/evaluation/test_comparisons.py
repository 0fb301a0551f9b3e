from dataclasses import replace
from itertools import product
from math import comb

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import f1_score

from workbench.domain.findings import FAILED, MISSING, Policy
from workbench.errors import InputError
from workbench.evaluation.comparisons import (
    MCNEMAR,
    PERMUTATION,
    Flips,
    compare,
    flips,
    holm,
    mcnemar_exact,
    newly_missed,
    sign_flip_exact,
)
from workbench.evaluation.scores import evaluate

U = -1


def column(*values: int) -> np.ndarray:
    return np.array(values)[:, None]


def test_flips_by_hand() -> None:
    truth = column(1, 1, 1, 0, 0, 0, MISSING, 1)
    before = column(1, 0, FAILED, 1, 0, 1, 0, U)
    after = column(0, 1, FAILED, 0, 0, FAILED, 1, 1)
    expected = Flips(fixed=(1, 3), broken=(0,), still_right=(4,), still_wrong=(2, 5))
    # report 6 is short; report 7 is fixed, unless the policy leaves the uncertain label out
    assert flips(truth, before, after, [Policy.EXCLUDE]) == (expected,)
    assert flips(truth, before, after, [Policy.ABSENT])[0].fixed == (1, 3, 7)
    assert flips(truth, before, after, [Policy.PRESENT])[0].still_right == (4, 7)
    assert expected.unchanged == (2, 4, 5)


def test_newly_missed_are_positives_found_before() -> None:
    truth = np.array([[1, 1], [1, 0], [1, 1], [0, 1]])
    before = np.array([[1, 1], [0, 1], [1, 1], [0, 0]])
    after = np.array([[0, 1], [0, 0], [1, FAILED], [0, FAILED]])
    assert newly_missed(truth, before, after, [Policy.ABSENT] * 2) == [(0, 0), (2, 1)]


def test_mcnemar_by_hand() -> None:
    assert mcnemar_exact(0, 0) == 1
    assert mcnemar_exact(3, 3) == 1
    assert mcnemar_exact(5, 0) == 2 / 2**5
    assert mcnemar_exact(1, 7) == 2 * (1 + 8) / 2**8 == mcnemar_exact(7, 1)
    # as statsmodels' mcnemar gives it for [[0, 6], [16, 0]], exact
    assert mcnemar_exact(6, 16) == pytest.approx(0.052478790283203125, rel=1e-12)
    assert mcnemar_exact(1200, 900) == pytest.approx(2 * sum(comb(2100, i) for i in range(901)) / 2**2100, rel=1e-12)


@given(st.lists(st.integers(-3, 3), max_size=8))
def test_the_permutation_test_equals_going_through_all_signs(differences: list[int]) -> None:
    observed = abs(sum(differences))
    sums = [abs(sum(s * d for s, d in zip(signs, differences, strict=True))) for signs in product([1, -1], repeat=len(differences))]  # fmt: skip  # noqa: E501
    assert sign_flip_exact(differences) == pytest.approx(sum(s >= observed for s in sums) / len(sums))


@given(st.integers(0, 40), st.integers(0, 40), st.integers(0, 5))
def test_with_one_report_per_patient_the_permutation_test_is_mcnemars(plus: int, minus: int, equal: int) -> None:
    assert sign_flip_exact([1] * plus + [-1] * minus + [0] * equal) == pytest.approx(mcnemar_exact(plus, minus))


def test_holm_by_hand() -> None:
    # sorted .01 .02 .03 .2 times 4 3 2 1: .04 .06 .06 .2
    adjusted = holm([0.03, 0.01, None, 0.2, 0.02])
    assert adjusted == (pytest.approx(0.06), pytest.approx(0.04), None, pytest.approx(0.2), pytest.approx(0.06))
    assert holm([0.6, 0.7]) == (1.0, 1.0)
    assert holm([]) == ()
    # as statsmodels' multipletests gives it
    p_values = [0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344]
    adjusted = holm(p_values)
    assert adjusted == pytest.approx((0.0008, 0.0028, 0.0114, 0.0475, 0.0804, 0.0834, 0.0834, 0.0834))


def test_mcnemar_and_holm_agree_with_statsmodels() -> None:
    from statsmodels.stats.contingency_tables import mcnemar
    from statsmodels.stats.multitest import multipletests

    pairs = [(fixed, broken) for fixed in range(0, 40, 3) for broken in range(0, 40, 7)]
    ours = [mcnemar_exact(fixed, broken) for fixed, broken in pairs]
    theirs = [mcnemar([[5, broken], [fixed, 7]], exact=True).pvalue for fixed, broken in pairs]
    assert ours == pytest.approx(theirs, rel=1e-9)
    assert holm(ours) == pytest.approx(tuple(multipletests(ours, method="holm")[1]), rel=1e-9)


def test_a_comparison_by_hand() -> None:
    # finding a, eight positives: 5 fixed, 1 broken, 2 still right; two negatives: 1 broken
    truth = column(1, 1, 1, 1, 1, 1, 1, 1, 0, 0)
    before = column(0, 0, 0, 0, 0, 1, 1, 1, 0, 0)
    after = column(1, 1, 1, 1, 1, 0, 1, 1, 1, 0)
    result = compare(["a"], truth, before, after, [Policy.ABSENT], patients=[str(i) for i in range(10)])
    assert result.test == MCNEMAR
    a = result.findings[0]
    assert (a.fixed, a.broken) == (5, 2)
    assert (a.recall_change.value, a.recall_change.n) == (4 / 8, 8)
    assert a.recall_p.value == 2 * (1 + 6) / 2**6  # 1 of 6 discordant
    assert (a.specificity_change.value, a.specificity_change.n) == (-1 / 2, 2)
    assert a.specificity_p.value == 1  # 2 * (1/2)
    # F1 before 6 / (6 + 5) , after 14 / (14 + 1 + 1)
    assert result.macro_f1_change.value == pytest.approx(14 / 16 - 6 / 11)
    assert result.macro_f1_change.n == 1
    # the only finding that macro-F1 is over
    assert a.f1_change == replace(result.macro_f1_change, n=10)


def test_a_comparison_rests_on_the_cells_scored_in_both() -> None:
    # positives: one scored in both, one excluded before, one excluded after; negatives likewise, and one short
    truth = column(1, 1, 1, 0, 0, 0, MISSING)
    before = column(0, U, 1, 1, U, 0, 1)
    after = column(1, 1, U, 0, 0, U, 0)
    result = compare(["a"], truth, before, after, [Policy.EXCLUDE], patients=list("pqrstuv"))
    a = result.findings[0]
    assert (a.recall_change.value, a.recall_change.n, a.recall_p.n) == (1.0, 1, 1)
    assert (a.specificity_change.value, a.specificity_change.n, a.specificity_p.n) == (1.0, 1, 1)
    assert (a.fixed, a.broken) == (2, 0)


def test_patients_with_several_reports_are_swapped_whole() -> None:
    truth = column(*[1] * 6)
    before, after = column(*[0] * 6), column(*[1] * 6)
    patients = ["p", "p", "p", "q", "q", "r"]
    result = compare(["a"], truth, before, after, [Policy.ABSENT], patients=patients)
    assert result.test == PERMUTATION
    # three patients all better: 2 of 8 sign patterns reach 6 (as reports it would have been 2 of 64)
    assert result.findings[0].recall_p.value == pytest.approx(2 / 8)


def test_holm_runs_over_the_findings_that_could_be_tested() -> None:
    truth = np.zeros((12, 3), dtype=int)
    truth[:, 0] = 1
    truth[:6, 1] = 1
    before = np.zeros_like(truth)
    result = compare(["a", "b", "c"], truth, before, truth, [Policy.ABSENT] * 3, patients=[str(i) for i in range(12)])
    a, b, c = result.findings
    assert (a.recall_p.value, b.recall_p.value) == (2 / 2**12, 2 / 2**6)
    assert (a.recall_p_holm.value, b.recall_p_holm.value) == (4 / 2**12, 2 / 2**6)
    assert c.recall_p.value is None
    assert c.recall_p.reason == c.recall_change.reason == "no reference positive was scored in both"
    assert a.specificity_p.reason == "no reference negative was scored in both"
    assert result.macro_f1_change.value == 1.0
    assert (result.macro_f1_change.low, result.macro_f1_change.high, result.macro_f1_change.n) == (1.0, 1.0, 2)


def test_a_run_against_itself_changes_nothing() -> None:
    truth = (np.random.default_rng(0).random((30, 3)) < 0.4).astype(int)
    labels = 1 - truth
    result = compare(list("abc"), truth, labels, labels, [Policy.ABSENT] * 3, patients=[str(i) for i in range(30)])
    assert (result.macro_f1_change.value, result.macro_f1_change.low, result.macro_f1_change.high) == (0, 0, 0)
    assert {f.recall_p_holm.value for f in result.findings} == {1.0}
    assert {(f.f1_change.value, f.f1_change.low, f.f1_change.high) for f in result.findings} == {(0, 0, 0)}


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 1000))
def test_the_change_is_that_of_the_scores_and_its_interval_is_paired(seed: int) -> None:
    rng = np.random.default_rng(seed)
    truth = (rng.random((40, 3)) < 0.4).astype(int)
    truth[0] = 1
    before = np.where(rng.random(truth.shape) < 0.3, 1 - truth, truth)
    after = np.where(rng.random(truth.shape) < 0.1, 1 - truth, truth)
    patients, policies = [str(i // 2) for i in range(40)], [Policy.ABSENT] * 3
    change = compare(list("abc"), truth, before, after, policies, patients=patients, resamples=30, seed=seed)
    scores = [evaluate(list("abc"), truth, run, policies, patients, resamples=0).macro_f1.value for run in (before, after)]  # fmt: skip  # noqa: E501
    assert change.macro_f1_change.value == pytest.approx(scores[1] - scores[0])
    both = zip(*(evaluate(list("abc"), truth, run, policies, patients, resamples=0).findings for run in (before, after)))  # fmt: skip  # noqa: B905, E501
    assert [f.f1_change.value for f in change.findings] == pytest.approx([b.f1.value - a.f1.value for a, b in both])
    names, samples = sorted(set(patients)), []
    for draw in np.random.default_rng(seed).integers(0, 20, size=(30, 20)):
        rows = [r for drawn in draw for r in range(40) if patients[r] == names[drawn]]
        kept = truth[rows].any(axis=0)
        each = [f1_score(truth[rows][:, kept], run[rows][:, kept], average="macro") for run in (before, after)]
        samples.append(each[1] - each[0])
    assert change.macro_f1_change.low == pytest.approx(np.percentile(samples, 2.5))
    assert change.macro_f1_change.high == pytest.approx(np.percentile(samples, 97.5))


def test_without_a_positive_there_is_no_change_of_macro_f1() -> None:
    result = compare(["a"], column(0, 0), column(1, 0), column(0, 0), [Policy.ABSENT], patients=["p", "q"])
    assert result.macro_f1_change.reason == "no reference positive was scored in both"


def test_an_unfinished_run_is_not_compared() -> None:
    with pytest.raises(InputError, match="no prediction yet"):
        compare(["a"], column(1), column(MISSING), column(1), [Policy.ABSENT], patients=["p"])
