"""Asking a model in order: so many in flight, nothing asked for twice, and a stop that loses nothing."""

import asyncio
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from workbench.domain.findings import LabelSet, State
from workbench.domain.runs import Extraction, ExtractionStatus, LabelerSettings, Mention, Usage
from workbench.errors import InputError, RightsError, WorkbenchError
from workbench.models.base import CallError, Trouble
from workbench.running.asking import AHEAD, Asking
from workbench.running.journal import open_journal
from workbench.running.pool import Pool
from workbench.running.spending import Cap

SETTINGS = LabelerSettings("fake", "openai", concurrency=4)


def reply(status: ExtractionStatus = ExtractionStatus.OK, detail: str = "") -> Extraction:
    """A reply that took 100 tokens, 10 of them written."""
    mentions = {"effusion": Mention(State.PRESENT)} if status is ExtractionStatus.OK else {}
    return Extraction(status, mentions, detail, input_tokens=90, output_tokens=10)


def rows(count: int) -> Iterator[tuple[str, str]]:
    return ((f"r{i}", f"Effusion {i}.") for i in range(count))


@dataclass
class FakeLabeler:
    """Finds an effusion in each text, the earlier ones more slowly, and does to some what a test asks for."""

    odd: dict[str, Callable[[], Extraction]] = field(default_factory=dict)
    settings: LabelerSettings = SETTINGS
    asked: Counter[str] = field(default_factory=Counter)
    in_flight: int = 0
    most: int = 0
    made: int = 0
    closed: int = 0

    async def label(self, text: str, repeat: int = 1) -> Extraction:
        self.asked[text] += 1
        self.in_flight += 1
        self.most = max(self.most, self.in_flight)
        for _ in range(7 - sum(self.asked.values()) % 7):  # each overtakes some before it
            await asyncio.sleep(0)
        self.in_flight -= 1
        if text in self.odd:
            return self.odd[text]()
        return reply()

    async def close(self) -> None:
        self.closed += 1

    async def make(self, _pool: Pool) -> "FakeLabeler":
        self.made += 1
        return self


@dataclass
class Ask:
    path: Path
    label_set: LabelSet

    def __call__(
        self, some: Iterator[tuple[str, str]], labeler: FakeLabeler, *, stop_after: int | None = None, **more: object
    ) -> tuple[list[tuple[str, object]], str, Usage]:
        """Return the rows that came, what ended them (empty: the end), and what is known to be spent."""
        got: list[tuple[str, object]] = []
        first = more.get("first", 0)
        with open_journal(self.path, "me", first=first if isinstance(first, int) else 0) as journal:
            asking = Asking(some, labeler.make, self.label_set, labeler.settings, journal, **more)  # type: ignore[arg-type]
            with closing(asking.labels()) as labels:
                try:
                    for row in labels:
                        got.append(row)
                        if len(got) == stop_after:
                            break
                except WorkbenchError as error:
                    return got, str(error), asking.usage
            return got, "", asking.usage


@pytest.fixture
def ask(tmp_path: Path, label_set: LabelSet) -> Ask:
    return Ask(tmp_path / "journal", label_set)


def fails(error: Exception) -> Callable[[], Extraction]:
    def fail() -> Extraction:
        raise error

    return fail


@pytest.mark.parametrize("count", [0, 1, 3, 50])
def test_every_row_comes_once_in_order_and_so_many_are_in_flight(ask: Ask, count: int) -> None:
    labeler = FakeLabeler()
    got, stopped, usage = ask(rows(count), labeler)
    assert got == [(f"r{i}", [1, -2]) for i in range(count)]
    assert (stopped, usage) == ("", Usage(count, 90 * count, 10 * count))
    assert labeler.most == min(count, 4)
    assert (labeler.made, labeler.closed) == (int(count > 0), int(count > 0))


def test_what_cannot_be_used_is_told_and_the_rest_goes_on(ask: Ask) -> None:
    odd = {
        "Effusion 1.": lambda: reply(ExtractionStatus.TRUNCATED, "It was cut off."),
        "Effusion 2.": fails(CallError("The server failed.", Trouble.SERVER)),
        "Effusion 3.": fails(ValueError("Effusion 3.")),
        "Effusion 4.": lambda: Extraction(ExtractionStatus.REFUSED),
    }
    got, stopped, usage = ask(rows(6), FakeLabeler(odd))
    assert [said for _, said in got] == [
        [1, -2],
        "It was cut off.",
        "The server failed.",
        "The labeler failed with ValueError.",
        "It ended as refused.",
        [1, -2],
    ]
    assert (stopped, usage) == ("", Usage(3, 270, 30, 0, 1))


def test_what_was_answered_is_not_asked_for_again_and_what_was_not_is(ask: Ask) -> None:
    down = {f"Effusion {i}.": fails(CallError("The server failed.", Trouble.SERVER)) for i in (0, 5)}
    first = FakeLabeler(down)
    got, _, _ = ask(rows(20), first, stop_after=9)
    assert len(got) == 9
    answered = len(ask.path.read_text().splitlines()) - 1
    again = FakeLabeler()
    got, stopped, usage = ask(rows(20), again)
    assert got == [(f"r{i}", [1, -2]) for i in range(20)]
    assert (stopped, usage.replies) == ("", 20)
    assert again.asked.total() == 20 - answered
    assert {"Effusion 0.", "Effusion 5."} <= set(again.asked)
    assert ask(rows(20), labeler := FakeLabeler())[0] == got
    assert (labeler.made, labeler.asked.total()) == (0, 0)


def test_only_rows_of_the_part_in_work_are_taken_from_the_journal(ask: Ask) -> None:
    ask(rows(6), FakeLabeler())
    labeler = FakeLabeler()
    later = iter(list(rows(8))[4:])
    got, _, usage = ask(later, labeler, first=4, spent=Usage(4, 360, 40))
    assert [report for report, _ in got] == ["r4", "r5", "r6", "r7"]
    assert set(labeler.asked) == {"Effusion 6.", "Effusion 7."}
    assert usage == Usage(8, 720, 80)


def test_equal_texts_are_asked_for_once_and_paid_for_once(ask: Ask) -> None:
    labeler = FakeLabeler({"Bad.": lambda: reply(ExtractionStatus.MALFORMED, "No JSON.")})
    some = [(f"r{i}", text) for i, text in enumerate(["Clear.", "Bad."] * 10)]
    got, _, usage = ask(iter(some), labeler)
    assert [said for _, said in got] == [[1, -2], "No JSON."] * 10
    assert labeler.asked == {"Clear.": 1, "Bad.": 1}
    assert usage.replies == 2
    again = FakeLabeler()
    assert ask(iter(some), again)[0] == got
    assert not again.asked


def test_a_text_that_got_no_reply_is_asked_for_again_for_the_next_report(ask: Ask) -> None:
    tries = iter([CallError("The server failed.", Trouble.SERVER)])

    def fail_once() -> Extraction:
        for error in tries:
            raise error
        return Extraction(ExtractionStatus.OK)

    got, _, _ = ask(iter([("r0", "x"), *rows(20), ("r21", "x")]), FakeLabeler({"x": fail_once}))
    assert (got[0], got[-1]) == (("r0", "The server failed."), ("r21", [-2, -2]))


def test_a_server_that_is_closed_stops_it_and_loses_nothing(ask: Ask) -> None:
    closed = {"Effusion 10.": fails(CallError("The key is not taken.", Trouble.CLOSED))}
    labeler = FakeLabeler(closed)
    got, stopped, _ = ask(rows(1000), labeler)
    assert stopped == "The key is not taken."
    assert [report for report, _ in got] == [f"r{i}" for i in range(10)]
    assert labeler.asked.total() < 20
    assert labeler.closed == 1
    again = FakeLabeler()
    assert len(ask(rows(30), again)[0]) == 30
    assert not set(again.asked) & (set(labeler.asked) - set(closed))


def test_a_server_that_may_not_be_asked_stops_it_as_it_stops_a_run(ask: Ask) -> None:
    labeler = FakeLabeler({"Effusion 10.": fails(RightsError("This host is closed."))})
    got, stopped, _ = ask(rows(1000), labeler)
    assert stopped == "This host is closed."
    assert [report for report, _ in got] == [f"r{i}" for i in range(10)]
    assert labeler.asked.total() < 20


def test_a_cap_counts_what_was_spent_before_and_is_not_passed(ask: Ask) -> None:
    labeler = FakeLabeler()
    got, stopped, usage = ask(rows(100), labeler, cap=Cap(tokens=1_000), spent=Usage(4, 360, 40))
    assert "would pass its cap of 1,000 tokens" in stopped
    assert (len(got), usage.tokens, labeler.asked.total()) == (6, 1_000, 6)
    got, stopped, usage = ask(rows(100), labeler, cap=Cap(tokens=1_500), spent=Usage(4, 360, 40))
    assert (len(got), usage.tokens, labeler.asked.total()) == (11, 1_500, 11)


def test_the_first_reply_is_waited_for_alone_under_a_cap(ask: Ask) -> None:
    labeler = FakeLabeler()
    got, stopped, _ = ask(rows(100), labeler, cap=Cap(tokens=50))
    assert "cap of 50 tokens" in stopped
    assert (len(got), labeler.most) == (1, 1)


def test_a_fault_of_the_rows_comes_through_after_what_is_in_flight_is_kept(ask: Ask) -> None:
    def broken() -> Iterator[tuple[str, str]]:
        yield from rows(10)
        raise InputError("row 12 has 1 cell")

    got, stopped, _ = ask(broken(), FakeLabeler())
    assert (len(got), stopped) == (10, "row 12 has 1 cell")
    again = FakeLabeler()
    ask(rows(10), again)
    assert not again.asked


def test_a_labeler_that_cannot_be_made_is_told(ask: Ask) -> None:
    class Unmakable(FakeLabeler):
        async def make(self, _pool: Pool) -> FakeLabeler:
            raise InputError("Labeler fake needs its key.")

    got, stopped, _ = ask(rows(10), Unmakable())
    assert (got, stopped) == ([], "Labeler fake needs its key.")


def test_a_server_that_does_not_answer_is_waited_for_once_and_not_by_each_in_flight(ask: Ask) -> None:
    class Hung(FakeLabeler):
        async def make(self, _pool: Pool) -> FakeLabeler:
            self.made += 1
            await asyncio.sleep(0.01)
            raise CallError("The server gave no whole answer.", Trouble.CONNECTION)

    labeler = Hung()
    assert labeler.settings.concurrency > 1
    assert ask(rows(10), labeler)[:2] == ([], "The server gave no whole answer.")
    assert labeler.made == 1


def test_not_too_many_wait_for_one_that_is_slow(ask: Ask) -> None:
    read = 0
    holding = asyncio.Event()

    def counted() -> Iterator[tuple[str, str]]:
        nonlocal read
        for row in rows(AHEAD + 500):
            read += 1
            yield row

    class Slow(FakeLabeler):
        async def label(self, text: str, repeat: int = 1) -> Extraction:
            if text == "Effusion 0.":
                await holding.wait()
            elif text == f"Effusion {AHEAD - 1}.":
                asyncio.get_running_loop().call_later(0.05, holding.set)
                most.append(read)
            return Extraction(ExtractionStatus.OK)

    most: list[int] = []
    got, _, _ = ask(counted(), Slow())
    assert most[0] <= AHEAD + 4
    assert len(got) == AHEAD + 500
