"""Pieces that several pages draw: headings, refusals, figures as text, reports, and what a score rests on."""

import html
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import NoReturn

import plotly.graph_objects as go
import streamlit as st

from workbench.domain.findings import LabelSet, Policies, State
from workbench.domain.hashing import short
from workbench.domain.reports import Report
from workbench.errors import WorkbenchError
from workbench.evaluation.numbers import Figure
from workbench.ui import state
from workbench.ui.state import Here
from workbench.workflow.score import Score

UNDEFINED = "—"
LONGEST_HEADER = 60
STATE_NAMES: Mapping[State | None, str] = {
    State.PRESENT: "present",
    State.UNCERTAIN: "uncertain",
    State.ABSENT: "absent",
    State.NOT_MENTIONED: "not mentioned",
    None: "failed",
}

# Colours are see-through, so that they sit on the light and on the dark theme alike.
STYLE = """<style>
.stMainBlockContainer {padding-left: 2.6rem; padding-right: 2.6rem; padding-bottom: 3rem}
.wb-banner {border-left: 3px solid #cf7a3f; background: rgba(207,122,63,.10); padding: .3rem .7rem; font-size: .85rem;
  border-radius: 0 .4rem .4rem 0; margin-bottom: -.4rem}
.wb-report {font-size: 1rem; line-height: 1.55; overflow-wrap: anywhere}
.wb-section {padding: .45rem .75rem; margin: 0 0 .45rem 0; border-left: 3px solid rgba(47,143,151,.75);
  background: rgba(47,143,151,.06); border-radius: 0 .4rem .4rem 0}
.wb-section.unread {border-left-color: rgba(147,161,163,.45); background: transparent}
.wb-section.unread .wb-text {opacity: .62}
.wb-name {font-size: .74rem; letter-spacing: .05em; text-transform: uppercase; opacity: .75; font-weight: 600}
.wb-text {white-space: pre-wrap}
.wb-report mark {background: rgba(224,164,60,.38); color: inherit; border-radius: .2rem; padding: .05rem .1rem}
.wb-chip {display: inline-block; padding: .1rem .55rem; margin: 0 .3rem .3rem 0; border-radius: 1rem; font-size: .85rem;
  background: rgba(147,161,163,.18)}
.wb-chip.present {background: rgba(47,143,151,.28)}
.wb-chip.uncertain {background: rgba(224,164,60,.30)}
.wb-chip.failed {background: rgba(197,82,74,.28)}
[data-testid=stButtonGroup] button[aria-checked=true] p {color: inherit; font-weight: 600}
.wb-facts {font-size: .85rem; opacity: .85; line-height: 1.6}
.wb-facts b {font-weight: 600}
.wb-facts code {font-size: .8rem}
</style>"""


@contextmanager
def explained() -> Iterator[None]:
    """Show a refusal or a user's mistake as its sentence, and go on after the block; anything else goes through."""
    try:
        yield
    except WorkbenchError as error:
        refuse(error)


def refuse(error: WorkbenchError) -> None:
    """Show the sentence of a refusal, findings by the names that people know."""
    known = state.opened()
    sentence = named(str(error), known.study.label_set) if known else str(error)
    st.error(plain(sentence), icon=":material/error:")


def plain(text: str) -> str:
    """Return a text so that Markdown shows it as it stands."""
    return re.sub(r"([\\`*_{}\[\]()#+\-.!|<>~$:&])", r"\\\1", text).replace("\n", "  \n")


def head(title: str, lead: str) -> None:
    """Draw a page's heading and the sentence that says what to do here."""
    st.header(title, anchor=False)
    st.markdown(lead)


def missing(sentence: str, page: str = "", label: str = "") -> NoReturn:
    """Say what has to be there first, link to the page where it is made, and end this page."""
    st.info(plain(sentence))
    if page:
        st.page_link(state.page(page), label=label, icon=":material/arrow_forward:")
    st.stop()


def figure_text(figure: Figure | None, digits: int = 3) -> str:
    """Return a figure with its interval, or a dash and the reason why there is none."""
    if figure is None:
        return UNDEFINED
    if figure.value is None:
        return f"{UNDEFINED} ({figure.reason})"
    interval = (
        "" if figure.low is None or figure.high is None else f" ({figure.low:.{digits}f}–{figure.high:.{digits}f})"
    )
    return f"{figure.value:.{digits}f}{interval}"


def metric(label: str, figure: Figure, unit: str, tip: str = "") -> None:
    """Draw a figure large, its interval and n below."""
    value = UNDEFINED if figure.value is None else f"{figure.value:.3f}"
    st.metric(label, value, help=tip or None)
    if figure.value is None:
        st.caption(plain(figure.reason))
    else:
        interval = "" if figure.low is None else f"{figure.low:.3f} to {figure.high:.3f} · "
        st.caption(f"{interval}n = {figure.n:,} {unit}")


def chart(figure: go.Figure, key: str, alt: str, on_pick: Callable[[str], None] | None = None) -> None:
    """Draw a figure without the plotting library's tool bar, its labels as dark or light as the page's text.

    Args:
        figure: what to draw.
        key: the element's own.
        alt: says in words what it shows, for whoever cannot see it.
        on_pick: is told the custom data of a point that was clicked, before the page is drawn again.
    """
    ink = {"light": "#3a4a4e", "dark": "#cfdada"}.get(st.context.theme.type or "")
    if ink:
        figure.update_xaxes(tickfont_color=ink, title_font_color=ink)
        figure.update_yaxes(tickfont_color=ink, title_font_color=ink)
    if on_pick is None:
        st.plotly_chart(figure, key=key, config={"displayModeBar": False}, alt=alt)
        return
    # A new key after each click, since a second click on the same point would only take the first one back.
    times = f"{key}.picked"
    drawn = f"{key}.{st.session_state.setdefault(times, 0)}"

    def picked() -> None:
        points = st.session_state[drawn].selection.points
        given = points[0].get("customdata") if points else None
        if given:
            st.session_state[times] += 1
            on_pick(given if isinstance(given, str) else given[0])

    figure.update_layout(dragmode=False)
    st.plotly_chart(
        figure,
        key=drawn,
        config={"displayModeBar": False},
        alt=alt,
        on_select=picked,
        selection_mode="points",
    )


@dataclass(frozen=True, slots=True)
class Passage:
    """Words to mark in a text; ``sort`` is the class the mark gets, so that marks of two sorts can overlap."""

    words: str
    sort: str = ""


def report_html(
    report: Report,
    read: Sequence[str],
    evidence: Sequence[str | Passage] = (),
    unread: str = "not read by the labeler",
) -> str:
    """Return a report as HTML: its sections in order, those that are read set off, evidence marked, all escaped.

    Text between sections (headers as they stand) is left to the section's name; text in no section is shown as unread,
    so that every word of the report is on the screen.
    """
    blocks = []
    at = 0
    for section in sorted(report.sections, key=lambda s: s.start):
        between = report.text[at : section.start].strip()
        if len(between) > LONGEST_HEADER:
            blocks.append(_block("", between, evidence, unread))
            between = ""
        title = between.rstrip(": ") or section_title(section.name)
        told = "" if section.name in read else unread
        blocks.append(_block(title, report.text[section.start : section.end], evidence, told))
        at = max(at, section.end)
    rest = report.text[at:].strip()
    if rest:
        blocks.append(_block("", rest, evidence, unread))
    return f'<div class="wb-report" dir="auto" lang="{html.escape(report.language)}">{"".join(blocks)}</div>'


def section_title(name: str) -> str:
    """Return what stands above a section without a header of its own: "unlabelled" reads as if labels were missing."""
    return {"unlabelled": "report", "preamble": "before the first header"}.get(name, name)


def _block(title: str, text: str, evidence: Sequence[str | Passage], unread: str) -> str:
    """Return one section as HTML; ``unread`` says that it is not read and is empty where it is."""
    name = html.escape(" · ".join(part for part in (title, unread) if part))
    return (
        f'<div class="wb-section{" unread" if unread else ""}"><div class="wb-name">{name}</div>'
        f'<div class="wb-text">{marked(text.strip(), evidence)}</div></div>'
    )


def marked(text: str, evidence: Sequence[str | Passage]) -> str:
    """Return a text escaped, with each quoted passage marked; case and spacing of a quote may differ.

    Where passages of several sorts overlap the mark carries them all, "plain" for one without a sort among others.
    """
    sorts: list[set[str]] = [set() for _ in text]
    for quote in evidence:
        passage = quote if isinstance(quote, Passage) else Passage(quote)
        words = passage.words.split()
        if words:
            pattern = r"\s+".join(re.escape(word) for word in words)
            for match in re.finditer(pattern, text, re.IGNORECASE):
                for at in range(*match.span()):
                    sorts[at].add(passage.sort)
    pieces, at = [], 0
    while at < len(text):
        end = at
        while end < len(text) and sorts[end] == sorts[at]:
            end += 1
        piece = html.escape(text[at:end])
        pieces.append(f"<mark{_class_of(sorts[at])}>{piece}</mark>" if sorts[at] else piece)
        at = end
    return "".join(pieces)


def _class_of(sorts: set[str]) -> str:
    named = sorted(sort or "plain" for sort in sorts)
    return "" if named == ["plain"] else f' class="{" ".join(named)}"'


def report_text(report: Report, read: Sequence[str], evidence: Sequence[str] = (), **told: str) -> None:
    """Draw a report; ``unread`` replaces what is said of sections that are not read."""
    st.html(report_html(report, read, evidence, **told))


def chips(states: Mapping[str, State | None]) -> None:
    """Draw who said what."""
    parts = [
        f'<span class="wb-chip {(state or "failed").replace("_", "-")}">{html.escape(who)}: {STATE_NAMES[state]}</span>'
        for who, state in states.items()
    ]
    st.html(f"<div>{''.join(parts) or UNDEFINED}</div>")


def named(sentence: str, label_set: LabelSet) -> str:
    """Return a sentence with finding ids replaced by the names people know."""
    names = {finding.id: finding.name for finding in label_set.findings}
    pattern = r"\b(" + "|".join(re.escape(i) for i in sorted(names, key=len, reverse=True)) + r")\b"
    return re.sub(pattern, lambda match: names[match.group(1)], sentence)


def policy_text(policies: Policies, label_set: LabelSet) -> str:
    """Return a policy for "uncertain" in words."""
    other = {f: p for f, p in policies.overrides.items() if p != policies.default}
    names = ", ".join(f"{label_set.get(f).name} {p}" for f, p in other.items() if f in label_set.ids)
    return f"{policies.default}{f' (but {names})' if names else ''}"


def score_facts(here: Here, score: Score) -> None:
    """Draw what a score rests on: without these lines a number means nothing."""
    run, reference, label_set = score.prepared.run, score.reference, here.study.label_set
    scored, members = score.evaluation.n_reports, len(score.prepared.cohort.members)
    short_cells = sum(finding.short for finding in score.evaluation.findings)
    left = f", {len(score.left_out)} quoted in the prompt left out" if score.left_out else ""
    rule = "one rater alone" if reference.rule.single_rater else f"{reference.rule.k} of {reference.rule.n} votes"
    told = " · <b>simulated votes</b>" if reference.simulated else ""
    votes = policy_text(reference.vote_policies, label_set)
    predictions = policy_text(score.prediction_policies, label_set)
    facts = [
        f"<b>Revision</b> {score.prepared.number} <code>{short(run.prompt_hash)}</code>",
        f"<b>Labeler</b> {html.escape(run.labeler.name)} <code>{short(run.labeler.hash)}</code>",
        f"<b>Cohort</b> {html.escape(score.prepared.cohort.name)}",
        f"<b>Reference</b> {html.escape(reference.name)} <code>{short(reference.hash)}</code>, {rule}{told}",
        f"<b>Uncertain counts as</b> {html.escape(votes)} in votes, {html.escape(predictions)} in predictions",
        f"<b>Coverage</b> {scored} of {members} reports{left}; {short_cells} short votes left out",
        f"<b>Looks at this cohort</b> {score.looks}",
    ]
    st.html(f'<div class="wb-facts">{" &nbsp;·&nbsp; ".join(facts)}</div>')
