"""Cost and caps, by hand arithmetic."""

from dataclasses import replace

import pytest

from workbench.domain.runs import Price, Usage
from workbench.running.spending import Cap, Most, cost, forecast, refusal, tokens

PRICE = Price(input=2.0, output=10.0, cached_input=0.5)
# 10 replies: 9,000 input tokens of which 4,000 cached, 1,000 output: (5,000 x 2 + 4,000 x 0.5 + 1,000 x 10) / 10^6.
TEN = Usage(10, 9_000, 1_000, 4_000)
TEN_COST = 0.022


def test_what_is_written_to_a_cache_costs_a_quarter_more_and_a_batch_its_share() -> None:
    # 10,000 in, of them 2,000 read from the cache and 4,000 written to it, 1,000 out:
    # (4,000 x 2 + 2,000 x 0.5 + 4,000 x 2 x 1.25 + 1,000 x 10) / 10^6 = 0.029.
    by_call = Usage(10, 10_000, 1_000, 2_000, 0, 4_000)
    assert cost(by_call, PRICE) == pytest.approx(0.029)
    assert cost(by_call, replace(PRICE, cache_write=2.0)) == pytest.approx(0.027)
    in_batch = Usage(10, 10_000, 1_000, 2_000, 0, 4_000, 10_000, 1_000, 2_000, 4_000)
    assert cost(in_batch, PRICE) == pytest.approx(0.0145)
    assert cost(in_batch, replace(PRICE, batch_factor=0.25)) == pytest.approx(0.00725)
    assert cost(by_call + in_batch, PRICE) == pytest.approx(0.0435)


def test_the_cost_of_what_came() -> None:
    assert cost(TEN, PRICE) == pytest.approx(TEN_COST)
    assert cost(TEN, Price(2.0, 10.0)) == pytest.approx(0.028)  # no price of cached input: the full one
    assert cost(Usage(), PRICE) == 0.0
    assert cost(TEN, None) is None


def test_replies_that_do_not_tell_their_tokens_count_as_the_mean() -> None:
    half = Usage(10, 9_000, 1_000, 4_000, unknown=5)
    assert cost(half, PRICE) == pytest.approx(1.5 * TEN_COST)
    assert tokens(half) == pytest.approx(15_000)
    assert cost(Usage(unknown=3), PRICE) is None
    assert tokens(Usage(unknown=3)) is None


def test_the_forecast_is_the_mean_times_all() -> None:
    assert forecast(TEN, PRICE, 90) == pytest.approx(10 * TEN_COST)
    assert forecast(TEN, PRICE, 0) == pytest.approx(TEN_COST)
    assert forecast(Usage(), PRICE, 100) is None
    assert forecast(TEN, None, 100) is None


@pytest.mark.parametrize(
    ("cap", "in_flight", "fits"),
    [
        (Cap(), 1000, True),
        (Cap(tokens=11_000), 0, True),  # 10,000 spent and 1,000 for the next
        (Cap(tokens=10_999), 0, False),
        (Cap(tokens=13_999), 3, False),  # and 3,000 for those in flight
        (Cap(tokens=14_000), 3, True),
        (Cap(cost=0.0249), 0, True),  # (900 x 2 + 100 x 10) / 10^6 = 0.0028 for the next, none of it cached
        (Cap(cost=0.0247), 0, False),
        (Cap(cost=0.0275), 1, False),
        (Cap(cost=0.0277), 1, True),
        (Cap(tokens=14_000, cost=0.01), 3, False),
        (Cap(tokens=0), 0, False),
    ],
)
def test_the_next_report_fits_or_not_with_those_in_flight(cap: Cap, in_flight: int, fits: bool) -> None:
    assert (refusal(cap, PRICE, TEN, [Most()] * (in_flight + 1)) == "") is fits


@pytest.mark.parametrize(
    ("cap", "usage", "coming", "fits"),
    [
        (Cap(tokens=3_500), Usage(), [Most(3_000, 500)], True),
        (Cap(tokens=3_499), Usage(), [Most(3_000, 500)], False),
        (Cap(tokens=7_000), Usage(), [Most(3_000, 500), Most(3_000, 500)], True),
        (Cap(tokens=6_999), Usage(), [Most(3_000, 500), Most(3_000, 500)], False),
        (Cap(tokens=13_500), TEN, [Most(3_000, 500)], True),  # 10,000 spent
        (Cap(tokens=13_499), TEN, [Most(3_000, 500)], False),
        (Cap(tokens=11_399), TEN, [Most(10, 500)], False),  # as much is sent as the mean of what came: 900 and 500
        (Cap(tokens=11_400), TEN, [Most(10, 500)], True),
        (Cap(tokens=3_000), Usage(), [Most(3_000, None)], True),  # no limit and no reply yet: only the prompt is known
        (Cap(cost=0.0111), Usage(), [Most(3_000, 500)], True),  # (3,000 x 2 + 500 x 10) / 10^6 = 0.011
        (Cap(cost=0.0109), Usage(), [Most(3_000, 500)], False),
        (Cap(cost=0.0124), Usage(), [Most(3_000, 500, written=True)], False),  # 3,000 x 2.5 + 5,000: 0.0125
        (Cap(cost=0.0126), Usage(), [Most(3_000, 500, written=True)], True),
        (Cap(tokens=0), Usage(), [Most()], False),
        (Cap(cost=0.0), Usage(), [Most()], False),
    ],
)
def test_a_report_fits_where_its_prompt_and_the_longest_reply_do(
    cap: Cap, usage: Usage, coming: list[Most], fits: bool
) -> None:
    assert (refusal(cap, PRICE, usage, coming) == "") is fits


def test_refusals_say_which_cap_it_was() -> None:
    told = refusal(Cap(tokens=10_500), PRICE, TEN, [Most(3_000, 500)])
    assert "its cap of 10,500 tokens: the next report may take 3,500 (its prompt, estimated, and the longest" in told
    assert "its cap of 0.02 USD" in refusal(Cap(cost=0.02), PRICE, TEN, [Most()])
    assert "does not say how many tokens" in refusal(Cap(tokens=10**9), PRICE, Usage(unknown=1), [Most()])
    assert refusal(Cap(tokens=10**9), PRICE, Usage(), [Most()]) == ""
