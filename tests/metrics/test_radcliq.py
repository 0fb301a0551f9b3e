import csv
import json
import math
from pathlib import Path

import numpy as np
import pytest

from workbench.metrics.radcliq import radcliq_v1, reciprocal_of_mean

PARTS = ("RadGraph", "BertScore", "SembScore", "BLEU")


def published(shared: Path, name: str) -> list[dict[str, str]]:
    with (shared / "metrics" / name).open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


def number(text: str) -> float:
    return float(text) if text.strip() not in {"", "-", "NaN", "nan", "None"} else math.nan


def of_parts(rows: list[dict[str, str]]) -> np.ndarray:
    return radcliq_v1(*([number(row[part]) for row in rows] for part in PARTS))


def test_by_hand() -> None:
    # Each part one standard deviation above its mean: what is left is the sum of the weights.
    value = radcliq_v1(
        0.53792312 + 0.30282584, 0.61757256 + 0.22430938, 0.76479421 + 0.25394391, 0.44738335 + 0.29892717
    )
    assert float(value) == pytest.approx(-0.377083683 - 0.3703001 - 0.252616218, abs=1e-8)


def test_the_constants_are_the_published_ones(shared: Path) -> None:
    file = json.loads((shared / "metrics" / "radcliq_v1_coefficients.json").read_text(encoding="utf-8"))
    rng = np.random.default_rng(1)
    parts = rng.uniform(-0.5, 1, (50, 4))
    scaled = (parts - file["scaler_mean"]) / file["scaler_scale"]
    expected = [sum(c * x for c, x in zip(file["coefs"], row, strict=True)) + file["bias"] for row in scaled]
    assert radcliq_v1(*parts.T) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("name", ["result_iu_xray.csv", "result_mimic-cxr.csv"])
def test_rexranks_tables_are_reproduced_for_all_ten_systems(shared: Path, name: str) -> None:
    rows = published(shared, name)
    ours = of_parts(rows)
    printed = [float(row["RadCliQ-v1"]) for row in rows]
    assert len(rows) == 10
    assert np.abs(ours - printed).max() <= 0.002
    best_first = sorted(range(10), key=lambda i: -1 / printed[i])
    assert sorted(range(10), key=lambda i: -(reciprocal_of_mean([ours[i]]) or 0)) == best_first


@pytest.mark.parametrize(
    "name", ["result_iu_xray-valid.csv", "result_mimic-cxr-valid.csv", "result_chexpert_plus-valid.csv"]
)
def test_a_missing_part_leaves_only_its_own_row_undefined(shared: Path, name: str) -> None:
    rows = published(shared, name)
    missing = [any(math.isnan(number(row.get(part, ""))) for part in PARTS) for row in rows]
    assert np.isnan(of_parts([{part: row.get(part, "") for part in PARTS} for row in rows])).tolist() == missing


def test_identical_reports_are_negative_and_have_no_reciprocal() -> None:
    value = radcliq_v1([1.0], [1.0], [1.0], [1.0])
    assert value[0] == pytest.approx(-1.4407, abs=1e-4)
    assert reciprocal_of_mean(value) is None


def test_nothing_right_has_the_value_that_the_documentation_names() -> None:
    assert float(radcliq_v1(0, 0, 0, 0)) == pytest.approx(2.45, abs=0.001)


def test_the_reciprocal_is_of_the_mean_and_not_a_mean_of_reciprocals() -> None:
    # mean(0.5, 1.5) = 1, while 1/0.5 and 1/1.5 have the mean 1.33.
    assert reciprocal_of_mean([0.5, 1.5, math.nan]) == 1.0


@pytest.mark.parametrize("values", [[], [math.nan], [0.0], [-1.0, 1.0]])
def test_no_reciprocal_without_a_positive_mean(values: list[float]) -> None:
    assert reciprocal_of_mean(values) is None


def test_the_mean_of_reports_is_that_of_the_mean_parts() -> None:
    parts = np.random.default_rng(2).uniform(0, 1, (4, 30))
    assert radcliq_v1(*parts).mean() == pytest.approx(float(radcliq_v1(*parts.mean(axis=1))))
