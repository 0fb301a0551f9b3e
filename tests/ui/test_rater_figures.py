"""Figures about raters show what they are given and leave out what is undefined."""

import pytest

from workbench.evaluation.numbers import Figure, undefined
from workbench.ui.rater_figures import (
    AgreementOfFinding,
    RateOfRater,
    Standing,
    agreement_dots,
    kappa_heat,
    rate_heat,
    standing_dots,
)

NONE = undefined("the same rater")
F1 = Figure(0.8, 300, 0.7, 0.9)


def trace(figure: object, name: str) -> object:
    return next(t for t in figure.data if t.name == name)


def test_the_heat_map_shows_each_pair_and_leaves_the_diagonal_empty() -> None:
    cells = ((NONE, Figure(0.5, 3)), (Figure(0.5, 3), NONE))
    heat, words = kappa_heat(["a", "b"], cells).data
    assert [list(row) for row in heat.z] == [[None, 0.5], [0.5, None]]
    assert list(words.text) == ["", "0.50", "0.50", ""]
    assert list(words.customdata) == ["a\ta", "a\tb", "b\ta", "b\tb"]


def test_the_model_stands_beside_the_raters_only_where_a_run_is_scored() -> None:
    rater = Figure(0.8, 21, low=0.7, high=0.9)
    alone = standing_dots([Standing("a", rater, None), Standing("b", undefined("no report"), None)])
    assert [(trace.name, list(trace.customdata)) for trace in alone.data] == [("the rater", ["a"])]
    both = standing_dots([Standing("a", rater, Figure(0.9, 21))])
    assert [trace.name for trace in both.data] == ["the rater", "the model, on the same cells"]
    assert round(both.data[0].error_x.array[0], 3) == round(both.data[0].error_x.arrayminus[0], 3) == 0.1


def rows_of_two() -> list[AgreementOfFinding]:
    none = undefined("no variation")
    return [
        AgreementOfFinding("Rare", Figure(0.01, 300), {"alpha": none, "AC1": F1}, "rare"),
        AgreementOfFinding("Common", Figure(0.3, 300), {"alpha": F1, "AC1": F1}, "common", {"AC1": "9 left out"}),
    ]


def test_agreement_puts_the_commonest_finding_on_top_with_its_prevalence_beside_it() -> None:
    figure = agreement_dots(rows_of_two())
    assert list(figure.layout.yaxis.ticktext) == ["Common", "Rare"]
    assert figure.layout.yaxis.range[0] > figure.layout.yaxis.range[1]  # so the first one is on top
    assert list(trace(figure, "AC1").customdata) == ["common", "rare"]
    assert figure.layout.xaxis.side == figure.layout.xaxis2.side == "top"  # the picture is longer than a screen
    assert list(trace(figure, "prevalence").text) == ["30.0%", "1.0%"]


def test_an_undefined_coefficient_is_marked_with_its_reason_where_none_can_stand() -> None:
    figure = agreement_dots(rows_of_two())
    assert list(trace(figure, "alpha").customdata) == ["common"]
    cross = trace(figure, "alpha undefined")
    assert cross.hovertext == ("Rare: alpha is undefined, no variation",)
    assert max(cross.x) < 0


def test_whiskers_reach_to_the_ends_of_the_interval_and_hover_tells_them() -> None:
    dots = trace(agreement_dots(rows_of_two()), "AC1")
    assert (dots.error_x.array[0], dots.error_x.arrayminus[0]) == (pytest.approx(0.1), pytest.approx(0.1))
    assert dots.hovertext[0] == "Common<br>AC1 0.800 (0.700 to 0.900)<br>9 left out"


def test_the_coefficients_of_a_finding_do_not_lie_on_each_other() -> None:
    figure = agreement_dots(rows_of_two())
    assert trace(figure, "alpha").y[0] != trace(figure, "AC1").y[0]


def test_negative_agreement_is_inside_the_picture_with_its_whisker() -> None:
    row = AgreementOfFinding("Odd", Figure(0.1, 300), {"alpha": Figure(-0.3, 300, -0.5, -0.1)})
    assert agreement_dots([row]).layout.xaxis.range[0] < -0.5


def test_rates_tell_only_what_chance_would_not_have_made() -> None:
    surely, maybe = Figure(0.04, 300, 0.01, 0.07), Figure(0.01, 300, -0.01, 0.03)
    cells = [[RateOfRater(Figure(0.1, 300), surely), RateOfRater(Figure(0.1, 300), maybe)]]
    heat, words = rate_heat(["a"], [("edema", "Edema"), ("mass", "Mass")], cells).data
    assert list(heat.z[0]) == [0.04, 0.01]
    assert list(words.text) == ["+4", ""]
    assert words.customdata == ("a\tedema", "a\tmass")
    assert words.hovertext[1] == (
        "a, Mass: says present in 10.0% of 300 reports<br>+1.0 points (-1.0 to +3.0) beside the others on the same "
        "reports"
    )
    assert heat.zmin == -heat.zmax  # so that no difference is the colour in the middle
