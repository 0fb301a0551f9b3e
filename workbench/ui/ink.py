"""Which ink can be read on a coloured cell: black or white, by the cell's luminance."""

from collections.abc import Sequence
from typing import Final

BLACK: Final = "#000000"
WHITE: Final = "#ffffff"
Scale = Sequence[tuple[float, str]]
Colour = tuple[float, float, float]  # red, green and blue, 0 to 255


def rgb(colour: str) -> Colour:
    """Return red, green and blue of ``#rrggbb``, 0 to 255 each. Raises ValueError for anything else."""
    red, green, blue = bytes.fromhex(colour.removeprefix("#"))
    return float(red), float(green), float(blue)


def on_scale(scale: Scale, share: float) -> Colour:
    """Return the colour of a scale at a share of it, 0 to 1, as the plotting library mixes it: linearly.

    Args:
        scale: (share, ``#rrggbb``) from 0 to 1, ascending.
        share: what lies outside 0 to 1 has the colour of the nearer end.
    """
    at = min(max(share, 0.0), 1.0)
    before, after = scale[0], scale[-1]
    for stop in scale:
        if stop[0] <= at:
            before = stop
        if stop[0] >= at:
            after = stop
            break
    low, high = rgb(before[1]), rgb(after[1])
    part = 0.0 if after[0] == before[0] else (at - before[0]) / (after[0] - before[0])
    red, green, blue = (one + (other - one) * part for one, other in zip(low, high, strict=True))
    return red, green, blue


def luminance(colour: Colour) -> float:
    """Return the relative luminance, 0 (black) to 1 (white). Source: WCAG 2.2, "relative luminance"."""
    red, green, blue = (_linear(part / 255) for part in colour)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _linear(part: float) -> float:
    return part / 12.92 if part <= 0.04045 else float(((part + 0.055) / 1.055) ** 2.4)


def contrast(one: Colour, other: Colour) -> float:
    """Return the contrast ratio of two colours, 1 (the same) to 21 (black on white). Source: WCAG 2.2."""
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def ink_on(colour: Colour) -> str:
    """Return the ink, black or white, that stands out more on a colour: by 4.5 or more, whatever the colour."""
    return max((BLACK, WHITE), key=lambda ink: contrast(rgb(ink), colour))


def inks(scale: Scale, values: Sequence[float | None], low: float, high: float) -> list[str]:
    """Return the ink of each cell of a heat map whose colours run from ``low`` to ``high``; black for an empty one."""
    return [BLACK if v is None else ink_on(on_scale(scale, (v - low) / (high - low))) for v in values]
