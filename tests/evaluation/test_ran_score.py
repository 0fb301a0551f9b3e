"""Ran Score by hand, and in the cases at the edge."""

import numpy as np
import pytest

from workbench.domain.findings import FAILED, Policy
from workbench.errors import InputError
from workbench.evaluation.ran_score import cells_of, found_in, ran_score

IDS = ["effusion", "edema", "fracture"]
ABSENT = [Policy.ABSENT] * 3
YES, NO, UNSURE, UNSAID = 1, 0, -1, -2
PATIENTS = ["p1", "p2", "p2", "p3"]
REFERENCE = [[YES, UNSAID, NO], [YES, YES, NO], [UNSAID, UNSAID, UNSAID], [NO, UNSURE, NO]]
GENERATED = [[YES, NO, YES], [UNSAID, YES, NO], [NO, UNSAID, NO], [YES, NO, NO]]


def test_the_figures_by_hand() -> None:
    # effusion: tp 1, fn 1, fp 1 -> F1 2/4; edema: tp 1 -> 1; fracture: no support, one invented.
    scored = ran_score(IDS, REFERENCE, GENERATED, ABSENT, PATIENTS, resamples=50)
    result = scored.evaluation
    assert [f.f1.value for f in result.findings] == [0.5, 1.0, None]
    assert (result.macro_f1.value, result.macro_f1.n) == (0.75, 2)
    assert result.micro_f1.value == 2 * 2 / (2 * 2 + 1 + 2)
    assert scored.invented == (("fracture", 1),)
    # Pairs: {effusion} against {effusion, fracture} 2/3; {effusion, edema} against {edema} 2/3; nothing twice 1;
    # nothing against {effusion} 0. One of the four is exactly alike.
    assert scored.per_report == pytest.approx((2 / 3, 2 / 3, 1.0, 0.0))
    assert scored.report_f1.value == pytest.approx((2 / 3 + 2 / 3 + 1) / 4)
    assert (scored.exact_match.value, scored.exact_match.n) == (0.25, 4)


def test_reports_that_say_the_same_have_1_everywhere() -> None:
    scored = ran_score(IDS, REFERENCE, REFERENCE, ABSENT, PATIENTS, resamples=50)
    assert scored.evaluation.macro_f1.value == scored.report_f1.value == scored.exact_match.value == 1.0
    assert (scored.evaluation.macro_f1.low, scored.evaluation.macro_f1.high) == (1.0, 1.0)
    assert scored.invented == ()


def test_a_failed_extraction_is_a_miss_on_each_positive_and_never_agreement() -> None:
    failed = [[FAILED] * 3, *GENERATED[1:3], [FAILED] * 3]
    scored = ran_score(IDS, REFERENCE, failed, ABSENT, PATIENTS, resamples=20)
    effusion = scored.evaluation.of("effusion")
    assert (effusion.tp, effusion.fn, effusion.fp, effusion.failed) == (0, 2, 0, 2)
    assert scored.evaluation.n_failed == 2
    assert scored.per_report[0] == scored.per_report[3] == 0.0
    assert scored.exact_match.value == 0.25


def test_uncertain_counts_as_the_policy_says_on_both_sides() -> None:
    unsure = [[UNSURE, NO, NO]]
    as_present = ran_score(IDS, unsure, [[YES, NO, NO]], [Policy.PRESENT] * 3, ["p"], resamples=0)
    assert as_present.evaluation.macro_f1.value == 1.0
    left_out = ran_score(IDS, unsure, [[YES, NO, NO]], [Policy.EXCLUDE] * 3, ["p"], resamples=0)
    assert left_out.evaluation.macro_f1.value is None
    assert left_out.exact_match.value == 1.0


def test_the_findings_of_a_pair_are_told_apart() -> None:
    cells = cells_of(REFERENCE, GENERATED, ABSENT)
    assert found_in(cells, 0, IDS) == {"matched": ("effusion",), "missed": (), "invented": ("fracture",)}
    assert found_in(cells, 1, IDS) == {"matched": ("edema",), "missed": ("effusion",), "invented": ()}


def test_a_reference_without_truth_and_no_pair_at_all_are_refused() -> None:
    with pytest.raises(ValueError, match="leave the pair out"):
        ran_score(IDS, [[FAILED] * 3], [[NO] * 3], ABSENT, ["p"])
    with pytest.raises(InputError, match="no report to score"):
        ran_score(IDS, np.empty((0, 3), np.int8), np.empty((0, 3), np.int8), ABSENT, [])
