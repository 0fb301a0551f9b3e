"""Execute a run: label what is not labelled yet, so many at a time, and save as results come.

Everything is known by what it is (prompt, label set, labeler, text, repeat), so an attempt that was killed, refused or
stopped is simply executed again: what was saved is skipped, and at most what was in flight is asked for twice. A text
is in flight until what came of it is saved, so ``concurrency`` bounds both together.
"""

import asyncio
from collections import Counter, deque
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from time import monotonic
from typing import TypeVar

from workbench.domain.hashing import short, text_hash
from workbench.domain.runs import (
    Extraction,
    ExtractionKey,
    ExtractionStatus,
    Failure,
    Pace,
    Run,
    RunProgress,
    Usage,
)
from workbench.errors import RightsError, WorkbenchError
from workbench.labelers.base import Labeler
from workbench.models.base import CallError, Trouble
from workbench.running import liveness, spending
from workbench.running.holding import Hold, held
from workbench.running.pace import Speedometer
from workbench.running.pool import Pool, StoppedError
from workbench.running.spending import Cap, Most
from workbench.storage import runs as run_store
from workbench.storage.database import Database
from workbench.storage.runs import usage_of

T = TypeVar("T")

SAVE_SECONDS = 0.25  # what costs nothing is saved in batches
_FREE = frozenset({"rules"})  # kinds for which asking again costs neither money nor a wait
_OTHER = "error"  # trouble that was no call's

OnProgress = Callable[[RunProgress], None]


def run_keys(run: Run, texts: Sequence[tuple[str, str]]) -> list[tuple[ExtractionKey, str]]:
    """Return the key and text of everything a run asks for, repeat by repeat in the order of ``texts``.

    Args:
        run: the run.
        texts: (report id, text of the selected sections); reports with the same text share a key.
    """
    prompt, labels, labeler = run.prompt_hash, run.label_set_hash, run.labeler.hash
    hashed = [(text_hash(text), text) for _, text in texts]
    return [
        (ExtractionKey(prompt, labels, labeler, digest, repeat), text)
        for repeat in range(1, run.repeats + 1)
        for digest, text in hashed
    ]


async def execute(
    database: Database,
    run: Run,
    labeler: Labeler,
    texts: Sequence[tuple[str, str]],
    *,
    pool: Pool | None = None,
    cap: Cap | None = None,
    runner_id: str | None = None,
    on_progress: OnProgress | None = None,
) -> RunProgress:
    """Work on a run until every text has an extraction or has been tried, and return how it stands then.

    Texts that already have an extraction or that a batch may still answer are skipped, equal texts are labelled once,
    at most ``run.labeler.concurrency`` are in flight or not yet saved; what the rules labeler does, which is free,
    is saved every quarter of a second. Each saving is one transaction with the heartbeat. A runner that lost the run to
    another saves what it was answered, which is paid for, and stops. A text on which the labeler fails is recorded as
    a failure and the run goes on; executing the run again asks for it again, after those that were never asked.
    Cancelling (Ctrl-C) saves what came and gives the run back.

    Where the pool stops or the next text would pass the cap, nothing more is sent, what is in flight is waited for
    and saved, and ``stopped`` of what is returned says why.

    Args:
        database: where the run is recorded.
        run: the run.
        labeler: made for the run's prompt.
        texts: (report id, text of the selected sections).
        pool: what the labeler's calls go through, if they go through one.
        cap: what the run may take in all, what was saved before included; see ``spending.refusal`` for how what is
            still to come is estimated. Until one reply has told what replies take, texts are sent one by one.
        runner_id: names this process to others, "host:process id"; found out when left out.
        on_progress: called at the start, about four times a second, and at the end.

    Raises:
        ConflictError: another runner works on this run, or took it over.
    """
    async with held(database, run, liveness.runner_name(runner_id)) as hold:
        limit = Cap() if cap is None or run.labeler.kind in _FREE else cap
        session = _Session(hold, run, labeler, pool or Pool(run.labeler.concurrency), limit)
        await session.load(texts)
        session.tell(on_progress)
        try:
            await session.work(on_progress)
        finally:
            await asyncio.shield(session.save())
        session.say_what_waits()
        session.tell(on_progress)
        return session.progress(alive=False)


def refusal_at_once(
    database: Database, run: Run, texts: Sequence[tuple[str, str]], cap: Cap, most: Callable[[str], Most]
) -> str:
    """Return why not even the first text that is left may be sent under a cap; "" where it may, or where none is left.

    For whoever is about to ask the server something else before: that is shorter than any report with its prompt.
    """
    keyed = dict(run_keys(run, texts))
    with database.read() as conn:
        statuses, usage = run_store.outcomes(conn, keyed)
    left = next((text for key, text in keyed.items() if key not in statuses), None)
    return "" if left is None else spending.refusal(cap, run.labeler.price, usage, [most(left)])


@dataclass(slots=True)
class _Session:
    """The work of one runner on one run."""

    hold: Hold
    run: Run
    labeler: Labeler
    pool: Pool
    cap: Cap
    wanted: Counter[ExtractionKey] = field(default_factory=Counter)  # reports per key
    pending: list[tuple[ExtractionKey, str]] = field(default_factory=list)
    counts: Counter[ExtractionStatus] = field(default_factory=Counter)  # reports per status
    failed: set[ExtractionKey] = field(default_factory=set)  # those among the counted that brought no reply
    waiting: Mapping[ExtractionKey, str] = field(default_factory=dict)  # for a batch, and of which run that is
    unsaved: list[tuple[ExtractionKey, Extraction | Failure]] = field(default_factory=list)
    usage: Usage = field(default_factory=Usage)
    flying: list[Most] = field(default_factory=list)  # what each text in flight may take
    ended: int = 0  # texts, in this session
    stopped: str = ""
    updated_at: datetime | None = None
    beat: float = field(default_factory=monotonic)
    speed: Speedometer = field(default_factory=Speedometer)
    saving: asyncio.Lock = field(default_factory=asyncio.Lock)
    quiet: asyncio.Event = field(default_factory=asyncio.Event)  # set while nothing is being saved

    def __post_init__(self) -> None:
        self.quiet.set()

    async def load(self, texts: Sequence[tuple[str, str]]) -> None:
        """Find out what is done and what is to do."""
        keyed = run_keys(self.run, texts)
        self.wanted = Counter(key for key, _ in keyed)
        known = await self.hold.known(list(self.wanted))
        for key, status in known.statuses.items():
            self.counts[status] += self.wanted[key]
        for key in known.failed:
            self.counts[ExtractionStatus.FAILED] += self.wanted[key]
        self.failed = set(known.failed)
        self.usage = known.usage
        self.waiting = known.waiting
        todo = [(k, text) for k, text in dict(keyed).items() if k not in known.statuses and k not in known.waiting]
        self.pending = sorted(todo, key=lambda pair: pair[0] in known.failed)  # what failed before comes last

    async def work(self, on_progress: OnProgress | None) -> None:
        """Label what is pending, saving and showing life meanwhile."""
        todo = deque(self.pending)  # shared: each worker takes the next
        workers = {asyncio.create_task(self._first_alone(todo))} if self.cap.set else set()
        try:
            await self._watch(workers, on_progress)
            workers = {asyncio.create_task(self._label(todo)) for _ in range(self.run.labeler.concurrency)}
            await self._watch(workers, on_progress)
        finally:
            for worker in workers:
                worker.cancel()
            await asyncio.gather(*workers, return_exceptions=True)

    async def _watch(self, workers: set[asyncio.Task[None]], on_progress: OnProgress | None) -> None:
        busy = workers
        while busy:
            done, busy = await asyncio.wait(busy, timeout=SAVE_SECONDS, return_when=asyncio.FIRST_EXCEPTION)
            for worker in done:
                worker.result()
            if self.unsaved or monotonic() - self.beat >= liveness.BEAT_SECONDS:
                await asyncio.shield(self.save())
            self.tell(on_progress)

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
                await self.hold.save(results, self.pace())
            finally:
                self.quiet.set()
            self.updated_at = datetime.now(UTC)
            for key, result in results:
                self._count(key, result)

    def pace(self) -> Pace:
        """Return how this runner gets on."""
        self.speed.mark(self.pool.calls, self.ended)
        calls, texts = self.speed.rates()
        left = len(self.pending) - self.ended
        until = self.pool.paused_until
        return Pace(
            calls=self.pool.calls,
            in_flight=len(self.flying),
            per_second=calls,
            seconds_left=left / texts + self.pool.pause_left if texts else None,
            paused_until=until,
            paused_why=self.pool.paused_why if until else "",
        )

    def progress(self, *, alive: bool) -> RunProgress:
        """Return how far the run has come, by what is saved."""
        price = self.run.labeler.price
        return RunProgress(
            self.wanted.total(),
            self.counts.total(),
            {s.value: n for s, n in self.counts.items() if s is not ExtractionStatus.OK and n},
            alive,
            self.hold.started_at,
            self.updated_at,
            self.usage,
            spending.cost(self.usage, price),
            spending.forecast(self.usage, price, len(self.pending) - self.ended),
            self.pace() if alive else None,
            self.stopped or self.pool.stopped,
            sum(self.wanted[key] for key in self.failed),
        )

    def say_what_waits(self) -> None:
        """Say that the run is not at its end where a batch may still answer some of it."""
        if self.waiting and not self.stopped:
            runs = ", ".join(sorted({short(run) for run in self.waiting.values()}))
            self.stopped = (
                f"{len(self.waiting):,} reports wait for a batch that was handed over, so they were not asked by call; "
                f"collect it with `workbench run --resume {runs}`."
            )

    def tell(self, on_progress: OnProgress | None) -> None:
        """Report progress to whoever asked for it."""
        if on_progress is not None:
            on_progress(self.progress(alive=True))

    async def _first_alone(self, todo: deque[tuple[ExtractionKey, str]]) -> None:
        """Label one text after the other until it is known what a reply takes, so that a cap can be kept."""
        while not self.usage.replies:
            before = self.ended
            await self._label(todo, most=1)
            if self.ended == before:
                return

    async def _label(self, todo: deque[tuple[ExtractionKey, str]], most: int | None = None) -> None:
        """Label texts of those that are to do until there are none, or ``most`` of them, or no more may be sent."""
        costs = self.run.labeler.kind not in _FREE
        while most is None or most > 0:
            most = None if most is None else most - 1
            if not todo:
                return
            expected = spending.most_of(self.labeler, todo[0][1]) if self.cap.set else Most()
            if not self._may_send(expected):
                return
            key, text = todo.popleft()
            result = await self._ask(key, text, expected)
            if result is None:
                return
            self._take(key, result)  # not in one line with await: save() exchanges the list meanwhile
            if costs:
                await asyncio.shield(self.save())
                continue
            await asyncio.sleep(0)  # a labeler that only computes would let nothing else run
            # It would also fight the saving thread for the interpreter row by row, and hold up raters' saving.
            await self.quiet.wait()

    def _may_send(self, expected: Most) -> bool:
        self.stopped = self.stopped or self.pool.stopped
        if self.stopped:
            return False
        why = spending.refusal(self.cap, self.run.labeler.price, self.usage, [*self.flying, expected])
        if why and not self.flying:  # else what is in flight may leave room: whoever comes back last decides
            self.stopped = why
        return not why

    async def _ask(self, key: ExtractionKey, text: str, expected: Most) -> Extraction | Failure | None:
        """Return what came of a text; None where the run has stopped, so that nothing can be said of it."""
        self.flying.append(expected)
        try:
            return await outcome(self.labeler, text, key.repeat)
        except CallError as error:  # closed to every text, not to this one
            self.stopped = self.stopped or self.pool.stopped or str(error)
            return None
        finally:
            self.flying.remove(expected)  # or one that is equal, which is the same

    def _take(self, key: ExtractionKey, result: Extraction | Failure) -> None:
        self.ended += 1
        self.unsaved.append((key, result))
        self.usage += usage_of(result) if isinstance(result, Extraction) else result.usage

    def _count(self, key: ExtractionKey, result: Extraction | Failure) -> None:
        """Count a text by what is saved of it now; what healed no longer counts as failed."""
        if key in self.failed:
            self.counts[ExtractionStatus.FAILED] -= self.wanted[key]
            self.failed.discard(key)
        if isinstance(result, Failure):
            self.failed.add(key)
        status = ExtractionStatus.FAILED if isinstance(result, Failure) else result.status
        self.counts[status] += self.wanted[key]


async def outcome(labeler: Labeler, text: str, repeat: int = 1) -> Extraction | Failure:
    """Return the extraction of a text; whatever goes wrong with it stays with it.

    Raises:
        CallError: no text can be labelled any more.
    """
    extraction = await answer_or_failure(lambda: labeler.label(text, repeat), "labeler")
    if isinstance(extraction, Extraction) and extraction.status is ExtractionStatus.FAILED:
        return Failure(_OTHER, extraction.detail)
    return extraction


async def answer_or_failure(ask: Callable[[], Awaitable[T]], who: str) -> T | Failure:
    """Return what ``ask`` brings, or why it brought nothing; ``who`` is asked, in a word.

    Raises:
        CallError: nothing can be asked any more.
    """
    try:
        return await ask()
    except CallError as error:
        if error.trouble is Trouble.CLOSED:
            raise
        return Failure(error.trouble.value, str(error), error.calls, error.usage or Usage())
    except RightsError as error:  # the server may not be asked, whatever the text
        raise StoppedError(str(error)) from error
    except WorkbenchError as error:
        return Failure(_OTHER, str(error))
    except Exception as error:  # noqa: BLE001 - one report must not end the run for all others
        # The message of a foreign exception may quote the report, and details end up in logs: its name only.
        return Failure(_OTHER, f"The {who} failed with {type(error).__name__}.")
