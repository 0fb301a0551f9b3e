"""Ask a language model about one thing after another, many at a time, under a cap, keeping each answer as it comes."""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from typing import Generic, TypeVar

from workbench.domain.runs import LabelerSettings, Usage
from workbench.models.base import CallError
from workbench.running import spending
from workbench.running.pool import Pool
from workbench.running.spending import Cap, Most

T = TypeVar("T")


class Gathering(Generic[T]):
    """Asks about each thing once.

    Args:
        todo: what is asked about.
        ask: asks about one and keeps what comes; returns what it took, none of it where no reply came. A ``CallError``
            means that nothing can be asked any more.
        pool: what the calls go through.
        settings: of the labeler: how many in flight, and the price.
        cap: what may be spent in all; see ``spending.refusal`` for how what is to come is estimated.
        spent: what was spent before.
        most: what one thing may take at most; the longest reply that the labeler allows when left out.
        on_done: called after each answer.
    """

    def __init__(
        self,
        todo: Sequence[T],
        ask: Callable[[T], Awaitable[Usage]],
        pool: Pool,
        settings: LabelerSettings,
        *,
        cap: Cap,
        spent: Usage,
        on_done: Callable[[], object],
        most: Callable[[T], Most] | None = None,
    ) -> None:
        self._todo = deque(todo)
        self._ask, self._pool, self._settings, self._cap = ask, pool, settings, cap
        self._usage, self._on_done = spent, on_done
        self._most = most or (lambda _: Most(output_tokens=settings.max_tokens))
        self._flying: list[Most] = []
        self._stopped = ""

    async def all(self) -> str:
        """Ask about everything, one by one until it is known what a reply takes where there is a cap.

        Returns:
            Why it stopped before the end, in a sentence; "" where it did not.
        """
        while self._cap.set and not self._usage.replies and await self._next():
            pass
        workers = [asyncio.create_task(self._work()) for _ in range(self._settings.concurrency)]
        try:
            await asyncio.gather(*workers)
        finally:
            for worker in workers:
                worker.cancel()
            await asyncio.gather(*workers, return_exceptions=True)
        return self._stopped

    async def _work(self) -> None:
        while await self._next():
            pass

    async def _next(self) -> bool:
        """Ask about the next thing; False where there is none, or no more may be sent."""
        if not self._todo:
            return False
        expected = self._most(self._todo[0]) if self._cap.set else Most()
        if not self._may_send(expected):
            return False
        thing = self._todo.popleft()
        self._flying.append(expected)
        try:
            took = await self._ask(thing)
        except CallError as error:  # closed to everything, not to this one
            self._stopped = self._stopped or self._pool.stopped or str(error)
            return False
        finally:
            self._flying.remove(expected)
        self._usage += took
        self._on_done()
        return True

    def _may_send(self, expected: Most) -> bool:
        self._stopped = self._stopped or self._pool.stopped
        if self._stopped:
            return False
        why = spending.refusal(self._cap, self._settings.price, self._usage, [*self._flying, expected])
        if why and not self._flying:  # else what is in flight may leave room: whoever comes back last decides
            self._stopped = why
        return not why
