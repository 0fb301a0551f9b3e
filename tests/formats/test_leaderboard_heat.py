"""What the picture of a leaderboard's findings tells without being pointed at."""

import re

import pytest

from workbench.formats.leaderboard_heat import Cell, Heat, heat_svg

CELLS = [Cell(0.0, 0.0, 0.4, 9), Cell(1.0, 0.9, 1.0, 40)]


def drawn(n: int, systems: list[str]) -> str:
    return heat_svg(Heat([("Fracture", n), ("Effusion", 40)], [CELLS] * len(systems), 10), systems)


def test_findings_that_are_too_few_to_assess_are_faded_and_a_bracket_says_so() -> None:
    html = drawn(9, ["A", "B"])
    assert html.count("fill-opacity") == 2  # one square of each system
    assert html.count('class="bracket"') == 1
    assert "faded: too few to assess, under 10 studies" in html
    assert "A, Fracture (9 studies): F1 0.000 (0.000 to 0.400), too few to assess" in html
    assert "A, Effusion (40 studies): F1 1.000 (0.900 to 1.000)</title>" in html


def test_where_every_finding_can_be_assessed_nothing_is_faded() -> None:
    html = drawn(10, ["A"])
    assert "fill-opacity" not in html
    assert "too few" not in html


@pytest.mark.parametrize("name", ["a" * 200, "胸部影像报告生成模型" * 9])
def test_a_long_name_stays_in_its_room_and_is_told_whole(name: str) -> None:
    html = drawn(10, [name])
    (shown,) = re.findall(r"</title>([^<]+)</text>", html)
    assert "…" in shown
    assert len(shown) <= 30
    assert f"<title>{name}</title>" in html


def test_a_value_that_is_undefined_is_a_dash_on_a_blank_square_whatever_its_column() -> None:
    html = heat_svg(Heat([("Fracture", 1)], [[Cell(None, note="no positive")]], 10), ["A"])
    assert 'class="blank"/><text' in html
    assert "A, Fracture (1 study): no positive" in html
