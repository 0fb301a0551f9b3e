"""A line with intervals as an SVG file for a manuscript: no drawing library, any size without loss."""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

_WIDTH, _HEIGHT = 640, 360
_LEFT, _RIGHT, _TOP, _BOTTOM = 56, 16, 16, 84


@dataclass(frozen=True, slots=True)
class Point:
    """A point of the line: its name below the axis, value and ends of its interval, each from 0 to 1."""

    name: str
    value: float
    low: float | None = None
    high: float | None = None


def line_svg(points: Sequence[Point], levels: Sequence[tuple[str, float]], *, title: str, below: str) -> str:
    """Return the picture: points in order with intervals, joined, and dashed levels named under it.

    Args:
        points: what is drawn, at equal distances.
        levels: name and value (0 to 1) of lines across.
        title: names the line and the picture.
        below: names the axis.
    """
    wide = _WIDTH - _LEFT - _RIGHT

    def x(at: int) -> float:
        return _LEFT + wide * (at + 0.5) / max(1, len(points))

    def y(value: float) -> float:
        return _TOP + (_HEIGHT - _TOP - _BOTTOM) * (1 - value)

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img">',
        "<style>text {font: 12px sans-serif}</style>",
        f"<title>{escape(title)}</title>",
        f'<rect width="{_WIDTH}" height="{_HEIGHT}" fill="#ffffff"/>',
    ]
    for tick in (0, 0.2, 0.4, 0.6, 0.8, 1):
        parts.append(f'<path d="M{_LEFT} {y(tick):.1f}H{_WIDTH - _RIGHT}" stroke="#dde3e3"/>')
        parts.append(f'<text x="{_LEFT - 8}" y="{y(tick) + 4:.1f}" text-anchor="end">{tick:.1f}</text>')
    for at, (name, value) in enumerate(levels):
        dash = ("7 5", "2 4")[at % 2]
        parts.append(
            f'<path d="M{_LEFT} {y(value):.1f}H{_WIDTH - _RIGHT}" stroke="#666666" stroke-dasharray="{dash}"/>'
        )
        left, low = _LEFT + at * 260, _HEIGHT - 10
        parts.append(f'<path d="M{left} {low - 4}h30" stroke="#666666" stroke-dasharray="{dash}"/>')
        parts.append(f'<text x="{left + 36}" y="{low}">{escape(name)}</text>')
    joined = " ".join(f"{x(i):.1f},{y(p.value):.1f}" for i, p in enumerate(points))
    parts.append(f'<polyline points="{joined}" fill="none" stroke="#2f8f97" stroke-width="2"/>')
    for i, point in enumerate(points):
        if point.low is not None and point.high is not None:
            ends = f"M{x(i):.1f} {y(point.low):.1f}V{y(point.high):.1f}"
            parts.append(f'<path d="{ends}" stroke="#2f8f97" stroke-width="1.5"/>')
        parts.append(f'<circle cx="{x(i):.1f}" cy="{y(point.value):.1f}" r="4.5" fill="#2f8f97"/>')
        parts.append(
            f'<text x="{x(i):.1f}" y="{_HEIGHT - _BOTTOM + 18}" text-anchor="middle">{escape(point.name)}</text>'
        )
    parts.append(
        f'<text x="{_LEFT + wide / 2}" y="{_HEIGHT - _BOTTOM + 38}" text-anchor="middle">{escape(below)}</text>'
    )
    parts.append(f'<path d="M{_LEFT} {_HEIGHT - 32}h30" stroke="#2f8f97" stroke-width="2"/>')
    parts.append(f'<text x="{_LEFT + 36}" y="{_HEIGHT - 28}">{escape(title)}</text></svg>')
    return "\n".join(parts) + "\n"
