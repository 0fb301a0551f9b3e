"""A run labels each text once, says how far it is, survives what goes wrong, and has one runner at a time."""

import asyncio
import os
import socket
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from workbench.domain.findings import LabelSet, State
from workbench.domain.hashing import text_hash
from workbench.domain.prompts import Prompt
from workbench.domain.runs import (
    Extraction,
    ExtractionStatus,
    Failure,
    LabelerSettings,
    Mention,
    Price,
    Run,
    RunProgress,
)
from workbench.errors import ConflictError, RightsError, WorkbenchError
from workbench.labelers.registry import make_labeler, settings_of
from workbench.models.base import CallError, Trouble
from workbench.running import liveness, process
from workbench.running.pool import Pool
from workbench.running.runner import execute, run_keys
from workbench.running.spending import Cap
from workbench.storage import runs as run_store
from workbench.storage.database import Database

TEXTS = [("1", "Effusion."), ("2", "Clear."), ("3", "Effusion."), ("4", "Edema.")]


class Fake:
    """Counts what it is asked and how much of it at a time."""

    def __init__(self, delay: float = 0.0) -> None:
        self.settings = LabelerSettings("fake", "scripted")
        self.asked: Counter[tuple[str, int]] = Counter()
        self.delay = delay
        self.in_flight = self.most_in_flight = 0
        self.heals = False
        self.when_asked: dict[int, Callable[[], object]] = {}

    async def label(self, text: str, repeat: int = 1) -> Extraction:
        self.asked[text, repeat] += 1
        self.when_asked.pop(len(self.asked), lambda: None)()
        self.in_flight += 1
        self.most_in_flight = max(self.most_in_flight, self.in_flight)
        try:
            await asyncio.sleep(self.delay)
        finally:
            self.in_flight -= 1
        if text == "crash" and not self.heals:
            raise ValueError(f"cannot read {text} of Mrs Smith")
        if text == "told":
            raise WorkbenchError("The server is not there.")
        return Extraction(ExtractionStatus.OK, {"effusion": Mention(State.PRESENT, text)})


Recorder = Callable[..., Run]


def saved(database: Database, run: Run, texts: Sequence[tuple[str, str]] = TEXTS) -> dict[str, Extraction]:
    with database.read() as conn:
        found = run_store.extractions(conn, [key for key, _ in run_keys(run, texts)])
    return {f"{key.text_hash}/{key.repeat}": extraction for key, extraction in found.items()}


def failed(database: Database, run: Run, texts: Sequence[tuple[str, str]]) -> dict[str, Failure]:
    with database.read() as conn:
        found = run_store.failures(conn, [key for key, _ in run_keys(run, texts)])
    return {key.text_hash: failure for key, failure in found.items()}


def test_labels_every_text_once_and_says_how_far_it_is(database: Database, a_run: Recorder) -> None:
    run, fake, seen = a_run(), Fake(), list[RunProgress]()
    progress = asyncio.run(execute(database, run, fake, TEXTS, on_progress=seen.append))
    assert fake.asked == {("Effusion.", 1): 1, ("Clear.", 1): 1, ("Edema.", 1): 1}
    assert (progress.total, progress.done, progress.failed, progress.alive) == (4, 4, {}, False)
    assert progress.finished
    assert (seen[0].done, seen[0].alive) == (0, True)
    assert seen[-1].done == 4
    assert saved(database, run)[f"{text_hash('Clear.')}/1"].state("effusion") is State.PRESENT
    with database.read() as conn:
        assert run_store.lease(conn, run.hash) is None
        last = run_store.standing(conn, [key for key, _ in run_keys(run, TEXTS)]).last_at
        assert process.progress(conn, run, TEXTS) == replace(progress, started_at=None, updated_at=last)


def test_a_finished_run_asks_nothing(database: Database, a_run: Recorder) -> None:
    run = a_run()
    asyncio.run(execute(database, run, Fake(), TEXTS))
    again = Fake()
    assert asyncio.run(execute(database, run, again, TEXTS)).done == 4
    assert again.asked == {}


def test_a_longer_cohort_asks_only_what_is_new(database: Database, a_run: Recorder) -> None:
    asyncio.run(execute(database, a_run(), Fake(), TEXTS[:2]))
    fake = Fake()
    asyncio.run(execute(database, a_run(), fake, TEXTS))
    assert fake.asked == {("Edema.", 1): 1}


def test_each_repeat_is_asked(database: Database, a_run: Recorder) -> None:
    run, fake = a_run(repeats=3), Fake()
    progress = asyncio.run(execute(database, run, fake, TEXTS))
    assert progress.total == progress.done == 12
    assert set(fake.asked.values()) == {1}
    assert {repeat for _, repeat in fake.asked} == {1, 2, 3}
    assert len(saved(database, run)) == 9


@pytest.mark.parametrize("concurrency", [1, 7])
def test_no_more_than_the_set_number_is_in_flight(database: Database, a_run: Recorder, concurrency: int) -> None:
    fake = Fake(delay=0.001)
    run = a_run(LabelerSettings("fake", "scripted", concurrency=concurrency))
    asyncio.run(execute(database, run, fake, [(str(i), f"text {i}") for i in range(50)]))
    assert fake.most_in_flight == concurrency


def test_what_goes_wrong_with_one_text_stays_with_it_and_is_not_quoted(database: Database, a_run: Recorder) -> None:
    texts = [("1", "crash"), ("2", "Clear."), ("3", "told"), ("4", "crash")]
    run = a_run()
    progress = asyncio.run(execute(database, run, Fake(), texts))
    assert (progress.done, progress.failed) == (4, {"failed": 3})
    assert list(saved(database, run, texts)) == [f"{text_hash('Clear.')}/1"]
    assert failed(database, run, texts) == {
        text_hash("crash"): Failure("error", "The labeler failed with ValueError."),
        text_hash("told"): Failure("error", "The server is not there."),
    }


def test_going_on_asks_again_for_what_brought_no_reply_after_what_was_never_asked(
    database: Database, a_run: Recorder
) -> None:
    run, heals = a_run(), Fake()
    asyncio.run(execute(database, run, Fake(), [("1", "crash"), ("2", "Clear."), ("4", "crash")]))
    seen: list[RunProgress] = []
    heals.heals = True
    texts = [("1", "crash"), ("2", "Clear."), ("3", "new"), ("4", "crash")]
    progress = asyncio.run(execute(database, run, heals, texts, on_progress=seen.append))
    assert list(heals.asked) == [("new", 1), ("crash", 1)]
    assert (seen[0].done, seen[0].failed, seen[0].unanswered) == (3, {"failed": 2}, 2)
    assert (progress.done, progress.failed, progress.unanswered) == (4, {}, 0)
    assert failed(database, run, texts) == {}


def test_what_fails_again_is_counted_once(database: Database, a_run: Recorder) -> None:
    run, texts = a_run(), [("1", "crash"), ("2", "Clear.")]
    asyncio.run(execute(database, run, Fake(), texts))
    progress = asyncio.run(execute(database, run, Fake(), texts))
    assert (progress.done, progress.failed, progress.finished) == (2, {"failed": 1}, True)
    with database.read() as conn:
        assert conn.execute("SELECT COUNT(*) FROM failures").fetchone()[0] == 2  # both attempts are on record
        assert process.progress(conn, run, texts).failed == {"failed": 1}


def test_stopping_keeps_what_came_and_gives_the_run_back(database: Database, a_run: Recorder) -> None:
    run, texts = a_run(), [(str(i), f"text {i}") for i in range(100)]

    async def stopped() -> int:
        fake = Fake(delay=0.002)
        task = asyncio.create_task(execute(database, run, fake, texts))
        fake.when_asked[20] = task.cancel
        with pytest.raises(asyncio.CancelledError):
            await task
        return len(fake.asked)

    asked = asyncio.run(stopped())
    assert asked - 1 <= len(saved(database, run, texts)) < 100
    rest = Fake()
    assert asyncio.run(execute(database, run, rest, texts)).finished
    assert len(rest.asked) <= 100 - (asked - 1)


def held_by(database: Database, run: Run, runner: str, *, ago: timedelta) -> None:
    with database.write() as conn:
        assert run_store.acquire_lease(conn, run.hash, runner, datetime.now(UTC) - ago, timedelta(0))


def test_a_second_runner_is_told_who_works_on_the_run(database: Database, a_run: Recorder) -> None:
    run = a_run()

    async def two() -> list[RunProgress | BaseException]:
        both = [execute(database, run, Fake(delay=0.1), TEXTS) for _ in range(2)]
        return await asyncio.gather(*both, return_exceptions=True)

    results = asyncio.run(two())
    refused = [result for result in results if isinstance(result, ConflictError)]
    assert [str(error) for error in refused] == [
        (
            f"This run is being worked on by process {os.getpid()} on {socket.gethostname()}; "
            "wait for it, or stop that process first."
        )
    ]
    assert [r.finished for r in results if isinstance(r, RunProgress)] == [True]


def test_a_silent_runner_of_another_host_is_waited_for_half_a_minute(database: Database, a_run: Recorder) -> None:
    run = a_run()
    held_by(database, run, "elsewhere:1:ab", ago=timedelta(seconds=25))
    with pytest.raises(ConflictError, match="process 1 on elsewhere"):
        asyncio.run(execute(database, run, Fake(), TEXTS))
    with database.write() as conn:
        run_store.release_lease(conn, run.hash, "elsewhere:1:ab")
    held_by(database, run, "elsewhere:1:ab", ago=timedelta(seconds=31))
    assert asyncio.run(execute(database, run, Fake(), TEXTS)).finished


def test_the_run_of_a_process_that_is_gone_is_taken_over_in_seconds(
    database: Database, a_run: Recorder, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = a_run()
    gone = f"{socket.gethostname()}:{2**22 + 1}:ab"  # above the largest process id there is
    assert liveness.process_gone(gone)
    held_by(database, run, gone, ago=timedelta(seconds=0))
    monkeypatch.setattr(liveness, "GONE_AFTER", timedelta(seconds=0.3))
    assert asyncio.run(execute(database, run, Fake(), TEXTS)).finished


def test_a_runner_that_lost_its_run_keeps_what_it_was_answered_and_stops(database: Database, a_run: Recorder) -> None:
    run, texts = a_run(), [(str(i), f"text {i}") for i in range(1000)]

    class Thief(Fake):
        async def label(self, text: str, repeat: int = 1) -> Extraction:
            if text == "text 5":
                held_by(database, run, "elsewhere:1:ab", ago=timedelta(seconds=-60))
            return await super().label(text, repeat)

    thief = Thief(delay=0.01)
    with pytest.raises(ConflictError, match="taken this run over"):
        asyncio.run(execute(database, run, thief, texts))
    assert list(thief.asked) == [(f"text {i}", 1) for i in range(6)]
    assert set(saved(database, run, texts)) == {f"{text_hash(f'text {i}')}/1" for i in range(6)}


def test_what_an_early_version_kept_as_failed_is_not_said_to_be_asked_again(
    database: Database, a_run: Recorder
) -> None:
    run, texts = a_run(), [*TEXTS, ("5", "told")]
    old = next(key for key, text in run_keys(run, texts) if text == "Effusion.")
    with database.write() as conn:
        run_store.save_extractions(conn, [(old, Extraction(ExtractionStatus.FAILED, detail="No reply."))])
    done = asyncio.run(execute(database, run, Fake(), texts))
    with database.read() as conn:
        known = process.progress(conn, run, texts)
    # Two reports share the old text; only the last one is asked for again.
    assert [(each.done, each.failed, each.unanswered) for each in (done, known)] == [(5, {"failed": 3}, 1)] * 2


def test_a_labeler_that_only_computes_does_not_stop_the_heart(
    database: Database, a_run: Recorder, monkeypatch: pytest.MonkeyPatch, label_set: LabelSet, prompt: Prompt
) -> None:
    run = a_run(settings_of("rules", kind="rules"))
    beats: list[datetime] = []
    real = run_store.heartbeat

    def heartbeat(conn: object, run_hash: str, runner: str, now: datetime, pace: object) -> bool:
        beats.append(now)
        return real(conn, run_hash, runner, now, pace)  # type: ignore[arg-type]

    monkeypatch.setattr(run_store, "heartbeat", heartbeat)
    monkeypatch.setattr("workbench.running.runner.SAVE_SECONDS", 0.01)
    texts = [(str(i), f"No effusion number {i}. " * 20) for i in range(2000)]
    progress = asyncio.run(execute(database, run, make_labeler(run.labeler, prompt, label_set), texts))
    assert progress.finished
    assert len(beats) > 2  # more than the one at the end


def test_a_result_that_comes_while_others_are_saved_is_kept(
    database: Database, a_run: Recorder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("workbench.running.runner.SAVE_SECONDS", 0.001)
    run = a_run(LabelerSettings("fake", "scripted", concurrency=5))
    texts = [(str(i), f"text {i}") for i in range(100)]
    assert asyncio.run(execute(database, run, Fake(delay=0.002), texts)).finished
    assert len(saved(database, run, texts)) == 100


class Priced(Fake):
    """Takes 100 tokens in and 10 out per text, or says nothing of them."""

    def __init__(self, *, tells: bool = True, delay: float = 0.001) -> None:
        super().__init__(delay)
        self.tells = tells

    async def label(self, text: str, repeat: int = 1) -> Extraction:
        extraction = await super().label(text, repeat)
        return replace(extraction, input_tokens=100, output_tokens=10) if self.tells else extraction


MANY = [(str(i), f"text {i}") for i in range(100)]
PRICED = LabelerSettings("fake", "openai", concurrency=8, price=Price(1000.0, 10_000.0))  # 0.2 USD per text


def test_a_run_stops_before_it_passes_its_cap_and_goes_on_under_a_higher_one(
    database: Database, a_run: Recorder
) -> None:
    run, fake = a_run(PRICED), Priced()
    stopped = asyncio.run(execute(database, run, fake, MANY, cap=Cap(tokens=110 * 30 + 109)))
    assert len(fake.asked) == stopped.done == len(saved(database, run, MANY)) == 30
    assert (stopped.usage.tokens, stopped.finished) == (3300, False)
    assert "its cap of 3,409 tokens" in stopped.stopped
    assert (stopped.cost, stopped.forecast) == (pytest.approx(6.0), pytest.approx(20.0))

    further = Priced()
    stopped = asyncio.run(execute(database, run, further, MANY, cap=Cap(cost=10.05)))
    assert len(further.asked) == 20  # what was spent before counts: 50 texts in all
    assert "its cap of 10.05 USD" in stopped.stopped
    with database.read() as conn:
        seen = process.progress(conn, run, MANY)
    assert (seen.cost, seen.forecast) == (pytest.approx(10.0), pytest.approx(20.0))

    done = asyncio.run(execute(database, run, Priced(), MANY, cap=Cap(cost=20.01)))
    assert (done.stopped, done.done, done.usage.replies) == ("", 100, 100)


def test_the_first_text_goes_alone_where_there_is_a_cap(database: Database, a_run: Recorder) -> None:
    fake = Priced(delay=0.01)
    asyncio.run(execute(database, a_run(PRICED), fake, MANY, cap=Cap(tokens=1)))
    assert (len(fake.asked), fake.most_in_flight) == (1, 1)


def test_no_cap_is_kept_where_the_server_does_not_tell_tokens(database: Database, a_run: Recorder) -> None:
    fake = Priced(tells=False)
    stopped = asyncio.run(execute(database, a_run(PRICED), fake, MANY, cap=Cap(tokens=10**9)))
    assert len(fake.asked) == 1
    assert "does not say how many tokens" in stopped.stopped


def test_a_price_that_changes_changes_what_the_run_is_said_to_have_cost(database: Database, a_run: Recorder) -> None:
    run = a_run(PRICED)
    asyncio.run(execute(database, run, Priced(), MANY[:10]))
    now = replace(run, labeler=replace(PRICED, price=Price(2000.0, 10_000.0)))
    assert now.hash == run.hash
    with database.read() as conn:
        assert process.progress(conn, now, MANY[:10]).cost == pytest.approx(3.0)


def test_a_pool_that_stops_ends_the_run_with_what_was_in_flight_saved(database: Database, a_run: Recorder) -> None:
    run, pool = a_run(PRICED), Pool(8)

    class Refused(Priced):
        async def label(self, text: str, repeat: int = 1) -> Extraction:
            extraction = await super().label(text, repeat)
            if text == "text 20":
                pool.stop("The key is refused.")
                raise CallError("The key is refused.", Trouble.CLOSED)
            return extraction

    fake = Refused()
    stopped = asyncio.run(execute(database, run, fake, MANY, pool=pool))
    assert stopped.stopped == "The key is refused."
    assert stopped.failed == {}  # nothing can be said of the report it happened to be
    assert len(saved(database, run, MANY)) == len(fake.asked) - 1 == stopped.done < 30
    assert asyncio.run(execute(database, run, Priced(), MANY)).finished


@pytest.mark.parametrize("error", [CallError("Not here.", Trouble.CLOSED), RightsError("Not here.")])
def test_a_server_that_may_not_be_asked_ends_the_run_without_a_pool_too(
    database: Database, a_run: Recorder, error: WorkbenchError
) -> None:
    class Locked(Fake):
        async def label(self, text: str, repeat: int = 1) -> Extraction:
            self.asked[text, repeat] += 1
            raise error

    fake = Locked()
    stopped = asyncio.run(execute(database, a_run(), fake, MANY))
    assert (stopped.stopped, stopped.done, len(fake.asked)) == ("Not here.", 0, 1)


def test_a_call_that_failed_is_kept_with_its_trouble_and_how_often_it_was_made(
    database: Database, a_run: Recorder
) -> None:
    class Rejected(Fake):
        async def label(self, text: str, repeat: int = 1) -> Extraction:
            error = CallError("It is refused.", Trouble.REJECTED)
            error.calls = 3
            raise error

    run = a_run()
    asyncio.run(execute(database, run, Rejected(), TEXTS[:1]))
    assert failed(database, run, TEXTS) == {text_hash("Effusion."): Failure("rejected", "It is refused.", 3)}


def test_another_process_sees_how_a_run_gets_on(database: Database, a_run: Recorder) -> None:
    run, seen = a_run(PRICED), list[RunProgress]()

    def look() -> None:
        with database.read() as conn:
            seen.append(process.progress(conn, run, MANY))

    fake = Priced(delay=0.01)
    fake.when_asked[60] = look
    asyncio.run(execute(database, run, fake, MANY))
    look()
    (during, after) = seen
    assert during.alive
    assert during.pace is not None
    assert during.pace.seconds_left is not None
    assert 0 < during.usage.replies <= 60
    assert (after.alive, after.pace, after.usage.replies) == (False, None, 100)


def test_the_run_of_a_dead_process_is_taken_over_though_the_clock_was_set_back(
    database: Database, a_run: Recorder, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = a_run()
    held_by(database, run, f"{socket.gethostname()}:{2**22 + 1}:ab", ago=timedelta(hours=-1))
    monkeypatch.setattr(liveness, "GONE_AFTER", timedelta(seconds=0.3))
    assert asyncio.run(execute(database, run, Fake(), TEXTS)).finished
