"""One runner's hold on one run: it is taken, kept alive while things are saved, and given back."""

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from time import monotonic
from typing import TypeVar

from workbench.domain.runs import Extraction, ExtractionKey, ExtractionStatus, Failure, Pace, Run, Usage
from workbench.errors import ConflictError
from workbench.running import liveness
from workbench.storage import batches as batch_store
from workbench.storage import runs as run_store
from workbench.storage.database import Database
from workbench.storage.runs import Lease

_RETRY_SECONDS = 0.2

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Known:
    """What the database held of a run's keys when it was taken: how each ended, those without a reply apart."""

    statuses: dict[ExtractionKey, ExtractionStatus]
    failed: frozenset[ExtractionKey]
    usage: Usage
    waiting: Mapping[ExtractionKey, str]  # those that a batch may still answer, each with the hash of the batch's run


@asynccontextmanager
async def held(database: Database, run: Run, runner: str) -> AsyncIterator["Hold"]:
    """Hold a run as long as the block lasts; whatever ends the block, the run is given back.

    Raises:
        ConflictError: another runner works on this run; says who.
    """
    writer = ThreadPoolExecutor(max_workers=1, thread_name_prefix="save")  # waiting for the disk must not stop the loop
    hold = Hold(database, writer, run, runner)
    try:
        try:
            # Within the try: whatever ends this process right after the run was taken must still give it back.
            await hold.acquire()
            yield hold
        finally:
            await asyncio.shield(hold.release())
    finally:
        writer.submit(database.close)
        writer.shutdown()


class Hold:
    """One runner's hold on one run, and the thread that alone reads and writes for it. Made by ``held``."""

    def __init__(self, database: Database, writer: ThreadPoolExecutor, run: Run, runner: str) -> None:
        self.started_at: datetime | None = None
        self._database, self._writer, self._run, self._runner = database, writer, run, runner
        self._gone: tuple[Lease, float] | None = None  # of a process that is no more, and since when we know

    async def acquire(self) -> None:
        """Take the run. The run of a process that is known to be gone is waited for, which takes seconds."""
        while (holder := await self._in_writer(self._try_acquire)) != self._runner:
            if holder and not liveness.process_gone(holder):
                raise ConflictError(
                    f"This run is being worked on by {liveness.where(holder)}; wait for it, or stop that process first."
                )
            await asyncio.sleep(_RETRY_SECONDS)

    async def release(self) -> None:
        """Give the run back; one that another runner has taken over is left alone."""
        await self._in_writer(self._release)

    async def known(self, keys: Sequence[ExtractionKey]) -> Known:
        """Return what is saved of keys, each given once."""
        return await self._in_writer(lambda: self._known(keys))

    async def save(self, results: Iterable[tuple[ExtractionKey, Extraction | Failure]], pace: Pace) -> None:
        """Save results and show that this runner lives, in one transaction.

        Raises:
            ConflictError: another runner has taken the run over. Extractions are saved all the same: they are paid
                for, and a key that the other has saved already keeps its own.
        """
        extractions, failures = [], []
        for key, result in results:
            if isinstance(result, Failure):
                failures.append((key, result))
            else:
                extractions.append((key, result))
        await self._in_writer(lambda: self._save(extractions, failures, pace))

    async def write(self, act: Callable[[sqlite3.Connection], T]) -> T:
        """Return what ``act`` does in one transaction of its own."""

        def writing() -> T:
            with self._database.write() as conn:
                return act(conn)

        return await self._in_writer(writing)

    def _try_acquire(self) -> str | None:
        """Return who holds the run after the attempt. None: nobody does any more, so try again."""
        with self._database.write() as conn:
            holder = run_store.lease(conn, self._run.hash)
            self.started_at = datetime.now(UTC)
            after = liveness.stale_after(holder.runner) if holder else liveness.STALE_AFTER
            if holder and self._silent(holder):
                after = self.started_at - holder.heartbeat_at - timedelta.resolution  # its last beat counts as stale
            if run_store.acquire_lease(conn, self._run.hash, self._runner, self.started_at, after):
                return self._runner
        return holder.runner if holder else None

    def _silent(self, lease: Lease) -> bool:
        """Return whether the process of a lease is gone and has shown no life while we watched.

        Its heartbeat is by the wall clock, which may have been set back since, and then tells nothing for hours.
        """
        if not liveness.process_gone(lease.runner):
            self._gone = None
        elif self._gone is None or self._gone[0] != lease:
            self._gone = lease, monotonic()
        return self._gone is not None and monotonic() - self._gone[1] > liveness.GONE_AFTER.total_seconds()

    def _release(self) -> None:
        with self._database.write() as conn:
            run_store.release_lease(conn, self._run.hash, self._runner)

    def _known(self, keys: Sequence[ExtractionKey]) -> Known:
        with self._database.read() as conn:
            statuses, usage = run_store.outcomes(conn, keys)
            failed = frozenset(run_store.failures(conn, keys))
            waiting = batch_store.under_way(conn, (key for key in keys if key not in statuses))
            return Known(statuses, failed, usage, waiting)

    def _save(
        self,
        extractions: Sequence[tuple[ExtractionKey, Extraction]],
        failures: Sequence[tuple[ExtractionKey, Failure]],
        pace: Pace,
    ) -> None:
        with self._database.write() as conn:
            ours = run_store.heartbeat(conn, self._run.hash, self._runner, datetime.now(UTC), pace)
            run_store.save_extractions(conn, extractions)
            if ours:
                run_store.save_failures(conn, failures)
        if not ours:  # out here, so that what was paid for is kept
            raise ConflictError("Another runner has taken this run over; this one has stopped.")

    async def _in_writer(self, call: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._writer, call)
