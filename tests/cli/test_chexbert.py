"""CheXbert beside the prompt, on the demo's reference."""

import csv
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from workbench.workflow import reference
from workbench.workflow.opening import open_study

Run = Callable[..., Any]
OBSERVATION = {"pneumothorax": "Pneumothorax", "pleural_effusion": "Pleural Effusion", "fracture": "Fracture"}
OTHERS = ("Lung Opacity", "Consolidation", "Pneumonia", "Atelectasis", "Edema", "Cardiomegaly", "Support Devices")


def test_f1_stands_side_by_side_with_the_difference(workbench: Run, study: str, tmp_path: Path) -> None:
    opened = open_study(Path(study))
    lead = opened.actor()
    truth = reference.get_reference(opened, lead)
    cohort = reference.cohort_of(opened, truth)
    path = tmp_path / "labeled.csv"
    with path.open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["report_id", *OBSERVATION.values(), *OTHERS])
        for report in sorted(cohort.members)[:-5]:  # it knows three findings perfectly and nothing else
            said = [truth.items[report, finding].outcome.value for finding in OBSERVATION]
            rows.writerow([report, *(1.0 if word == "present" else "" for word in said), *("" for _ in OTHERS)])
    assert workbench("evaluate", "--cohort", cohort.name, "--study", study).code == 0
    done = workbench("chexbert", str(path), "--study", study, "--json")
    assert done.code == 0, done.err
    found = done.json
    assert found["not_labelled"] == 5
    by_id = {row["finding_id"]: row for row in found["chexbert"]["findings"]}
    assert len(by_id) == 10
    assert by_id["pneumothorax"]["f1"]["value"] == 1.0
    assert by_id["cardiomegaly"]["f1"]["value"] == 0.0
    ours = {row["finding_id"]: row for row in found["prompt"]["findings"]}
    for finding, change in found["f1_changes"].items():
        difference = ours[finding]["f1"]["value"] - by_id[finding]["f1"]["value"]
        assert change["value"] == pytest.approx(difference)
        assert change["low"] <= change["value"] <= change["high"]
    assert "F1, CheXbert" in workbench("chexbert", str(path), "--study", study).out


def test_a_file_of_other_reports_is_refused(workbench: Run, study: str, tmp_path: Path) -> None:
    path = tmp_path / "labeled.csv"
    path.write_text(",".join(["report_id", *OBSERVATION.values(), *OTHERS]) + "\nx" + "," * 10 + "\n")
    assert workbench("evaluate", "--cohort", "development", "--study", study).code == 0
    done = workbench("chexbert", str(path), "--study", study)
    assert done.code == 1
    assert "labels no report of the cohort development" in done.err
