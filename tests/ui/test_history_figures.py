import plotly.graph_objects as go

from workbench.evaluation.numbers import Figure, undefined
from workbench.ui import history_figures

F1 = Figure(0.5, 21, 0.4, 0.6)


def trace(figure: go.Figure, name: str) -> go.Scatter:
    return next(t for t in figure.data if t.name == name)


def step(label: str, value: float, accuracy: float) -> history_figures.Step:
    return history_figures.Step(label, Figure(value, 21), Figure(accuracy, 21), {"Fracture": Figure(accuracy, 300)})


def test_accuracy_under_the_floor_is_marked_and_at_the_floor_is_not() -> None:
    heat = history_figures.accuracy_heat([step("1", 0.2, 0.899), step("2", 0.5, 0.9)], ["Fracture"], floor=0.9).data[0]
    assert list(heat.text[0]) == ["90% ▼", "90%"]


def test_a_finding_without_accuracy_is_left_blank() -> None:
    steps = [history_figures.Step("1", F1, F1, {"Fracture": undefined("nothing was scored")})]
    heat = history_figures.accuracy_heat(steps, ["Fracture", "Unknown"]).data[0]
    assert [list(row) for row in heat.z] == [[None], [None]]
    assert [list(row) for row in heat.text] == [[""], [""]]


def test_the_history_draws_the_floor_beside_both_lines() -> None:
    figure = history_figures.history_lines([step("1", 0.2, 0.8), step("2", 0.5, 0.95)], floor=0.9)
    assert trace(figure, "accuracy floor 90%").y == (0.9, 0.9)
    assert trace(figure, "macro-F1 with 95 % interval").y == (0.2, 0.5)


def test_an_undefined_macro_f1_leaves_a_gap_in_the_history() -> None:
    steps = [history_figures.Step("1", undefined("no positive in the reference"), F1, {})]
    line = trace(history_figures.history_lines(steps), "macro-F1 with 95 % interval")
    assert line.y == (None,)
    assert line.hovertext == ("no positive in the reference",)


def test_other_labelers_and_a_single_radiologist_are_lines_of_their_own() -> None:
    steps, theirs = [step("1", 0.2, 0.8), step("10", 0.5, 0.95)], [step("2", 0.7, 0.9)]
    figure = history_figures.history_lines(steps, others={"gemma": theirs}, benchmark=Figure(0.85, 6))
    assert trace(figure, "macro-F1 of gemma").y == (0.7,)
    assert trace(figure, "one radiologist alone 0.850").y == (0.85,) * 3
    assert list(figure.layout.xaxis.categoryarray) == ["1", "2", "10"]


def test_an_f1_that_fell_is_marked() -> None:
    steps = [
        history_figures.Step(label, F1, F1, {}, f1={"Fracture": Figure(value, 300)})
        for label, value in (("1", 0.5), ("2", 0.7), ("3", 0.6))
    ]
    assert list(history_figures.f1_heat(steps, ["Fracture"]).data[0].text[0]) == ["0.50", "0.70", "0.60 ▼"]


def test_changes_are_drawn_by_direction_and_those_without_are_left_out() -> None:
    changes = [
        ("Edema", Figure(-0.1, 9, -0.2, 0.1)),
        ("Fracture", Figure(0.3, 9, 0.1, 0.4)),
        ("Cyst", undefined("none")),
    ]
    figure = history_figures.change_dots(changes)
    assert (trace(figure, "fell").y, trace(figure, "rose").y) == (("Edema",), ("Fracture",))
    assert list(trace(figure, "fell").error_x.array) == [0.2]
    assert list(figure.layout.yaxis.categoryarray) == ["Fracture", "Edema"]
