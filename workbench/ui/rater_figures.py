"""Figures about raters: how each two agree, and where each stands against the vote of the others."""

from collections.abc import Sequence
from dataclasses import dataclass

import plotly.graph_objects as go

from workbench.evaluation.numbers import Figure
from workbench.ui.figures import ORANGE, TEAL

_MARGIN = {"l": 8, "r": 16, "t": 16, "b": 48}
_SCALE = [[0.0, "#efd5cd"], [0.5, "#dcebeb"], [1.0, TEAL]]


@dataclass(frozen=True, slots=True)
class Standing:
    """A rater against the vote of the others, and the model on the very same cells (None: no run is scored)."""

    name: str
    rater: Figure
    model: Figure | None


def kappa_heat(raters: Sequence[str], cells: Sequence[Sequence[Figure]]) -> go.Figure:
    """Draw one figure per pair of raters, [rater][rater]; what is undefined, the diagonal above all, stays empty."""
    values = [[cell.value for cell in row] for row in cells]
    figure = go.Figure(
        go.Heatmap(
            z=values,
            x=list(raters),
            y=list(raters),
            zmin=0,
            zmax=1,
            colorscale=_SCALE,
            showscale=False,
            xgap=2,
            ygap=2,
            text=[["" if value is None else f"{value:.2f}" for value in row] for row in values],
            texttemplate="%{text}",
            hovertemplate="%{y} and %{x}: %{z:.3f}<extra></extra>",
        )
    )
    figure.update_yaxes(autorange="reversed", automargin=True)
    figure.update_xaxes(side="top", automargin=True)
    figure.update_layout(height=90 + 42 * len(raters), margin=_MARGIN, font={"size": 13})
    return figure


def standing_dots(rows: Sequence[Standing]) -> go.Figure:
    """Draw each rater's macro-F1 against the vote of the others with its interval, the model's beside it."""
    figure = go.Figure()
    names = [row.name for row in rows]
    raters, models = [row.rater for row in rows], [row.model for row in rows]
    for label, color, symbol, values in (
        ("the rater", TEAL, "circle", raters),
        ("the model, on the same cells", ORANGE, "diamond", models),
    ):
        drawn = [(name, f) for name, f in zip(names, values, strict=True) if f is not None and f.value is not None]
        if not drawn:
            continue
        figure.add_trace(
            go.Scatter(
                x=[f.value for _, f in drawn],
                y=[name for name, _ in drawn],
                mode="markers",
                name=label,
                marker={"color": color, "symbol": symbol, "size": 10},
                error_x={
                    "type": "data",
                    "symmetric": False,
                    "array": [(f.high or 0) - (f.value or 0) if f.high is not None else 0 for _, f in drawn],
                    "arrayminus": [(f.value or 0) - (f.low or 0) if f.low is not None else 0 for _, f in drawn],
                    "color": color,
                    "thickness": 1.5,
                },
                hovertemplate="%{y}: %{x:.3f}<extra></extra>",
            )
        )
    figure.update_xaxes(title="macro-F1 against the vote of the others, 95 % interval", tickformat=".2f")
    figure.update_yaxes(categoryorder="array", categoryarray=names[::-1], automargin=True)
    figure.update_layout(
        height=140 + 40 * len(names),
        margin={**_MARGIN, "t": 44},
        font={"size": 13},
        legend={"orientation": "h", "yanchor": "bottom", "y": 1.02, "x": 0, "xanchor": "left"},
    )
    return figure
