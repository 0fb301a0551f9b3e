"""A label-set file says exactly what is looked for, or is refused with the place of its fault."""

from collections.abc import Callable
from pathlib import Path

import pytest

from workbench.domain.findings import Finding, Policies, Policy
from workbench.errors import InputError
from workbench.formats.label_sets import read_label_set

Make = Callable[..., Path]

GOOD = """\
id: two
version: "1"
title: Two findings
policies:
  vote: {default: present, overrides: {edema: absent}}
  prediction: {default: exclude}
findings:
  - id: edema
    name: Edema
    name_zh: 水肿
    group: Lungs
    definition: Water in the lung.
    include: Cephalisation.
    exclude: Redistribution.
    critical: true
  - id: effusion
    name: Effusion
    definition: no  # a word, not a truth value
"""


def test_a_label_set_is_read(file: Make) -> None:
    label_set = read_label_set(file(GOOD))
    assert (label_set.id, label_set.version, label_set.title) == ("two", "1", "Two findings")
    assert label_set.findings == (
        Finding(
            "edema", "Edema", "水肿", "Lungs", "Water in the lung.", "Cephalisation.", "Redistribution.", critical=True
        ),
        Finding("effusion", "Effusion", "", "", "no"),
    )
    assert label_set.vote_policies == Policies(Policy.PRESENT, {"edema": Policy.ABSENT})
    assert label_set.prediction_policies == Policies(Policy.EXCLUDE)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("title: Two", "titel: Two", "title is missing|titel is no key"),
        ("    group: Lungs", "    gruop: Lungs", "finding edema, gruop is no key that is known here"),
        ('"1"', "1", "version should be text: put it in quotation marks"),
        ("id: effusion", "id: edema", "two findings have the id edema"),
        ("name: Effusion", "name: Edema", "two findings have the name Edema"),
        ("id: effusion", "id: Pleural Effusion", "finding Pleural Effusion, id should be lower-case"),
        ("{edema: absent}", "{oedema: absent}", "the vote policies name oedema, which is no finding"),
        ("default: exclude", "default: maybe", "policies, prediction, default should be"),
        ("title: Two findings", 'title: " "', "title is blank"),
        ("    definition: no  # a word, not a truth value\n", "", "finding effusion, definition is missing"),
        ("critical: true", "critical: yes", "finding edema, critical should be a valid boolean"),
        ("title: Two findings", "title: Two\ntitle: Three", "line 4: the YAML cannot be read: .*duplicate key"),
        ("policies:", "policies: [", "line .*: the YAML cannot be read"),
        ("id: two", "\tid: two", "line 1: the YAML cannot be read"),
    ],
)
def test_a_fault_is_named(file: Make, old: str, new: str, message: str) -> None:
    assert old in GOOD
    with pytest.raises(InputError, match=message) as refusal:
        read_label_set(file(GOOD.replace(old, new, 1)))
    assert "\n" not in str(refusal.value)


@pytest.mark.parametrize("content", ["", "- a\n", "findings\n"])
def test_a_file_that_is_no_mapping_is_told_what_it_should_hold(file: Make, content: str) -> None:
    with pytest.raises(InputError, match="should hold id, version, title, policies and findings"):
        read_label_set(file(content))


def test_no_findings_are_no_label_set(file: Make) -> None:
    with pytest.raises(InputError, match="findings "):
        read_label_set(file(GOOD[: GOOD.index("findings:\n")] + "findings: []\n"))


def test_code_in_yaml_is_not_run(file: Make) -> None:
    with pytest.raises(InputError, match="YAML cannot be read"):
        read_label_set(file(GOOD.replace("Two findings", '!!python/object/apply:os.system ["true"]')))


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="There is no file"):
        read_label_set(tmp_path / "none.yaml")


def test_a_file_nested_without_end_is_refused(file: Make) -> None:
    with pytest.raises(InputError, match="the YAML cannot be read: it is nested too deeply"):
        read_label_set(file("[" * 5000))
