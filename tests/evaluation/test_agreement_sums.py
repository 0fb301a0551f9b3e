from itertools import combinations
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.evaluation.agreement import coefficients
from workbench.evaluation.agreement_sums import NAMES, item_statistics, values


def of_counts(counts: np.ndarray, present: int = 0) -> dict[str, float]:
    return dict(zip(NAMES, values(item_statistics(counts, present).sum(axis=0)).tolist(), strict=True))


def test_statistics_of_one_report_by_hand() -> None:
    # 4 ratings, 3 present and 1 absent: 6 pairs, 3 apart
    [row] = item_statistics(np.array([[1, 3]]), 1).tolist()
    assert row == [1, 1, 3, 4, 3 / 6, 3 * 2, 3 * 3, 2 * 3 / 3, 1 / 4, 3 / 4, 1, 3]
    # rated once: only in the prevalences
    assert item_statistics(np.array([[0, 1]]), 1).tolist() == [[0, 1, 1, 1, 0, 0, 0, 0, 0, 1, 0, 0]]
    assert not item_statistics(np.array([[0, 0]]), 1).any()


def test_sums_of_two_reports_by_hand() -> None:
    # two raters: one report both present, one apart. pa = 1/2; pi = 3/4, 1/4; alpha: Do = 1/2, De = 2*3*1/(4*3) = 1/2
    found = of_counts(np.array([[0, 2], [1, 1]]), 1)
    chance = 3 / 8  # 2 * 3/4 * 1/4
    by_hand = {"prevalence": 3 / 4, "percent": 1 / 2, "positive": 2 / 3, "alpha": 0.0, "fleiss": 1 - (1 / 2) / chance}
    assert found == pytest.approx(by_hand | {"ac1": 1 - (1 / 2) / (1 - chance), "brennan_prediger": 0.0}, abs=1e-15)


@pytest.mark.parametrize(
    ("name", "published"),
    [
        ("fleiss_diagnoses_30x6", {"fleiss": "0.4302", "alpha": "0.4334"}),
        (
            "gwet_raw_12x4",
            {"ac1": "0.775", "fleiss": "0.761", "alpha": "0.743", "brennan_prediger": "0.773", "percent": "0.818"},
        ),
        ("gwet_distribution_6raters", {"ac1": "0.4448", "fleiss": "0.4139", "alpha": "0.4204"}),
    ],
)
def test_published_values_to_the_printed_digit(shared: Path, name: str, published: dict[str, str]) -> None:
    raw = pd.read_csv(shared / "agreement" / f"{name}.csv")
    if name == "gwet_distribution_6raters":
        counts = raw.iloc[:, 1:].to_numpy()
    else:
        ratings = raw.drop(columns="Units", errors="ignore").astype(object)
        answers = sorted({value for value in ratings.to_numpy().ravel() if not pd.isna(value)})
        counts = np.stack([(ratings == answer).sum(axis=1) for answer in answers], axis=1)
    by_package = {name: figure.value for name, figure in coefficients(counts, 0).figures().items()}
    for found in (of_counts(counts), by_package):
        for coefficient, text in published.items():
            assert f"{found[coefficient]:.{len(text) - 2}f}" == text, coefficient


def test_what_a_draw_leaves_undefined_is_nan_and_nothing_else() -> None:
    rows = [
        [[3, 0], [3, 0]],  # no variation, nobody present
        [[0, 3], [0, 3]],  # no variation, all present
        [[1, 0], [0, 1]],  # no report with two ratings
        [[0, 0], [0, 0]],  # nothing at all
    ]
    by_draw = [of_counts(np.array(counts), 1) for counts in rows]
    undefined = [{name for name, value in found.items() if np.isnan(value)} for found in by_draw]
    assert undefined == [{"alpha", "fleiss", "positive"}, {"alpha", "fleiss"}, set(NAMES) - {"prevalence"}, set(NAMES)]
    assert [by_draw[i][name] for i in (0, 1) for name in ("percent", "ac1", "brennan_prediger")] == [1.0] * 6


ANSWERS = st.lists(st.lists(st.sampled_from([0, 1, 2, 3, None]), min_size=5, max_size=5), min_size=1, max_size=7)


@given(ANSWERS, st.data())
def test_multiplied_sums_are_the_coefficients_of_the_repeated_reports(
    ratings: list[list[int | None]], data: st.DataObject
) -> None:
    times = data.draw(st.lists(st.integers(0, 3), min_size=len(ratings), max_size=len(ratings)))
    counts = np.array([[row.count(k) for k in range(4)] for row in ratings])
    found = values(np.array(times, dtype=float) @ item_statistics(counts, 1)).tolist()
    repeated = [row for row, n in zip(ratings, times, strict=True) for _ in range(n)]
    expected = slow([[answer for answer in row if answer is not None] for row in repeated], range(4), 1)
    for name, value in zip(NAMES, found, strict=True):
        if expected[name] is None:
            assert np.isnan(value), name
        else:
            assert value == pytest.approx(expected[name], abs=1e-12), name


def slow(ratings: list[list[int]], categories: range, present: int) -> dict[str, float | None]:
    """The coefficients in plain Python, from pairs of ratings and from a coincidence matrix."""
    out: dict[str, float | None] = dict.fromkeys(NAMES)
    everything = [answer for row in ratings for answer in row]
    out["prevalence"] = everything.count(present) / len(everything) if everything else None
    pairable = [row for row in ratings if len(row) > 1]
    if not pairable:
        return out
    pairs = [list(combinations(row, 2)) for row in pairable]
    pa = sum(sum(a == b for a, b in row) / len(row) for row in pairs) / len(pairs)
    rated = [row for row in ratings if row]
    pi = [sum(row.count(k) / len(row) for row in rated) / len(rated) for k in categories]
    q = len(categories)
    out["percent"] = pa
    touching = [(a == present) + (b == present) for row in pairs for a, b in row]
    out["positive"] = touching.count(2) * 2 / sum(touching) if sum(touching) else None
    for name, pe in {"ac1": sum(p * (1 - p) for p in pi) / (q - 1), "brennan_prediger": 1 / q}.items():
        out[name] = (pa - pe) / (1 - pe)
    if len({answer for row in pairable for answer in row}) > 1:
        pe = sum(p * p for p in pi)
        out["fleiss"] = (pa - pe) / (1 - pe)
        out["alpha"] = slow_alpha(pairable, categories)
    return out


def slow_alpha(pairable: list[list[int]], categories: range) -> float:
    together = {(a, b): 0.0 for a in categories for b in categories}
    for row in pairable:
        for i, a in enumerate(row):
            for j, b in enumerate(row):
                if i != j:
                    together[a, b] += 1 / (len(row) - 1)
    totals = [sum(together[a, b] for b in categories) for a in categories]
    n = sum(totals)
    observed = sum(v for (a, b), v in together.items() if a != b)
    expected = sum(totals[a] * totals[b] for a in categories for b in categories if a != b) / (n - 1)
    return 1 - observed / expected
