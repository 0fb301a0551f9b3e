"""What a reviewer's presses make of what was said before: each sets one thing and leaves the rest."""

import pytest

from workbench.domain.reviews import Fault, Judgement
from workbench.ui.review_desk import FAULTS, Press

BEFORE = Judgement(2, {"edema": frozenset({Fault.MISSED})}, "why", 9.0)


def press(what: str, value: object = None, finding: str = "", fault: str = "") -> Press:
    return Press("tab", 1, "on", what, value, finding, fault)


def test_each_press_sets_one_thing() -> None:
    assert press("rating", 4).said(BEFORE) == Judgement(4, BEFORE.marks, "why")
    assert press("comment", "so").said(BEFORE) == Judgement(2, BEFORE.marks, "so")
    both = {"edema": frozenset({Fault.MISSED, Fault.DEGREE})}
    assert press("mark", True, "edema", "degree").said(BEFORE) == Judgement(2, both, "why")
    assert press("mark", False, "edema", "missed").said(BEFORE) == Judgement(2, {}, "why")
    assert press("next").said(BEFORE) is BEFORE


def test_a_press_twice_is_as_good_as_once() -> None:
    for one in (press("rating", 4), press("mark", True, "fracture", "place"), press("mark", False, "edema", "missed")):
        once = one.said(BEFORE)
        assert one.said(once) == once


def test_what_the_desk_does_not_send_is_refused() -> None:
    for one in (press("rating", "4"), press("comment", 4), press("delete"), press("mark", True, "edema", "spelling")):
        with pytest.raises(ValueError, match=r"spelling|the desk sends no"):
            one.said(BEFORE)


def test_every_fault_has_a_column() -> None:
    assert list(FAULTS) == list(Fault)
