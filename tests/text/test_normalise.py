import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.text.normalise import placed_words, stem, words


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("A 1.5 cm nodule.", ["A", "1.5", "cm", "nodule", "."]),
        ("air-space disease", ["air", "space", "disease"]),
        ("effusion/pneumothorax", ["effusion", "/", "pneumothorax"]),
        ("Effusion - none", ["Effusion", "-", "none"]),
        ("XXXX effusion, ___.", ["XXXX", "effusion", ",", "___", "."]),
        ("can't exclude", ["ca", "n't", "exclude"]),
        ("ISN’T", ["IS", "N’T"]),
        ("patient's", ["patient's"]),
        ("右侧少量", ["右", "侧", "少", "量"]),
        ("", []),
    ],
)
def test_a_text_is_taken_apart_into_words_and_signs(text: str, expected: list[str]) -> None:
    assert words(text) == expected


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("effusion", "Effusions"),
        ("opacity", "opacities"),
        ("mass", "masses"),
        ("diagnosis", "diagnoses"),
        ("bulla", "bullae"),
        ("disease", "diseases"),
        ("reflex", "reflexes"),
        ("patient's", "patient’s"),
    ],
)
def test_a_word_and_its_regular_plural_have_one_stem(one: str, other: str) -> None:
    assert stem(one) == stem(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [("thrombus", "thrombu"), ("gas", "ga"), ("resolved", "resolving"), ("pus", "pu"), ("space", "spax")],
)
def test_words_that_only_look_like_plurals_keep_their_own_stem(one: str, other: str) -> None:
    assert stem(one) != stem(other)


@given(st.text(max_size=200))
def test_words_stand_in_the_text_at_the_places_given(text: str) -> None:
    found = placed_words(text)
    assert [word.text for word in found] == words(text)
    assert all(text[word.start : word.end] == word.text for word in found)
    assert all(one.end <= other.start for one, other in itertools.pairwise(found))
