"""Ask a language model about one thing after another, many at a time, under a cap, keeping each answer as it comes."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Sequence
from typing import Generic, TypeVar

from workbench.domain.runs import LabelerSettings, Usage
from workbench.models.base import CallError
from workbench.running import spending
from workbench.running.pool import Pool
from workbench.running.spending import Cap

T = TypeVar("T")


class Gathering(Generic[T]):
    """Asks about each thing once.

    Args:
        todo: what is asked about.
        ask: asks about one and keeps what comes; returns what it took, none of it where no reply came. A ``CallError``
            means that nothing can be asked any more.
        pool: what the calls go through.
        settings: of the labeler: how many in flight, and the price.
        cap: what may be spent in all.
        spent: what was spent before.
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
    ) -> None:
        self._todo: Iterator[T] = iter(todo)
        self._ask, self._pool, self._settings, self._cap = ask, pool, settings, cap
        self._usage, self._on_done = spent, on_done
        self._in_flight = 0
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
        if not self._may_send() or (thing := next(self._todo, None)) is None:
            return False
        self._in_flight += 1
        try:
            took = await self._ask(thing)
        except CallError as error:  # closed to everything, not to this one
            self._stopped = self._stopped or self._pool.stopped or str(error)
            return False
        finally:
            self._in_flight -= 1
        self._usage += took
        self._on_done()
        return True

    def _may_send(self) -> bool:
        if not self._stopped:
            self._stopped = self._pool.stopped or spending.refusal(
                self._cap, self._settings.price, self._usage, self._in_flight
            )
        return not self._stopped
