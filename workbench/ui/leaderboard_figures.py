"""Pictures of a leaderboard from plain data: systems with intervals and bars of ties, and where each fails."""

from collections.abc import Sequence
from dataclasses import dataclass

import plotly.graph_objects as go

from workbench.evaluation.numbers import Figure
from workbench.text.widths import shortened
from workbench.ui.figures import GREY, ORANGE, RED, TEAL
from workbench.ui.heat_map import heat
from workbench.ui.ink import Scale
from workbench.ui.plot_text import lines as in_lines
from workbench.ui.plot_text import literal

SCALE: Scale = ((0.0, RED), (0.25, "#efd5cd"), (0.5, "#dcebeb"), (0.75, "#8cc3c6"), (1.0, TEAL))
_ROW = 34
_LONGEST = 40  # letters of a name beside a picture; the whole name is told on hover


@dataclass(frozen=True, slots=True)
class Line:
    """One system in a picture: its figure, its rank in words, and which bars of ties it stands under."""

    name: str
    figure: Figure
    rank: str
    ties: Sequence[bool]


@dataclass(frozen=True, slots=True)
class Square:
    """One system on one finding; the lines of ``note`` are told on hover."""

    figure: Figure | None
    note: str


def systems_with_intervals(lines: Sequence[Line], title: str) -> go.Figure:
    """Draw a row per system, first one on top: value with its interval, and at the right lines that mark those tied."""
    figure = go.Figure()
    names = [literal(line.name) for line in lines]
    known = [(name, line.figure) for name, line in zip(names, lines, strict=True) if line.figure.value is not None]
    values = [it.value or 0.0 for _, it in known]
    highs = [(it.high if it.high is not None else v) - v for (_, it), v in zip(known, values, strict=True)]
    lows = [v - (it.low if it.low is not None else v) for (_, it), v in zip(known, values, strict=True)]
    figure.add_trace(
        go.Scatter(
            x=values,
            y=[name for name, _ in known],
            mode="markers+text",
            marker={"color": TEAL, "size": 11},
            text=[f"{v:.3f}" for v in values],
            textposition="top center",
            error_x={
                "type": "data",
                "symmetric": False,
                "array": highs,
                "arrayminus": lows,
                "color": TEAL,
                "thickness": 1.8,
                "width": 5,
            },
            hovertext=[_told(name, it) for name, it in known],
            hoverinfo="text",
            showlegend=False,
        )
    )
    ends = [0.0, *values, *(v + h for v, h in zip(values, highs, strict=True))]
    low = min([0.0, *(v - w for v, w in zip(values, lows, strict=True))])
    span = max(ends) - low or 1.0
    bars = len(lines[0].ties) if lines else 0
    for bar in range(bars):
        under = [i for i, line in enumerate(lines) if line.ties[bar]]
        at = max(ends) + span * (0.06 + 0.03 * bar)
        figure.add_trace(
            go.Scatter(
                x=[at] * len(under),
                y=[names[i] for i in under],
                mode="lines+markers",
                line={"color": ORANGE, "width": 2},
                marker={"color": ORANGE, "size": 10, "symbol": "square"},
                hovertext=f"tied, their difference may be chance: {', '.join(names[i] for i in under)}",
                hoverinfo="text",
                showlegend=False,
            )
        )
    figure.update_xaxes(
        title=literal(title),
        range=[low - 0.03 * span, max(ends) + span * (0.1 + 0.03 * bars)],
        zeroline=True,
        zerolinecolor=GREY,
    )
    figure.update_yaxes(
        categoryorder="array",
        categoryarray=names[::-1],
        range=[-0.6, len(names) - 0.4],
        automargin=True,
        ticks="",
        tickfont={"size": 13},
        tickmode="array",
        tickvals=names,
        ticktext=[literal(f"{line.rank}  {shortened(line.name, _LONGEST)}".strip()) for line in lines],
    )
    figure.update_layout(height=_ROW * len(names) + 110, margin={"l": 8, "r": 8, "t": 12, "b": 48}, font={"size": 13})
    return figure


def _told(name: str, figure: Figure) -> str:
    interval = "" if figure.low is None or figure.high is None else f" ({figure.low:.3f} to {figure.high:.3f})"
    return f"{name}: {figure.value:.3f}{interval}, n {figure.n:,}"


def by_system_and_finding(
    findings: Sequence[tuple[str, str, int]], systems: Sequence[str], squares: Sequence[Sequence[Square]], *, few: int
) -> go.Figure:
    """Draw F1 of each system on each finding, the rarest finding left; a click hands over "system number finding id".

    Findings that fewer than ``few`` studies have are faded, and a line beneath says that they are too few to assess.

    Args:
        findings: (id, name, studies that have it) in the order of the columns.
        systems: their names, top first.
        squares: [system][finding].
        few: under so many studies a finding cannot be assessed.
    """
    values = [[square.figure.value if square.figure else None for square in row] for row in squares]
    rare = [n < few for _, _, n in findings]
    figure = heat(
        [literal(f"{name} ({n})") for _, name, n in findings],
        [literal(system) for system in systems],
        values,
        SCALE,
        span=(0, 1),
        texts=[["—" if v is None else f"{v:.2f}" for v in row] for row in values],
        hovers=[[in_lines(*square.note.splitlines()) for square in row] for row in squares],
        picks=[[f"{i} {finding}" for finding, _, _ in findings] for i in range(len(systems))],
        faint=rare,
    )
    if any(rare):
        _mark_rare(figure, sum(rare), few)
    rows = [literal(system) for system in systems]
    figure.update_yaxes(
        tickmode="array", tickvals=rows, ticktext=[literal(shortened(system, _LONGEST)) for system in systems]
    )
    figure.update_xaxes(tickangle=-45, tickfont={"size": 12}, automargin=True)
    figure.update_layout(height=_ROW * len(systems) + 212, margin={"l": 8, "r": 60, "t": 170, "b": 30})
    return figure


def _mark_rare(figure: go.Figure, columns: int, few: int) -> None:
    """Draw a bracket beneath the first columns that says that they are too few to assess."""
    beneath = {"yref": "paper", "ysizemode": "pixel", "yanchor": 0}
    ends = ((-0.45, columns - 0.55, -8, -8), (-0.45, -0.45, -8, -3), (columns - 0.55, columns - 0.55, -8, -3))
    for x0, x1, y0, y1 in ends:
        figure.add_shape(type="line", x0=x0, x1=x1, y0=y0, y1=y1, line={"color": GREY, "width": 1.5}, **beneath)
    figure.add_annotation(
        text=f"<i>faded: too few to assess, under {few} studies</i>",
        x=-0.45,
        y=0,
        yref="paper",
        yshift=-9,
        xanchor="left",
        yanchor="top",
        showarrow=False,
    )
