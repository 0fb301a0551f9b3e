"""Asking about many things: each once, no more at once than is allowed, and no further than the cap or the server."""

import asyncio
from collections.abc import Awaitable, Callable

from workbench.domain.runs import LabelerSettings, Price, Usage
from workbench.models.base import CallError, Trouble
from workbench.running.gathering import Gathering
from workbench.running.pool import Pool
from workbench.running.spending import Cap

SETTINGS = LabelerSettings("m", "openai", concurrency=3, price=Price(1.0, 1.0))
TOOK = Usage(replies=1, input_tokens=90, output_tokens=10)


def gathered(
    ask: Callable[[int], Awaitable[Usage]], *, count: int = 10, cap: Cap | None = None, done: list[int] | None = None
) -> str:
    noted = [] if done is None else done

    async def main() -> str:
        pool = Pool(SETTINGS.concurrency)
        gathering = Gathering(
            range(count), ask, pool, SETTINGS, cap=cap or Cap(), spent=Usage(), on_done=lambda: noted.append(1)
        )
        return await gathering.all()

    return asyncio.run(main())


def test_everything_is_asked_once_and_no_more_at_once_than_is_allowed() -> None:
    asked: list[int] = []
    at_once = most = 0

    async def ask(thing: int) -> Usage:
        nonlocal at_once, most
        asked.append(thing)
        at_once += 1
        most = max(most, at_once)
        await asyncio.sleep(0.001)
        at_once -= 1
        return TOOK

    done: list[int] = []
    assert gathered(ask, done=done) == ""
    assert sorted(asked) == list(range(10))
    assert len(done) == 10
    assert most == 3


def test_nothing_is_asked_that_would_pass_the_cap() -> None:
    asked: list[int] = []

    async def ask(thing: int) -> Usage:
        asked.append(thing)
        return TOOK

    assert "cap" in gathered(ask, cap=Cap(tokens=350))
    assert len(asked) == 3  # 300 tokens; a fourth reply would pass 350


def test_a_server_that_is_closed_to_everything_ends_it() -> None:
    async def ask(thing: int) -> Usage:
        if thing == 4:
            raise CallError("There is no such model.", Trouble.CLOSED)
        await asyncio.sleep(0)
        return TOOK

    done: list[int] = []
    assert gathered(ask, done=done) == "There is no such model."
    assert len(done) < 9
