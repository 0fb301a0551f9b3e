"""The versions by which labels are told apart rise when what they stand for changes."""

import csv
import hashlib
from collections.abc import Iterator
from pathlib import Path

import pytest

from workbench.formats.label_sets import read_label_set
from workbench.labelers.rules import ENGINE_VERSION, RulesLabeler
from workbench.prompting.files import read_prompt
from workbench.text.sections import SPLITTING_VERSION, split_sections

# Of each version, what it makes of the demo's reports. The second fails reports in another language than the prompt's
# phrases, of which the demo has none.
ENGINES = {"1": "8e3486db45f292f9", "2": "8e3486db45f292f9"}
SPLITTINGS = {"1": "5d912d42ceaebb54"}


@pytest.fixture(scope="module")
def texts(root: Path) -> list[str]:
    with (root / "data" / "demo" / "reports.csv").open(encoding="utf-8", newline="") as file:
        return [row["text"] for row in csv.DictReader(file)]


def digest(values: Iterator[object]) -> str:
    found = hashlib.sha256()
    for value in values:
        found.update(repr(value).encode())
    return found.hexdigest()[:16]


def test_a_rules_engine_that_labels_otherwise_has_another_version(root: Path, texts: list[str]) -> None:
    """What is stored under a version is never labelled again: an old label would stand as the new engine's."""
    label_set = read_label_set(root / "data" / "cxr21.yaml")
    files = sorted((root / "prompts" / "cxr21").glob("*.md"))[:4]
    labelers = [RulesLabeler(read_prompt(file, label_set=label_set), label_set) for file in files]
    assert ENGINES[ENGINE_VERSION] == digest(tuple(labeler.codes(text)) for labeler in labelers for text in texts), (
        "Labels have changed: raise ENGINE_VERSION in workbench/labelers/rules.py and add its digest here."
    )


def test_a_splitting_that_finds_other_sections_has_another_version(texts: list[str]) -> None:
    """Parts that were labelled before and after would not be one labelling."""
    assert SPLITTINGS[SPLITTING_VERSION] == digest(split_sections(text) for text in texts), (
        "Sections have changed: raise SPLITTING_VERSION in workbench/text/sections.py and add its digest here."
    )
