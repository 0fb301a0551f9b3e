"""The rater's panel: a control per finding, every click saved as a draft."""

import html
import time
from datetime import datetime
from itertools import groupby

import streamlit as st

from workbench.domain.annotations import Mark
from workbench.domain.findings import Finding, State
from workbench.ui import state, widgets
from workbench.workflow import annotate
from workbench.workflow.annotate import Entry, Queue, RatingTask

OPTIONS = (State.NOT_MENTIONED, State.UNCERTAIN, State.PRESENT)
SHOWN = {State.NOT_MENTIONED: "–", State.UNCERTAIN: "uncertain", State.PRESENT: "present"}
SINCE = "wb.rating.since"


def _current(here: state.Here) -> str:
    return f"wb.rating.report.{here.actor.name}"


def current_report(here: state.Here, queue: Queue) -> Entry | None:
    """Return the report that is open: the one chosen, else the next unfinished one."""
    chosen = st.session_state.get(_current(here))
    return chosen if isinstance(chosen, Entry) and chosen in queue.order else queue.next


def go_to(here: state.Here, report: Entry | None) -> None:
    """Open a report, or the next unfinished one for None, and start its clock."""
    if report is None:
        st.session_state.pop(_current(here), None)
    else:
        st.session_state[_current(here)] = report
    st.session_state[SINCE] = time.monotonic()


def finding_help(finding: Finding) -> str:
    """Return what a rater reads on hovering over a finding."""
    parts = [f"**{widgets.plain(finding.name)}** ({finding.name_zh})", widgets.plain(finding.definition)]
    if finding.include:
        parts.append(f"**Include:** {widgets.plain(finding.include)}")
    if finding.exclude:
        parts.append(f"**Exclude:** {widgets.plain(finding.exclude)}")
    return "\n\n".join(parts)


def _controls(here: state.Here, task: RatingTask) -> dict[str, State]:
    """Draw the controls in two columns and return the states that are set."""
    own = task.own.states if task.own else {}
    groups = [(name, list(items)) for name, items in groupby(here.study.label_set.findings, key=lambda f: f.group)]
    half = len(here.study.label_set.findings) / 2
    columns = st.columns(2, gap="small")
    states: dict[str, State] = {}
    placed = 0
    for name, findings in groups:
        with columns[0 if placed < half else 1]:
            st.html(f'<div class="wb-name">{html.escape(name)}</div>')
            for finding in findings:
                key = f"rate.{here.actor.name}.{task.report.id}.{task.entry.reading}.{finding.id}"
                if key not in st.session_state:
                    st.session_state[key] = own.get(finding.id, State.NOT_MENTIONED)
                chosen = st.segmented_control(
                    f"{':red[●] ' if finding.critical else ''}{widgets.plain(finding.name)}",
                    OPTIONS,
                    format_func=SHOWN.__getitem__,
                    key=key,
                    help=finding_help(finding),
                    width="stretch",
                    required=True,
                )
                if chosen in (State.UNCERTAIN, State.PRESENT):
                    states[finding.id] = State(chosen)
        placed += len(findings)
    return states


@st.fragment
def panel(here: state.Here, cohort: str, task: RatingTask) -> None:
    """Draw the controls, save each change as a draft, and submit."""
    with st.container(key="rating"):
        states = _controls(here, task)
        before = dict(task.own.states) if task.own else {}
        saved_key = f"rate.saved.{here.actor.name}.{task.report.id}.{task.entry.reading}"
        saved = st.session_state.get(saved_key, {f: s for f, s in before.items() if s is not State.NOT_MENTIONED})
        with widgets.explained():
            if states != saved:
                annotate.save(here.study, here.actor, cohort, task.entry, states, submitted=False, seconds=_seconds())
                st.session_state[saved_key] = states
                st.session_state[f"rate.at.{task.report.id}"] = (
                    f"Draft saved at {datetime.now().astimezone():%H:%M:%S}."
                )
            _submit_bar(here, cohort, task, states)


def _submit_bar(here: state.Here, cohort: str, task: RatingTask, states: dict[str, State]) -> None:
    changed = task.submitted is not None and annotate.said(task.submitted.states) != states
    reason = st.text_input("Why the submitted labels change", key="rate.reason") if changed else ""
    before = "Nothing marked yet."
    if task.own is not None:
        before = "Submitted before." if task.own.submitted else "Draft saved before."
    with st.container(horizontal=True, vertical_alignment="center"):
        submit = st.button(
            "Submit and next",
            type="primary",
            shortcut="Alt+S",
            disabled=not states,
            key="rate.submit",
            help="Marks at least one finding first; a report with nothing takes “None of these”.",
        )
        nothing = st.button(
            "None of these, next",
            disabled=bool(states),
            key="rate.none",
            shortcut="Alt+N",
            help="Submits that no finding is mentioned in this report.",
        )
        st.caption(str(st.session_state.get(f"rate.at.{task.report.id}", before)))
    if submit or nothing:
        marks = frozenset({Mark.NONE_OF_THESE}) if nothing else frozenset()
        annotate.save(
            here.study,
            here.actor,
            cohort,
            task.entry,
            states,
            submitted=True,
            marks=marks,
            seconds=_seconds(),
            reason=reason,
        )
        st.session_state.pop(f"rate.saved.{here.actor.name}.{task.report.id}.{task.entry.reading}", None)
        st.session_state.pop(f"rate.at.{task.report.id}", None)
        go_to(here, None)
        st.rerun()


def _seconds() -> float:
    since = float(st.session_state.setdefault(SINCE, time.monotonic()))
    return round(time.monotonic() - since, 1)
