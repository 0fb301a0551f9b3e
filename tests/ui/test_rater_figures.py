"""Figures about raters show what they are given and leave out what is undefined."""

from workbench.evaluation.numbers import Figure, undefined
from workbench.ui.rater_figures import Standing, kappa_heat, standing_dots

NONE = undefined("the same rater")


def test_the_heat_map_shows_each_pair_and_leaves_the_diagonal_empty() -> None:
    cells = ((NONE, Figure(0.5, 3)), (Figure(0.5, 3), NONE))
    (heat,) = kappa_heat(["a", "b"], cells).data
    assert [list(row) for row in heat.z] == [[None, 0.5], [0.5, None]]
    assert [list(row) for row in heat.text] == [["", "0.50"], ["0.50", ""]]


def test_the_model_stands_beside_the_raters_only_where_a_run_is_scored() -> None:
    rater = Figure(0.8, 21, low=0.7, high=0.9)
    alone = standing_dots([Standing("a", rater, None), Standing("b", undefined("no report"), None)])
    assert [(trace.name, list(trace.y)) for trace in alone.data] == [("the rater", ["a"])]
    both = standing_dots([Standing("a", rater, Figure(0.9, 21))])
    assert [trace.name for trace in both.data] == ["the rater", "the model, on the same cells"]
    assert round(both.data[0].error_x.array[0], 3) == round(both.data[0].error_x.arrayminus[0], 3) == 0.1
