import json
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import accuracy_score, f1_score, precision_score, recall_score

from workbench.domain.findings import FAILED, MISSING, Policy
from workbench.errors import InputError
from workbench.evaluation.evaluations import Evaluation
from workbench.evaluation.intervals import wilson
from workbench.evaluation.numbers import Figure
from workbench.evaluation.scores import evaluate

UNCERTAIN, NOT_MENTIONED, SHORT = -1, -2, MISSING
TRUTH = [[1, 1, 0], [1, 1, 0], [1, 0, 0], [0, 0, 0], [0, 0, 0], [0, 0, 0], [SHORT, 1, 0], [1, 0, 0]]
LABELS = [
    [1, 1, 0],
    [0, UNCERTAIN, 0],
    [UNCERTAIN, UNCERTAIN, 1],
    [1, NOT_MENTIONED, 1],
    [0, 1, 0],
    [NOT_MENTIONED, 0, 0],
    [1, 1, 0],
    [FAILED, FAILED, FAILED],
]
POLICIES = [Policy.ABSENT, Policy.EXCLUDE, Policy.ABSENT]


def score(truth: object, labels: object, **settings: object) -> Evaluation:
    shape = np.shape(truth)
    settings = {"policies": [Policy.ABSENT] * shape[1], "patients": [f"p{i}" for i in range(shape[0])]} | settings
    return evaluate([f"f{i}" for i in range(shape[1])], truth, labels, **settings)  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def by_hand() -> Evaluation:
    return score(TRUTH, LABELS, policies=POLICIES, resamples=200)


def value(figure: Figure) -> float:
    assert figure.value is not None
    return figure.value


def test_each_finding_by_hand(by_hand: Evaluation) -> None:
    a, b, c = by_hand.findings
    # a: tp 1, fp 1, fn 2 + 1 failed, tn 2, one short
    assert (a.tp, a.fp, a.fn, a.tn, a.failed, a.short, a.support, a.n) == (1, 1, 3, 2, 1, 1, 4, 7)
    assert [value(f) for f in (a.accuracy, a.precision, a.recall, a.specificity, a.f1)] == [
        3 / 7, 1 / 2, 1 / 4, 2 / 3, 2 / 6
    ]  # fmt: skip
    # b: tp 2, fp 1, fn 0, tn 2, one failed on a negative, two excluded of which one is positive
    assert (b.tp, b.fp, b.fn, b.tn, b.failed, b.excluded, b.support, b.n) == (2, 1, 0, 2, 1, 2, 3, 6)
    assert [value(f) for f in (b.accuracy, b.precision, b.recall, b.specificity, b.f1)] == [
        4 / 6, 2 / 3, 1, 2 / 4, 4 / 5
    ]  # fmt: skip
    # c: no support; two invented, one failed
    assert (c.tp, c.fp, c.fn, c.tn, c.failed, c.support, c.n) == (0, 2, 0, 5, 1, 0, 8)
    assert [value(f) for f in (c.accuracy, c.precision, c.specificity)] == [5 / 8, 0, 5 / 8]
    assert (c.recall.value, c.f1.value) == (None, None)
    assert c.f1.reason == c.recall.reason == "no positive in the reference"
    # answering "absent" every time: 3 of 7, 5 of 8 (what the policy excluded is decided all the same), all
    assert [value(f.always_absent_accuracy) for f in by_hand.findings] == [3 / 7, 5 / 8, 1]
    assert a.table.tolist() == [[2, 1, 0], [2, 1, 1]]


def test_figures_over_findings_by_hand(by_hand: Evaluation) -> None:
    assert value(by_hand.macro_f1) == pytest.approx(float((Fraction(1, 3) + Fraction(4, 5)) / 2), rel=1e-15)
    assert by_hand.macro_f1.n == 2  # c has no support
    assert (by_hand.supported, [(f.finding_id, f.fp) for f in by_hand.unsupported]) == (("f0", "f1"), [("f2", 2)])
    assert value(by_hand.micro_f1) == 6 / 13  # tp 3, fp 4, fn 3: what c invented is paid for here
    assert by_hand.micro_f1.n == 7 + 6 + 8
    # answered reports only: a 2/5, b 4/5; tp 3, fp 4, fn 2
    assert value(by_hand.macro_f1_answered) == pytest.approx(0.6, rel=1e-15)
    assert (by_hand.micro_f1_answered.value, by_hand.micro_f1_answered.n) == (6 / 12, 6 + 5 + 7)
    assert value(by_hand.macro_accuracy) == pytest.approx((3 / 7 + 4 / 6 + 5 / 8) / 3)
    assert (value(by_hand.macro_recall), by_hand.macro_recall.n) == ((1 / 4 + 1) / 2, 2)
    assert (value(by_hand.macro_precision), by_hand.macro_precision.n) == (pytest.approx((1 / 2 + 2 / 3) / 2), 2)
    assert (value(by_hand.macro_specificity), by_hand.macro_specificity.n) == (
        pytest.approx((2 / 3 + 1 / 2 + 5 / 8) / 3),
        3,
    )
    assert (by_hand.n_reports, by_hand.n_failed, by_hand.n_patients) == (8, 1, 8)


def test_proportions_carry_wilson_intervals_over_their_own_denominators(by_hand: Evaluation) -> None:
    a = by_hand.of("f0")
    for figure, successes, n in [(a.accuracy, 3, 7), (a.precision, 1, 2), (a.recall, 1, 4), (a.specificity, 2, 3)]:
        assert (figure.low, figure.high, figure.n) == (*wilson(successes, n), n)


def test_under_ten_positives_the_interval_is_shown_and_the_finding_is_too_few() -> None:
    truth = np.zeros((40, 2), dtype=int)
    truth[:9, 0] = truth[:10, 1] = 1
    labels = truth.copy()
    labels[0] = 0
    nine, ten = score(truth, labels).findings
    assert (nine.support, nine.too_few, ten.support, ten.too_few) == (9, True, 10, False)
    assert nine.f1.low is not None
    assert nine.recall.low is not None
    assert not score(truth, labels, few=5).findings[0].too_few


def test_a_perfect_run_is_exactly_1_with_a_finding_nobody_has() -> None:
    truth = (np.random.default_rng(1).random((50, 21)) < 0.3).astype(int)
    truth[:, 7] = 0
    evaluation = score(truth, truth)
    assert evaluation.macro_f1 == Figure(1.0, 20, 1.0, 1.0)
    assert (evaluation.micro_f1.value, evaluation.micro_f1.low, evaluation.micro_f1.high) == (1.0, 1.0, 1.0)
    cavity = evaluation.of("f7")
    assert (cavity.f1.value, cavity.recall.value, cavity.precision.value) == (None, None, None)
    assert (cavity.accuracy.value, cavity.specificity.value) == (1.0, 1.0)


def test_an_all_failed_run_is_wrong_everywhere_and_undefined_over_answered_reports() -> None:
    truth = [[1, 0], [0, 0], [1, 1]]
    evaluation = score(truth, np.full((3, 2), FAILED))
    for finding in evaluation.findings:
        assert (finding.accuracy.value, finding.recall.value, finding.f1.value) == (0, 0, 0)
        assert finding.precision.reason == "nothing was predicted present"
        assert finding.fp == 0
    assert (evaluation.macro_f1.value, evaluation.macro_f1.n, evaluation.micro_f1.value) == (0, 2, 0)
    assert evaluation.macro_f1_answered.reason == "no reply on a reference positive could be used"
    assert evaluation.micro_f1_answered.value is None
    assert evaluation.n_failed == 3


def test_a_report_counts_as_failed_when_any_of_its_findings_failed() -> None:
    evaluation = score([[1, 1], [0, 1]], [[1, FAILED], [0, 1]])
    assert (evaluation.n_failed, evaluation.of("f0").failed, evaluation.of("f1").failed) == (1, 0, 1)
    assert evaluation.macro_f1.value == pytest.approx((1 + 2 / 3) / 2)
    assert evaluation.macro_f1_answered.value == 1.0


def test_a_failed_reply_is_never_better_than_an_answer_of_absent() -> None:
    truth = (np.random.default_rng(2).random((60, 5)) < 0.3).astype(int)
    absent = np.zeros_like(truth)
    absent[:20] = truth[:20]
    failed = absent.copy()
    failed[40:] = FAILED
    as_absent, as_failed = score(truth, absent), score(truth, failed)
    assert as_failed.macro_f1 == as_absent.macro_f1  # a miss on positives, and F1 knows no true negatives
    for one, other in zip(as_failed.findings, as_absent.findings, strict=True):
        assert one.fn == other.fn
        assert value(one.accuracy) < value(other.accuracy)
        assert value(one.specificity) < value(other.specificity)
        assert one.precision == other.precision


def test_a_finding_whose_positives_were_all_excluded_is_left_out_of_the_macro_and_says_so() -> None:
    truth = [[1, 1], [0, 0], [0, 1]]
    labels = [[UNCERTAIN, 1], [1, 0], [0, 0]]
    evaluation = score(truth, labels, policies=[Policy.EXCLUDE] * 2)
    first = evaluation.of("f0")
    assert (first.support, first.recall.n, first.too_few) == (1, 0, True)
    assert first.f1.reason == first.recall.reason == "every positive was left out by the prediction policy"
    assert evaluation.supported == ("f0", "f1")
    assert (evaluation.macro_f1.value, evaluation.macro_f1.n) == (2 / 3, 1)
    # present and absent give the same report a score
    assert value(score(truth, labels, policies=[Policy.PRESENT] * 2).of("f0").f1) == 2 / 3
    assert value(score(truth, labels).of("f0").f1) == 0


def test_without_any_positive_nothing_but_accuracy_and_specificity_is_defined() -> None:
    evaluation = score([[0], [0]], [[0], [1]])
    assert evaluation.macro_f1.reason == evaluation.micro_f1.reason == "no positive in the reference"
    assert evaluation.macro_recall.value is None
    assert evaluation.of("f0").precision.value == 0
    assert evaluation.macro_accuracy.value == 0.5


def test_scores_are_those_of_scikit_learn() -> None:
    rng = np.random.default_rng(11)
    truth = (rng.random((300, 21)) < rng.uniform(0.01, 0.4, 21)).astype(int)
    labels = np.where(rng.random(truth.shape) < 0.1, 1 - truth, truth)
    labels[17] = labels[230] = FAILED
    evaluation = score(truth, labels, resamples=0)
    # scikit-learn knows no failed replies: a miss is an answer of absent for F1, the wrong answer for accuracy
    miss, wrong = np.where(labels == FAILED, 0, labels), np.where(labels == FAILED, 1 - truth, labels)
    assert truth.any(axis=0).all()
    assert evaluation.macro_f1.value == pytest.approx(f1_score(truth, miss, average="macro"), rel=1e-12)
    assert evaluation.micro_f1.value == pytest.approx(f1_score(truth, miss, average="micro"), rel=1e-12)
    answered = labels[:, 0] != FAILED
    assert evaluation.macro_f1_answered.value == pytest.approx(
        f1_score(truth[answered], labels[answered], average="macro"), rel=1e-12
    )
    for i, finding in enumerate(evaluation.findings):
        assert finding.f1.value == pytest.approx(f1_score(truth[:, i], miss[:, i]))
        assert finding.recall.value == pytest.approx(recall_score(truth[:, i], miss[:, i]))
        assert finding.precision.value == pytest.approx(precision_score(truth[:, i], miss[:, i]))
        assert finding.accuracy.value == pytest.approx(accuracy_score(truth[:, i], wrong[:, i]))
        assert finding.specificity.value == pytest.approx(recall_score(truth[:, i], wrong[:, i], pos_label=0))
        assert finding.always_absent_accuracy.value == pytest.approx(accuracy_score(truth[:, i], truth[:, i] * 0))


def brute_f1(truth: list[int], labels: list[int]) -> float | None:
    """F1 of one finding cell by cell; labels collapsed, None where excluded."""
    tp = fp = fn = 0
    for true, label in zip(truth, labels, strict=True):
        if true == SHORT or label is None:
            continue
        tp += true == 1 and label == 1
        fp += true == 0 and label == 1
        fn += true == 1 and label != 1
    return None if tp + fn == 0 else 2 * tp / (2 * tp + fp + fn)


def brute_macro(truth: np.ndarray, labels: np.ndarray, rows: list[int]) -> float | None:
    scores = [brute_f1([truth[r, f] for r in rows], [labels[r, f] for r in rows]) for f in range(truth.shape[1])]
    defined = [s for s in scores if s is not None]
    return sum(defined) / len(defined) if defined else None


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_scores_and_bootstrap_equal_going_through_reports_one_by_one(data: st.DataObject) -> None:
    n, findings, resamples, seed = data.draw(st.integers(2, 9)), 3, 20, data.draw(st.integers(0, 99))
    truth = np.array(data.draw(st.lists(st.lists(st.sampled_from([1, 0, SHORT]), min_size=3, max_size=3), min_size=n, max_size=n)))  # fmt: skip  # noqa: E501
    labels = np.array(data.draw(st.lists(st.lists(st.sampled_from([1, 0, UNCERTAIN, FAILED]), min_size=3, max_size=3), min_size=n, max_size=n)))  # fmt: skip  # noqa: E501
    patients = data.draw(st.lists(st.sampled_from(["x", "y", "z"]), min_size=n, max_size=n))
    policies = [Policy.PRESENT, Policy.ABSENT, Policy.EXCLUDE]
    evaluation = score(truth, labels, policies=policies, patients=patients, resamples=resamples, seed=seed)

    as_labels = labels.astype(object)
    for f, counts_as in enumerate([1, 0, None]):
        as_labels[labels[:, f] == UNCERTAIN, f] = counts_as
    everybody = list(range(n))
    for f in range(findings):
        expected = brute_f1(list(truth[:, f]), list(as_labels[:, f]))
        assert evaluation.findings[f].f1.value == pytest.approx(expected)
    assert evaluation.macro_f1.value == pytest.approx(brute_macro(truth, as_labels, everybody))

    names = sorted(set(patients))
    if len(names) == 1:
        assert evaluation.macro_f1.low is None
        return
    draws = np.random.default_rng(seed).integers(0, len(names), size=(resamples, len(names)))
    samples = []
    dropped = [0] * findings
    for draw in draws:
        rows = [r for drawn in draw for r in everybody if patients[r] == names[drawn]]
        for f in range(findings):
            dropped[f] += brute_f1([truth[r, f] for r in rows], [as_labels[r, f] for r in rows]) is None
        samples.append(brute_macro(truth, as_labels, rows))
    assert [f.dropped for f in evaluation.findings] == dropped
    defined = [s for s in samples if s is not None]
    if evaluation.macro_f1.value is not None and defined:
        assert evaluation.macro_f1.low == pytest.approx(np.percentile(defined, 2.5))
        assert evaluation.macro_f1.high == pytest.approx(np.percentile(defined, 97.5))


def test_the_bootstrap_draws_patients_and_not_reports() -> None:
    rng = np.random.default_rng(3)
    truth = (rng.random((30, 4)) < 0.4).astype(int)
    labels = np.where(rng.random(truth.shape) < 0.2, 1 - truth, truth)
    patients = [f"p{i:02}" for i in range(30)]
    once = score(truth, labels, patients=patients)
    # five equal reports of each patient tell nothing new: the interval stays, where drawing reports would narrow it
    five = {"patients": np.repeat(patients, 5).tolist()}
    repeated = score(np.repeat(truth, 5, axis=0), np.repeat(labels, 5, axis=0), **five)
    assert repeated.macro_f1 == once.macro_f1
    by_report = score(np.repeat(truth, 5, axis=0), np.repeat(labels, 5, axis=0))
    assert by_report.macro_f1.low is not None
    assert once.macro_f1.low is not None
    assert by_report.macro_f1.low > once.macro_f1.low + 0.02


def test_the_same_seed_gives_the_same_intervals_in_any_order_of_reports() -> None:
    rng = np.random.default_rng(4)
    truth = (rng.random((40, 3)) < 0.3).astype(int)
    labels = np.where(rng.random(truth.shape) < 0.2, 1 - truth, truth)
    patients = [f"p{i % 17}" for i in range(40)]
    first = score(truth, labels, patients=patients, seed=7)
    assert score(truth, labels, patients=patients, seed=7) == first
    assert score(truth, labels, patients=patients, seed=8).macro_f1.low != first.macro_f1.low
    order = rng.permutation(40)
    shuffled = score(truth[order], labels[order], patients=[patients[i] for i in order], seed=7)
    assert shuffled == first


def test_a_rare_finding_is_left_out_of_the_resamples_without_it_and_they_are_counted() -> None:
    truth = np.zeros((50, 2), dtype=int)
    truth[0, 0] = 1
    truth[::2, 1] = 1
    labels = truth.copy()
    labels[0, 0] = 0
    labels[:6, 1] = 0
    evaluation = score(truth, labels, resamples=4000)
    rare, common = evaluation.findings
    # a patient stays undrawn with (1 - 1/50)^50 = 0.364
    assert rare.dropped / 4000 == pytest.approx(0.364, abs=0.03)
    assert common.dropped == 0
    assert evaluation.resamples_short == rare.dropped


def test_one_patient_has_no_bootstrap_interval() -> None:
    evaluation = score([[1], [0]], [[1], [1]], patients=["x", "x"])
    assert (evaluation.macro_f1.value, evaluation.macro_f1.low) == (2 / 3, None)
    assert "two patients" in evaluation.macro_f1.reason
    assert evaluation.of("f0").recall.low is not None  # Wilson needs no patients


def test_weights_undo_enrichment() -> None:
    # one positive in four was drawn twice as often: tp weighs 1, fn 2, fp 2
    truth, labels = [[1], [1], [0], [0]], [[1], [0], [1], [0]]
    weights = [1, 2, 2, 5]
    evaluation = score(truth, labels, weights=weights)
    assert evaluation.macro_f1.value == 2 / 4
    assert evaluation.macro_f1_reweighted is not None
    assert evaluation.micro_f1_reweighted is not None
    assert value(evaluation.macro_f1_reweighted) == pytest.approx(2 * 1 / (2 * 1 + 2 + 2))
    assert value(evaluation.micro_f1_reweighted) == pytest.approx(1 / 3)
    rng = np.random.default_rng(6)
    truth = (rng.random((80, 6)) < 0.3).astype(int)
    labels = np.where(rng.random(truth.shape) < 0.2, 1 - truth, truth)
    weights = rng.uniform(1, 9, 80)
    many = score(truth, labels, weights=weights)
    expected = f1_score(truth, labels, average="macro", sample_weight=weights)
    assert many.macro_f1_reweighted is not None
    assert many.macro_f1_reweighted.value == pytest.approx(expected)
    assert many.macro_f1 == score(truth, labels).macro_f1
    equal = score(truth, labels, weights=np.ones(80))
    assert equal.macro_f1_reweighted == equal.macro_f1
    assert score(truth, labels).macro_f1_reweighted is None


@pytest.mark.parametrize("weights", [[1, 0], [1, float("nan")], [1], [1, -1]])
def test_weights_that_are_none_are_refused(weights: list[float]) -> None:
    with pytest.raises(ValueError, match="weights"):
        score([[1], [0]], [[1], [0]], weights=weights)


def test_nothing_to_score_is_said_in_words() -> None:
    with pytest.raises(InputError, match="no report to score"):
        score(np.zeros((0, 1), dtype=int), np.zeros((0, 1), dtype=int))


def test_shapes_that_do_not_fit_are_refused() -> None:
    with pytest.raises(ValueError, match="1 reports x 2 findings"):
        evaluate(["a", "b"], [[1]], [[1]], [Policy.ABSENT], ["p"])


def test_json_gives_the_same_evaluation_back(by_hand: Evaluation) -> None:
    assert Evaluation.from_json(json.loads(json.dumps(by_hand.as_json()))) == by_hand
    weighted = score(TRUTH, LABELS, policies=POLICIES, weights=np.arange(1, 9), resamples=50)
    text = json.dumps(weighted.as_json(), allow_nan=False)
    assert Evaluation.from_json(json.loads(text)) == weighted
    assert weighted.policies == tuple(POLICIES)
