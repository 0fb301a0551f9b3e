"""The practice reports that ship teach what raters stumble over."""

from pathlib import Path

import pytest

from workbench.domain.findings import State
from workbench.domain.practice import PracticeSet
from workbench.formats.label_sets import read_label_set
from workbench.formats.practice import read_practice


@pytest.fixture(scope="module")
def shipped(root: Path) -> PracticeSet:
    return read_practice(root / "data" / "practice" / "cxr21.yaml", read_label_set(root / "data" / "cxr21.yaml"))


def test_there_are_ten_and_two_of_them_are_normal(shipped: PracticeSet) -> None:
    positive = [bool({State.PRESENT, State.UNCERTAIN} & set(p.key.values())) for p in shipped.reports]
    assert (len(positive), positive.count(False)) == (10, 2)


def test_each_explains_itself_and_all_four_states_occur(shipped: PracticeSet) -> None:
    assert all(p.why for p in shipped.reports)
    assert {state for p in shipped.reports for state in p.key.values()} == set(State)


def test_every_finding_of_the_label_set_is_met(shipped: PracticeSet, root: Path) -> None:
    ids = read_label_set(root / "data" / "cxr21.yaml").ids
    assert {finding for p in shipped.reports for finding in p.key} == set(ids)


def test_none_is_a_report_of_the_demo(shipped: PracticeSet, root: Path) -> None:
    demo = (root / "data" / "demo" / "reports.csv").read_text(encoding="utf-8")
    assert all(p.report.text.strip() not in demo for p in shipped.reports)
