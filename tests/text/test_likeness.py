"""Texts that are nearly the same, and the sentence that tells most."""

import numpy as np
import pytest
from sklearn.feature_extraction.text import TfidfVectorizer  # type: ignore[import-untyped]

from workbench.text import likeness
from workbench.text.likeness import groups, telling


def test_texts_that_differ_in_a_word_or_a_figure_are_together_and_others_apart() -> None:
    texts = [
        "History of rib fractures, per chart.",
        "Heart size is borderline.",
        "History of rib fracture per chart",
        "A nodule of 4 mm in the left lung base.",
        "A nodule of 12 mm in the left lung base.",
        "Patient with history of rib fractures, per chart.",
    ]
    assert [sorted(group) for group in groups(texts)] == [[0, 2, 5], [3, 4], [1]]


def test_every_text_is_in_one_group() -> None:
    texts = ["", "a", "", "no effusion", "no effusion", "b"]
    assert sorted(at for group in groups(texts) for at in group) == list(range(len(texts)))
    assert groups([]) == []


def test_likeness_is_the_cosine_of_a_second_implementation() -> None:
    texts = [
        "no pleural effusion is seen",
        "no pleural effusions are seen",
        "the heart is enlarged",
        "heart size is at the upper limit",
    ]
    rows = likeness._weighted(texts)
    # Hashing lets a few letter sequences share a bucket, so the two agree nearly and not wholly.
    second = TfidfVectorizer(
        analyzer="char", ngram_range=(3, 5), sublinear_tf=True, lowercase=False, preprocessor=lambda t: f" {t} "
    ).fit_transform(texts)
    assert np.asarray(rows @ rows.T) == pytest.approx((second @ second.T).toarray(), abs=0.02)


def test_the_sentence_whose_words_stand_where_a_finding_is_tells_most_of_it() -> None:
    texts = {
        "a": "The heart is borderline. The bones are intact.",
        "b": "Borderline cardiac size. No effusion.",
        "c": "The bones are intact. No effusion.",
        "d": "The bones are intact.",
    }
    candidates = {"a": ["The bones are intact.", "The heart is borderline."], "b": []}
    # "borderline" stands in both reports that hold it and in none of the others, "bones" and "intact" the other way.
    assert telling(candidates, texts, {"a", "b"}) == {"a": "The heart is borderline.", "b": ""}
