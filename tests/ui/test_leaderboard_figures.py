"""The pictures of a leaderboard: what is too few to assess, and names of any length."""

import pytest

from workbench.evaluation.numbers import Figure
from workbench.ui.leaderboard_figures import Line, Square, by_system_and_finding, systems_with_intervals

FINDINGS = [("fracture", "Fracture", 3), ("mass", "Mass", 9), ("effusion", "Effusion", 40)]


def squares(systems: int) -> list[list[Square]]:
    return [[Square(Figure(v, 9), "note") for v in (0.1, 0.5, 0.9)] for _ in range(systems)]


def test_findings_that_are_too_few_to_assess_are_faded_and_a_line_beneath_says_so() -> None:
    figure = by_system_and_finding(FINDINGS, ["A", "B"], squares(2), few=10)
    plain, pale, words = figure.data
    assert [list(row) for row in plain.z] == [[None, None, 0.9]] * 2
    assert [list(row) for row in pale.z] == [[0.1, 0.5, None]] * 2
    assert plain.colorscale != pale.colorscale
    assert list(words.text) == ["<i>0.10</i>", "<i>0.50</i>", "0.90"] * 2
    (told,) = figure.layout.annotations
    assert "too few to assess, under 10 studies" in told.text
    # The bracket ends with the second column.
    assert max(shape.x1 for shape in figure.layout.shapes) == pytest.approx(1.45)


def test_where_every_finding_can_be_assessed_there_is_no_bracket() -> None:
    figure = by_system_and_finding(FINDINGS, ["A"], squares(1), few=3)
    assert len(figure.data) == 2
    assert not figure.layout.annotations
    assert not figure.layout.shapes


def test_long_names_are_shortened_beside_the_picture_and_remain_two() -> None:
    names = [f"{'a model for reports of the chest ' * 3}{i}" for i in (1, 2)]
    heat = by_system_and_finding(FINDINGS, names, squares(2), few=10)
    lines = systems_with_intervals([Line(name, Figure(0.5, 9, 0.4, 0.6), "1=", [True]) for name in names], "F1")
    for figure, begun in ((heat, ""), (lines, "1=  ")):
        axis = figure.layout.yaxis
        assert list(axis.tickvals) == names
        assert all(len(text) <= 40 + len(begun) and "…" in text and text.startswith(begun) for text in axis.ticktext)
        assert [text[-1] for text in axis.ticktext] == ["1", "2"]
