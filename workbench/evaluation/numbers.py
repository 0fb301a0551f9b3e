"""The one form in which every number leaves this room: a value, how many it rests on, and why it may be undefined."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Figure:
    """A number fit to be printed, or the reason why there is none.

    ``value`` None means undefined and ``reason`` says why; it is never 0 or NaN instead. ``n`` is what the value rests
    on: reports for a proportion, findings for a mean over findings. ``low`` and ``high`` are the 95 % interval, or
    both None where there is none; ``reason`` may then say why.

    Raises:
        ValueError: a number is not finite, an undefined figure has no reason or has an interval, or one end of the
            interval is missing.
    """

    value: float | None
    n: int
    low: float | None = None
    high: float | None = None
    reason: str = ""

    def __post_init__(self) -> None:
        """Refuse what could be printed as a number without being one."""
        if any(number is not None and not math.isfinite(number) for number in (self.value, self.low, self.high)):
            raise ValueError(f"a figure must be finite or None: {self}")
        if (self.low is None) != (self.high is None):
            raise ValueError(f"an interval has two ends: {self}")
        if self.value is None and (not self.reason or self.low is not None):
            raise ValueError(f"an undefined figure has a reason and no interval: {self}")

    @property
    def defined(self) -> bool:
        """Return whether there is a value."""
        return self.value is not None

    def as_json(self) -> dict[str, object]:
        """Return the JSON form; every field is there, so that readers need no defaults."""
        return {"value": self.value, "n": self.n, "low": self.low, "high": self.high, "reason": self.reason}

    @classmethod
    def from_json(cls, value: Mapping[str, object]) -> "Figure":
        """Read what ``as_json`` wrote; the figure is equal to the one that was written."""
        return cls(
            value=_number(value["value"]),
            n=int(str(value["n"])),
            low=_number(value["low"]),
            high=_number(value["high"]),
            reason=str(value["reason"]),
        )


def _number(value: object) -> float | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError(f"a figure's number was expected, not {value!r}")
    return float(value)


def undefined(reason: str, n: int = 0) -> Figure:
    """Return a figure without a value."""
    return Figure(None, n, reason=reason)


def ratio(numerator: float, denominator: float, n: int, reason: str) -> Figure:
    """Return numerator / denominator, undefined for ``reason`` where the denominator is 0."""
    return undefined(reason, n) if denominator == 0 else Figure(float(numerator) / float(denominator), n)


def mean_of_defined(figures: Sequence[Figure], reason: str) -> Figure:
    """Return the plain mean of the figures that are defined, ``n`` being how many; undefined where none is."""
    values = [figure.value for figure in figures if figure.value is not None]
    return Figure(math.fsum(values) / len(values), len(values)) if values else undefined(reason)
