"""Practice files are read strictly, and what is wrong is said with file, report and finding."""

from collections.abc import Callable
from pathlib import Path

import pytest

from workbench.domain.findings import LabelSet, State
from workbench.errors import InputError
from workbench.formats.label_sets import read_label_set
from workbench.formats.practice import read_practice

GOOD = """format: 1
label_set: cxr21
reports:
  - id: p1
    text: |
      FINDINGS: No effusion.
    findings:
      pleural_effusion: {state: absent, why: It is denied.}
"""
Write = Callable[[str], Path]


@pytest.fixture(scope="module")
def label_set(root: Path) -> LabelSet:
    return read_label_set(root / "data" / "cxr21.yaml")


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def written(text: str) -> Path:
        path = tmp_path / "own.yaml"
        path.write_text(text, encoding="utf-8")
        return path

    return written


def test_a_report_comes_with_its_sections_key_and_reasons(write: Write, label_set: LabelSet) -> None:
    made = read_practice(write(GOOD), label_set)
    (practice,) = made.reports
    assert practice.report.text == "FINDINGS: No effusion.\n"
    assert [section.name for section in practice.report.sections] == ["findings"]
    assert practice.key == {"pleural_effusion": State.ABSENT}
    assert practice.why == {"pleural_effusion": "It is denied."}
    assert made.get("p1") is practice
    assert made.get("p2") is None


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("pleural_effusion:", "plural_effusion:", "report p1: plural_effusion is no finding of the label set cxr21"),
        ("absent", "gone", "report p1, findings, pleural_effusion, state should be 'present'"),
        ("why:", "because:", "report p1, findings, pleural_effusion, because is no key that is known here"),
        ("label_set: cxr21", "label_set: other", "it is for the label set other, and this study's is cxr21"),
        ("format: 1", "format: 2", "format should be 1"),
        ("FINDINGS: No effusion.", "    ", "report p1: its text is blank"),
        ("    text: |\n      FINDINGS: No effusion.\n", "", "report p1, text is missing"),
        ("id: p1", "id: 1", "report 1, id should be text: put it in quotation marks"),
        ("reports:", "reports: [", "the YAML cannot be read"),
        ("  - id", "  - id: p1\n    text: other\n  - id", "report p1: two reports have this id"),
    ],
)
def test_what_is_wrong_is_said_with_file_report_and_finding(
    write: Write, label_set: LabelSet, old: str, new: str, said: str
) -> None:
    path = write(GOOD.replace(old, new))
    with pytest.raises(InputError) as refused:
        read_practice(path, label_set)
    assert str(refused.value).startswith(str(path))
    assert said in str(refused.value)


def test_mending_a_sentence_keeps_the_set_and_changing_a_key_makes_another(write: Write, label_set: LabelSet) -> None:
    made = read_practice(write(GOOD), label_set)
    assert read_practice(write(GOOD.replace("denied", "ruled out")), label_set).hash == made.hash
    assert read_practice(write(GOOD.replace("absent", "present")), label_set).hash != made.hash
    assert read_practice(write(GOOD.replace("No effusion", "No fluid")), label_set).hash != made.hash
