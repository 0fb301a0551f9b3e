"""The leaderboard as one HTML file that opens without a server: nothing in it comes from any other address.

Pictures are drawn as SVG within the page, so they are as sharp on paper as on a screen; light or dark follows what the
reader's system prefers.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape

from workbench.formats.leaderboard_heat import UNDEFINED, Cell, Heat, heat_svg, interval_words

_SPAN = 108  # width of a small picture of an interval


@dataclass(frozen=True, slots=True)
class MetricColumn:
    """A metric: its name, its direction in words, what it is, what n counts, and the cell and rank of each system."""

    name: str
    direction: str
    definition: str
    of_what: str
    cells: Sequence[Cell]
    ranks: Sequence[str]


@dataclass(frozen=True, slots=True)
class SystemRow:
    """A system: its place by Ran Score and how many studies stand behind it. ``group`` flags its bars of ties."""

    name: str
    rank: str
    rank_interval: str
    tied_with: str
    coverage: str
    ties: Sequence[bool]


@dataclass(frozen=True, slots=True)
class PlainTable:
    """A table as text, the first column a name."""

    title: str
    about: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]


@dataclass(frozen=True, slots=True)
class LeaderboardPage:
    """All that the page shows, rows in the order of the systems, the best by Ran Score first."""

    title: str
    lead: str
    facts: Sequence[tuple[str, str]]
    systems: Sequence[SystemRow]
    metrics: Sequence[MetricColumn]
    heat: Heat
    tables: Sequence[PlainTable]
    notes: Sequence[str]


def tie_bars(systems: Sequence[str], tied: Sequence[Sequence[str]]) -> list[list[bool]]:
    """Return per system which bars of ties it stands under, [system][bar].

    A bar is a largest group of systems that are all tied with each other, so every tie is under a bar and no two that
    are apart share one. Being tied is not transitive, so bars overlap, and a bar may pass over a system that is not
    under it. The bars that begin higher up come first.

    Args:
        systems: in the order they are shown in.
        tied: per system those it is tied with.
    """
    at = {system: i for i, system in enumerate(systems)}
    beside = [{at[name] for name in names if name in at} for names in tied]
    groups = sorted(sorted(group) for group in _groups(set(), set(at.values()), set(), beside) if len(group) > 1)
    return [[i in group for group in groups] for i in range(len(systems))]


def _groups(chosen: set[int], open_: set[int], done: set[int], beside: Sequence[set[int]]) -> Iterator[set[int]]:
    """Yield each maximal clique once (Bron and Kerbosch, Commun ACM 1973;16:575-577, with a pivot)."""
    if not open_ and not done:
        yield chosen
        return
    pivot = max(open_ | done, key=lambda i: len(open_ & beside[i]))
    for i in sorted(open_ - beside[pivot]):
        yield from _groups(chosen | {i}, open_ & beside[i], done & beside[i], beside)
        open_, done = open_ - {i}, done | {i}


def leaderboard_html(page: LeaderboardPage) -> str:
    """Return the whole page as HTML."""
    facts = "".join(f"<div><dt>{escape(name)}</dt><dd>{escape(value)}</dd></div>" for name, value in page.facts)
    notes = "".join(f"<li>{escape(note)}</li>" for note in page.notes)
    definitions = "".join(
        f"<li><b>{escape(m.name)}</b> ({escape(m.direction)}): {escape(m.definition)}</li>" for m in page.metrics
    )
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>{escape(page.title)}</title>
<style>{_STYLE}</style>
</head>
<body>
<main>
<h1>{escape(page.title)}</h1>
<p class="lead">{escape(page.lead)}</p>
<dl class="facts">{facts}</dl>
{_board(page)}
{heat_svg(page.heat, [system.name for system in page.systems])}
{"".join(map(_table, page.tables))}
<h2>What the numbers mean</h2>
<ul>{notes}</ul>
<ul>{definitions}</ul>
</main>
</body>
</html>
"""


def _board(page: LeaderboardPage) -> str:
    bars = len(page.systems[0].ties) if page.systems else 0
    spans = [_range(metric.cells) for metric in page.metrics]
    head = "".join(f'<th scope="col">{escape(m.name)}<span>{escape(m.direction)}</span></th>' for m in page.metrics)
    rows = []
    for i, system in enumerate(page.systems):
        ties = "".join(_bar(page.systems, i, bar) for bar in range(bars))
        cells = "".join(_cell(metric, i, span) for metric, span in zip(page.metrics, spans, strict=True))
        tied = f"<small>tied with {escape(system.tied_with)}</small>" if system.tied_with else ""
        rows.append(
            f'<tr><td class="rank"><b>{escape(system.rank)}</b><small>{escape(system.rank_interval)}</small></td>{ties}'
            f'<th scope="row">{escape(system.name)}{tied}<small>{escape(system.coverage)}</small></th>{cells}</tr>'
        )
    over = f'<th scope="col" colspan="{bars}" class="tie">ties</th>' if bars else ""
    return (
        "<h2>Systems by metric</h2><p>Ordered by Ran Score. Under each number its 95 % interval, all on one scale per "
        "column, and its rank by that metric. A bar beside the rank joins systems that are tied: their difference may "
        "be chance. Where it is thin it passes over a system that is not one of them.</p>"
        '<div class="wide"><table class="board"><thead><tr><th scope="col">Rank</th>'
        f'{over}<th scope="col">System</th>{head}</tr></thead><tbody>{"".join(rows)}</tbody></table></div>'
    )


def _bar(systems: Sequence[SystemRow], row: int, bar: int) -> str:
    """Draw what a bar is in one row: thick for a system under it, thin where it passes over one that is not."""
    under = [i for i, system in enumerate(systems) if system.ties[bar]]
    if not under[0] <= row <= under[-1]:
        return '<td class="tie"></td>'
    last = " last" if row == under[-1] else ""
    if row not in under:
        return '<td class="tie over"></td>'
    others = ", ".join(systems[i].name for i in under if i != row)
    return f'<td class="tie on{last}" title="tied with {escape(others)}"></td>'


def _cell(metric: MetricColumn, row: int, span: tuple[float, float]) -> str:
    cell, rank = metric.cells[row], metric.ranks[row]
    if cell.value is None:
        return f'<td class="none">{UNDEFINED}<small>{escape(cell.note)}</small></td>'
    told, note = interval_words(cell), f'<small class="note">{escape(cell.note)}</small>' if cell.note else ""
    under = " · ".join(part for part in (f"rank {rank}" if rank else "", f"n {cell.n:,} {metric.of_what}") if part)
    return (
        f"<td><b>{cell.value:.3f}</b>{_whisker(cell, span)}<small>{escape(told)}</small>"
        f"<small>{escape(under)}</small>{note}</td>"
    )


def _range(cells: Sequence[Cell]) -> tuple[float, float]:
    """Return what a column's pictures span: from 0, or what lies below it, to a little more than the largest."""
    ends = [end for cell in cells for end in (cell.value, cell.low, cell.high) if end is not None]
    low, high = min([0.0, *ends]), max([0.0, *ends])
    return low, high + 0.05 * (high - low or 1.0)


def _whisker(cell: Cell, span: tuple[float, float]) -> str:
    def x(value: float) -> float:
        return 4 + (_SPAN - 8) * (value - span[0]) / (span[1] - span[0])

    assert cell.value is not None  # noqa: S101 - a cell without one has no picture
    parts = [f'<path class="axis" d="M4 8H{_SPAN - 4}"/><path class="axis" d="M{x(0.0):.1f} 3V13"/>']
    if cell.low is not None and cell.high is not None:
        low, high = x(cell.low), x(cell.high)
        parts.append(f'<path class="whisker" d="M{low:.1f} 8H{high:.1f}M{low:.1f} 4.5v7M{high:.1f} 4.5v7"/>')
    parts.append(f'<circle class="dot" cx="{x(cell.value):.1f}" cy="8" r="3.6"/>')
    return f'<svg viewBox="0 0 {_SPAN} 16" width="{_SPAN}" height="16" aria-hidden="true">{"".join(parts)}</svg>'


def _table(table: PlainTable) -> str:
    head = "".join(f'<th scope="col">{escape(column)}</th>' for column in table.columns)
    rows = "".join(
        f'<tr><th scope="row">{escape(row[0])}</th>{"".join(f"<td>{escape(cell)}</td>" for cell in row[1:])}</tr>'
        for row in table.rows
    )
    return (
        f'<h2>{escape(table.title)}</h2><p>{escape(table.about)}</p><div class="wide"><table><thead><tr>{head}</tr>'
        f"</thead><tbody>{rows}</tbody></table></div>"
    )


_STYLE = """
:root {color-scheme: light dark; --ground: #fbfaf7; --ink: #1d2b2e; --soft: #5c6c70; --line: #dcdcd4; --mark: #1f7a82;
  --tie: #cf7a3f; --blank: #ecebe5}
@media (prefers-color-scheme: dark) {:root {--ground: #14191b; --ink: #e3e8e8; --soft: #9aa8ab; --line: #333c3f;
  --mark: #67bcc3; --tie: #e09a66; --blank: #232a2c}}
body {margin: 0; background: var(--ground); color: var(--ink); font: 15px/1.5 system-ui, sans-serif}
main {max-width: 1480px; margin: 0 auto; padding: 2rem 1.5rem 4rem}
h1 {font-size: 1.7rem; margin: 0 0 .3rem} h2 {font-size: 1.15rem; margin: 2.2rem 0 .3rem}
p {margin: .2rem 0 .8rem; max-width: 78ch} .lead {font-size: 1.05rem}
.facts {display: flex; flex-wrap: wrap; gap: .5rem 1.6rem; margin: 1rem 0 0; padding: .8rem 1rem;
  border: 1px solid var(--line); border-radius: .5rem}
.facts dt {font-size: .75rem; color: var(--soft)} .facts dd {margin: 0; font-size: .9rem; overflow-wrap: anywhere}
.wide {overflow-x: auto} table {border-collapse: collapse; font-variant-numeric: tabular-nums}
th, td {text-align: left; vertical-align: top; padding: .5rem .8rem .5rem 0; border-bottom: 1px solid var(--line)}
thead th {font-size: .85rem; white-space: nowrap} thead span {display: block; font-weight: 400; color: var(--soft)}
tbody th {font-weight: 600; min-width: 11rem} td b {font-size: 1.05rem}
small {display: block; color: var(--soft); font-size: .78rem; font-weight: 400; white-space: nowrap}
small.note {white-space: normal; max-width: 13rem}
tbody th small {white-space: normal; max-width: 17rem} .none small {white-space: normal; max-width: 8rem}
.rank b {font-size: 1.4rem} .tie {width: 8px; min-width: 8px; padding: 0 4px} th.tie {font-size: .75rem}
td.tie.on {border-left: 4px solid var(--tie); border-bottom-color: transparent}
td.tie.over {border-left: 1px dotted var(--tie); border-bottom-color: transparent}
td.tie.last {border-bottom-color: var(--line)} td svg {display: block; margin: .15rem 0}
.axis {stroke: var(--line); fill: none} .whisker {stroke: var(--mark); stroke-width: 1.8; fill: none}
.dot {fill: var(--mark)} .heat {font-size: 12px} .heat .name {fill: var(--ink)} .heat .count {fill: var(--soft)}
.heat .few {font-style: italic} .heat .rare {fill: var(--ink); font-style: italic} .blank {fill: var(--blank)}
.bracket {stroke: var(--soft); stroke-width: 1.5; fill: none}
ul {padding-left: 1.1rem; max-width: 90ch} li {margin: .25rem 0}
@media print {.wide {overflow: visible} main {max-width: none}}
"""
