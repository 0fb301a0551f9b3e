"""What the figures show, and what they must never show."""

import pytest

from workbench.evaluation.numbers import Figure, undefined
from workbench.ui import figures

F1 = Figure(0.8, 300, 0.7, 0.9)


def trace(figure: object, name: str) -> object:
    return next(t for t in figure.data if t.name == name)


def test_an_undefined_f1_is_never_drawn_where_an_f1_can_stand() -> None:
    figure = figures.f1_by_finding([figures.Dot("Fracture", undefined("no positive in the reference"))], F1)
    cross = trace(figure, "undefined")
    assert max(cross.x) < 0
    assert cross.hovertext == ("Fracture: undefined, no positive in the reference",)


def test_findings_with_too_few_positives_are_hollow_and_apart() -> None:
    dots = [figures.Dot("Fracture", F1), figures.Dot("Cavity", F1, weak=True)]
    figure = figures.f1_by_finding(dots, F1)
    assert trace(figure, "F1 with 95 % interval").y == ("Fracture",)
    assert trace(figure, "too few to assess").y == ("Cavity",)
    assert trace(figure, "too few to assess").marker.color == "rgba(0,0,0,0)"


def test_error_bars_are_distances_from_the_value() -> None:
    bars = trace(figures.f1_by_finding([figures.Dot("Fracture", F1)], F1), "F1 with 95 % interval").error_x
    assert bars.array[0] == pytest.approx(0.1)
    assert bars.arrayminus[0] == pytest.approx(0.1)


def test_the_first_finding_stands_on_top() -> None:
    figure = figures.f1_by_finding([figures.Dot(name, F1) for name in "abc"], F1)
    assert figure.layout.yaxis.categoryarray == ("c", "b", "a")  # Plotly draws upwards


def test_macro_f1_is_a_line_only_where_it_exists() -> None:
    dots = [figures.Dot("Fracture", F1)]
    assert len(figures.f1_by_finding(dots, F1).layout.shapes) == 1
    assert len(figures.f1_by_finding(dots, undefined("no positive")).layout.shapes) == 0


def cells(right: set[tuple[str, str]]) -> figures.CellsOfFinding:
    present = {"present": 8, "uncertain": 2}
    return figures.CellsOfFinding("Fracture", present, {"not mentioned": 90}, frozenset(right))


def test_the_heat_map_shades_right_and_wrong_to_opposite_sides() -> None:
    right = {("present", "present"), ("not present", "not mentioned")}
    heat = figures.confusion_heat([cells(right)]).data[0]
    shade = {(side, state): z for side, state, z in zip(*heat.x, heat.z[0], strict=True)}
    assert shade["reference: present", "present"] > 0
    assert shade["reference: present", "uncertain"] < 0
    assert shade["reference: not present", "not mentioned"] == 1
    assert shade["reference: not present", "present"] is None  # nothing was said, so nothing is shaded


def test_what_counts_as_right_follows_the_policy() -> None:
    heat = figures.confusion_heat([cells({("present", "present"), ("present", "uncertain")})]).data[0]
    at = list(zip(*heat.x, strict=True)).index(("reference: present", "uncertain"))
    assert heat.z[0][at] > 0
    assert heat.text[0][at] == "2"


def test_findings_that_cannot_be_assessed_are_grey_in_the_expectation() -> None:
    bars = figures.expected_bars({"Fracture": 9.0, "Effusion": 10.0}, few=10).data[0]
    assert dict(zip(bars.y, bars.marker.color, strict=True)) == {"Effusion": figures.TEAL, "Fracture": figures.GREY}
