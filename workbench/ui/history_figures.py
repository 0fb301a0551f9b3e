"""Figures of the history and of two runs compared, from plain data."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import plotly.graph_objects as go

from workbench.evaluation.gate import ACCURACY_FLOOR
from workbench.evaluation.numbers import Figure
from workbench.ui.figures import GREY, ORANGE, RED, TEAL, VIOLET, by_finding, plain
from workbench.ui.heat_map import heat
from workbench.ui.plot_text import lines, literal

_ROW = 24  # pixels a finding takes
_OTHERS = (ORANGE, "#5b8f4e", "#a4649b", "#4f7fb8", "#8a6d3b")


@dataclass(frozen=True, slots=True)
class Step:
    """One revision of the history. ``accuracy`` and ``f1`` are per finding, by name; ``open`` says that nobody has
    decided on it yet.
    """

    label: str
    macro_f1: Figure
    mean_accuracy: Figure
    accuracy: Mapping[str, Figure]
    message: str = ""
    f1: Mapping[str, Figure] = field(default_factory=dict)
    open: bool = False


def history_lines(
    steps: Sequence[Step],
    floor: float = ACCURACY_FLOOR,
    *,
    others: Mapping[str, Sequence[Step]] | None = None,
    benchmark: Figure | None = None,
) -> go.Figure:
    """Draw macro-F1 with its interval and mean accuracy over revisions, and the accuracy floor as a line.

    Lines join what is accepted; steps that nobody has decided on are hollow points between them.
    ``others`` are series of other labelers, macro-F1 alone; ``benchmark`` is what a single radiologist reaches.
    """
    figure = go.Figure()
    every, waiting = steps, [step for step in steps if step.open]
    steps = [step for step in steps if not step.open]
    accuracy = [step.mean_accuracy for step in steps]
    figure.add_trace(_line(steps, "macro-F1 with 95 % interval", TEAL, [step.macro_f1 for step in steps]))
    if waiting:
        hollow = _line(waiting, "macro-F1 of candidates", TEAL, [step.macro_f1 for step in waiting])
        figure.add_trace(hollow.update(mode="markers", marker_symbol="circle-open", marker_line_width=2))
    for at, (name, theirs) in enumerate((others or {}).items()):
        color = _OTHERS[at % len(_OTHERS)]
        figure.add_trace(_line(theirs, f"macro-F1 of {name}", color, [step.macro_f1 for step in theirs]))
    figure.add_trace(_line(steps, "mean accuracy over findings", VIOLET, accuracy))
    labels = sorted({s.label for each in (every, *(others or {}).values()) for s in each}, key=lambda s: (len(s), s))
    _level(figure, labels, f"accuracy floor {floor:.0%}", floor, color=RED, dash="dash")
    if benchmark is not None and benchmark.value is not None:
        _level(figure, labels, f"one radiologist alone {benchmark.value:.3f}", benchmark.value, color=GREY, dash="dot")
    figure.update_xaxes(type="category", title="revision", categoryorder="array", categoryarray=labels)
    figure.update_yaxes(tickformat=".2f", automargin=True)
    plain(figure, 380)
    figure.update_layout(legend={"y": 0, "yref": "container", "yanchor": "bottom"}, margin={"t": 16, "b": 120})
    return figure


def _line(steps: Sequence[Step], name: str, color: str, of: Sequence[Figure]) -> go.Scatter:
    return go.Scatter(
        x=[step.label for step in steps],
        y=[f.value for f in of],
        mode="lines+markers",
        name=literal(name),
        line={"color": color, "width": 2},
        marker={"size": 9},
        error_y={
            "type": "data",
            "symmetric": False,
            "array": [(f.high or 0) - (f.value or 0) if f.high is not None else 0 for f in of],
            "arrayminus": [(f.value or 0) - (f.low or 0) if f.low is not None else 0 for f in of],
            "color": color,
            "thickness": 1.5,
        },
        hovertext=[
            lines(f.reason) if f.value is None else lines(f"{name}, revision {step.label}: {f.value:.3f}", step.message)
            for step, f in zip(steps, of, strict=True)
        ],
        hoverinfo="text",
    )


def _level(figure: go.Figure, labels: Sequence[str], name: str, value: float, *, color: str, dash: str) -> None:
    line = {"color": color, "dash": dash, "width": 1.5}
    ys = [value] * len(labels)
    figure.add_trace(go.Scatter(x=labels, y=ys, mode="lines", name=name, line=line, hoverinfo="skip"))
    if len(labels) == 1:  # a line needs two points
        figure.add_hline(y=value, line=line)


def accuracy_heat(steps: Sequence[Step], names: Sequence[str], floor: float = ACCURACY_FLOOR) -> go.Figure:
    """Draw accuracy per finding over revisions; cells under the floor are red and carry a mark."""
    values = [[_value(step.accuracy.get(name)) for step in steps] for name in names]
    texts = [["" if v is None else f"{v:.0%}{' ▼' if v < floor else ''}" for v in row] for row in values]
    lowest = min([v for row in values for v in row if v is not None] + [floor - 0.05])
    at = (floor - lowest) / (1 - lowest)
    scale = ((0.0, RED), (max(at - 1e-6, 0.0), "#e7bfa8"), (at, "#b9d9db"), (1.0, TEAL))
    return _over_revisions(steps, names, values, scale, span=(lowest, 1), texts=texts)


def f1_heat(steps: Sequence[Step], names: Sequence[str]) -> go.Figure:
    """Draw F1 per finding over revisions; what fell since the revision before carries a mark."""
    values = [[_value(step.f1.get(name)) for step in steps] for name in names]
    texts = [[_f1_text(row, at) for at in range(len(row))] for row in values]
    scale = ((0.0, RED), (0.5, "#efd5cd"), (0.75, "#b9d9db"), (1.0, TEAL))
    return _over_revisions(steps, names, values, scale, span=(0, 1), texts=texts)


def _f1_text(row: Sequence[float | None], at: int) -> str:
    value, before = row[at], row[at - 1] if at else None
    if value is None:
        return ""
    return f"{value:.2f}{' ▼' if before is not None and value < before else ''}"


def _over_revisions(
    steps: Sequence[Step],
    names: Sequence[str],
    values: Sequence[Sequence[float | None]],
    scale: Sequence[tuple[float, str]],
    *,
    span: tuple[float, float],
    texts: Sequence[Sequence[str]],
) -> go.Figure:
    hovers = [
        [
            "" if v is None else lines(f"{name}, revision {step.label}: {v:.3f}")
            for step, v in zip(steps, row, strict=True)
        ]
        for name, row in zip(names, values, strict=True)
    ]
    labels = [f"{step.label}<br>candidate" if step.open else step.label for step in steps]
    figure = heat(
        labels, [literal(name) for name in names], values, tuple(scale), span=span, texts=texts, hovers=hovers
    )
    figure.update_xaxes(type="category", title="revision")
    figure.update_layout(height=_ROW * len(names) + 84, margin={"l": 8, "r": 8, "t": 56, "b": 8})
    return figure


def change_dots(changes: Sequence[tuple[str, Figure]]) -> go.Figure:
    """Draw the change of F1 per finding with its interval, first one on top: red where it fell, teal where it rose."""
    figure = go.Figure()
    for name, color, wanted in (("fell", RED, -1), ("rose", TEAL, 1), ("the same", GREY, 0)):
        rows = [(n, f) for n, f in changes if f.value is not None and (f.value > 0) - (f.value < 0) == wanted]
        if rows:
            figure.add_trace(_changes(rows, name, color))
    figure.add_vline(x=0, line={"color": GREY, "width": 1})
    figure.update_xaxes(title="change of F1", tickformat="+.1f")
    return by_finding(figure, [name for name, value in changes if value.value is not None])


def _changes(rows: Sequence[tuple[str, Figure]], name: str, color: str) -> go.Scatter:
    values = [f.value or 0.0 for _, f in rows]
    return go.Scatter(
        x=values,
        y=[literal(name) for name, _ in rows],
        mode="markers",
        name=name,
        marker={"color": color, "size": 10},
        error_x={
            "type": "data",
            "symmetric": False,
            "array": [0 if f.high is None else f.high - v for (_, f), v in zip(rows, values, strict=True)],
            "arrayminus": [0 if f.low is None else v - f.low for (_, f), v in zip(rows, values, strict=True)],
            "color": color,
            "thickness": 1.5,
            "width": 3,
        },
        hovertext=[lines(f"{n}: {v:+.3f}") for (n, _), v in zip(rows, values, strict=True)],
        hoverinfo="text",
    )


def _value(figure: Figure | None) -> float | None:
    return None if figure is None else figure.value
