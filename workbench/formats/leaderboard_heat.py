"""Where each system fails, as SVG for a page that opens without a server: F1 by system and finding."""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from workbench.text.widths import shortened

UNDEFINED = "—"
# As on the page Leaderboard: red is worst, teal best. Black can be read on all of it (contrast 4.6 or more).
_SCALE = (
    (0.0, (197, 82, 74)),
    (0.25, (239, 213, 205)),
    (0.5, (220, 235, 235)),
    (0.75, (140, 195, 198)),
    (1.0, (47, 143, 151)),
)
_WIDE, _HIGH, _LEFT, _TOP = 46, 34, 216, 210
_LONGEST = 30  # letters of a system's name


@dataclass(frozen=True, slots=True)
class Cell:
    """A number with its interval and what it rests on; ``value`` None is undefined and ``note`` says why.

    With a value, ``note`` stands beneath it.
    """

    value: float | None
    low: float | None = None
    high: float | None = None
    n: int = 0
    note: str = ""


@dataclass(frozen=True, slots=True)
class Heat:
    """F1 by system and finding: ``findings`` are (name, studies that have it), the rarest first."""

    findings: Sequence[tuple[str, int]]
    values: Sequence[Sequence[Cell]]
    few: int


def heat_svg(heat: Heat, systems: Sequence[str]) -> str:
    """Return the heading, the explanation and the picture: a column per finding, the rarest left, a row per system."""
    rare = sum(n < heat.few for _, n in heat.findings)
    width = _LEFT + _WIDE * len(heat.findings) + 96
    height = _TOP + _HIGH * len(systems) + (34 if rare else 8)
    parts = [_finding(at, name, n, few=n < heat.few) for at, (name, n) in enumerate(heat.findings)]
    parts.append(f'<text class="count" x="{_LEFT - 8}" y="{_TOP - 8}" text-anchor="end">studies that have it</text>')
    for row, system in enumerate(systems):
        y = _TOP + _HIGH * row
        parts.append(
            f'<text class="name" x="{_LEFT - 8}" y="{y + _HIGH / 2 + 4:.0f}" text-anchor="end">'
            f"<title>{escape(system)}</title>{escape(shortened(system, _LONGEST))}</text>"
        )
        for at, ((name, n), cell) in enumerate(zip(heat.findings, heat.values[row], strict=True)):
            what = f"{system}, {name} ({n} {'study' if n == 1 else 'studies'})"
            parts.append(_square(_LEFT + _WIDE * at, y, cell, what, few=n < heat.few))
    if rare:
        parts.append(_bracket(rare, _TOP + _HIGH * len(systems), heat.few))
    about = "Each square is F1 of one finding, the rarest finding left: red is worst. Point at one for its interval."
    return (
        f'<h2>Where each system fails</h2><p>{about}</p><div class="wide"><svg class="heat" role="img" '
        f'viewBox="0 0 {width} {height}" width="{width}" height="{height}">'
        f"<title>F1 by system and finding</title>{''.join(parts)}</svg></div>"
    )


def _finding(at: int, name: str, n: int, *, few: bool) -> str:
    x, kind = _LEFT + _WIDE * at + _WIDE / 2, " few" if few else ""
    return (
        f'<text class="name{kind}" transform="translate({x:.0f} {_TOP - 26}) rotate(-45)">{escape(name)}</text>'
        f'<text class="count{kind}" x="{x:.0f}" y="{_TOP - 8}" text-anchor="middle">{n}</text>'
    )


def _bracket(columns: int, y: float, few: int) -> str:
    """Draw a bracket beneath the first columns that says that they are too few to assess."""
    left, right = _LEFT + 2, _LEFT + _WIDE * columns - 2
    return (
        f'<path class="bracket" d="M{left} {y + 4}v5H{right}v-5"/><text class="count few" x="{left}" y="{y + 25}">'
        f"faded: too few to assess, under {few} studies</text>"
    )


def _square(x: float, y: float, cell: Cell, what: str, *, few: bool) -> str:
    box = f'x="{x + 1:.0f}" y="{y + 1:.0f}" width="{_WIDE - 2}" height="{_HIGH - 2}" rx="3"'
    middle = f'x="{x + _WIDE / 2:.0f}" y="{y + _HIGH / 2 + 4:.0f}" text-anchor="middle"'
    if cell.value is None:
        told = f"{what}: {cell.note}"
        return (
            f'<g><title>{escape(told)}</title><rect {box} class="blank"/><text {middle} class="count">'
            f"{UNDEFINED}</text></g>"
        )
    red, green, blue = _colour(cell.value)
    # On the faded squares the ground shines through, light or dark, and so the ink is that of the page.
    drawn = ('fill-opacity="0.3"', 'class="rare"') if few else ("", 'fill="#000000"')
    told = f"{what}: F1 {cell.value:.3f}" + (f" ({interval_words(cell)})" if cell.low is not None else "")
    return (
        f"<g><title>{escape(told)}{', too few to assess' if few else ''}</title>"
        f'<rect {box} fill="#{red:02x}{green:02x}{blue:02x}" {drawn[0]}/>'
        f"<text {middle} {drawn[1]}>{cell.value:.2f}</text></g>"
    )


def _colour(value: float) -> tuple[int, int, int]:
    at = min(max(value, 0.0), 1.0)
    for (low, one), (high, other) in itertools.pairwise(_SCALE):
        if at <= high:
            part = (at - low) / (high - low)
            red, green, blue = (round(a + (b - a) * part) for a, b in zip(one, other, strict=True))
            return red, green, blue
    return _SCALE[-1][1]


def interval_words(cell: Cell) -> str:
    """Return an interval in words, "" where there is none."""
    return "" if cell.low is None or cell.high is None else f"{cell.low:.3f} to {cell.high:.3f}"
