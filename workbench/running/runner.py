"""Execute a run: label what is not labelled yet, so many at a time, and save as results come.

Everything is known by what it is (prompt, label set, labeler, text, repeat), so an attempt that was killed, refused or
stopped is simply executed again: what was saved is skipped, and at most what was in flight is asked for twice.
"""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from time import monotonic
from typing import TypeVar

from workbench.domain.hashing import text_hash
from workbench.domain.runs import Extraction, ExtractionKey, ExtractionStatus, Run, RunProgress
from workbench.errors import ConflictError, WorkbenchError
from workbench.labelers.base import Labeler
from workbench.running import liveness
from workbench.storage import runs as run_store
from workbench.storage.database import Database

SAVE_SECONDS = 0.25  # what costs nothing is saved in batches
_FREE = frozenset({"rules"})  # kinds for which asking again costs neither money nor a wait
_RETRY_SECONDS = 0.2

T = TypeVar("T")
OnProgress = Callable[[RunProgress], None]


def run_keys(run: Run, texts: Sequence[tuple[str, str]]) -> list[tuple[ExtractionKey, str]]:
    """Return the key and text of everything a run asks for, repeat by repeat in the order of ``texts``.

    Args:
        run: the run.
        texts: (report id, text of the selected sections); reports with the same text share a key.
    """
    hashed = [(text_hash(text), text) for _, text in texts]
    return [
        (ExtractionKey(run.prompt_hash, run.label_set_hash, run.labeler.hash, digest, repeat), text)
        for repeat in range(1, run.repeats + 1)
        for digest, text in hashed
    ]


async def execute(
    database: Database,
    run: Run,
    labeler: Labeler,
    texts: Sequence[tuple[str, str]],
    *,
    runner_id: str | None = None,
    on_progress: OnProgress | None = None,
) -> RunProgress:
    """Work on a run until every text has an extraction, and return how it stands then.

    Texts that already have one are skipped, equal texts are labelled once, at most ``run.labeler.concurrency`` are in
    flight or not yet saved; what the rules labeler does, which costs nothing, is saved every quarter of a second. Each
    saving is one transaction with the heartbeat, so that a runner that lost the run saves nothing. A text on which the
    labeler fails gets the status ``failed`` and the run goes on. Cancelling (Ctrl-C) saves what came and gives the run
    back.

    Args:
        database: where the run is recorded.
        run: the run.
        labeler: made for the run's prompt.
        texts: (report id, text of the selected sections).
        runner_id: names this process to others, "host:process id"; found out when left out.
        on_progress: called at the start, about four times a second, and at the end.

    Raises:
        ConflictError: another runner works on this run, or took it over.
    """
    writer = ThreadPoolExecutor(max_workers=1, thread_name_prefix="save")  # waiting for the disk must not stop the loop
    try:
        async with _leased(database, writer, run, liveness.runner_name(runner_id)) as session:
            await session.load(texts)
            session.tell(on_progress)
            try:
                await session.work(labeler, on_progress)
            finally:
                await asyncio.shield(session.save())
            session.tell(on_progress)
            return session.progress(alive=False)
    finally:
        writer.submit(database.close)
        writer.shutdown()


@asynccontextmanager
async def _leased(database: Database, writer: ThreadPoolExecutor, run: Run, runner: str) -> AsyncIterator["_Session"]:
    session = _Session(database, writer, run, runner)
    try:
        # Within the try: whatever ends this process right after the run was taken must still give it back.
        await session.acquire()
        yield session
    finally:
        await asyncio.shield(session.release())


@dataclass(slots=True)
class _Session:
    """One runner's hold on one run."""

    database: Database
    writer: ThreadPoolExecutor
    run: Run
    runner: str
    started_at: datetime | None = None
    wanted: Counter[ExtractionKey] = field(default_factory=Counter)  # reports per key
    pending: list[tuple[ExtractionKey, str]] = field(default_factory=list)
    counts: Counter[ExtractionStatus] = field(default_factory=Counter)  # reports per status
    unsaved: list[tuple[ExtractionKey, Extraction]] = field(default_factory=list)
    updated_at: datetime | None = None
    beat: float = field(default_factory=monotonic)
    saving: asyncio.Lock = field(default_factory=asyncio.Lock)
    quiet: asyncio.Event = field(default_factory=asyncio.Event)  # set while nothing is being saved

    def __post_init__(self) -> None:
        self.quiet.set()

    async def acquire(self) -> None:
        """Take the run. The run of a process that is known to be gone is waited for, which takes seconds."""
        while (holder := await self._in_writer(self._try_acquire)) != self.runner:
            if holder and not liveness.process_gone(holder):
                raise ConflictError(
                    f"This run is being worked on by {liveness.where(holder)}; wait for it, or stop that process first."
                )
            await asyncio.sleep(_RETRY_SECONDS)

    async def release(self) -> None:
        await self._in_writer(self._release)

    async def load(self, texts: Sequence[tuple[str, str]]) -> None:
        """Find out what is done and what is to do."""
        keyed = run_keys(self.run, texts)
        self.wanted = Counter(key for key, _ in keyed)
        known = await self._in_writer(lambda: self._statuses(list(self.wanted)))
        for key, status in known.items():
            self.counts[status] += self.wanted[key]
        self.pending = [(key, text) for key, text in dict(keyed).items() if key not in known]

    async def work(self, labeler: Labeler, on_progress: OnProgress | None) -> None:
        """Label what is pending, saving and showing life meanwhile."""
        todo = iter(self.pending)  # shared: each worker takes the next
        workers = {asyncio.create_task(self._label(labeler, todo)) for _ in range(self.run.labeler.concurrency)}
        try:
            busy = workers
            while busy:
                done, busy = await asyncio.wait(busy, timeout=SAVE_SECONDS, return_when=asyncio.FIRST_EXCEPTION)
                for worker in done:
                    worker.result()
                if self.unsaved or monotonic() - self.beat >= liveness.BEAT_SECONDS:
                    await asyncio.shield(self.save())
                self.tell(on_progress)
        finally:
            for worker in workers:
                worker.cancel()
            await asyncio.gather(*workers, return_exceptions=True)

    async def save(self) -> None:
        """Save all that has come, and say that this runner lives. When it returns, nothing that came before is unsaved:
        who has to wait for another's saving finds its own result saved by it.
        """
        async with self.saving:
            results, self.unsaved = self.unsaved, []
            if not results and monotonic() - self.beat < liveness.BEAT_SECONDS:
                return
            self.beat = monotonic()
            self.quiet.clear()
            try:
                await self._in_writer(lambda: self._commit(results))
            finally:
                self.quiet.set()
            self.updated_at = datetime.now(UTC)
            for key, extraction in results:
                self.counts[extraction.status] += self.wanted[key]

    def progress(self, *, alive: bool) -> RunProgress:
        """Return how far the run has come, by what is saved."""
        failed = {s.value: n for s, n in self.counts.items() if s is not ExtractionStatus.OK}
        return RunProgress(self.wanted.total(), self.counts.total(), failed, alive, self.started_at, self.updated_at)

    def tell(self, on_progress: OnProgress | None) -> None:
        """Report progress to whoever asked for it."""
        if on_progress is not None:
            on_progress(self.progress(alive=True))

    async def _label(self, labeler: Labeler, todo: Iterator[tuple[ExtractionKey, str]]) -> None:
        costs = self.run.labeler.kind not in _FREE
        for key, text in todo:
            extraction = await _extraction(labeler, text, key.repeat)
            self.unsaved.append((key, extraction))  # not in one line with await: save() exchanges the list meanwhile
            if costs:
                await asyncio.shield(self.save())
                continue
            await asyncio.sleep(0)  # a labeler that only computes would let nothing else run
            # It would also fight the saving thread for the interpreter row by row, and hold up raters' saving.
            await self.quiet.wait()

    def _try_acquire(self) -> str | None:
        """Return who holds the run after the attempt. None: nobody does any more, so try again."""
        with self.database.write() as conn:
            held = run_store.lease(conn, self.run.hash)
            after = liveness.stale_after(held.runner) if held else liveness.STALE_AFTER
            self.started_at = datetime.now(UTC)
            if run_store.acquire_lease(conn, self.run.hash, self.runner, self.started_at, after):
                return self.runner
        return held.runner if held else None

    def _release(self) -> None:
        with self.database.write() as conn:
            run_store.release_lease(conn, self.run.hash, self.runner)

    def _statuses(self, keys: Sequence[ExtractionKey]) -> dict[ExtractionKey, ExtractionStatus]:
        with self.database.read() as conn:
            return run_store.statuses(conn, keys)

    def _commit(self, results: Sequence[tuple[ExtractionKey, Extraction]]) -> None:
        with self.database.write() as conn:
            if not run_store.heartbeat(conn, self.run.hash, self.runner, datetime.now(UTC)):
                raise ConflictError("Another runner has taken this run over; this one has stopped.")
            run_store.save_extractions(conn, results)

    async def _in_writer(self, call: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self.writer, call)


async def _extraction(labeler: Labeler, text: str, repeat: int) -> Extraction:
    """Return the extraction of a text; whatever goes wrong with it stays with it."""
    try:
        return await labeler.label(text, repeat)
    except WorkbenchError as error:
        return Extraction(ExtractionStatus.FAILED, detail=str(error))
    except Exception as error:  # noqa: BLE001 - one report must not end the run for all others
        # The message of a foreign exception may quote the report, and details end up in logs: its name only.
        return Extraction(ExtractionStatus.FAILED, detail=f"The labeler failed with {type(error).__name__}.")
