import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.text.sentences import sentence_spans


def split(text: str) -> list[str]:
    return [text[start:end] for start, end in sentence_spans(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("No effusion. Heart normal.", ["No effusion.", "Heart normal."]),
        ("1. Small effusion. 2. No edema.", ["1. Small effusion.", "2. No edema."]),
        ("1) Small effusion\n2) No edema", ["1) Small effusion", "2) No edema"]),
        ("A 1.5 cm nodule is seen.", ["A 1.5 cm nodule is seen."]),
        ("Seen by Dr. Smith at noon. Unchanged.", ["Seen by Dr. Smith at noon.", "Unchanged."]),
        ("Scar vs. atelectasis. No edema.", ["Scar vs. atelectasis.", "No edema."]),
        ("no effusion . heart normal .", ["no effusion .", "heart normal ."]),
        ("a 1 . 5 cm nodule . no edema .", ["a 1 . 5 cm nodule .", "no edema ."]),
        ("Small effusion.The heart is large.", ["Small effusion.", "The heart is large."]),
        ("no effusion.small nodule", ["no effusion.", "small nodule"]),
        ("NO EFFUSION.SMALL NODULE", ["NO EFFUSION.", "SMALL NODULE"]),
        ("Effusion....none", ["Effusion....none"]),
        ("?effusion. ? nodule", ["?effusion.", "? nodule"]),
        ("neg. for effusion", ["neg. for effusion"]),
        ("No effusion  The heart is large.", ["No effusion", "The heart is large."]),
        ("Is there an effusion? Not seen!", ["Is there an effusion?", "Not seen!"]),
        ("No effusion..", ["No effusion.."]),
        ("Lungs are clear. .", ["Lungs are clear. ."]),
        ("  ", []),
        ("", []),
        ("双肺清晰。未见胸腔积液。", ["双肺清晰。", "未见胸腔积液。"]),
    ],
)
def test_sentences_end_where_a_reader_would_end_them(text: str, expected: list[str]) -> None:
    assert split(text) == expected


def test_a_wrapped_line_goes_on_and_a_blank_line_ends_the_sentence() -> None:
    text = "There is no evidence of pleural effusion or\npneumothorax on this film\n\nheart size is normal"
    assert split(text) == [
        "There is no evidence of pleural effusion or\npneumothorax on this film",
        "heart size is normal",
    ]


def test_a_full_line_may_break_before_an_abbreviation_and_a_short_one_ends() -> None:
    wrapped = "The tip of the catheter that enters from the right side of the\nSVC is unchanged."
    assert split(wrapped) == [wrapped]
    assert split("No effusion\nVP shunt in place") == ["No effusion", "VP shunt in place"]


@pytest.mark.parametrize(
    "text",
    ["Mild cardiomegaly\nNo effusion", "The heart is large No effusion", "The heart is large There is no edema"],
)
def test_a_forgotten_full_stop_is_found_where_a_sentence_opens(text: str) -> None:
    assert len(split(text)) == 2


def test_a_capital_after_a_function_word_or_comma_opens_nothing() -> None:
    assert len(split("The catheter ends in the\nSwan position, at\nDobbhoff level,\nNear the hilum")) == 1


@given(st.text(alphabet=" .\n,:;?!aAbBNo1\t25-)(\u3002", max_size=120))
def test_every_character_but_space_is_in_exactly_one_sentence(text: str) -> None:
    spans = sentence_spans(text)
    assert all(one[1] <= other[0] for one, other in itertools.pairwise(spans))
    inside = "".join(text[start:end] for start, end in spans)
    assert "".join(inside.split()) == "".join(text.split())


def test_an_endless_sentence_is_cut_between_words_and_nothing_is_lost() -> None:
    words = [f"word{number}" for number in range(2_000)]
    pieces = split(" ".join(words))
    assert all(len(piece) <= 1_200 for piece in pieces)
    assert " ".join(pieces).split() == words
    assert "".join(split("x" * 3_000)) == "x" * 3_000
