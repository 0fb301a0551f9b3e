import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.errors import InputError
from workbench.text.normalise import words
from workbench.text.phrases import GAP_WORDS, PhraseFinder, spellings


def found(phrase: str, text: str) -> list[str]:
    """The stretches of a text that a phrase finds, as words."""
    sentence = words(text)
    return [" ".join(sentence[hit.start : hit.end]) for hit in PhraseFinder([(phrase, 0)]).find(sentence)]


@pytest.mark.parametrize(
    ("phrase", "text"),
    [
        ("pleural effusion", "Small PLEURAL EFFUSIONS"),
        ("opacity", "patchy opacities"),
        ("mass", "masses"),
        ("calcif*", "a calcified node"),
        ("calcif*", "calcification"),
        ("heart/cardiac size", "cardiac size"),
        ("heart/cardiac size", "heart size"),
        ("air-space disease", "airspace disease"),
        ("air-space disease", "air space disease"),
        ("air-space disease", "air-space disease"),
        ("heart ... enlarged", "heart enlarged"),
        ("heart ... enlarged", "the heart is not really very much enlarged"),
        (": none", "Effusion: none"),
        ("?", "Effusion?"),
        ("can't be excluded", "can’t be excluded"),
        ("胸腔积液", "双侧少量胸腔积液。"),
        ("and / or", "scar and/or atelectasis"),
        ("lung ... node ... large", "a lung has a node that is large"),
    ],
)
def test_a_phrase_finds_what_it_says_it_finds(phrase: str, text: str) -> None:
    assert len(found(phrase, text)) == 1


@pytest.mark.parametrize(
    ("phrase", "text"),
    [
        ("effusion", "effusive"),
        ("pleural effusion", "pleural and effusion"),
        ("calcif*", "decalcified"),
        ("heart/cardiac size", "size of the heart"),
        ("heart ... enlarged", "heart normal, thyroid enlarged"),
        ("heart ... enlarged", "heart normal but thyroid enlarged"),
        ("heart ... large", "heart is big without large effusion"),
        ("heart ... normal", "enlarged heart with normal lungs"),
        ("heart ... enlarged", "heart normal. thyroid enlarged"),
        ("heart ... enlarged", "heart " + "very " * (GAP_WORDS + 1) + "enlarged"),
        ("airspace", "air-space"),
        ("no", "normal"),
    ],
)
def test_a_phrase_does_not_find_what_it_does_not_say(phrase: str, text: str) -> None:
    assert found(phrase, text) == []


def test_a_gap_is_as_long_as_it_says() -> None:
    assert found("heart ... enlarged", "heart " + "very " * GAP_WORDS + "enlarged")


def test_a_hit_knows_its_words_before_and_after_the_gap() -> None:
    (hit,) = PhraseFinder([("heart size ... enlarged", 0)]).find(words("heart size is not enlarged"))
    assert (hit.start, hit.head_end, hit.tail_start, hit.end) == (0, 2, 4, 5)


def test_a_phrase_may_stand_for_several_things() -> None:
    hits = PhraseFinder([("versus", "before"), ("versus", "after")]).find(["versus"])
    assert {hit.phrase.payload for hit in hits} == {"before", "after"}


def test_overlapping_phrases_are_all_found_by_start_then_end() -> None:
    finder = PhraseFinder([("pleural effusion", "long"), ("effusion", "short"), ("pleural", "first")])
    hits = finder.find(words("pleural effusion"))
    assert [(h.start, h.end, h.phrase.payload) for h in hits] == [(0, 1, "first"), (0, 2, "long"), (1, 2, "short")]


@pytest.mark.parametrize("phrase", ["", "  ", "... enlarged", "heart ...", "..."])
def test_an_empty_phrase_or_a_gap_at_an_edge_is_refused_by_name(phrase: str) -> None:
    with pytest.raises(InputError, match=re.escape(f'"{phrase}"')):
        spellings(phrase)


def test_a_phrase_of_too_many_spellings_is_refused() -> None:
    with pytest.raises(InputError, match="spellings"):
        spellings("a/b/c/d/e " * 6)


_WORDS = st.sampled_from(["heart", "size", "is", "enlarged", "node", "nodes", "no", ","])


@given(
    st.lists(st.lists(_WORDS, min_size=1, max_size=3).map(" ".join), min_size=1, max_size=6, unique=True),
    st.lists(_WORDS, max_size=12),
)
def test_the_search_agrees_with_looking_at_every_place(phrases: list[str], sentence: list[str]) -> None:
    hits = PhraseFinder([(phrase, phrase) for phrase in phrases]).find(sentence)

    def folded(some: list[str]) -> list[str]:
        return ["node" if word == "nodes" else word for word in some]

    expected = {
        (at, at + len(phrase.split()), " ".join(folded(phrase.split())))
        for phrase in phrases
        for at in range(len(sentence))
        if folded(sentence[at : at + len(phrase.split())]) == folded(phrase.split())
    }
    assert {(h.start, h.end, " ".join(folded(str(h.phrase.payload).split()))) for h in hits} == expected


@given(st.text(max_size=100), st.text(max_size=30))
def test_no_text_and_no_phrase_breaks_the_search(text: str, phrase: str) -> None:
    sentence = words(text)
    try:
        finder = PhraseFinder([(phrase, 0), ("heart ... enlarged", 1)])
    except InputError:
        return
    assert all(0 <= hit.start < hit.end <= len(sentence) for hit in finder.find(sentence))


@given(st.lists(_WORDS, max_size=30))
def test_a_full_memory_changes_nothing(sentence: list[str]) -> None:
    phrases = [("heart ... enlarged", 0), ("size ... no ... node", 1), ("heart size", 2)]
    with pytest.MonkeyPatch.context() as patch:
        roomy = PhraseFinder(phrases).find(sentence)
        patch.setattr("workbench.text.phrases._MOST_STEPS", 2)
        patch.setattr("workbench.text.phrases._MOST_WORDS", 1)
        assert PhraseFinder(phrases).find(sentence) == roomy
