"""How fast a run goes: rates over the last half minute, so that a pause or a slower server shows at once."""

import time
from collections import deque
from collections.abc import Callable

_WINDOW = 30.0
_APART = 0.25  # seconds between marks, so that there are never many


class Speedometer:
    """Counts that only grow, and how fast they grew lately.

    Args:
        clock: seconds that only ever grow.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._marks: deque[tuple[float, int, int]] = deque([(clock(), 0, 0)])

    def mark(self, calls: int, ended: int) -> None:
        """Note how many calls have been sent and how many texts have ended since the start."""
        now = self._clock()
        if len(self._marks) > 1 and now - self._marks[-2][0] < _APART:
            self._marks.pop()
        self._marks.append((now, calls, ended))
        while len(self._marks) > 2 and now - self._marks[1][0] >= _WINDOW:
            self._marks.popleft()

    def rates(self) -> tuple[float | None, float | None]:
        """Return calls and texts per second over the last half minute, None for what did not grow."""
        (began, calls, ended), (now, calls_now, ended_now) = self._marks[0], self._marks[-1]
        seconds = now - began
        if seconds <= 0:
            return None, None
        return (calls_now - calls) / seconds or None, (ended_now - ended) / seconds or None
