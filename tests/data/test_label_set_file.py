"""The shipped label set: complete, and made of the ids that the real reports are indexed by."""

import csv
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

CRITICAL = {
    "pneumothorax",
    "pneumonia",
    "consolidation",
    "pulmonary_edema",
    "pleural_effusion",
    "fracture",
    "nodule_or_mass",
}


@pytest.fixture(scope="module")
def label_set(root: Path) -> dict[str, Any]:
    loaded = YAML(typ="safe", pure=True).load((root / "data" / "cxr21.yaml").read_text(encoding="utf-8"))
    assert isinstance(loaded, dict)
    return loaded


def test_ids_are_those_of_the_real_reports_mapping(label_set: dict[str, Any], shared: Path) -> None:
    with (shared / "openi" / "mesh_to_findings.csv").open(encoding="utf-8", newline="") as file:
        mapped = {row["finding"] for row in csv.DictReader(file)}
    ids = [finding["id"] for finding in label_set["findings"]]
    assert len(ids) == 21
    assert len(set(ids)) == 21
    assert set(ids) == mapped


def test_every_finding_has_all_its_texts(label_set: dict[str, Any]) -> None:
    for finding in label_set["findings"]:
        for key in ("id", "name", "name_zh", "group", "definition", "include", "exclude"):
            value = finding.get(key)
            assert isinstance(value, str), f"{finding['id']}.{key}"
            assert value.strip(), f"{finding['id']}.{key}"
        assert any("\u4e00" <= sign <= "\u9fff" for sign in finding["name_zh"]), finding["id"]


def test_findings_of_one_group_stand_together(label_set: dict[str, Any]) -> None:
    groups = [finding["group"] for finding in label_set["findings"]]
    changes = [group for group, before in zip(groups, [None, *groups], strict=False) if group != before]
    assert len(changes) == len(set(groups))


def test_findings_dangerous_to_miss_are_critical(label_set: dict[str, Any]) -> None:
    assert {finding["id"] for finding in label_set["findings"] if finding.get("critical")} == CRITICAL


def test_policies_name_known_findings_and_known_choices(label_set: dict[str, Any]) -> None:
    ids = {finding["id"] for finding in label_set["findings"]}
    assert set(label_set["policies"]) == {"vote", "prediction"}
    for policy in label_set["policies"].values():
        choices = [policy["default"], *policy["overrides"].values()]
        assert set(choices) <= {"present", "absent", "exclude"}
        assert set(policy["overrides"]) <= ids
