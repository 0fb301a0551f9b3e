"""A run whose reports are handed over in batches: written down, submitted, looked after, collected.

A batch is written down with all that it asks before it is handed over. Whatever ends this process in between, the next
one asks the provider whether it has the batch, and hands it over only where it has not. What comes of it goes into the
same extractions as answers to calls, which are unique, so nothing that was collected is collected twice.
"""

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from workbench.domain.runs import Extraction, ExtractionKey, Failure, Pace, Run, Usage
from workbench.errors import InputError
from workbench.labelers.registry import Batching
from workbench.models.base import CallError, Completion, Constraint, Trouble
from workbench.models.batches import NO_ANSWER, BatchAnswer, BatchState, Sought
from workbench.models.probe import patiently
from workbench.running import batch_requests, liveness
from workbench.running.batch_requests import Estimate, Sorted
from workbench.running.holding import Hold, held
from workbench.running.runner import run_keys
from workbench.running.spending import Cap
from workbench.storage import batches as store
from workbench.storage import runs as run_store
from workbench.storage.batches import BatchRecord, Told
from workbench.storage.database import Database

_TOGETHER = 500  # answers saved in one transaction
_UNKNOWN = 404
_UNDECIDED = frozenset({Trouble.CONNECTION, Trouble.SERVER})  # it may have arrived all the same

MakeBatching = Callable[[Constraint | None], Batching]
Result = Extraction | Failure


@dataclass(frozen=True, slots=True)
class Collected:
    """What one look after a run's batches brought, in reports' texts."""

    submitted: int = 0  # handed over now
    answered: int = 0  # answers that are saved now, usable or not
    failed: int = 0  # requests that brought none
    notes: tuple[str, ...] = ()  # what else is to be told, in sentences


async def look_after(
    database: Database,
    run: Run,
    make: MakeBatching,
    texts: Sequence[tuple[str, str]],
    *,
    actor: str,
    submit: bool = False,
    cancel: bool = False,
    constraint: Constraint | None = None,
    cap: Cap | None = None,
    runner_id: str | None = None,
) -> Collected:
    """Collect what has come of a run's batches and, with ``submit``, hand over whatever is not answered.

    A report that a batch may still answer, of this run or another, is handed over in no second one. What a batch
    brought no answer to counts as a call that failed: the next ``submit`` asks for it again. A reply that cannot be
    used stays as it is: nothing is sent back to be mended.

    Args:
        database: where the run is recorded.
        run: the run.
        make: makes what hands batches over, for one way of holding replies to their form.
        texts: (report id, text of the selected sections).
        actor: who is told to have done it.
        submit: whether anything may be handed over.
        cancel: whether what is under way is to end early; what was answered by then is collected.
        constraint: how the server holds replies to their form now.
        cap: what the run may take in all.
        runner_id: names this process to others.

    Raises:
        ConflictError: another process works on this run.
        InputError: what is to be handed over would pass the cap.
        CallError: the provider does not answer or takes no batch.
    """
    async with held(database, run, liveness.runner_name(runner_id)) as hold, _beating(hold):
        keeper = _Keeper(hold, run, make, dict(run_keys(run, texts)), actor)
        try:
            await keeper.recover(submit=submit)
            if cancel:
                await keeper.cancel()
            await keeper.collect()
            if submit:
                await keeper.submit(constraint, cap or Cap())
        finally:
            await keeper.close()
        return keeper.done


@asynccontextmanager
async def _beating(hold: Hold) -> AsyncIterator[None]:
    """Show life as long as the block lasts: a file that takes minutes to be carried over must not look like death."""

    async def beat() -> None:
        while True:
            await hold.save((), Pace())
            await asyncio.sleep(liveness.BEAT_SECONDS)

    beating = asyncio.create_task(beat())
    try:
        yield
    finally:
        beating.cancel()
        await asyncio.gather(beating, return_exceptions=True)


class _Keeper:
    """Looks after the batches of one run."""

    def __init__(
        self, hold: Hold, run: Run, make: MakeBatching, texts: Mapping[ExtractionKey, str], actor: str
    ) -> None:
        self.done = Collected()
        self._hold, self._run, self._make, self._texts, self._actor = hold, run, make, texts, actor
        self._made: dict[Constraint | None, Batching] = {}

    async def close(self) -> None:
        for batching in self._made.values():
            await batching.server.close()

    async def recover(self, *, submit: bool) -> None:
        """Find out what became of batches that were written down and not told of: a process ended in between."""
        for batch in await self._open():
            if batch.provider_id:
                continue
            known = await self._hold.write(store.provider_ids)
            sought = Sought(batch.token, batch.requests, batch.at, known)
            batching = self._batching(_constraint(batch))
            found = await patiently(batching.server.find, sought)
            if found is not None:
                await self._event(batch.id, store.SUBMITTED, _told(found))
            elif submit:
                await self._send(batch)
            else:
                await self._event(batch.id, store.DROPPED, Told())
                self._note("A batch had not reached the provider; run it again to hand it over.")

    async def collect(self) -> None:
        """Save what has come of the batches that have ended."""
        for batch in await self._open():
            if not batch.provider_id:
                continue
            server = self._batching(_constraint(batch)).server
            state = await patiently(server.state, batch.provider_id)
            told = _told(state)
            if (told.state, told.answered, told.failed) != (batch.state, batch.answered, batch.failed):
                await self._event(batch.id, store.TOLD, told)
            if state.ended:
                await self._collect(batch, state)

    async def cancel(self) -> None:
        """Have the batches end early. One that its provider does not know is given up."""
        for batch in await self._open():
            if not batch.provider_id:
                continue
            server = self._batching(_constraint(batch)).server
            try:
                state = await patiently(server.cancel, batch.provider_id)
            except CallError as error:
                if error.status != _UNKNOWN:
                    raise
                await self._event(batch.id, store.DROPPED, Told(batch.provider_id, batch.state))
                self._note(f"The provider does not know the batch {batch.provider_id} any more, so it is given up.")
            else:
                await self._event(batch.id, store.TOLD, _told(state))

    async def submit(self, constraint: Constraint | None, cap: Cap) -> None:
        """Hand over all that is neither answered nor under way."""
        known = await self._hold.known(list(self._texts))
        taken = known.statuses.keys() | known.waiting.keys()
        todo = [(key, text) for key, text in self._texts.items() if key not in taken]
        # Aside, since writing out many thousands takes long enough for this runner to look dead.
        found = await asyncio.to_thread(batch_requests.sort_out, self._batching(constraint), self._run, todo)
        await self._hold.save(found.unsent, Pace())
        reply = batch_requests.reply_tokens(self._run.labeler, known.usage)
        await self._require_within(cap, found, reply)
        for portion in found.portions:
            new = portion.new(constraint or Constraint.TEXT, reply or 0)
            number = await self._hold.write(
                lambda conn, new=new, portion=portion: store.plan(  # type: ignore[misc]
                    conn, self._run.hash, new, portion.keys, actor=self._actor, at=datetime.now(UTC)
                )
            )
            await self._send(next(batch for batch in await self._open() if batch.id == number))

    async def _require_within(self, cap: Cap, found: Sorted, reply: int | None) -> None:
        if not cap.set or not found.portions:
            return
        if reply is None:
            raise InputError(
                f"Nobody can tell what a batch of {self._run.labeler.name} would take at most, so no cap can be kept: "
                "give the labeler max_tokens in data/study.toml, or leave the cap out. Nothing was handed over."
            )
        known = await self._hold.known(list(self._texts))
        coming = [(p.input_tokens, reply * len(p.keys)) for p in found.portions]
        coming += [(batch.input_tokens, batch.output_tokens) for batch in await self._open()]
        estimates: list[Estimate] = [batch_requests.estimate(self._run.labeler.price, *pair) for pair in coming]
        batch_requests.require_within(cap, self._run.labeler, known.usage, estimates)

    async def _send(self, batch: BatchRecord) -> None:
        """Hand over a batch that is written down. One that its provider does not take is dropped."""
        batching = self._batching(_constraint(batch))
        pairs = await self._asked(batch)
        try:
            state = await patiently(
                lambda: batching.server.submit(batch_requests.encoded_requests(batching, self._run, pairs), batch.token)
            )
        except CallError as error:
            if error.trouble in _UNDECIDED:
                told = "the same command finds out whether the batch arrived, and hands it over if it has not"
                raise CallError(f"{error} Do the same again later: {told}.", error.trouble) from None
            await self._event(batch.id, store.DROPPED, Told())
            told = "No batch was made; where a server takes none, --batch-file writes a file for its own tool"
            raise CallError(f"{error} {told}.", error.trouble) from None
        await self._event(batch.id, store.SUBMITTED, _told(state))
        self.done = replace(self.done, submitted=self.done.submitted + len(pairs))

    async def _collect(self, batch: BatchRecord, state: BatchState) -> None:
        batching = self._batching(_constraint(batch))
        asked = dict(batch_requests.by_name(self._run, await self._asked(batch)))
        missing, failures, strange = dict(asked), list[tuple[ExtractionKey, Result]](), 0
        ready: list[tuple[ExtractionKey, Result]] = []
        if not state.why:
            async for answer in batching.server.answers(state.id):
                if missing.pop(answer.id, None) is None:
                    strange += answer.id not in asked
                    continue
                key, text = asked[answer.id]
                result = outcome(batching, answer, text, batch=state.id)
                (failures if isinstance(result, Failure) else ready).append((key, result))
                if len(ready) >= _TOGETHER:
                    ready = await self._save(ready)
        if strange and len(missing) == len(asked):  # one that only looked like ours, taken up when ours was sought
            await self._event(batch.id, store.DROPPED, _told(state))
            self._note(f"The batch {state.id} is somebody else's; what was meant by it is asked again.")
            return
        failures += [(key, Failure(Trouble.SERVER.value, state.why or NO_ANSWER)) for key, _ in missing.values()]
        await self._save(ready)
        await self._over(batch, state, failures)
        if strange:
            self._note(f"The batch {state.id} held {strange} answers to nothing that was asked; they were left out.")
        if state.why:
            self._note(state.why)

    async def _over(
        self, batch: BatchRecord, state: BatchState, failures: Sequence[tuple[ExtractionKey, Result]]
    ) -> None:
        """Close a batch, and with it keep what brought no answer: once, whoever else collects the same."""
        now = datetime.now(UTC)
        failed = [(key, result) for key, result in failures if isinstance(result, Failure)]
        told = _told(state)

        def close(conn: sqlite3.Connection) -> bool:
            news = store.add_event(conn, batch.id, store.COLLECTED, told, actor=self._actor, at=now)
            if news:
                run_store.save_failures(conn, failed, now)
            return news

        if await self._hold.write(close):
            self.done = replace(self.done, failed=self.done.failed + len(failed))

    async def _save(self, ready: list[tuple[ExtractionKey, Result]]) -> list[tuple[ExtractionKey, Result]]:
        await self._hold.save(ready, Pace())
        self.done = replace(self.done, answered=self.done.answered + len(ready))
        return []

    async def _asked(self, batch: BatchRecord) -> list[tuple[ExtractionKey, str]]:
        """Return the keys and texts of a batch."""
        asked = await self._hold.write(lambda conn: set(store.requests(conn, batch.id)))
        return [(key, text) for key, text in self._texts.items() if (key.text_hash, key.repeat) in asked]

    async def _open(self) -> list[BatchRecord]:
        known = await self._hold.write(lambda conn: store.of_run(conn, self._run.hash))
        return [batch for batch in known if not batch.over]

    async def _event(self, number: int, event: str, told: Told) -> None:
        now = datetime.now(UTC)
        await self._hold.write(lambda conn: store.add_event(conn, number, event, told, actor=self._actor, at=now))

    def _batching(self, constraint: Constraint | None) -> Batching:
        if constraint not in self._made:
            self._made[constraint] = self._make(constraint)
        return self._made[constraint]

    def _note(self, sentence: str) -> None:
        self.done = replace(self.done, notes=(*self.done.notes, sentence))


def outcome(batching: Batching, answer: BatchAnswer, text: str, *, batch: str) -> Result:
    """Return what one answer of a batch amounts to: the same as that to a call would, but that none is mended."""
    result = answer.result
    if isinstance(result, Completion):
        return replace(batching.labeler.read(result, text), batch=batch)
    try:
        return batching.labeler.turned_away(result, text)
    except CallError as error:
        return Failure(error.trouble.value, str(error), usage=_in_batch(error.usage or Usage()))


def _in_batch(usage: Usage) -> Usage:
    u = usage
    return replace(
        usage,
        batch_input_tokens=u.input_tokens,
        batch_output_tokens=u.output_tokens,
        batch_cached_tokens=u.cached_tokens,
        batch_written_tokens=u.written_tokens,
    )


def _constraint(batch: BatchRecord) -> Constraint:
    return Constraint(batch.constraint)


def _told(state: BatchState) -> Told:
    return Told(state.id, state.state, state.answered, state.failed)
