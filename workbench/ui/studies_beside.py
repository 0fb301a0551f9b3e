"""One study after the other: the reference beside what a system wrote, with findings matched, missed and invented."""

import html
from collections import Counter
from collections.abc import Sequence

import streamlit as st

from workbench.domain.findings import LabelSet
from workbench.domain.reports import Report, Section
from workbench.domain.runs import Extraction
from workbench.ui import leaderboard_data, widgets
from workbench.ui.state import Here
from workbench.ui.widgets import Passage
from workbench.workflow.leaderboard import Board
from workbench.workflow.study_pairs import Pair, studies_with

STYLE = """<style>
.wb-report mark.matched {background: rgba(47,143,151,.34)}
.wb-report mark.missed {background: rgba(207,122,63,.42)}
.wb-report mark.invented {background: rgba(123,128,201,.45)}
.wb-chip.matched {background: rgba(47,143,151,.30)}
.wb-chip.missed {background: rgba(207,122,63,.36)}
.wb-chip.invented {background: rgba(123,128,201,.38)}
</style>"""
EVERY, ALL_FINDINGS = "all", ""
_SORTS = ("matched", "missed", "invented")


def draw(here: Here, board: Board, system: str, finding: str) -> None:
    """Draw the studies behind one square, or all of a system where no finding is named, the worst first."""
    label_set = here.study.label_set
    listed = studies_with(board.scoring, system, finding or None)
    st.html(STYLE)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        if finding:
            counts = Counter(what for _, what, _ in listed)
            kinds = [EVERY, *(f"{kind} {counts[kind]}" for kind in ("missed", "invented", "matched") if counts[kind])]
            wanted = st.segmented_control("Studies", kinds, default=EVERY, required=True, key="leaderboard.kind")
            listed = [one for one in listed if wanted == EVERY or one[1] == str(wanted).split(" ", maxsplit=1)[0]]
        if not listed:
            st.info("No study on either side.")
            return
        told = {study: (what, f1) for study, what, f1 in listed}
        study = st.selectbox(
            f"Study, of {len(told)}; the worst first" if not finding else f"Study, of {len(told)}",
            list(told),
            format_func=lambda s: " · ".join(p for p in (s, told[s][0], f"report F1 {told[s][1]:.2f}") if p),
            key=f"leaderboard.study.{system}.{finding}",
            width=420,
        )
        at = list(told).index(study)
        for label, icon, step in (("Previous", "arrow_back", -1), ("Next", "arrow_forward", 1)):
            st.button(
                label,
                icon=f":material/{icon}:",
                key=f"leaderboard.{label}",
                disabled=not 0 <= at + step < len(told),
                on_click=_go,
                args=(f"leaderboard.study.{system}.{finding}", list(told), at + step),
            )
    _pair(leaderboard_data.pair(here, board, system, study), label_set)


def _go(key: str, studies: Sequence[str], at: int) -> None:
    st.session_state[key] = studies[at]


def _pair(pair: Pair, label_set: LabelSet) -> None:
    sort_of = {finding: sort for sort in _SORTS for finding in getattr(pair, sort)}
    chips = [
        f'<span class="wb-chip {sort}">{sort}: {html.escape(label_set.get(finding).name)}</span>'
        for sort in _SORTS
        for finding in getattr(pair, sort)
    ]
    st.html(f"<div>{''.join(chips) or 'Neither report has a finding.'}</div>")
    left, right = st.columns(2, gap="medium")
    with left:
        _text("reference", pair.reference, _passages(pair.in_reference, sort_of, ("matched", "missed")))
    with right:
        _text("generated", pair.generated or "", _passages(pair.in_generated, sort_of, ("matched", "invented")))
        if pair.in_generated is not None and pair.in_generated.detail:
            st.caption(widgets.plain(pair.in_generated.detail))


def _passages(read: Extraction | None, sort_of: dict[str, str], sorts: Sequence[str]) -> list[Passage]:
    mentions = read.mentions.items() if read else ()
    return [
        Passage(mention.evidence, sort_of[finding])
        for finding, mention in mentions
        if mention.evidence and sort_of.get(finding) in sorts
    ]


def _text(name: str, text: str, passages: Sequence[Passage]) -> None:
    shown = text or "(an empty report)"
    report = Report(name, name, shown, (Section(name, 0, len(shown)),))
    st.html(widgets.report_html(report, (name,), passages))
