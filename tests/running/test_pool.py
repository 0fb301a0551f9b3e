"""The pool: never too many at once, no call during a pause, nobody rushes after one, and asking again has an end.

Time is made up: the event loop jumps to the next thing that waits, so hours of pauses take milliseconds.
"""

import asyncio
import random
from collections.abc import Callable, Coroutine, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, TypeVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.models.base import CallError, Completion, Message, Role, Trouble
from workbench.running.pool import Patience, Pool, StoppedError

T = TypeVar("T")
HELLO = (Message(Role.USER, "hello"),)


class MadeUpTime(asyncio.SelectorEventLoop):
    """A loop whose clock jumps to the next timer when there is nothing else to do."""

    def __init__(self) -> None:
        super().__init__()
        self.now = 1000.0

    def time(self) -> float:
        return self.now

    def _run_once(self) -> None:
        if not self._ready and self._scheduled:  # type: ignore[attr-defined]
            self.now = max(self.now, self._scheduled[0]._when)  # type: ignore[attr-defined]
        super()._run_once()  # type: ignore[misc]


def run(main: Coroutine[Any, Any, T]) -> T:
    with asyncio.Runner(loop_factory=MadeUpTime) as runner:
        return runner.run(main)


def clock() -> float:
    return asyncio.get_running_loop().time()


def pool_of(concurrency: int, patience: Patience | None = None, chance: Callable[[], float] | None = None) -> Pool:
    return Pool(concurrency, patience, clock=clock, sleep=asyncio.sleep, chance=chance or (lambda: 0.5))


class Server:
    """Does to each call what ``does`` says, which is told the number of the call and returns an error or None."""

    def __init__(self, does: Callable[[int], CallError | None] = lambda _: None, *, takes: float = 0.2) -> None:
        self.does, self.takes = does, takes
        self.sent: list[float] = []
        self.in_flight = self.most_in_flight = 0
        self.closed = False

    async def complete(self, messages: Sequence[Message], *, schema: Mapping[str, object]) -> Completion:
        number = len(self.sent)
        self.sent.append(clock())
        self.in_flight += 1
        self.most_in_flight = max(self.most_in_flight, self.in_flight)
        try:
            await asyncio.sleep(self.takes)
        finally:
            self.in_flight -= 1
        error = self.does(number)
        if error is not None:
            raise error
        return Completion("{}")

    async def close(self) -> None:
        self.closed = True


def busy(retry_after: float | None = None) -> CallError:
    return CallError("The server is busy.", Trouble.BUSY, retry_after=retry_after)


def trouble(kind: Trouble) -> CallError:
    return CallError("It did not work.", kind)


async def asked(pool: Pool, server: Server, count: int) -> list[Completion | BaseException]:
    model = pool.through(server)
    return await asyncio.gather(*(model.complete(HELLO, schema={}) for _ in range(count)), return_exceptions=True)


def test_no_more_than_the_set_number_is_in_flight_and_all_of_it_is_used() -> None:
    async def main() -> None:
        server = Server()
        answers = await asked(pool_of(8), server, 40)
        assert len(answers) == 40
        assert server.most_in_flight == 8
        assert clock() == pytest.approx(1000 + 5 * 0.2)

    run(main())


def test_closing_goes_through_to_the_model() -> None:
    server = Server()
    asyncio.run(Pool(1).through(server).close())
    assert server.closed


@pytest.mark.parametrize(("said", "least"), [(7.0, 7.0), (600.0, 600.0), (None, 0.5), (0.2, 0.5)])
def test_all_wait_as_long_as_the_server_asks_at_least(said: float | None, least: float) -> None:
    async def main() -> None:
        server = Server(lambda number: busy(said) if number == 2 else None)
        pool = pool_of(4)
        answers = await asked(pool, server, 20)
        assert all(isinstance(answer, Completion) for answer in answers)
        paused_at = 1000.2
        assert [sent for sent in server.sent if paused_at < sent < paused_at + least] == []
        assert min(sent for sent in server.sent if sent > paused_at) <= paused_at + max(said or 0, 0.75) + 1
        assert pool.calls == len(server.sent) == 21

    run(main())


def test_a_shorter_wait_said_later_does_not_end_a_pause_early() -> None:
    async def main() -> None:
        says = {0: 60.0, 1: 1.0, 2: None, 3: 30.0}
        server = Server(lambda number: busy(says[number]) if number in says else None)
        await asked(pool_of(4), server, 8)
        assert min(sent for sent in server.sent if sent > 1000) >= 1060.2

    run(main())


def test_a_longer_wait_said_later_makes_a_pause_longer() -> None:
    async def main() -> None:
        async def late(number: int) -> Completion:
            await asyncio.sleep(number)
            raise busy({1: 5.0, 2: 60.0}[number]) if clock() < 1003 else trouble(Trouble.REJECTED)

        pool = pool_of(2)
        await asyncio.gather(*(pool.call(lambda n=n: late(n)) for n in (1, 2)), return_exceptions=True)  # type: ignore[misc]
        assert clock() >= 1002 + 60
        assert pool.calls == 4

    run(main())


def test_after_a_pause_one_goes_ahead_and_the_number_grows_with_the_answers() -> None:
    async def main() -> None:
        server = Server(lambda number: busy(10.0) if number < 16 else None)
        await asked(pool_of(16), server, 60)
        after = sorted(sent for sent in server.sent if sent > 1000)
        rounds = [sum(1 for sent in after if abs(sent - after[0] - 0.2 * i) < 0.01) for i in range(6)]
        # Doubled with each round up to half of what was in flight before, then one more each round.
        assert rounds == [1, 2, 4, 8, 9, 10]

    run(main())


def test_calls_that_were_sent_before_a_pause_count_as_one_sign_of_it() -> None:
    async def main() -> None:
        server = Server(lambda number: busy() if number < 16 else None)
        await asked(pool_of(16), server, 16)
        # Sixteen times busy at once is one pause of about a second, not sixteen doublings.
        assert min(sent for sent in server.sent if sent > 1000) == pytest.approx(1000.2 + 0.75)

    run(main())


def test_a_slow_call_from_before_a_pause_does_not_hold_up_the_one_that_goes_ahead() -> None:
    async def main() -> None:
        pool, server = pool_of(2), Server(lambda number: busy(1.0) if number == 0 else None)

        async def slow() -> Completion:
            await asyncio.sleep(500)
            return Completion("late")

        first = asyncio.create_task(pool.call(slow))
        await asyncio.sleep(0)
        await asked(pool, server, 3)
        assert clock() < 1005
        assert (await first).text == "late"

    run(main())


def test_a_call_that_hangs_after_a_pause_does_not_hold_up_all_others() -> None:
    async def main() -> None:
        pool, server = pool_of(8), Server(lambda number: busy(1.0) if number < 8 else None)
        answers = asyncio.create_task(asked(pool, server, 8))
        await asyncio.sleep(1)
        server.takes = 300.0  # every answer from now on
        await answers
        after = sorted(sent - 1000 for sent in server.sent if sent > 1000)
        assert after == pytest.approx([after[0] + 2 * i for i in range(8)])

    run(main())


def test_pauses_in_a_row_double_and_stop_the_run_in_the_end() -> None:
    async def main() -> None:
        server = Server(lambda _: busy(), takes=0.0)
        pool = pool_of(1)
        (answer,) = await asked(pool, server, 1)
        assert isinstance(answer, StoppedError)
        gaps = [b - a for a, b in zip(server.sent, server.sent[1:], strict=False)]
        assert gaps == pytest.approx([0.75 * w for w in (1, 2, 4, 8, 16, 32, 60, 60, 60, 60, 60)])
        assert "12 times in a row" in pool.stopped
        assert "go on with the same run" in pool.stopped

    run(main())


def test_a_server_that_asks_for_more_than_ten_minutes_stops_the_run_at_once() -> None:
    async def main() -> None:
        server, pool = Server(lambda number: busy(3601.0) if number == 0 else None), pool_of(2)
        answers = await asked(pool, server, 10)
        assert [type(answer).__name__ for answer in answers].count("StoppedError") == 9
        assert len(server.sent) == 2
        assert "60 minutes" in pool.stopped
        assert clock() < 1001

    run(main())


@pytest.mark.parametrize("kind", [Trouble.REJECTED, Trouble.TOO_LONG])
def test_what_cannot_heal_is_asked_once_and_concerns_one_report(kind: Trouble) -> None:
    async def main() -> None:
        server, pool = Server(lambda number: trouble(kind) if number == 1 else None), pool_of(2)
        answers = await asked(pool, server, 5)
        (error,) = (answer for answer in answers if isinstance(answer, CallError))
        assert (error.trouble, error.calls, len(server.sent), pool.stopped) == (kind, 1, 5, "")

    run(main())


@pytest.mark.parametrize("kind", [Trouble.SERVER, Trouble.CONNECTION])
def test_what_may_heal_is_asked_again_so_many_times(kind: Trouble) -> None:
    async def main() -> None:
        server, pool = Server(lambda _: trouble(kind), takes=0.0), pool_of(1)
        (error,) = await asked(pool, server, 1)
        assert isinstance(error, CallError)
        assert (error.trouble, error.calls) == (kind, 5)
        gaps = [b - a for a, b in zip(server.sent, server.sent[1:], strict=False)]
        assert gaps == pytest.approx([0.75, 1.5, 3, 6])

    run(main())


def test_a_call_that_waits_to_be_sent_again_holds_up_nobody() -> None:
    async def main() -> None:
        server = Server(lambda number: trouble(Trouble.SERVER) if number == 0 else None)
        await asked(pool_of(1), server, 3)
        assert server.sent == pytest.approx([1000, 1000.2, 1000.4, 1000.95])

    run(main())


def test_no_access_stops_everything_and_says_why() -> None:
    async def main() -> None:
        closed = CallError("The key is refused.", Trouble.CLOSED)
        server, pool = Server(lambda number: closed if number == 0 else None), pool_of(2)
        answers = await asked(pool, server, 20)
        assert answers[0] is closed
        assert isinstance(answers[1], Completion)  # what was in flight is let end
        assert all(isinstance(answer, StoppedError) for answer in answers[2:])
        assert len(server.sent) == 2
        assert pool.stopped.startswith("The key is refused. Nothing that was answered is lost")
        with pytest.raises(StoppedError):
            await pool.through(server).complete(HELLO, schema={})

    run(main())


@pytest.mark.parametrize(("answers_before", "sent"), [(0, 3 * 5), (1, 1 + 20 * 5)])
def test_a_server_that_is_gone_stops_the_run(answers_before: int, sent: int) -> None:
    async def main() -> None:
        server = Server(lambda n: None if n < answers_before else trouble(Trouble.CONNECTION), takes=0.0)
        pool = pool_of(1)
        model = pool.through(server)
        ends = [await asyncio.gather(model.complete(HELLO, schema={}), return_exceptions=True) for _ in range(40)]
        assert isinstance(ends[-1][0], StoppedError)
        assert len(server.sent) == sent
        assert "in a row got no reply" in pool.stopped

    run(main())


def test_who_waits_is_served_in_turn() -> None:
    async def main() -> None:
        pool, order = pool_of(2), list[int]()

        async def note(number: int) -> Completion:
            order.append(number)
            await asyncio.sleep(1)
            return Completion("")

        await asyncio.gather(*(pool.call(lambda n=n: note(n)) for n in range(12)))  # type: ignore[misc]
        assert order == list(range(12))

    run(main())


def test_a_call_that_is_cancelled_gives_its_place_to_the_next() -> None:
    async def main() -> None:
        pool, server = pool_of(2), Server(takes=1.0)
        model = pool.through(server)
        tasks = [asyncio.create_task(model.complete(HELLO, schema={})) for _ in range(6)]
        await asyncio.sleep(0.5)
        tasks[0].cancel()  # in flight
        tasks[2].cancel()  # in the queue
        await asyncio.sleep(0.5)
        ended = await asyncio.gather(*tasks, return_exceptions=True)
        assert [isinstance(end, asyncio.CancelledError) for end in ended] == [True, False, True, False, False, False]
        assert pool.in_flight == 0
        assert len(server.sent) == pool.calls == 5

    run(main())


def test_a_call_cancelled_in_the_moment_it_gets_its_turn_gives_it_back() -> None:
    async def main() -> None:
        pool, server = pool_of(1), Server(takes=1.0)

        async def first() -> Completion:
            await asyncio.sleep(1)
            asyncio.get_running_loop().call_soon(second.cancel)  # runs after it got its turn and before it wakes up
            return Completion("")

        one = asyncio.create_task(pool.call(first))
        second, third = (asyncio.create_task(pool.through(server).complete(HELLO, schema={})) for _ in range(2))
        assert isinstance(await third, Completion)
        await one
        with pytest.raises(asyncio.CancelledError):
            await second
        assert (pool.in_flight, pool.calls) == (0, 2)

    run(main())


def test_a_pause_is_told_by_the_wall_clock() -> None:
    async def main() -> None:
        pool, server = pool_of(2), Server(lambda number: busy(300.0) if number == 0 else None)
        task = asyncio.create_task(asked(pool, server, 4))
        await asyncio.sleep(10)
        assert pool.paused_until is not None
        assert pool.paused_until - datetime.now(UTC) == pytest.approx(timedelta(seconds=291), abs=timedelta(seconds=2))
        assert pool.pause_left == pytest.approx(290.7)
        assert pool.paused_why == "The server is busy."
        await task
        assert pool.paused_until is None

    run(main())


FATES = st.sampled_from(
    [None, None, None, "busy", "busy 7", "busy 600", Trouble.SERVER, Trouble.CONNECTION, Trouble.REJECTED]
)


@given(st.lists(FATES, max_size=60), st.integers(1, 9), st.integers(0, 2**32))
def test_whatever_a_server_does_each_call_ends_once_within_the_rules(
    fates: list[str | Trouble | None], concurrency: int, seed: int
) -> None:
    async def main() -> None:
        dice = random.Random(seed)
        paused_until = 0.0
        server = Server(takes=0.0)

        def does(number: int) -> CallError | None:
            nonlocal paused_until
            fate = fates[number] if number < len(fates) else None
            if isinstance(fate, Trouble):
                return trouble(fate)
            if fate is None:
                return None
            floor = float(fate.split()[1]) if " " in fate else 0.0
            paused_until = max(paused_until, clock() + floor)
            return busy(floor or None)

        async def one(number: int) -> Completion:
            nonlocal count
            assert clock() >= paused_until  # nobody is sent during a pause
            count[number] += 1
            await asyncio.sleep(dice.random())
            return await server.complete(HELLO, schema={})

        count = [0] * 40
        pool = pool_of(concurrency, chance=dice.random)
        ends = await asyncio.gather(*(pool.call(lambda n=n: one(n)) for n in range(40)), return_exceptions=True)  # type: ignore[misc]
        assert all(isinstance(end, Completion | CallError) for end in ends)
        assert server.most_in_flight <= concurrency
        assert max(count) <= pool.patience.most_calls
        assert sum(count) == pool.calls
        assert (pool.in_flight, len(pool._waiting)) == (0, 0)

    run(main())
