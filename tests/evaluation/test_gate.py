import numpy as np
import pytest

from workbench.domain.findings import FAILED, Policy
from workbench.evaluation.evaluations import Evaluation
from workbench.evaluation.gate import GateCheck, GateStatus, gate
from workbench.evaluation.scores import evaluate


def cohort(positives: tuple[int, ...] = (20, 20)) -> np.ndarray:
    truth = np.zeros((100, len(positives)), dtype=int)
    for finding, n in enumerate(positives):
        truth[:n, finding] = 1
    return truth


def score(truth: np.ndarray, labels: np.ndarray) -> Evaluation:
    ids = [f"f{i}" for i in range(truth.shape[1])]
    return evaluate(ids, truth, labels, [Policy.ABSENT] * len(ids), [str(i) for i in range(len(truth))], resamples=0)


def checks(evaluation: Evaluation, **settings: object) -> dict[str, GateCheck]:
    return {check.name: check for check in gate(evaluation, **settings)}  # type: ignore[arg-type]


def test_a_perfect_revision_passes_every_check() -> None:
    found = checks(score(cohort(), cohort()))
    assert list(found) == ["replies", "accuracy", "recall", "assessable", "newly_missed", "macro_f1"]
    assert {check.status for check in found.values()} == {GateStatus.PASSED}
    assert found["accuracy"].sentence == (
        'Accuracy is at least 0.90 for all of 2 findings; answering "absent" every time would reach it for 0 of 2.'
    )
    assert "no accepted revision to compare with" in found["macro_f1"].sentence


def test_one_failed_reply_blocks() -> None:
    labels = cohort()
    labels[99] = FAILED
    check = checks(score(cohort(), labels))["replies"]
    assert check.status is GateStatus.BLOCKED
    assert check.sentence.startswith("1 of 100 reports got no usable reply")


def test_accuracy_of_exactly_the_floor_passes_and_one_report_less_blocks_beside_always_absent() -> None:
    labels = cohort()
    labels[50:60, 1] = 1  # 10 invented of 100: accuracy 0.90
    assert checks(score(cohort(), labels))["accuracy"].status is GateStatus.PASSED
    labels[60, 1] = 1
    check = checks(score(cohort(), labels))["accuracy"]
    assert (check.status, check.findings) == (GateStatus.BLOCKED, ("f1",))
    assert 'f1 0.890 ("absent" every time 0.800)' in check.sentence


def test_answering_absent_every_time_passes_accuracy_on_rare_findings_and_is_said_to() -> None:
    truth = cohort((10,))
    found = checks(score(truth, np.zeros_like(truth)))
    assert found["accuracy"].status is GateStatus.PASSED
    assert "would reach it for 1 of 1" in found["accuracy"].sentence
    assert (found["recall"].status, found["recall"].findings) == (GateStatus.BLOCKED, ("f0",))


def test_recall_of_exactly_the_floor_passes_and_one_miss_more_blocks() -> None:
    labels = cohort()
    labels[:4, 0] = 0  # 16 of 20
    assert checks(score(cohort(), labels))["recall"].status is GateStatus.PASSED
    labels[4, 0] = 0
    check = checks(score(cohort(), labels))["recall"]
    assert (check.status, check.findings) == (GateStatus.BLOCKED, ("f0",))
    assert "f0 0.750" in check.sentence


def test_findings_with_under_ten_positives_need_a_signature_and_are_not_judged_by_recall() -> None:
    truth = cohort((20, 9, 0))
    labels = truth.copy()
    labels[:9, 1] = 0
    found = checks(score(truth, labels))
    assert found["recall"].status is GateStatus.PASSED
    assert (found["assessable"].status, found["assessable"].findings) == (GateStatus.NEEDS_SIGNOFF, ("f1", "f2"))
    assert "f1 (9), f2 (0)" in found["assessable"].sentence
    assert checks(score(cohort((9,)), cohort((9,))))["recall"].status is GateStatus.NEEDS_SIGNOFF


def test_newly_missed_criticals_need_a_signature_and_are_named() -> None:
    evaluation = score(cohort(), cohort())
    check = checks(evaluation, newly_missed=[("r7", "f1"), ("r9", "f1")])["newly_missed"]
    assert (check.status, check.findings) == (GateStatus.NEEDS_SIGNOFF, ("f1",))
    assert "f1 in r7; f1 in r9" in check.sentence


def test_macro_f1_below_the_parents_blocks_and_equal_passes() -> None:
    worse = cohort()
    worse[0, 0] = 0
    good, bad = score(cohort(), cohort()), score(cohort(), worse)
    assert checks(bad, parent=good)["macro_f1"].status is GateStatus.BLOCKED
    assert checks(bad, parent=bad)["macro_f1"].status is GateStatus.PASSED
    assert checks(good, parent=bad)["macro_f1"].status is GateStatus.PASSED


def test_what_cannot_be_scored_does_not_pass() -> None:
    truth = np.zeros((5, 1), dtype=int)
    assert checks(score(truth, truth))["macro_f1"].status is GateStatus.BLOCKED
    short = score(np.full((5, 1), -9), truth)
    assert checks(short)["accuracy"].status is GateStatus.BLOCKED


def test_a_parent_scored_on_other_findings_is_no_parent() -> None:
    with pytest.raises(ValueError, match="same findings"):
        gate(score(cohort(), cohort()), parent=score(cohort((20,)), cohort((20,))))


def test_a_check_has_a_json_form() -> None:
    assert GateCheck("recall", GateStatus.BLOCKED, "Low.", ("a",)).as_json() == {
        "name": "recall", "status": "blocked", "sentence": "Low.", "findings": ["a"]
    }  # fmt: skip
