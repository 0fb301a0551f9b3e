"""Names of any length and alphabet in the room there is."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.text.widths import shortened, shown_width


def test_chinese_signs_take_two_letters_and_marks_none() -> None:
    assert (shown_width("abc"), shown_width("胸部"), shown_width("e\u0301")) == (3, 4, 1)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("short", "short"),
        ("a-model-for-radiology-reports-v1", "a-model-for-ra…s-v1"),
        ("a-model-for-radiology-reports-v2", "a-model-for-ra…s-v2"),
        ("胸部影像报告生成模型第二版", "胸部影像报告…第二版"),
    ],
)
def test_of_a_long_name_both_ends_are_left(text: str, told: str) -> None:
    assert shortened(text, 19) == told


@given(st.text(max_size=60), st.integers(8, 40))
def test_it_is_never_wider_than_asked(text: str, most: int) -> None:
    assert shown_width(shortened(text, most)) <= most
