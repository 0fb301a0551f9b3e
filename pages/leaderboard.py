"""Leaderboard: report generators by every metric, where each fails, and the studies behind each number."""

import streamlit as st

from workbench.domain.actors import Role
from workbench.domain.hashing import short
from workbench.domain.prompts import RevisionStatus
from workbench.evaluation.scores import FEW
from workbench.ui import (
    blind,
    data,
    leaderboard_data,
    leaderboard_panels,
    leaderboard_upload,
    state,
    studies_beside,
    widgets,
)
from workbench.ui.leaderboard_figures import by_system_and_finding
from workbench.workflow.leaderboard import Board
from workbench.workflow.leaderboard_files import facts_of

TABS, SYSTEM, FINDING = "leaderboard.tabs", "leaderboard.system", "leaderboard.finding"
RANKED, FAILS, PAIRS, METRICS, ADD = "Systems", "Where each fails", "Pairs", "Metrics together", "Add systems"

here = state.here()
widgets.head("Leaderboard", "See which report generator says what the radiologist said, and where each one fails.")
blind.stop(here)
blind.stop_reviewer(here)
may_add = here.may(Role.LEAD, Role.ADMIN)
known = leaderboard_data.data_sets(here)
accepted = [r for r in data.revisions(here) if r.status is RevisionStatus.ACCEPTED]
if not accepted:
    widgets.missing("Reports are read by an accepted prompt, and none is accepted yet.", "accept", "Accept a revision")
if not known:
    st.info(
        "No generated report is here yet. Bring in reference reports and a system's reports"
        + (
            " below, or with one command: `workbench score --reference R.csv --generated G.csv -o board`"
            if may_add
            else "; the study lead does that."
        ),
        icon=":material/leaderboard:",
    )
    if may_add:
        leaderboard_upload.draw(here, known)
    st.stop()


def picked(pick: str) -> None:
    number, _, finding = pick.partition(" ")
    st.session_state[SYSTEM], st.session_state[FINDING] = board.systems[int(number)], finding


def draw_fails(board: Board) -> None:
    st.markdown("Each square is F1 of one finding, the rarest left: red is worst. Click one to read its studies.")
    findings = [(f, here.study.label_set.get(f).name, n) for f, n in board.findings]
    squares = leaderboard_data.squares(board, here.study.label_set)
    drawn = by_system_and_finding(findings, board.systems, squares, few=FEW)
    widgets.chart(drawn, key="leaderboard.heat", alt="F1 by system and finding", on_pick=picked)
    one, two, _ = st.columns([2, 2, 3])
    if st.session_state.get(SYSTEM) not in board.systems:
        st.session_state[SYSTEM] = board.systems[0]
    system = one.selectbox("System", board.systems, key=SYSTEM)
    names = {studies_beside.ALL_FINDINGS: "All findings", **{f: f"{name} ({n})" for f, name, n in findings}}
    if st.session_state.get(FINDING) not in names:
        st.session_state[FINDING] = studies_beside.ALL_FINDINGS
    finding = two.selectbox("Finding", list(names), format_func=names.__getitem__, key=FINDING)
    studies_beside.draw(here, board, system, finding)


one, two, three, four = st.columns([3, 2, 2, 4], vertical_alignment="bottom")
by_hash = {d.hash: f"{d.name} · {d.task}" for d in known}
if st.session_state.get("leaderboard.data_set") not in by_hash:
    st.session_state["leaderboard.data_set"] = known[0].hash
chosen = one.selectbox("Data set", list(by_hash), format_func=by_hash.__getitem__, key="leaderboard.data_set")
data_set = next(d for d in known if d.hash == chosen)
numbers = {r.number: f"{r.number} · {short(r.prompt_hash)}" for r in reversed(accepted)}
revision = two.selectbox("Prompt revision", list(numbers), format_func=numbers.__getitem__, key="leaderboard.revision")
labeler = three.selectbox("Labeler", list(here.study.settings.labelers), key="leaderboard.labeler")
every = leaderboard_data.names(here, data_set)
systems = four.multiselect("Systems", every, default=every, key=f"leaderboard.systems.{chosen}.{len(every)}") or every
ranked, fails, pairs, together, add = st.tabs([RANKED, FAILS, PAIRS, METRICS, ADD], key=TABS, on_change="rerun")
with add:
    if add.open and may_add:
        leaderboard_upload.draw(here, known)
        st.divider()
        leaderboard_upload.draw_scores(here, data_set)
    elif add.open:
        st.info("The study lead adds systems.")
with widgets.explained():
    with st.spinner("Reading and scoring reports", show_time=True):
        board = leaderboard_data.board(here, data_set, revision, labeler, systems)
    with ranked:
        if ranked.open:
            leaderboard_panels.draw_systems(here, board)
    with fails:
        if fails.open:
            draw_fails(board)
    with pairs:
        if pairs.open:
            leaderboard_panels.draw_pairs(here, board)
    with together:
        if together.open:
            leaderboard_panels.draw_metrics(here, board)
    st.caption(" · ".join(f"**{name}** {widgets.plain(value)}" for name, value in facts_of(board)))
