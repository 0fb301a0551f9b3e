"""Going on to the next item that is not decided."""

import pytest

from workbench.ui.deciding import next_open


@pytest.mark.parametrize(
    ("done", "at", "following"),
    [
        ([True, False, False], 0, 1),
        ([False, True, True], 2, 0),  # from the start again
        ([True, True, True], 1, 1),
        ([True, False], 1, 1),  # one's own place counts last
    ],
)
def test_the_next_open_item_comes_round_from_the_start(done: list[bool], at: int, following: int) -> None:
    assert next_open(done, at) == following
