"""Figures from plain data. Nothing here knows Streamlit or the study; colours hold on light and dark grounds."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import plotly.graph_objects as go

from workbench.evaluation.numbers import Figure
from workbench.evaluation.scores import FEW
from workbench.ui.heat_map import heat
from workbench.ui.ink import Scale
from workbench.ui.plot_text import lines, literal

TOO_FEW = FEW
TEAL = "#2f8f97"
ORANGE = "#cf7a3f"
VIOLET = "#7b80c9"
GREY = "#93a1a3"
RED = "#c5524a"
BESIDE = -0.06  # where a finding without a figure is marked
_ROW = 24  # pixels a finding takes
_RIGHT_AND_WRONG: Scale = (
    (0.0, RED),
    (0.3, "#d98a7c"),
    (0.4999, "#efd5cd"),
    (0.5001, "#dcebeb"),
    (0.7, "#8cc3c6"),
    (1.0, TEAL),
)
_MARGIN = {"l": 8, "r": 16, "t": 60, "b": 48}


@dataclass(frozen=True, slots=True)
class Dot:
    """A finding's figure in a dot plot; ``weak`` ones are drawn hollow and grey, and ``note`` says why."""

    name: str
    figure: Figure
    weak: bool = False
    note: str = ""


def f1_by_finding(dots: Sequence[Dot], macro: Figure) -> go.Figure:
    """Draw F1 per finding with its interval, first one on top, and macro-F1 as a line.

    Findings without a figure have a cross left of 0, where no F1 can stand.
    """
    figure = go.Figure()
    strong = [dot for dot in dots if dot.figure.defined and not dot.weak]
    weak = [dot for dot in dots if dot.figure.defined and dot.weak]
    none = [dot for dot in dots if not dot.figure.defined]
    figure.add_trace(_dots(strong, "F1 with 95 % interval", {"color": TEAL, "size": 10}))
    if weak:
        hollow = {"color": "rgba(0,0,0,0)", "size": 10, "line": {"color": GREY, "width": 2}}
        figure.add_trace(_dots(weak, "too few to assess", hollow, GREY))
    if none:
        figure.add_trace(
            go.Scatter(
                x=[BESIDE] * len(none),
                y=[literal(dot.name) for dot in none],
                mode="markers",
                name="undefined",
                marker={"symbol": "x-thin", "size": 9, "line": {"color": GREY, "width": 2}},
                hovertext=[lines(f"{dot.name}: undefined, {dot.figure.reason}") for dot in none],
                hoverinfo="text",
            )
        )
    if macro.value is not None:
        figure.add_vline(
            x=macro.value,
            line={"color": ORANGE, "dash": "dot", "width": 1.5},
            annotation={"text": f"macro-F1 {macro.value:.3f}", "yref": "paper", "y": 1.0, "yanchor": "bottom"},
        )
    figure.update_xaxes(range=[BESIDE - 0.03, 1.03], title="F1", tickformat=".1f", tickvals=[0, 0.2, 0.4, 0.6, 0.8, 1])
    return by_finding(figure, [dot.name for dot in dots])


def _dots(dots: Sequence[Dot], name: str, marker: Mapping[str, object], color: str = TEAL) -> go.Scatter:
    values = [dot.figure.value or 0.0 for dot in dots]
    highs = [dot.figure.high if dot.figure.high is not None else v for dot, v in zip(dots, values, strict=True)]
    lows = [dot.figure.low if dot.figure.low is not None else v for dot, v in zip(dots, values, strict=True)]
    return go.Scatter(
        x=values,
        y=[literal(dot.name) for dot in dots],
        mode="markers",
        name=name,
        marker=dict(marker),
        error_x={
            "type": "data",
            "symmetric": False,
            "array": [high - v for high, v in zip(highs, values, strict=True)],
            "arrayminus": [v - low for low, v in zip(lows, values, strict=True)],
            "color": color,
            "thickness": 1.5,
            "width": 3,
        },
        hovertext=[
            lines(f"{dot.name}: {v:.3f} ({low:.3f} to {high:.3f})", dot.note)
            for dot, v, low, high in zip(dots, values, lows, highs, strict=True)
        ],
        hoverinfo="text",
    )


def by_finding(figure: go.Figure, names: Sequence[str]) -> go.Figure:
    """Lay a figure out with a row per finding, first one on top, and return it."""
    figure.update_yaxes(
        categoryorder="array",
        categoryarray=[literal(name) for name in reversed(names)],
        tickfont={"size": 13},
        automargin=True,
        showgrid=True,
        ticks="",
        range=[-0.7, len(names) - 0.3],
    )
    return plain(figure, _ROW * len(names) + 112)


def plain(figure: go.Figure, height: int) -> go.Figure:
    """Give a figure its height, margins and legend, and return it."""
    figure.update_layout(
        height=height,
        margin=_MARGIN,
        font={"size": 13},
        legend={"orientation": "h", "yanchor": "bottom", "y": 1 + 26 / (height - 108), "x": 0, "xanchor": "left"},
        hoverlabel={"align": "left"},
    )
    return figure


@dataclass(frozen=True, slots=True)
class CellsOfFinding:
    """What the labeler said on one finding: counts by predicted state, where the reference has it and where not.

    ``right`` names the (reference side, state) pairs that count as right under the policy.
    """

    name: str
    present: Mapping[str, int]
    not_present: Mapping[str, int]
    right: frozenset[tuple[str, str]]


STATES = ("present", "uncertain", "absent", "not mentioned", "failed")


def confusion_heat(cells: Sequence[CellsOfFinding]) -> go.Figure:
    """Draw a row per finding: the predicted state where the reference says present, then where it says not present.

    Numbers are counts. The shade is the share of that side of the reference, teal where it counts as right under the
    policy and red where it counts as wrong.
    """
    used = [s for s in STATES if any(c.present.get(s) or c.not_present.get(s) for c in cells)] or list(STATES[:1])
    columns = [("present", s) for s in used] + [("not present", s) for s in used]
    shades, texts, hovers = [], [], []
    for cell in cells:
        sides = {"present": cell.present, "not present": cell.not_present}
        totals = {side: sum(counts.values()) for side, counts in sides.items()}
        shades.append([_shade(sides[side].get(s, 0), totals[side], (side, s) in cell.right) for side, s in columns])
        texts.append([str(sides[side].get(s, 0) or "") for side, s in columns])
        hovers.append(
            [
                lines(cell.name, f"reference {side}: {sides[side].get(s, 0)} of {totals[side]} said {s}")
                for side, s in columns
            ]
        )
    both = [[f"reference: {side}" for side, _ in columns], [s for _, s in columns]]
    figure = heat(
        both, [literal(cell.name) for cell in cells], shades, _RIGHT_AND_WRONG, span=(-1, 1), texts=texts, hovers=hovers
    )
    figure.update_layout(height=_ROW * len(cells) + 90, margin={"l": 8, "r": 8, "t": 64, "b": 8})
    return figure


def _shade(count: int, total: int, right: bool) -> float | None:
    if not count:
        return None
    share = math.sqrt(count / total)  # the root lets a few errors among hundreds be seen
    return share if right else -share


def expected_bars(counts: Mapping[str, float], few: int = TOO_FEW) -> go.Figure:
    """Draw how many positives to expect per finding; those under ``few``, which cannot be assessed, are grey."""
    ordered = sorted(counts.items(), key=lambda pair: -pair[1])
    figure = go.Figure(
        go.Bar(
            x=[count for _, count in ordered],
            y=[literal(name) for name, _ in ordered],
            orientation="h",
            marker={"color": [TEAL if count >= few else GREY for _, count in ordered]},
            text=[f"{count:.0f}" for _, count in ordered],
            textposition="outside",
            cliponaxis=False,
            hovertemplate="%{y}: about %{x:.0f} positives<extra></extra>",
        )
    )
    figure.add_vline(
        x=few,
        line={"color": ORANGE, "dash": "dot", "width": 1.5},
        annotation={
            "text": f"{few}: fewer cannot be assessed",
            "yref": "paper",
            "y": 1.0,
            "yanchor": "bottom",
            "xanchor": "left",
        },
    )
    figure.update_xaxes(title="reports expected to hold it")
    return by_finding(figure, [name for name, _ in ordered])
