"""Numbers on coloured cells can be read, whatever the colour."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.ui.heat_map import heat
from workbench.ui.ink import BLACK, WHITE, contrast, ink_on, inks, luminance, on_scale, rgb

AA = 4.5  # WCAG 2.2, success criterion 1.4.3


def test_luminance_and_contrast_are_those_of_the_standard() -> None:
    assert (luminance((0, 0, 0)), luminance((255, 255, 255))) == (0, pytest.approx(1))
    assert contrast((0, 0, 0), (255, 255, 255)) == pytest.approx(21)
    # ((128 / 255 + .055) / 1.055) ^ 2.4 = .2159 for each part, so for the whole
    assert luminance((128, 128, 128)) == pytest.approx(0.2159, abs=5e-5)
    assert contrast(rgb("#767676"), rgb(WHITE)) == pytest.approx(4.54, abs=0.005)  # the lightest grey fit for white


def test_dark_cells_have_white_ink_and_light_ones_black() -> None:
    assert (ink_on(rgb("#101080")), ink_on(rgb("#f0f0c0"))) == (WHITE, BLACK)


@given(st.tuples(*[st.integers(0, 255)] * 3))
def test_the_ink_stands_out_on_every_colour(colour: tuple[int, int, int]) -> None:
    assert contrast(rgb(ink_on(colour)), colour) >= AA


def test_a_scale_mixes_linearly_between_its_stops_and_ends_at_its_ends() -> None:
    scale = ((0.0, "#000000"), (0.5, "#ff0000"), (1.0, "#ffffff"))
    assert on_scale(scale, 0.25) == (127.5, 0, 0)
    assert on_scale(scale, 0.5) == (255, 0, 0)
    assert on_scale(scale, 0.75) == (255, 127.5, 127.5)
    assert (on_scale(scale, -1), on_scale(scale, 2)) == ((0, 0, 0), (255, 255, 255))


def test_an_empty_cell_needs_no_ink_of_its_own() -> None:
    assert inks(((0.0, "#000080"), (1.0, "#ffffff")), [None, 0, 10], 0, 10) == [BLACK, WHITE, BLACK]


def test_every_cell_of_a_heat_map_gets_the_ink_of_its_own_colour() -> None:
    scale = ((0.0, "#000080"), (1.0, "#ffffff"))
    figure = heat(["a", "b"], ["x"], [[0.0, 1.0]], scale, span=(0, 1), texts=[["low", "high"]], hovers=[["", ""]])
    words = figure.data[1]
    assert dict(zip(words.text, words.textfont.color, strict=True)) == {"low": WHITE, "high": BLACK}


def test_names_in_two_levels_stay_two_levels() -> None:
    two = [["reference", "reference"], ["present", "absent"]]
    figure = heat(
        two,
        ["x", "y"],
        [[1, 2], [3, 4]],
        ((0.0, "#000080"), (1.0, "#ffffff")),
        span=(0, 4),
        texts=[["1", "2"], ["3", "4"]],
        hovers=[["", ""], ["", ""]],
    )
    assert [list(level) for level in figure.data[0].x] == two
    assert [list(level) for level in figure.data[1].x] == [level * 2 for level in two]
    assert list(figure.data[1].y) == ["x", "x", "y", "y"]
