"""The agreement of reviewers on faults: by hand, then against plain loops and the package."""

import math
from itertools import permutations

import krippendorff
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.domain.reviews import OTHER, Fault
from workbench.evaluation.marking import (
    ALWAYS_MARKED,
    NO_FINDING,
    NOT_MARKED,
    MarkAgreement,
    MarksAgreement,
    marks_agreement,
)
from workbench.evaluation.reviewing import NO_PAIR

NAN = math.nan
FAULTS = list(Fault)
Marks = dict[tuple[int, str, Fault], tuple[int, ...]]


def agreed(findings: list[str], rated: list[tuple[bool, ...]], marks: Marks, resamples: int = 0) -> MarksAgreement:
    """Agree on marks given as (text, finding, fault) -> per reviewer; ``rated`` says per text who rated it."""
    said = np.zeros((len(rated), len(findings), len(Fault), len(rated[0])))
    for (text, finding, fault), by_reviewer in marks.items():
        said[text, findings.index(finding), FAULTS.index(fault)] = by_reviewer
    for text, who in enumerate(rated):
        said[text][..., [not there for there in who]] = NAN
    return marks_agreement(findings, said, [f"p{i}" for i in range(len(rated))], resamples=resamples)


def row(found: MarksAgreement, finding: str, fault: Fault | None) -> MarkAgreement:
    return next(each for each in found.rows if (each.finding_id, each.fault) == (finding, fault))


BOTH, ONE = (True, True), (True, False)
# Of four texts Ben did not rate the last. Missed: 1-1, 1-0, 0-0, 0. On the third they mark different faults.
BY_HAND: Marks = {
    (0, "edema", Fault.MISSED): (1, 1),
    (1, "edema", Fault.MISSED): (1, 0),
    (2, "edema", Fault.DEGREE): (1, 0),
    (2, "edema", Fault.PLACE): (0, 1),
}


def test_one_fault_of_one_finding_by_hand() -> None:
    missed = row(agreed(["edema", "mass"], [BOTH, BOTH, BOTH, ONE], BY_HAND), "edema", Fault.MISSED)
    assert (missed.texts, missed.marked, missed.ratings) == (3, 3, 7)
    # Two of three texts are equal; of the three marks the two on the first text are shared.
    assert missed.percent.value == pytest.approx(2 / 3)
    assert (missed.positive.value, missed.positive.n) == (pytest.approx(2 / 3), 3)
    # Six paired ratings, three of them marks: Do = 2 / 6, De = (3 x 3 + 3 x 3) / (6 x 5).
    assert missed.alpha.value == pytest.approx(1 - (2 / 6) / (18 / 30))
    # Shares of marks 1, 1/2, 0, 0: pi = 3/8, chance 2 x 3/8 x 5/8 = 15/32; (2/3 - 15/32) / (1 - 15/32).
    assert missed.ac1.value == pytest.approx(19 / 51)


def test_reviewers_who_mark_another_fault_agree_that_something_is_wrong() -> None:
    found = agreed(["edema", "mass"], [BOTH, BOTH, BOTH, ONE], BY_HAND)
    whole = row(found, "edema", None)
    # Any fault: 1-1, 1-0, 1-1, 0. Of the five marks on paired texts four are shared.
    assert (whole.marked, whole.percent.value) == (5, pytest.approx(2 / 3))
    assert whole.positive.value == pytest.approx(4 / 5)
    assert row(found, "edema", Fault.PLACE).positive.value == 0
    assert [(each.finding_id, each.fault) for each in found.rows] == [
        ("edema", None), ("edema", Fault.MISSED), ("edema", Fault.PLACE), ("edema", Fault.DEGREE),
    ]  # fmt: skip


def test_the_mean_is_over_the_findings_that_somebody_marked() -> None:
    marks: Marks = {
        (0, "edema", Fault.MISSED): (1, 1),
        (1, "edema", Fault.MISSED): (1, 0),
        (0, "mass", Fault.INVENTED): (0, 1),
        (1, OTHER, Fault.DEGREE): (1, 1),
    }
    found = agreed(["edema", "mass", "nodule", OTHER], [BOTH, BOTH], marks)
    # Percent 1/2 and 1/2, positive 2/3 and 0; "anything else" has rows and is no finding, nodule nobody marked.
    assert (found.marked, found.findings) == (2, 3)
    assert (found.overall["percent"].value, found.overall["percent"].n) == (0.5, 2)
    assert found.overall["positive"].value == pytest.approx(1 / 3)
    assert row(found, OTHER, Fault.DEGREE).positive.value == 1
    assert not any(each.finding_id == "nodule" for each in found.rows)


def test_what_cannot_be_told_is_undefined_with_its_reason() -> None:
    alone = row(agreed(["edema"], [ONE, ONE], {(0, "edema", Fault.MISSED): (1, 0)}), "edema", None)
    assert {figure.reason for figure in alone.figures().values()} == {NO_PAIR}
    assert (alone.texts, alone.marked, alone.ratings) == (0, 1, 2)
    elsewhere = row(agreed(["edema"], [BOTH, ONE], {(1, "edema", Fault.MISSED): (1, 0)}), "edema", None)
    assert (elsewhere.positive.reason, elsewhere.alpha.reason) == (NOT_MARKED, NOT_MARKED)
    assert elsewhere.percent.value == 1
    always = {(i, "edema", Fault.MISSED): (1, 1) for i in range(2)}
    assert row(agreed(["edema"], [BOTH, BOTH, ONE], always), "edema", None).alpha.reason == ALWAYS_MARKED
    nothing = agreed(["edema", OTHER], [BOTH], {})
    assert nothing.rows == ()
    assert {figure.reason for figure in nothing.overall.values()} == {NO_FINDING}
    only = marks_agreement(["edema"], np.ones((2, 1, 4, 1)), ["p", "q"])  # a reviewer alone
    assert only.rows[0].percent.reason == NO_PAIR


def test_json_says_what_each_figure_is() -> None:
    told = agreed(["edema"], [BOTH, BOTH], {(0, "edema", Fault.MISSED): (1, 0)}).as_json()
    assert told["coefficients"]["ac1"] == "Gwet's AC1"  # type: ignore[index]
    assert told["rows"][0]["fault"] is None  # type: ignore[index]
    assert told["rows"][1]["fault"] == "missed"  # type: ignore[index]


def test_the_interval_is_that_of_drawn_patients() -> None:
    # Two patients with a text each, equal on one and apart on the other: a draw has 1, 1/2 or 0 equal.
    found = agreed(
        ["edema"], [BOTH, BOTH], {(0, "edema", Fault.MISSED): (1, 1), (1, "edema", Fault.MISSED): (1, 0)}, 400
    )
    percent = row(found, "edema", None).percent
    assert (percent.low, percent.high) == (0, 1)


@pytest.mark.parametrize(
    ("marks", "told"),
    [(np.zeros((1, 1, 3, 2)), "are not"), (np.full((1, 1, 4, 2), 2), "set"), (np.zeros((2, 1, 4, 2)), "are not")],
)
def test_what_is_no_mark_is_refused(marks: np.ndarray, told: str) -> None:
    with pytest.raises(ValueError, match=told):
        marks_agreement(["edema"], marks, ["p"])


@given(st.lists(st.lists(st.sampled_from([NAN, 0.0, 1.0]), min_size=3, max_size=3), min_size=2, max_size=10))
def test_every_coefficient_is_that_of_a_plain_loop_and_of_the_package(rows: list[list[float]]) -> None:
    said = np.zeros((len(rows), 1, len(Fault), 3))
    said[:, 0, 0] = rows
    said[np.isnan(said[:, :, :1]).repeat(len(Fault), axis=2)] = NAN
    found = marks_agreement(["edema"], said, [f"p{i}" for i in range(len(rows))], resamples=0)
    given_ = [[r for r in each if not math.isnan(r)] for each in rows]
    paired = [each for each in given_ if len(each) >= 2]
    if not any(1.0 in each for each in given_):
        assert found.rows == ()
        return
    missed = row(found, "edema", Fault.MISSED)
    if not paired:
        assert missed.percent.reason == NO_PAIR
        return
    pa = sum(sum(a == b for a, b in permutations(e, 2)) / (len(e) * (len(e) - 1)) for e in paired) / len(paired)
    assert missed.percent.value == pytest.approx(pa)
    rated = [each for each in given_ if each]
    pi = sum(sum(each) / len(each) for each in rated) / len(rated)
    chance = 2 * pi * (1 - pi)
    assert missed.ac1.value == pytest.approx((pa - chance) / (1 - chance))
    fellows = [b for each in paired for a, b in permutations(each, 2) if a == 1]  # of each mark, what each fellow said
    if fellows:
        assert missed.positive.value == pytest.approx(sum(fellows) / len(fellows))
    else:
        assert missed.positive.reason == NOT_MARKED
    if len({value for each in paired for value in each}) == 1:
        assert missed.alpha.value is None
    else:
        data = np.array([each for each in rows if sum(not math.isnan(r) for r in each) >= 2]).T
        theirs = krippendorff.alpha(data, level_of_measurement="nominal", value_domain=[0, 1])
        assert missed.alpha.value == pytest.approx(theirs)
