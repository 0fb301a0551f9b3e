"""Calls to one server: so many at a time, a pause for all when it is busy, and how often what is asked again."""

import asyncio
import random
import time
from collections import Counter, deque
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

from workbench.domain.runs import Usage
from workbench.models.base import CallError, Completion, Message, Model, Trouble

Clock = Callable[[], float]
Sleep = Callable[[float], Awaitable[None]]

_AGAIN = "Nothing that was answered is lost: go on with the same run later."
_SPREAD = 1.0  # seconds over which those who were told the same moment come back


@dataclass(frozen=True, slots=True)
class Patience:
    """How often is asked again and how long is waited; times in seconds.

    A call is made at most ``tries`` times where the server fails or the connection is lost, and turned away at most
    ``busy_tries`` times, so it is sent at most ``tries + busy_tries - 1`` times in all.
    """

    tries: int = 5
    busy_tries: int = 12
    first_wait: float = 1.0
    longest_wait: float = 60.0
    next_ahead: float = 2.0  # after a pause one more goes ahead each time so long, however slow the answers are
    longest_pause: float = 600.0  # where a server asks for more, the run stops instead
    given_up: int = 20  # calls in a row that brought nothing stop the run
    never_answered: int = 3  # and so do so many where the server has not answered once

    @property
    def most_calls(self) -> int:
        """Return how often one call is sent at most."""
        return self.tries + self.busy_tries - 1

    def backoff(self, times: int, chance: float) -> float:
        """Return how long to wait after trouble number ``times`` (from 1): doubled each time, with jitter.

        Args:
            times: how often it has been in vain.
            chance: from [0, 1); the wait is between a half and the whole of what it would be without jitter.
        """
        whole = min(self.first_wait * 2.0 ** min(times - 1, 30), self.longest_wait)
        return whole * (1 + chance) / 2


class StoppedError(CallError):
    """The pool makes no more calls; this one was not made."""

    def __init__(self, sentence: str) -> None:
        super().__init__(sentence, Trouble.CLOSED)
        self.calls = 0


class Pool:
    """All calls of this process to one server.

    At most ``concurrency`` are in flight. When the server says it is busy, nothing more is sent for as long as it
    asks, at least; the longest it asked for holds, whatever is said by replies to calls that were sent before. After
    the pause one call goes ahead, and with each answer (or each two seconds) one more, up to half of what was in
    flight before the pause; from there the number grows by one for each round that brings no such reply. Who waits is
    served in turn.

    Where asking again cannot help, ``stopped`` says why in a sentence, and whatever would be sent then raises
    ``StoppedError``; what is in flight is let end. Waiting is done by a clock that nobody can set back.

    Args:
        concurrency: how many calls are in flight at most.
        patience: how often what is asked again.
        clock: seconds that only ever grow.
        sleep: waits so many seconds of that clock.
        chance: random numbers from [0, 1).
    """

    def __init__(
        self,
        concurrency: int,
        patience: Patience | None = None,
        *,
        clock: Clock = time.monotonic,
        sleep: Sleep = asyncio.sleep,
        chance: Callable[[], float] = random.random,
    ) -> None:
        self.concurrency = concurrency
        self.patience = patience or Patience()
        self.calls = 0
        self.in_flight = 0
        self.stopped = ""
        self.paused_why = ""
        self._clock, self._sleep, self._chance = clock, sleep, chance
        self._waiting: deque[asyncio.Future[int]] = deque()
        self._alarm: asyncio.Task[None] | None = None
        self._paused_until = clock()
        self._round = 0  # raised by each pause: what was sent before one tells nothing about the time after it
        self._in_round = 0  # in flight that were sent in this round
        self._window = concurrency  # how many of them at most
        self._ceiling = concurrency  # up to which the window grows with each answer
        self._credit = 0  # answers towards growing beyond
        self._pauses = 0  # in a row
        self._given_up = 0  # in a row
        self._answered_once = False

    def through(self, model: Model) -> Model:
        """Return the model, each of whose calls goes through this pool."""
        return _Pooled(self, model)

    def stop(self, why: str) -> None:
        """Send nothing more. The first reason stands."""
        self.stopped = self.stopped or why
        while self._waiting:
            future = self._waiting.popleft()
            if not future.done():
                future.set_exception(StoppedError(self.stopped))

    @property
    def paused_until(self) -> datetime | None:
        """Return until when nothing is sent, by the wall clock; None where nothing holds the calls up."""
        left = self._paused_until - self._clock()
        return datetime.now(UTC) + timedelta(seconds=left) if left > 0 else None

    @property
    def pause_left(self) -> float:
        """Return how many seconds a pause goes on; 0 where there is none."""
        return max(0.0, self._paused_until - self._clock())

    async def call(self, ask: Callable[[], Awaitable[Completion]]) -> Completion:
        """Return what ``ask`` brings, asked when it is its turn and again where that can help.

        What its server said that it took in vain is added to what the answer took.

        Raises:
            CallError: it brought nothing; ``calls`` tells how often it was sent, ``usage`` what that took.
        """
        troubles: Counter[Trouble] = Counter()
        in_vain = Usage()
        while True:
            sent_in = await self._enter()
            self.calls += 1
            try:
                answer = await ask()
            except CallError as error:
                troubles[error.trouble] += 1
                in_vain += _took(error)
                error.calls, error.usage = troubles.total(), in_vain
                wait = self._after(error, sent_in, troubles)  # before leaving, which lets the next one in
            else:
                self._answered(sent_in)
                return _with(answer, in_vain)
            finally:
                self._leave(sent_in)
            if wait:
                await self._sleep(wait)

    def _after(self, error: CallError, sent_in: int, troubles: Mapping[Trouble, int]) -> float:
        """Return how long this call alone waits before it is sent again; raise where it is not."""
        if error.trouble is Trouble.CLOSED:
            self.stop(f"{error} {_AGAIN}")
            raise error
        if error.trouble in {Trouble.REJECTED, Trouble.TOO_LONG}:
            self._heard()
            raise error
        if error.trouble is Trouble.BUSY:
            self._pause(error, sent_in)
            if self.stopped:
                raise StoppedError(self.stopped) from error
            if troubles[Trouble.BUSY] >= self.patience.busy_tries:
                raise error
            return 0.0
        failed = troubles[Trouble.SERVER] + troubles[Trouble.CONNECTION]
        if failed >= self.patience.tries:
            self._give_up(error)
            raise error
        return self.patience.backoff(failed, self._chance())

    def _give_up(self, error: CallError) -> None:
        self._given_up += 1
        most = self.patience.given_up if self._answered_once else self.patience.never_answered
        if self._given_up >= most:
            self.stop(f"{error} {self._given_up} reports in a row got no reply, so the run has stopped. {_AGAIN}")

    def _heard(self) -> None:
        self._answered_once = True
        self._given_up = 0

    def _answered(self, sent_in: int) -> None:
        self._heard()
        if sent_in != self._round:
            return
        self._pauses = 0
        if self._window >= self.concurrency:
            return
        self._credit += 1
        if self._window < self._ceiling or self._credit >= self._window:
            self._window += 1
            self._credit = 0

    def _pause(self, error: CallError, sent_in: int) -> None:
        floor = error.retry_after or 0.0
        if floor > self.patience.longest_pause:
            self.stop(
                f"{error} It asks to wait {floor / 60:,.0f} minutes, so the run has stopped rather than wait. {_AGAIN}"
            )
            return
        wait = floor + self._chance() * _SPREAD if floor else 0.0
        if sent_in == self._round:  # the first word since the last pause; others in flight bring the same one again
            self._pauses += 1
            if self._pauses >= self.patience.busy_tries:
                self.stop(f"{error} It was so {self._pauses} times in a row, so the run has stopped. {_AGAIN}")
                return
            wait = max(wait, self.patience.backoff(self._pauses, self._chance()))
            self._round += 1
            self._ceiling = max(1, self._window // 2)
            self._window, self._in_round, self._credit = 1, 0, 0
        until = self._clock() + wait
        if until > self._paused_until:
            self._paused_until, self.paused_why = until, str(error)
        if self._alarm is None or self._alarm.done():
            self._alarm = asyncio.get_running_loop().create_task(self._wake())

    async def _wake(self) -> None:
        while not self.stopped:
            while (left := self._paused_until - self._clock()) > 0:
                await self._sleep(left)  # it may have been made longer meanwhile
            self._admit()
            if not self._waiting or self._window >= self.concurrency:
                return
            await self._sleep(self.patience.next_ahead)  # a call that hangs must not hold up all others
            if self.pause_left == 0:
                self._window = min(self._window + 1, self.concurrency)

    def _free(self) -> bool:
        return (
            self.in_flight < self.concurrency
            and self._in_round < self._window
            and self._paused_until <= self._clock()
            and not self.stopped
        )

    async def _enter(self) -> int:
        """Wait for one's turn and return the round it is in."""
        if self.stopped:
            raise StoppedError(self.stopped)
        if not self._waiting and self._free():
            return self._take()
        turn: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        self._waiting.append(turn)
        try:
            return await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled() and turn.exception() is None:
                self._leave(turn.result())  # cancelled in the moment it got its turn: the next one gets it
            raise

    def _take(self) -> int:
        self.in_flight += 1
        self._in_round += 1
        return self._round

    def _leave(self, sent_in: int) -> None:
        self.in_flight -= 1
        if sent_in == self._round:
            self._in_round -= 1
        self._admit()

    def _admit(self) -> None:
        while self._waiting and self._free():
            turn = self._waiting.popleft()
            if not turn.done():  # who was cancelled has left the queue
                turn.set_result(self._take())


_MAY_COST = frozenset({Trouble.SERVER, Trouble.CONNECTION})  # the others turn a request away before it is answered


def _took(error: CallError) -> Usage:
    """Return what one call in vain took: as its server said, else that nobody knows, else nothing."""
    return error.usage or Usage(lost=error.trouble in _MAY_COST)


def _with(answer: Completion, in_vain: Usage) -> Completion:
    """Return an answer that took also what was taken in vain; what its own server did not count stays not known."""
    if in_vain == Usage():
        return answer
    return replace(
        answer,
        input_tokens=_sum(answer.input_tokens, in_vain.input_tokens),
        output_tokens=_sum(answer.output_tokens, in_vain.output_tokens),
        cached_tokens=_sum(answer.cached_tokens, in_vain.cached_tokens),
        written_tokens=_sum(answer.written_tokens, in_vain.written_tokens),
        lost=answer.lost + in_vain.lost,
    )


def _sum(own: int | None, more: int) -> int | None:
    return None if own is None else own + more


class _Pooled:
    """A model whose calls go through a pool."""

    def __init__(self, pool: Pool, model: Model) -> None:
        self._pool = pool
        self._model = model

    async def complete(self, messages: Sequence[Message], *, schema: Mapping[str, object]) -> Completion:
        return await self._pool.call(lambda: self._model.complete(messages, schema=schema))

    async def close(self) -> None:
        await self._model.close()
