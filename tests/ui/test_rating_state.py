"""Presses go round the states of the round; idle time does not count."""

from itertools import cycle, islice

import pytest
import streamlit as st

from workbench.domain.actors import Actor
from workbench.domain.findings import State
from workbench.ui.rating import duration
from workbench.ui.rating_desk import Desk
from workbench.ui.rating_state import IDLE, cycle_of, seconds
from workbench.ui.state import Here
from workbench.workflow.annotate import Entry, RatingTask

THREE = (State.PRESENT, State.UNCERTAIN, State.NOT_MENTIONED)


def presses(states: tuple[State, ...], n: int) -> list[State]:
    return list(islice(cycle(cycle_of(states)), 1, n + 1))  # the first is how a finding begins


def test_one_press_is_present_two_uncertain_three_not_mentioned_again() -> None:
    assert presses(THREE, 4) == [State.PRESENT, State.UNCERTAIN, State.NOT_MENTIONED, State.PRESENT]


def test_three_presses_are_absent_where_the_round_asks_for_it() -> None:
    states = (*THREE, State.ABSENT)
    assert presses(states, 4) == [State.PRESENT, State.UNCERTAIN, State.ABSENT, State.NOT_MENTIONED]


def test_of_a_long_pause_no_more_than_a_minute_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(st, "session_state", {})
    here = Here(None, Actor("Rita", frozenset()))  # type: ignore[arg-type]
    task = RatingTask(None, Entry("r1"), THREE, None, None)  # type: ignore[arg-type]
    desk, other = Desk(here, "pilot", Entry("r1"), "one", 1), Desk(here, "pilot", Entry("r2"), "one", 2)
    assert seconds(desk, task, now=100.0) == 0
    assert seconds(desk, task, now=130.5) == 30.5
    assert seconds(desk, task, now=4000.0) == 30.5 + IDLE
    assert seconds(other, task, now=4010.0) == 0


@pytest.mark.parametrize(
    ("spent", "told"), [(1, "1 min"), (90, "2 min"), (3599, "1 h 00 min"), (3660, "1 h 01 min"), (0, "1 min")]
)
def test_a_time_is_told_to_the_minute(spent: float, told: str) -> None:
    assert duration(spent) == told
