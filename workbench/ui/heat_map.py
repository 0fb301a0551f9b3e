"""Heat maps whose numbers can be read on every colour, and whose cells can be clicked."""

from collections.abc import Sequence

import plotly.graph_objects as go

from workbench.ui.ink import BLACK, Scale, inks, rgb

_FAINT = "#dfe3e1"  # what the colours of faint columns are mixed with
_FAINTNESS = 0.65


def heat(
    columns: Sequence[str] | Sequence[Sequence[str]],
    rows: Sequence[str],
    values: Sequence[Sequence[float | None]],
    scale: Scale,
    *,
    span: tuple[float, float],
    texts: Sequence[Sequence[str]],
    hovers: Sequence[Sequence[str]],
    picks: Sequence[Sequence[str]] | None = None,
    faint: Sequence[bool] = (),
) -> go.Figure:
    """Draw a heat map, first row on top, each cell's text in the ink that can be read on its colour.

    Names and hovers may hold Plotly's marks, such as line breaks; what others wrote goes through ``plot_text`` first.

    Args:
        columns: the columns' names, or two lists of them for names in two levels.
        rows: the rows' names.
        values: [row][column]; None leaves a cell empty.
        scale: the colours.
        span: the values that have the first and the last of them.
        texts: [row][column] what stands in a cell.
        hovers: [row][column] what is told on hover.
        picks: [row][column] what a click on a cell hands over; without it cells cannot be clicked.
        faint: [column] which columns are drawn faded and their text in italics; without it none.
    """
    levels = [list(columns)] if all(isinstance(name, str) for name in columns) else [list(c) for c in columns]
    n_columns = len(levels[0])
    across = [level * len(rows) for level in levels]
    pale = list(faint) or [False] * n_columns
    figure = go.Figure()
    for of_pale in (False, True) if any(pale) else (False,):
        figure.add_trace(
            go.Heatmap(
                z=[[v if p == of_pale else None for v, p in zip(row, pale, strict=True)] for row in values],
                x=levels if len(levels) > 1 else levels[0],
                y=list(rows),
                text=[list(row) for row in texts],
                hovertext=[list(row) for row in hovers],
                hoverinfo="text" if picks is None else "skip",
                colorscale=[list(stop) for stop in (fainter(scale) if of_pale else scale)],
                zmin=span[0],
                zmax=span[1],
                showscale=False,
                xgap=2,
                ygap=2,
            )
        )
    scales = [fainter(scale) if of_pale else scale for of_pale in pale] * len(rows)
    flat = [v for row in values for v in row]
    figure.add_trace(
        go.Scatter(
            x=across if len(across) > 1 else across[0],
            y=[row for row in rows for _ in range(n_columns)],
            mode="text" if picks is None else "markers+text",
            text=[
                f"<i>{text}</i>" if of_pale else text for row in texts for text, of_pale in zip(row, pale, strict=True)
            ],
            textfont={"color": [inks(of, [v], *span)[0] for of, v in zip(scales, flat, strict=True)]},
            # Markers that nobody sees, since cells of a heat map cannot be clicked.
            marker={"symbol": "square", "size": 22, "color": "rgba(0,0,0,0)"},
            # Naming an ink for what is clicked keeps the others from fading.
            selected={"textfont": {"color": BLACK}},
            hovertext=[text for row in hovers for text in row],
            hoverinfo="skip" if picks is None else "text",
            customdata=None if picks is None else [pick for row in picks for pick in row],
            showlegend=False,
        )
    )
    figure.update_xaxes(side="top", showgrid=False, range=[-0.5, n_columns - 0.5])
    figure.update_yaxes(range=[len(rows) - 0.5, -0.5], automargin=True, ticks="", showgrid=False, tickfont={"size": 13})
    return figure


def fainter(scale: Scale) -> Scale:
    """Return a scale of the same colours, faded."""
    mixed = []
    for share, colour in scale:
        pairs = zip(rgb(colour), rgb(_FAINT), strict=True)
        red, green, blue = (round(own + (pale - own) * _FAINTNESS) for own, pale in pairs)
        mixed.append((share, f"#{red:02x}{green:02x}{blue:02x}"))
    return tuple(mixed)
