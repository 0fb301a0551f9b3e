"""Whatever people are called and write is shown as it stands in every figure, and never as Plotly's marks."""

import importlib
import inspect
import json
import pkgutil
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

import plotly.graph_objects as go
import pytest

import workbench.ui as room
from workbench.domain.findings import Finding, LabelSet, Policies, Policy
from workbench.domain.references import Outcome, ReferenceItem
from workbench.domain.reports import Report
from workbench.domain.runs import Extraction, ExtractionStatus
from workbench.evaluation.mistakes import MistakeKind
from workbench.evaluation.numbers import Figure, undefined
from workbench.labelers.error_kinds import Cause, ErrorKind
from workbench.ui.plot_text import lines, literal
from workbench.workflow.errors import Mistake

EVE = "<b>Eve</b> & <Mallory>"
SHOWN = "&lt;b&gt;Eve&lt;/b&gt; &amp; &lt;Mallory&gt;"
F1, NONE = Figure(0.8, 30, 0.7, 0.9), undefined(EVE)


def the(module: str) -> ModuleType:
    return importlib.import_module(f"{room.__name__}.{module}")


def _by_kind() -> go.Figure:
    label_set = LabelSet(
        "one", "1", "One", (Finding("air", EVE, "", "", "Seen."),), Policies(Policy.PRESENT), Policies(Policy.PRESENT)
    )
    item, reply = ReferenceItem(Outcome.PRESENT, 6, 0, False), Extraction(ExtractionStatus.OK)
    report, cause = Report("r1", "p1", EVE, ()), Cause(ErrorKind.SYNONYM)
    mistake = Mistake(report, "air", MistakeKind.MISSED, 0.0, item, None, EVE, {}, reply, cause)
    return the("error_tables").by_kind([mistake], label_set, ["air"])


def _steps() -> list[Any]:
    step = the("history_figures").Step
    return [step("1", F1, F1, {EVE: F1}, EVE, {EVE: F1}), step("2", NONE, F1, {EVE: F1}, EVE, {EVE: F1})]


def _dots() -> go.Figure:
    dot = the("figures").Dot
    return the("figures").f1_by_finding([dot(EVE, F1, note=EVE), dot(f"{EVE} 2", F1, weak=True), dot("x", NONE)], F1)


def _agreement() -> go.Figure:
    row = the("rater_figures").AgreementOfFinding
    return the("rater_figures").agreement_dots(
        [row(EVE, F1, {"alpha": F1, "AC1": NONE}, "air", {"alpha": EVE}), row("x", NONE, {"alpha": F1, "AC1": F1})]
    )


def _rates() -> go.Figure:
    cell = the("rater_figures").RateOfRater
    cells = [[cell(F1, Figure(0.1, 30, 0.05, 0.2)), cell(F1, NONE), cell(NONE, NONE)]]
    return the("rater_figures").rate_heat([EVE], [("a", EVE), ("b", "x"), ("c", "y")], cells)


def _confusion() -> go.Figure:
    cells = the("figures").CellsOfFinding(EVE, {"present": 1}, {"present": 2}, frozenset())
    return the("figures").confusion_heat([cells])


def _leaderboard() -> go.Figure:
    line = the("leaderboard_figures").Line
    return the("leaderboard_figures").systems_with_intervals([line(EVE, F1, "1", [True])], EVE)


def _squares() -> go.Figure:
    square = the("leaderboard_figures").Square
    return the("leaderboard_figures").by_system_and_finding([("air", EVE, 3)], [EVE], [[square(F1, EVE)]], few=10)


FIGURES: dict[str, Callable[[], go.Figure]] = {
    "error_tables.by_kind": _by_kind,
    "figures.confusion_heat": _confusion,
    "figures.expected_bars": lambda: the("figures").expected_bars({EVE: 20.0}),
    "figures.f1_by_finding": _dots,
    "history_figures.accuracy_heat": lambda: the("history_figures").accuracy_heat(_steps(), [EVE]),
    "history_figures.change_dots": lambda: the("history_figures").change_dots([(EVE, F1)]),
    "history_figures.f1_heat": lambda: the("history_figures").f1_heat(_steps(), [EVE]),
    "history_figures.history_lines": lambda: the("history_figures").history_lines(_steps(), others={EVE: _steps()}),
    "leaderboard_figures.by_system_and_finding": _squares,
    "leaderboard_figures.systems_with_intervals": _leaderboard,
    "rater_figures.agreement_dots": _agreement,
    "rater_figures.kappa_heat": lambda: the("rater_figures").kappa_heat([EVE, "x"], [[NONE, F1], [NONE, NONE]]),
    "rater_figures.rate_heat": _rates,
    "rater_figures.standing_dots": lambda: the("rater_figures").standing_dots(
        [the("rater_figures").Standing(EVE, F1, F1)]
    ),
}
PARTS = {"figures.by_finding", "figures.plain", "heat_map.heat"}  # they finish a figure that one of the others began


def _there() -> Iterator[str]:
    for found in pkgutil.iter_modules(room.__path__):
        module = importlib.import_module(f"{room.__name__}.{found.name}")
        for name, value in vars(module).items():
            own = inspect.isfunction(value) and value.__module__ == module.__name__ and not name.startswith("_")
            if own and value.__annotations__.get("return") is go.Figure:
                yield f"{found.name}.{name}"


def test_every_function_that_draws_is_tried_here() -> None:
    assert set(_there()) - PARTS <= FIGURES.keys()


@pytest.mark.parametrize("name", sorted(FIGURES))
def test_a_name_that_looks_like_a_mark_is_shown_as_it_is_written(name: str) -> None:
    if name not in set(_there()):
        pytest.skip("no such figure")
    drawn = json.loads(FIGURES[name]().to_json())
    for trace in drawn["data"]:
        trace.pop("customdata", None)  # is handed back on a click and never shown
    texts = list(
        _texts({"data": drawn["data"], "layout": {k: v for k, v in drawn["layout"].items() if k != "template"}})
    )
    assert any(SHOWN in text for text in texts)
    assert not [text for text in texts if "<b>E" in text or "<M" in text or "& <" in text]


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for each in value.values():
            yield from _texts(each)
    elif isinstance(value, list):
        for each in value:
            yield from _texts(each)


def test_lines_are_the_only_breaks_that_are_meant() -> None:
    assert literal("a < b & c") == "a &lt; b &amp; c"
    assert lines("<br>", "", "x") == "&lt;br&gt;<br>x"
