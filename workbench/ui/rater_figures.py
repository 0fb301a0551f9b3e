"""Figures about raters: how far they agree on each finding, how each two do, and who says present more often."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

import plotly.graph_objects as go

from workbench.evaluation.numbers import Figure
from workbench.ui.figures import GREY, ORANGE, TEAL, VIOLET
from workbench.ui.heat_map import heat
from workbench.ui.ink import Scale
from workbench.ui.plot_text import lines, literal

_MARGIN = {"l": 8, "r": 16, "t": 16, "b": 48}
_KAPPA: Final[Scale] = ((0.0, "#efd5cd"), (0.5, "#dcebeb"), (1.0, TEAL))
_MORE_AND_LESS: Final[Scale] = ((0.0, VIOLET), (0.5, "#f1f3f2"), (1.0, ORANGE))
_LOOKS = ((TEAL, "circle"), (ORANGE, "diamond"), (VIOLET, "square"))
_ROW = 29  # pixels a finding takes with a line for each of three coefficients
_ABOVE, _BELOW = 88, 8  # pixels for legend and axes, and under the last finding
_GRID = "rgba(128,128,128,0.2)"  # seen on light and dark grounds, behind everything else
_APART = 0.24  # between them, as a share of the row


@dataclass(frozen=True, slots=True)
class AgreementOfFinding:
    """The coefficients of one finding by name; ``notes`` says more of some on hover, ``key`` is what a click picks."""

    name: str
    prevalence: Figure
    coefficients: Mapping[str, Figure]
    key: str = ""
    notes: Mapping[str, str] = field(default_factory=dict)


def agreement_dots(rows: Sequence[AgreementOfFinding]) -> go.Figure:
    """Draw each coefficient with its interval and beside it prevalence as a bar, the commonest finding on top.

    So that one sees where they part: rare findings are at the bottom. The axes are on top, since the picture is longer
    than a screen. A coefficient that is undefined has a cross left of where any can stand, with the reason on hover.
    """
    ordered = sorted(rows, key=lambda row: -(row.prevalence.value or 0.0))
    figure = go.Figure()
    names = list(ordered[0].coefficients) if ordered else []
    low = min([0.0, *(f.value if f.low is None else f.low for f in _defined(ordered) if f.value is not None)])
    for at, (coefficient, (color, symbol)) in enumerate(zip(names, _LOOKS, strict=False)):
        shift = (at - (len(names) - 1) / 2) * _APART
        figure.add_trace(_coefficient(ordered, coefficient, shift, {"color": color, "symbol": symbol}))
        figure.add_trace(_undefined(ordered, coefficient, shift, low - 0.05))
    figure.add_trace(_prevalence(ordered))
    ticks = [0.2 * i for i in range(-5, 6) if 0.2 * i >= low - 0.01]
    figure.update_layout(
        xaxis={"domain": [0, 0.85], "range": [low - 0.08, 1.03], "title": "agreement, 95 % interval"}
        | {"tickvals": ticks, "tickformat": ".1f", "side": "top", "showgrid": True, "gridcolor": _GRID},
        xaxis2={"domain": [0.88, 1], "title": "prevalence", "side": "top", "showgrid": False, "showticklabels": False}
        | {"range": [0, 1.75 * max([0.01, *(row.prevalence.value or 0.0 for row in ordered)])]},
        yaxis={"tickvals": list(range(len(ordered))), "ticktext": [literal(row.name) for row in ordered]}
        | {"range": [len(ordered) - 0.4, -0.6], "automargin": True, "tickfont": {"size": 13}, "ticks": ""}
        | {"zeroline": False},
        height=_ROW * len(ordered) + _ABOVE + _BELOW,
        margin={"l": 8, "r": 16, "t": _ABOVE, "b": _BELOW},
        font={"size": 13},
        legend={"orientation": "h", "yanchor": "top", "yref": "container", "y": 1.0, "x": 0, "xanchor": "left"},
        hoverlabel={"align": "left"},
        bargap=0.45,
    )
    return figure


def _defined(rows: Sequence[AgreementOfFinding]) -> list[Figure]:
    return [f for row in rows for f in row.coefficients.values() if f.defined]


def _coefficient(
    rows: Sequence[AgreementOfFinding], name: str, shift: float, marker: Mapping[str, object]
) -> go.Scatter:
    drawn = [(i, row, row.coefficients[name]) for i, row in enumerate(rows) if row.coefficients[name].defined]
    figures = [f for *_, f in drawn]
    return go.Scatter(
        x=[f.value for f in figures],
        y=[i + shift for i, *_ in drawn],
        mode="markers",
        name=name,
        marker={"size": 9, **marker},
        unselected={"marker": {"opacity": 1}},
        error_x=_whiskers(figures, str(marker["color"])),
        customdata=[row.key for _, row, _ in drawn],
        hovertext=[_told(row, name, f) for _, row, f in drawn],
        hoverinfo="text",
    )


def _undefined(rows: Sequence[AgreementOfFinding], name: str, shift: float, at: float) -> go.Scatter:
    none = [(i, row, row.coefficients[name]) for i, row in enumerate(rows) if not row.coefficients[name].defined]
    return go.Scatter(
        x=[at] * len(none),
        y=[i + shift for i, *_ in none],
        mode="markers",
        name=f"{name} undefined",
        showlegend=False,
        marker={"symbol": "x-thin", "size": 7, "line": {"color": GREY, "width": 2}},
        customdata=[row.key for _, row, _ in none],
        hovertext=[lines(f"{row.name}: {name} is undefined, {f.reason}") for _, row, f in none],
        hoverinfo="text",
    )


def _prevalence(rows: Sequence[AgreementOfFinding]) -> go.Bar:
    values = [row.prevalence.value for row in rows]
    return go.Bar(
        x=values,
        y=list(range(len(rows))),
        orientation="h",
        xaxis="x2",
        marker={"color": GREY},
        text=["" if v is None else f"{v:.1%}" for v in values],
        textposition="outside",
        cliponaxis=False,
        name="prevalence",
        showlegend=False,
        customdata=[row.key for row in rows],
        hovertext=[
            lines(f"{row.name}: {'no vote was given' if v is None else f'{v:.1%} of {row.prevalence.n:,} votes'}")
            for row, v in zip(rows, values, strict=True)
        ],
        hoverinfo="text",
        unselected={"marker": {"opacity": 1}},
    )


def _told(row: AgreementOfFinding, name: str, figure: Figure) -> str:
    interval = "" if figure.low is None or figure.high is None else f" ({figure.low:.3f} to {figure.high:.3f})"
    return lines(row.name, f"{name} {figure.value:.3f}{interval}", row.notes.get(name, ""))


def _whiskers(figures: Sequence[Figure], color: str) -> dict[str, object]:
    """Return error bars from each value to the ends of its interval, of no length where there is none."""
    return {
        "type": "data",
        "symmetric": False,
        "array": [0.0 if f.high is None or f.value is None else f.high - f.value for f in figures],
        "arrayminus": [0.0 if f.low is None or f.value is None else f.value - f.low for f in figures],
        "color": color,
        "thickness": 1.5,
        "width": 2,
    }


def kappa_heat(raters: Sequence[str], cells: Sequence[Sequence[Figure]]) -> go.Figure:
    """Draw one figure per pair of raters, [rater][rater]; what is undefined, the diagonal above all, stays empty.

    A click on a cell picks the names of its two raters, a tab between them.
    """
    values = [[cell.value for cell in row] for row in cells]
    hovers = [
        [_pair_told(row_of, column, cell) for column, cell in zip(raters, row, strict=True)]
        for row_of, row in zip(raters, cells, strict=True)
    ]
    names = [literal(rater) for rater in raters]
    figure = heat(
        names,
        names,
        values,
        _KAPPA,
        span=(0, 1),
        texts=[["" if value is None else f"{value:.2f}" for value in row] for row in values],
        hovers=hovers,
        picks=[[f"{row}\t{column}" for column in raters] for row in raters],
    )
    figure.update_xaxes(automargin=True)
    figure.update_layout(height=90 + 42 * len(raters), margin=_MARGIN, font={"size": 13})
    return figure


def _pair_told(row: str, column: str, cell: Figure) -> str:
    if row == column:
        return ""
    if cell.value is None:
        return lines(f"{row} and {column}: undefined, {cell.reason}")
    interval = "" if cell.low is None or cell.high is None else f" ({cell.low:.3f} to {cell.high:.3f})"
    return lines(f"{row} and {column}: {cell.value:.3f}{interval}")


@dataclass(frozen=True, slots=True)
class RateOfRater:
    """How often a rater says present on a finding, and by how much that is more often than the others do."""

    rate: Figure
    deviation: Figure


def rate_heat(
    raters: Sequence[str], findings: Sequence[tuple[str, str]], cells: Sequence[Sequence[RateOfRater]]
) -> go.Figure:
    """Draw by how many points of 100 each rater says present more often (orange) or less often (violet) than others.

    Points whose interval holds 0 are left out of the cell, since chance alone may have made them; hover tells them.

    Args:
        raters: the rows.
        findings: (id, name) of the columns.
        cells: [rater][finding]. A click on one picks the rater and the finding's id, a tab between them.
    """
    values = [[cell.deviation.value for cell in row] for row in cells]
    furthest = max([0.02, *(abs(v) for row in values for v in row if v is not None)])
    names = [name for _, name in findings]
    figure = heat(
        [literal(name) for name in names],
        [literal(rater) for rater in raters],
        values,
        _MORE_AND_LESS,
        span=(-furthest, furthest),
        texts=[[_points(cell.deviation) for cell in row] for row in cells],
        hovers=[
            [_rate_told(rater, name, cell) for name, cell in zip(names, row, strict=True)]
            for rater, row in zip(raters, cells, strict=True)
        ],
        picks=[[f"{rater}\t{finding}" for finding, _ in findings] for rater in raters],
    )
    figure.update_xaxes(side="bottom", tickangle=-40, automargin=True)
    figure.update_layout(height=190 + 34 * len(raters), margin={**_MARGIN, "b": 8}, font={"size": 13})
    return figure


def _points(deviation: Figure) -> str:
    if deviation.value is None or (
        deviation.low is not None and deviation.high is not None and deviation.low <= 0 <= deviation.high
    ):
        return ""
    return f"{100 * deviation.value:+.0f}" if abs(deviation.value) >= 0.005 else f"{100 * deviation.value:+.1f}"


def _rate_told(rater: str, name: str, cell: RateOfRater) -> str:
    if cell.rate.value is None:
        return lines(f"{rater}, {name}: {cell.rate.reason}")
    told = f"{rater}, {name}: says present in {cell.rate.value:.1%} of {cell.rate.n:,} reports"
    off = cell.deviation
    if off.value is None:
        return lines(told, off.reason)
    interval = "" if off.low is None or off.high is None else f" ({100 * off.low:+.1f} to {100 * off.high:+.1f})"
    return lines(told, f"{100 * off.value:+.1f} points{interval} beside the others on the same reports")


@dataclass(frozen=True, slots=True)
class Standing:
    """A rater against the vote of the others, and the model on the very same cells (None: no run is scored)."""

    name: str
    rater: Figure
    model: Figure | None


def standing_dots(rows: Sequence[Standing]) -> go.Figure:
    """Draw each rater's macro-F1 against the vote of the others with its interval, the model's beside it.

    The axis is on top, as in ``agreement_dots``. A click on a rater's dot picks the rater.
    """
    figure = go.Figure()
    for label, color, symbol, shift in (
        ("the rater", TEAL, "circle", -0.12),
        ("the model, on the same cells", ORANGE, "diamond", 0.12),
    ):
        figures = [row.rater if label == "the rater" else row.model for row in rows]
        drawn = [(i, f) for i, f in enumerate(figures) if f is not None and f.value is not None]
        if not drawn:
            continue
        figure.add_trace(
            go.Scatter(
                x=[f.value for _, f in drawn],
                y=[i + shift for i, _ in drawn],
                mode="markers",
                name=label,
                marker={"color": color, "symbol": symbol, "size": 10},
                unselected={"marker": {"opacity": 1}},
                error_x=_whiskers([f for _, f in drawn], color),
                customdata=[rows[i].name for i, _ in drawn],
                hovertext=[lines(f"{rows[i].name}, {label}: {_with_interval(f)}") for i, f in drawn],
                hoverinfo="text",
            )
        )
    figure.update_xaxes(
        title="macro-F1 against the vote of the others, 95 % interval",
        tickformat=".2f",
        side="top",
        showgrid=True,
        gridcolor=_GRID,
    )
    figure.update_yaxes(
        tickvals=list(range(len(rows))),
        ticktext=[literal(row.name) for row in rows],
        range=[len(rows) - 0.4, -0.6],
        automargin=True,
        zeroline=False,
    )
    figure.update_layout(
        height=_ABOVE + _BELOW + 40 * len(rows),
        margin={**_MARGIN, "t": _ABOVE, "b": _BELOW},
        font={"size": 13},
        legend={"orientation": "h", "yanchor": "top", "yref": "container", "y": 1.0, "x": 0, "xanchor": "left"},
    )
    return figure


def _with_interval(figure: Figure) -> str:
    interval = "" if figure.low is None or figure.high is None else f" ({figure.low:.3f} to {figure.high:.3f})"
    return f"{figure.value:.3f}{interval}"
