"""How far metrics tell apart errors that matter from other words, as an SVG picture: one row per kind of edit."""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from textwrap import wrap

_LEFT, _PANEL, _GAP, _ROW, _TOP, _BOTTOM = 190, 200, 24, 24, 64, 26
_NOTED_GAP = 52  # where something stands beside a dot
_CLASSES = ".head {font-weight: 600} .note {font-size: 10px}"
_LINE, _LETTER = 18, 6.6  # height of a line of text, and the width of a letter at most in the mean
_INK, _GRID, _TEXT = "#2f8f97", "#dde3e3", "#1f2d2d"


@dataclass(frozen=True, slots=True)
class Dot:
    """The probability of one metric for one kind of edit, with its interval; None where it is undefined.

    ``note`` stands at the right of its panel.
    """

    value: float | None
    low: float | None = None
    high: float | None = None
    note: str = ""


@dataclass(frozen=True, slots=True)
class Row:
    """A kind of edit, one dot per metric; ``header`` starts a group and has no dots."""

    name: str
    dots: tuple[Dot, ...] = ()
    header: bool = False


def trust_svg(metrics: Sequence[str], rows: Sequence[Row], *, title: str, below: str, notes: Sequence[str] = ()) -> str:
    """Return the picture: a panel per metric from 0 to 1, a dashed line at 0.5, where a metric is of no use.

    ``below`` and then ``notes`` stand under it, each from a new line.
    """
    gap = _NOTED_GAP if any(dot.note for row in rows for dot in row.dots) else _GAP
    step = _PANEL + gap
    width = _LEFT + len(metrics) * step
    bottom = _TOP + len(rows) * _ROW
    told = [line for text in (below, *notes) for line in wrap(text, int((width - 24) / _LETTER))]
    height = bottom + _BOTTOM + _LINE * len(told)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img">',
        f"<style>text {{font: 12px sans-serif; fill: {_TEXT}}} {_CLASSES}</style>",
        f"<title>{escape(title)}</title>",
        f'<rect width="{width}" height="{height}" fill="#ffffff"/>',
        f'<text x="12" y="22" class="head">{escape(title)}</text>',
        *(f'<text x="12" y="{bottom + 34 + _LINE * at}">{escape(line)}</text>' for at, line in enumerate(told)),
    ]
    for number, name in enumerate(metrics):
        left = _LEFT + number * step
        parts.append(f'<text x="{left}" y="{_TOP - 20}" class="head">{escape(name)}</text>')
        for tick in (0, 0.5, 1):
            x = left + tick * _PANEL
            dash = ' stroke-dasharray="5 4"' if tick == 0.5 else ""
            colour = "#666666" if dash else _GRID
            parts.append(f'<path d="M{x:.1f} {_TOP - 6}V{bottom}" stroke="{colour}"{dash}/>')
            parts.append(f'<text x="{x:.1f}" y="{bottom + 14}" text-anchor="middle">{tick:g}</text>')
    for at, row in enumerate(rows):
        parts += _row(row, _TOP + (at + 0.5) * _ROW, step)
    return "\n".join([*parts, "</svg>", ""])


def _row(row: Row, y: float, step: int) -> list[str]:
    head = ' class="head"' if row.header else ""
    parts = [f'<text x="12" y="{y + 4:.1f}"{head}>{escape(row.name)}</text>']
    for number, dot in enumerate(row.dots):
        left = _LEFT + number * step
        if dot.note:
            parts.append(f'<text x="{left + _PANEL + 6}" y="{y + 4:.1f}" class="note">{escape(dot.note)}</text>')
        if dot.value is None:
            parts.append(f'<text x="{left + _PANEL / 2}" y="{y + 4:.1f}" text-anchor="middle">–</text>')
            continue
        if dot.low is not None and dot.high is not None:
            low, high = (left + end * _PANEL for end in (dot.low, dot.high))
            parts.append(f'<path d="M{low:.1f} {y:.1f}H{high:.1f}" stroke="{_INK}" stroke-width="3"/>')
        parts.append(f'<circle cx="{left + dot.value * _PANEL:.1f}" cy="{y:.1f}" r="4.5" fill="{_INK}"/>')
    return parts
