"""By hand first; then sacrebleu and NLTK, on real reports and on odd ones."""

import csv
import logging
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from nltk.translate.bleu_score import SmoothingFunction, sentence_bleu
from sacrebleu.metrics import BLEU

from workbench.metrics.bleu import bleu, bleu2_rexrank, bleu_all

ODD = [
    "a 4 to 6 mm nodule, 3.5-cm; no. 2 in the t-spine (r/o mass) & more.",
    "Heart..size 1,000 .5 &lt;5&gt; &quot;stable&quot; <skipped> x-\nray\nline",
    "no",
    "...",
    "left/right? 50% [sic] {a} _b_ ~c ^d @e #f $g =h",
    "无气胸。心影不大",
    "İstanbul ÀÉ normal",
]


def pairs_of(shared: Path, name: str) -> tuple[list[str], list[str]]:
    with (shared / "submissions" / name).open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    return [row["reference"] for row in rows], [row["generated"] for row in rows]


def by_sacrebleu(reference: str, text: str, order: int) -> float:
    metric = BLEU(lowercase=True, smooth_method="none", max_ngram_order=order, tokenize="13a")
    logging.getLogger("sacrebleu").setLevel(logging.ERROR)  # it advises what would change the definition
    return metric.sentence_score(text, [reference]).score / 100


def by_nltk(reference: str, text: str) -> float:
    tokens = [[t for t in x.lower().replace(".", " .").split(" ") if t] for x in (reference, text)]
    return sentence_bleu(tokens[:1], tokens[1], (0.5, 0.5), SmoothingFunction().method1)


def test_by_hand() -> None:
    reference, text = "no acute effusion is seen here", "no acute effusion seen"
    # 4 of 4 words, 2 of 3 bigrams, 1 of 2 trigrams, 0 of 1; 4 words against 6.
    short = math.exp(1 - 6 / 4)
    assert bleu(reference, text, 1) == pytest.approx(short)
    assert bleu(reference, text, 2) == pytest.approx(short * math.sqrt(2 / 3))
    assert bleu(reference, text, 3) == pytest.approx(short * (2 / 3 * 1 / 2) ** (1 / 3))
    assert bleu(reference, text, 4) == 0.0


def test_a_word_counts_no_more_often_than_in_the_reference() -> None:
    assert bleu("the the heart", "the the the", 1) == pytest.approx(2 / 3)


def test_rexranks_smoothing_by_hand() -> None:
    # One of two words, and none of one bigram, which counts as 0.1 of a match; two words against four.
    values = bleu2_rexrank(["clear lungs no effusion", "clear lungs"], ["clear heart", "lungs. clear"])
    assert values[0] == pytest.approx(math.exp(-1) * math.sqrt(1 / 2 * 0.1))
    # Three tokens with the full stop, of which two are right, and none of two bigrams.
    assert values[1] == pytest.approx(math.sqrt(2 / 3 * 0.1 / 2))


def test_without_one_right_word_rexranks_bleu_is_zero() -> None:
    assert bleu2_rexrank(["clear lungs"], ["big heart"]).tolist() == [0.0]


@pytest.mark.parametrize("order", [1, 2, 3, 4])
def test_sacrebleu_gives_the_same_on_real_reports(shared: Path, order: int) -> None:
    for name in ("iu_xray_rag_beam3.csv", "iu_xray_template.csv"):
        references, generated = pairs_of(shared, name)
        expected = [by_sacrebleu(r, g, order) for r, g in zip(references, generated, strict=True)]
        assert bleu_all(references, generated, (order,))[:, 0] == pytest.approx(expected, abs=1e-9)


def test_nltk_gives_the_same_as_rexrank_on_real_reports(shared: Path) -> None:
    references, generated = pairs_of(shared, "iu_xray_rag_logp.csv")
    expected = [by_nltk(r, g) for r, g in zip(references, generated, strict=True)]
    assert bleu2_rexrank(references, generated) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("order", [1, 2, 4])
def test_sacrebleu_gives_the_same_on_odd_texts(order: int) -> None:
    both = [(one, other) for one in ODD for other in ODD]
    ours = bleu_all([r for r, _ in both], [g for _, g in both], (order,))[:, 0]
    for (reference, text), value in zip(both, ours, strict=True):
        assert value == pytest.approx(by_sacrebleu(reference, text, order), abs=1e-9), (reference, text)


@given(st.lists(st.tuples(*[st.text("ab.,- 1\n", max_size=12)] * 2), max_size=5))
def test_many_at_once_are_the_same_as_one_by_one(both: list[tuple[str, str]]) -> None:
    together = bleu_all([r for r, _ in both], [g for _, g in both], (1, 3))
    for (reference, text), row in zip(both, together, strict=True):
        assert row == pytest.approx([bleu(reference, text, 1), bleu(reference, text, 3)], nan_ok=True)
        if reference.strip() and text.strip():
            assert row[0] == pytest.approx(by_sacrebleu(reference, text, 1), abs=1e-9)


def test_edges_have_their_documented_values_and_stop_nothing() -> None:
    long = "no focal consolidation is seen in either lung . " * 78  # 702 words
    references = ["Small effusion.", "Small effusion.", "Small effusion.", "", None, "effusion", "effusion", long, long]
    generated = ["", " \n", None, "effusion", "effusion", "effusion", "None", long, "no"]
    values = bleu_all(references, generated, (1, 2))
    assert values[:, 0] == pytest.approx([0, 0, np.nan, np.nan, np.nan, 1, 0, 1, math.exp(1 - 702)], nan_ok=True)
    assert values[:, 1] == pytest.approx([0, 0, np.nan, np.nan, np.nan, 0, 0, 1, 0], nan_ok=True)
    rexrank = bleu2_rexrank(references, generated)
    assert rexrank[:7] == pytest.approx([0, 0, np.nan, np.nan, np.nan, math.sqrt(0.1), 0], nan_ok=True)
    assert rexrank[7] == pytest.approx(1)


def test_no_pairs_give_no_values() -> None:
    assert bleu_all([], [], (1, 2)).shape == (0, 2)
    assert bleu2_rexrank([], []).shape == (0,)


def test_an_order_below_one_and_lists_of_different_length_are_refused() -> None:
    with pytest.raises(ValueError, match="orders"):
        bleu("a", "a", 0)
    with pytest.raises(ValueError, match="do not go with"):
        bleu_all(["a"], [], (1,))


def test_counts_hold_where_the_numbers_of_ngrams_would_grow_out_of_64_bits(monkeypatch: pytest.MonkeyPatch) -> None:
    both = [(one, other) for one in ODD for other in ODD]
    before = bleu_all([r for r, _ in both], [g for _, g in both])
    monkeypatch.setattr("workbench.metrics.bleu._LARGEST", 10)
    assert bleu_all([r for r, _ in both], [g for _, g in both]).tolist() == before.tolist()
