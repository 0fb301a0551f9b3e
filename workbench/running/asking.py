"""Label reports in order by asking a language model, many at a time, in constant memory.

The reports that are in work are few, and so are those whose answer waits for that of an earlier one. Every answer is
written into a journal as it comes; what stands there is not asked for again. A report whose call brought no answer is
not written down, so that going on asks for it again as long as its part is not whole.
"""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Generator, Iterator, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256

from workbench.domain.findings import LabelSet
from workbench.domain.runs import Extraction, Failure, LabelerSettings, Usage
from workbench.errors import WorkbenchError
from workbench.labelers.base import Labeler
from workbench.models.base import CallError
from workbench.running import spending
from workbench.running.journal import Answer, Journal
from workbench.running.pool import Pool
from workbench.running.runner import outcome
from workbench.running.spending import Cap, Most
from workbench.storage.runs import usage_of

AHEAD = 10_000  # reports that may be answered before the one whose turn it is
_REMEMBERED = 50_000  # answers kept for equal texts

Row = tuple[str, str]
MakeLabeler = Callable[[Pool], Awaitable[Labeler]]


@dataclass(frozen=True, slots=True)
class Said:
    """What came of one text; ``is_reply`` where a model replied, which is paid for, so never asked for again."""

    answer: Answer
    is_reply: bool


async def said_of(labeler: Labeler, text: str, findings: Sequence[str]) -> Said:
    """Return what a labeler says of a text; whatever goes wrong with it stays with it.

    Raises:
        CallError: no text can be labelled any more.
    """
    found = await outcome(labeler, text)
    if isinstance(found, Failure):
        return Said(Answer(found.detail or "The labeler failed.", found.usage), is_reply=False)
    return Said(Answer(_read(found, findings), usage_of(found)), is_reply=True)


def _read(extraction: Extraction, findings: Sequence[str]) -> Sequence[int] | str:
    states = [state.code for finding in findings if (state := extraction.state(finding)) is not None]
    return states if len(states) == len(findings) else extraction.detail or f"It ended as {extraction.status}."


class Asking:
    """Labels rows by asking. To be used from a command, outside any event loop.

    ``labels`` yields (id, codes in label-set order) for each row in order, or (id, why there are none). Equal texts are
    asked for once, as long as it remembers them. When the pool stops, or the next report would pass the cap, nothing
    more is sent, what is in flight is waited for and written down, the rows answered so far are yielded, and then
    ``WorkbenchError`` says why. Whatever ends the iteration, the labeler is closed.

    Args:
        rows: (id, text).
        make: makes the labeler, whose calls go through the pool it is given. It is not called before there is a
            report to ask for.
        label_set: the findings.
        settings: of the labeler: how many in flight, and the price.
        journal: where answers are written down, and known from.
        first: the number of the first row in its source, as the journal counts.
        cap: what may be spent in all; see ``spending.refusal`` for how what is to come is estimated.
        spent: what was spent before, besides what the journal knows of.
        most: what one text may take at most; told before the labeler is made.
    """

    def __init__(
        self,
        rows: Iterator[Row],
        make: MakeLabeler,
        label_set: LabelSet,
        settings: LabelerSettings,
        journal: Journal,
        *,
        first: int = 0,
        cap: Cap | None = None,
        spent: Usage | None = None,
        most: Callable[[str], Most] = lambda _: Most(),
    ) -> None:
        self.usage = (spent or Usage()) + journal.usage
        self._rows = enumerate(rows, start=first)
        self._make, self._ids, self._settings, self._journal = make, label_set.ids, settings, journal
        self._cap, self._most = cap or Cap(), most
        self._pool = Pool(settings.concurrency)
        self._labeler: Labeler | None = None
        self._unmade: WorkbenchError | None = None  # why it could not be made
        self._making, self._alone = asyncio.Lock(), asyncio.Lock()
        self._changed, self._room = asyncio.Event(), asyncio.Event()
        self._workers: list[asyncio.Task[None]] = []
        self._answered: dict[int, tuple[str, Answer]] = {}
        self._remembered: dict[bytes, asyncio.Future[Said | None]] = {}
        self._head = self._next = first  # number of the next row to be yielded, and to be read
        self._back: deque[tuple[int, Row]] = deque()  # read, and for the next one who may send them
        self._flying: list[Most] = []
        self._stopped = ""
        self._yielded = Usage()

    def labels(self) -> Generator[tuple[str, Sequence[int] | str], None, None]:
        """Yield what is said of each row. To be called once, and closed."""
        with asyncio.Runner() as runner:
            try:
                while batch := runner.run(self._batch()):
                    for report, answer in batch:
                        self._yielded += answer.usage
                        yield report, answer.said
            finally:
                runner.run(self._close())

    def yielded_usage(self) -> Usage:
        """Return what the rows took that were yielded since this was last asked."""
        usage, self._yielded = self._yielded, Usage()
        return usage

    async def _batch(self) -> list[tuple[str, Answer]]:
        """Return the answers whose turn it is, at least one unless all are given."""
        if not self._workers:
            self._workers = [asyncio.create_task(self._work()) for _ in range(self._settings.concurrency)]
        while True:
            batch = []
            while (row := self._answered.pop(self._head, None)) is not None:
                batch.append(row)
                self._head += 1
            if batch:
                self._room.set()
                return batch
            if all(worker.done() for worker in self._workers):
                for worker in self._workers:
                    worker.result()
                if self._stopped:
                    raise WorkbenchError(self._stopped)
                return []
            self._changed.clear()
            await self._changed.wait()

    async def _close(self) -> None:
        for worker in self._workers:
            worker.cancel()
        await asyncio.gather(*self._workers, return_exceptions=True)
        if self._labeler is not None:
            await self._labeler.close()

    async def _work(self) -> None:
        try:
            while True:
                while self._next - self._head >= AHEAD:
                    self._room.clear()
                    await self._room.wait()
                if self._cap.set and not self.usage.replies:  # until one has told what a reply takes
                    async with self._alone:
                        more = await self._label_next()
                else:
                    more = await self._label_next()
                if not more:
                    return
        finally:
            asyncio.get_running_loop().call_soon(self._changed.set)  # when this one counts as done

    async def _label_next(self) -> bool:
        """Label the next row and return whether there was one and another may be sent."""
        self._stopped = self._stopped or self._pool.stopped
        if self._stopped or (taken := self._back.popleft() if self._back else next(self._rows, None)) is None:
            return False
        number, (report, text) = taken
        self._next = max(self._next, number + 1)
        answer = self._journal.take(number, report, text)
        if answer is None:
            expected = self._most(text) if self._cap.set else Most()
            if not self._may_send(expected):
                self._back.append(taken)
                return False
            said = await self._answer(text, expected)
            if said is None:
                return False
            answer = said.answer
            if said.is_reply:
                self._journal.add(number, report, text, answer)
        self._answered[number] = report, answer
        if number == self._head:
            self._changed.set()
        return True

    def _may_send(self, expected: Most) -> bool:
        why = spending.refusal(self._cap, self._settings.price, self.usage, [*self._flying, expected])
        if why and not self._flying:  # else what is in flight may leave room: whoever comes back last decides
            self._stopped = why
        return not why

    async def _answer(self, text: str, expected: Most) -> Said | None:
        """Return what is said of a text, None where nothing can be said of any text any more."""
        digest = sha256(text.encode("utf-8", "surrogatepass")).digest()
        known = self._remembered.get(digest)
        if known is not None:
            said = await asyncio.shield(known)
            return said and Said(replace(said.answer, usage=Usage()), is_reply=said.is_reply)
        mine = self._remembered[digest] = asyncio.get_running_loop().create_future()
        if len(self._remembered) > _REMEMBERED:
            del self._remembered[next(iter(self._remembered))]
        said = None
        self._flying.append(expected)
        try:
            said = await said_of(await self._made(), text, self._ids)
        except CallError as error:  # closed to every text, not to this one
            self._stopped = self._stopped or self._pool.stopped or str(error)
        finally:
            self._flying.remove(expected)
            mine.set_result(said)
            if said is None or not said.is_reply:  # another report of the same text may fare better
                self._remembered.pop(digest, None)
        if said:
            self.usage += said.answer.usage
        return said

    async def _made(self) -> Labeler:
        async with self._making:
            if self._unmade is not None:  # whoever waited meanwhile would only find out the same, after as long a wait
                raise self._unmade
            if self._labeler is None:
                try:
                    self._labeler = await self._make(self._pool)
                except WorkbenchError as error:
                    self._unmade = error
                    raise
            return self._labeler
