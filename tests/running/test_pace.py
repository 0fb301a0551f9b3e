"""Rates over the last half minute."""

import pytest

from workbench.running.pace import Speedometer


class Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


def test_nothing_is_said_before_anything_happened() -> None:
    clock = Clock()
    speed = Speedometer(clock)
    assert speed.rates() == (None, None)
    clock.now += 5
    speed.mark(0, 0)
    assert speed.rates() == (None, None)


def test_rates_are_of_the_last_half_minute() -> None:
    clock = Clock()
    speed = Speedometer(clock)
    for second in range(1, 61):  # ten calls a second for half a minute, then two
        clock.now = 100 + second
        calls = 10 * min(second, 30) + 2 * max(second - 30, 0)
        speed.mark(calls, calls // 2)
        if second == 30:
            assert speed.rates() == pytest.approx((10.0, 5.0))
    assert speed.rates() == pytest.approx((2.0, 1.0))


def test_marks_that_come_thick_do_not_pile_up() -> None:
    clock = Clock()
    speed = Speedometer(clock)
    for number in range(100_000):
        clock.now = 100 + number / 1000
        speed.mark(number, number)
    assert len(speed._marks) < 200
    assert speed.rates()[0] == pytest.approx(1000, rel=0.01)
