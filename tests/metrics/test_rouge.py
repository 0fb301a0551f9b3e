"""By hand first; then Google's rouge-score, on real reports and on odd ones."""

import csv
import math
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rouge_score.rouge_scorer import RougeScorer

from workbench.metrics.rouge import rouge_l, rouge_l_all


def by_google(reference: str, text: str) -> float:
    return float(RougeScorer(["rougeL"]).score(reference, text)["rougeL"].fmeasure)


def test_by_hand() -> None:
    # "no effusion seen" is common, in order: 3 of 4 words and 3 of 5.
    assert rouge_l("No pleural effusion is seen.", "no effusion was seen") == pytest.approx(2 * 3 / (4 + 5))


def test_the_order_of_words_counts() -> None:
    assert rouge_l("left lung clear", "clear lung left") == pytest.approx(2 * 1 / 6)


def test_google_gives_the_same_on_real_reports(shared: Path) -> None:
    with (shared / "submissions" / "iu_xray_rag_number_beam1.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    ours = rouge_l_all([row["reference"] for row in rows], [row["generated"] for row in rows])
    assert ours == pytest.approx([by_google(row["reference"], row["generated"]) for row in rows], abs=1e-12)


@given(*[st.text("abAB1 .-_é", min_size=1, max_size=30)] * 2)
def test_google_gives_the_same_on_odd_texts(reference: str, text: str) -> None:
    value = rouge_l(reference, text)
    if not math.isnan(value):
        assert value == pytest.approx(by_google(reference, text), abs=1e-12)
    else:
        assert not any(letter in "ab1" for letter in reference.lower())


def test_edges_have_their_documented_values_and_stop_nothing() -> None:
    long = "no focal consolidation is seen in either lung . " * 78
    references = [
        "Small effusion.",
        "Small effusion.",
        "Small effusion.",
        "",
        None,
        "effusion",
        long,
        "无气胸",
        "effusion",
    ]
    generated = ["", " \n", None, "effusion", "effusion", "effusion", long, "无气胸", "无气胸"]
    nan = math.nan
    assert rouge_l_all(references, generated) == pytest.approx([0, 0, nan, nan, nan, 1, 1, nan, 0], nan_ok=True)


def test_lists_of_different_length_are_refused() -> None:
    with pytest.raises(ValueError, match="do not go with"):
        rouge_l_all(["a"], [])
