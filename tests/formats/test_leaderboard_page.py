"""The page of a leaderboard: nothing in it from elsewhere, ties as bars, and names that cannot do anything."""

import re

from workbench.formats.leaderboard_page import (
    Cell,
    Heat,
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
