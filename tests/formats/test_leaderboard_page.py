"""The page of a leaderboard: nothing in it from elsewhere, ties as bars, and names that cannot do anything."""

import itertools
import random
import re
from dataclasses import replace

from workbench.formats.leaderboard_heat import Cell, Heat
from workbench.formats.leaderboard_page import (
    LeaderboardPage,
    MetricColumn,
    PlainTable,
    SystemRow,
    leaderboard_html,
    tie_bars,
)

EVIL = "<script>alert(1)</script>&\"'"


def page() -> LeaderboardPage:
    cells = [Cell(0.5, 0.25, 0.75, 20), Cell(None, note="no study has a value")]
    return LeaderboardPage(
        title=EVIL,
        lead="Two systems.",
        facts=[("Data set", EVIL)],
        systems=[
            SystemRow(EVIL, "1=", "place 1 to 2", "B", "20 scored", [True]),
            SystemRow("B", "1=", "place 1 to 2", EVIL, "20 scored", [True]),
        ],
        metrics=[
            MetricColumn(
                "RadCliQ", "lower is better", EVIL, "studies", [Cell(-0.2, -0.3, -0.1, 20), cells[1]], ["1", ""]
            )
        ],
        heat=Heat([("Fracture", 2), (EVIL, 40)], [cells, cells], 10),
        tables=[PlainTable("Pairs", "About.", ["Pair", "p"], [[EVIL, "0.5"]])],
        notes=[EVIL],
    )


def test_nothing_of_it_comes_from_another_address_and_no_name_becomes_markup() -> None:
    html = leaderboard_html(page())
    assert "http" not in html.replace("http-equiv", "")
    assert not re.search(r"(src|href|url)\s*[=(]", html)
    assert "<script" not in html
    assert "@import" not in html
    assert html.count("&lt;script&gt;") >= 7


def test_what_is_undefined_is_a_dash_with_its_reason_and_the_direction_is_told() -> None:
    html = leaderboard_html(page())
    assert "—<small>no study has a value</small>" in html
    assert "lower is better" in html
    assert "-0.200" in html
    assert "-0.300 to -0.100" in html
    assert ">nan<" not in html.lower()


def test_bars_join_systems_that_are_all_tied_with_each_other() -> None:
    # a - b and b - c are tied, a - c are not: two bars that overlap in b.
    assert tie_bars("abc", ["b", "ac", "b"]) == [[True, False], [True, True], [False, True]]
    assert tie_bars("abc", ["bc", "ac", "ab"]) == [[True], [True], [True]]
    assert tie_bars("abc", ["", "", ""]) == [[], [], []]


def test_a_system_tied_with_one_further_down_alone_has_a_bar_that_passes_over_the_rest() -> None:
    # a is tied with d alone, b with c and d, c with b alone.
    bars = tie_bars("abcd", ["d", "cd", "b", "ab"])
    groups = {
        "".join(name for name, under in zip("abcd", flags, strict=True) if under) for flags in zip(*bars, strict=True)
    }
    assert groups == {"ad", "bc", "bd"}
    one = page()
    rows = [SystemRow(name, "1=", "", "", "", ties) for name, ties in zip("abcd", bars, strict=True)]
    cells = [Cell(0.5, n=9)] * 4
    metric = MetricColumn("Ran Score", "higher is better", "", "findings", cells, ["1="] * 4)
    html = leaderboard_html(replace(one, systems=rows, metrics=[metric], heat=Heat([], [[]] * 4, 10)))
    drawn = [re.findall(r'<td class="tie ?([a-z ]*)"', row) for row in html.split("<tr>")[2:6]]
    assert drawn == [["on", "", ""], ["over", "on", "on"], ["over", "on last", "over"], ["on last", "", "on last"]]
    assert 'title="tied with d"' in html


def test_every_tie_is_under_a_bar_and_nothing_else_is() -> None:
    rng = random.Random(3)
    for _ in range(200):
        names = "abcdefgh"[: rng.randint(1, 8)]
        ties = {pair for pair in itertools.combinations(names, 2) if rng.random() < 0.5}
        bars = tie_bars(names, [[o for o in names if (o, n) in ties or (n, o) in ties] for n in names])
        groups = [[n for n, under in zip(names, flags, strict=True) if under] for flags in zip(*bars, strict=True)]
        assert {pair for group in groups for pair in itertools.combinations(group, 2)} == ties


def test_a_page_of_one_system_and_no_finding_is_a_page() -> None:
    one = page()
    alone = LeaderboardPage(
        one.title,
        one.lead,
        one.facts,
        [SystemRow("A", "1", "", "", "1 scored", [])],
        [MetricColumn("Ran Score", "higher is better", "", "findings", [Cell(0.0, n=1)], ["1"])],
        Heat([], [[]], 10),
        [],
        [],
    )
    assert "0.000" in leaderboard_html(alone)
