"""Two versions of a text are shown by the stretch in which they part."""

import pytest

from workbench.text.differences import first_difference


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ("Clear.", "Clean.", ("Clear.", "Clean.")),
        ("Clear.", "Clear. Dry.", ("Clear.", "Clear. Dry.")),
        ("", "Clear.", ("", "Clear.")),
        ("a\n\nb", "a\n\nc", ("a b", "a c")),
        ("Clear.", "Clear.", ("Clear.", "Clear.")),
    ],
)
def test_short_texts_are_shown_whole(one: str, other: str, expected: tuple[str, str]) -> None:
    assert first_difference(one, other) == expected


def test_long_texts_are_cut_around_the_difference() -> None:
    one, other = ("x" * 100 + digit + "y" * 100 for digit in "12")
    assert first_difference(one, other, width=10) == ("…xxxxx1yyyy…", "…xxxxx2yyyy…")
