"""Edits of a prompt told in words."""

from pathlib import Path

import pytest

from workbench.domain.findings import LabelSet
from workbench.formats.label_sets import read_label_set
from workbench.prompting.diff import Change, ChangeKind
from workbench.ui.editing import in_words


@pytest.fixture(scope="module")
def label_set(root: Path) -> LabelSet:
    return read_label_set(root / "data" / "cxr21.yaml")


def test_a_phrase_that_reads_like_a_findings_id_is_quoted_as_written(label_set: LabelSet) -> None:
    change = Change("pleural_effusion", "synonym", ChangeKind.ADDED, "", "consolidation")
    assert in_words(change, label_set) == "Pleural effusion: synonym 'consolidation' added"


def test_the_labels_of_a_worked_example_are_told_by_name(label_set: LabelSet) -> None:
    change = Change("examples", "labels of an example", ChangeKind.CHANGED, "pneumothorax absent", "fracture present")
    told = "examples: labels of an example changed from 'Pneumothorax absent' to 'Fracture present'"
    assert in_words(change, label_set) == told
