"""The rater's desk: the report at left, a control and a key per finding at right, every change saved at once."""

import html
from collections.abc import Sequence
from datetime import datetime
from zoneinfo import ZoneInfo

import streamlit as st

from workbench.domain.annotations import Annotation, Mark
from workbench.domain.findings import State
from workbench.errors import WorkbenchError
from workbench.text.phrases import PhraseFinder
from workbench.ui import (
    practising,
    rating_board,
    rating_hearing,
    rating_state,
    rating_work,
    reading,
    shortcuts,
    state,
    widgets,
)
from workbench.ui.rating_desk import Desk, desk_of
from workbench.ui.rating_state import Sheet
from workbench.ui.rating_style import STYLE
from workbench.ui.rating_work import PRACTICE
from workbench.workflow import annotate, highlighting
from workbench.workflow.annotate import Queue, RatingTask

MINUTE = 60
PRIMING = "Highlighting can draw the eye to what a prompt expects: read every word. That it was used is recorded."


def keys(here: state.Here) -> dict[str, str]:
    """Return the key of each finding by its id, empty where the keys have run out."""
    findings = here.study.label_set.findings
    return dict(zip((f.id for f in findings), shortcuts.keys_of([f.name for f in findings]), strict=True))


def head(lead: str) -> None:
    """Draw the page's heading in one line with what to do: the rest of the height is for report and findings."""
    with st.container(horizontal=True, vertical_alignment="center", gap="medium", key="rate_head"):
        st.header("Annotate", anchor=False, width="content")
        st.markdown(lead, width="content")


@st.fragment
def desk(here: state.Here, names: Sequence[str]) -> None:
    """Draw everything of the page below its heading: choosing a cohort, the way through it, report and controls."""
    st.html(STYLE)
    rating_hearing.hear(here)  # what arrived while an earlier press was being worked off
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        cohort = practising.banner() if practising.is_on() else _cohort(here, names)
        try:
            queue = rating_work.queue(here.study, here.actor, cohort)
        except WorkbenchError as error:
            widgets.refuse(error)
            practising.button(here)
            rating_hearing.elsewhere(here)
            return
        entry = None if queue.closed else rating_state.current(here, cohort, queue)
        _progress(here, cohort, queue, entry)
        practising.button(here, queue)
        with st.container(key="rate_help", width="content"):
            _help(here)
    _desk(here, cohort, queue, entry)
    if shortcuts.waiting():
        rating_state.draw_comment_anew()  # one of them may be a comment
        st.rerun()  # a new session knows what the browser has kept only from here on


def _desk(here: state.Here, cohort: str, queue: Queue, entry: annotate.Entry | None) -> None:
    if queue.closed:
        rating_hearing.elsewhere(here)
        widgets.missing(queue.closed)
    if cohort and st.session_state.get(rating_state.PAUSE):
        _pause(queue)
    elif entry is not None:
        with st.empty():  # what is below keeps its place, and is not drawn anew, when the offer goes
            if cohort:
                practising.offer(here, queue)
        _report_and_controls(desk_of(here, cohort, queue, entry), queue)
        return
    elif cohort:
        st.success("You have submitted every report of this cohort. Thank you.", icon=":material/done_all:")
    else:
        practising.summary(here)
    rating_hearing.listen(here, shortcuts.Saved())  # so that the browser learns that the last that was pressed is saved


def _report_and_controls(at: Desk, queue: Queue) -> None:
    here = at.here
    task = rating_work.open_report(here.study, here.actor, at.cohort, at.entry)
    rating_state.start_clock(at, task)
    told = at.cohort == PRACTICE and task.submitted is not None
    own, asked = shortcuts.Saved(at.on), ""
    left, right = st.columns([5, 11] if State.ABSENT in task.states else [6, 11], gap="medium")
    with left:
        task = _report(at, queue, task)
    with right, st.container(key="rating"):
        if told:
            practising.feedback(at)
        else:
            sheet = rating_state.sheet_of(task)
            rating_board.draw(here.study.label_set.findings, keys(here), task.states)
            asked = _bar(at, task, sheet)
            own = rating_state.saved(at, task, {key: f for f, key in keys(here).items() if key})
    rating_hearing.listen(here, own, asked, refusal_shown=not told and rating_state.REFUSED in st.session_state)


def _cohort(here: state.Here, names: Sequence[str]) -> str:
    first = 0
    if "annotate.cohort" not in st.session_state:
        queues = {name: annotate.queue(here.study, here.actor, name) for name in names}
        first = next((i for i, q in enumerate(queues.values()) if not q.closed and q.next), 0)
    return st.selectbox(
        "Cohort",
        names,
        index=first,
        key="annotate.cohort",
        width=190,
        label_visibility="collapsed",
        format_func=lambda name: f"Cohort {name}",
        persist_state="session",
    )


def _progress(here: state.Here, cohort: str, queue: Queue, entry: annotate.Entry | None) -> None:
    total, done = len(queue.order), len(queue.submitted)
    if not total:
        return
    st.progress(done / total, text=" · ".join(_told(queue, "reports" if cohort else "practice reports")))
    at = queue.order.index(entry) if entry else total
    for label, icon, step in (("Previous", "back", -1), ("Next", "forward", 1)):
        there = at + step
        possible = not queue.closed and 0 <= there < total
        st.button(
            label,
            icon=f":material/arrow_{icon}:",
            disabled=not possible,
            key=f"rate.{label.lower()}",
            on_click=rating_state.go_to,
            args=(here, cohort, queue.order[there] if possible else None),
            help="In your own order of reports; a change is saved already." if cohort else None,
        )


def _told(queue: Queue, noun: str) -> list[str]:
    total, done = len(queue.order), len(queue.submitted)
    told = [f"{done} of {total} {noun} submitted"]
    if begun := queue.drafts - queue.flagged - queue.changing:
        told.append(f"{len(begun)} in draft")
    if changing := queue.changing - queue.flagged:
        told.append(f"{len(changing)} being changed")
    if queue.flagged:
        told.append(f"{len(queue.flagged)} to come back to")
    if queue.seconds is not None and done < total:
        told.append(f"about {duration(queue.seconds * (total - done))} left")
    return told


def duration(seconds: float) -> str:
    """Return a time as people say it, to the minute."""
    minutes = max(1, round(seconds / MINUTE))
    hours, rest = divmod(minutes, 60)
    return f"{hours} h {rest:02} min" if hours else f"{rest} min"


def _help(here: state.Here) -> None:
    shown = [(key, here.study.label_set.get(f).name) for f, key in keys(here).items() if key]
    rows = "".join(f"<div>{_keycap(key)}{html.escape(name)}</div>" for key, name in shown)
    acts = (
        ("Alt+S", "submit and go on"),
        ("Alt+N", "none of these, go on"),
        ("Alt+U", "unsure: come back later, go on"),
        ("Alt+Z", "undo the last change"),
        ("?", "open or close this list"),
    )
    others = "".join(f"<div>{_keycap(key)}{html.escape(told)}</div>" for key, told in acts)
    with st.popover("Keys", icon=":material/keyboard:", width="content"):
        absent = "three times for **absent**, " * (State.ABSENT in here.study.settings.rater_states)
        st.markdown(
            f"Press a finding's key once for **present**, twice for **uncertain**, {absent}"
            "once more for **not mentioned**. While you write a comment, letters are text."
        )
        st.html(f'<div class="wb-keys">{rows}</div><hr><div class="wb-keys">{others}</div>')
        st.caption("Click a sentence of the report to attach it as evidence to the finding you marked last.")


def _keycap(key: str) -> str:
    return f'<kbd class="wb-key">{html.escape(key)}</kbd>'


def _pause(queue: Queue) -> None:
    st.success(
        f"{len(queue.submitted)} reports submitted. A good moment to rest your eyes; everything is saved.",
        icon=":material/self_improvement:",
    )
    st.button(
        "Go on",
        type="primary",
        shortcut="Alt+S",
        key="rate.go-on",
        on_click=lambda: st.session_state.pop(rating_state.PAUSE, None),
    )


def _report(at: Desk, queue: Queue, task: RatingTask) -> RatingTask:
    """Draw the report and return the task, which is another one when highlighting was recorded."""
    line, reader = st.container(), st.container(key="rate_reader", height=640, border=False)
    phrases = _phrases(at) if at.cohort else None
    if phrases:
        task = rating_state.highlighted(at, task)
    line.markdown(f"**Report {at.place} of {len(queue.order)}** · {_status(task)}")
    evidence: dict[str, list[str]] = {}
    for finding, words in rating_state.sheet_of(task).evidence.items():
        evidence.setdefault(words, []).append(at.here.study.label_set.get(finding).name)
    # Another report begins at its top again: its container is another one.
    with reader, st.container(key=at.key("report")):
        shown = reading.report_html(task.report, at.here.study.settings.sections, evidence, phrases)
        # Says with the text itself which report is on the screen: a key is meant for that one.
        st.html(f'<div class="wb-on" data-on="{html.escape(at.on)}">{shown}</div>')
    return task


def _phrases(at: Desk) -> PhraseFinder[str] | None:
    """Draw the switch for highlighting and return what is highlighted, None while it is off."""
    phrases = highlighting.phrases(at.here.study, at.here.actor)
    with st.container(key="rate_highlighting"):
        wanted = st.toggle(
            "Highlight phrases",
            key="rate.highlight",
            disabled=phrases is None,
            help="The words by which the accepted prompt names findings." if phrases else "No prompt is accepted yet.",
        )
        if wanted:
            st.caption(PRIMING)
    return phrases if wanted else None


def _status(task: RatingTask) -> str:
    if task.own is None:
        return "new"
    if task.own.submitted:
        return "submitted"
    if Mark.COME_BACK in task.own.marks:
        return ":orange[to come back to]"
    return "draft" if task.submitted is None else "submitted, being changed"


def _bar(at: Desk, task: RatingTask, sheet: Sheet) -> str:
    """Draw what is below the controls; return the label of the field that a refusal asks for, empty without one."""
    positive = {State.PRESENT, State.UNCERTAIN}.intersection(sheet.states.values())
    changed = task.submitted is not None and annotate.said(task.submitted.states) != sheet.states
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="rate_notes"):
        if changed:
            st.text_input(
                shortcuts.WHY,
                key=at.key("reason"),
                placeholder=shortcuts.WHY,
                label_visibility="collapsed",
            )
        if at.cohort:
            _comment(at, sheet)
        with st.container(key="rate_saved", width="content"):
            st.caption(saved(task.own), width="content")
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="rate_bar"):
        st.button(
            "Submit, next" if at.cohort else "Submit, see feedback",
            type="primary",
            shortcut="Alt+S",
            key="rate.submit",
            on_click=rating_hearing.then(at.here, lambda: rating_state.submit(at, none_of_these=False)),
        )
        st.button(
            "None of these, next" if at.cohort else "None of these",
            disabled=bool(positive),
            key="rate.none",
            shortcut="Alt+N",
            on_click=rating_hearing.then(at.here, lambda: rating_state.submit(at, none_of_these=True)),
            help="Submits that the report mentions none of the findings.",
        )
        if at.cohort:
            st.button(
                "Unsure, come back",
                key="rate.come-back",
                shortcut="Alt+U",
                on_click=rating_hearing.then(at.here, lambda: rating_state.come_back(at)),
                help="Keeps the draft, goes on, and comes back to this report at the end.",
            )
        st.button(
            "Undo",
            key="rate.undo-button",
            shortcut="Alt+Z",
            on_click=rating_hearing.then(at.here, lambda: rating_state.undo(at)),
        )
    refused = st.session_state.get(rating_state.REFUSED)
    if refused is not None:
        widgets.refuse(refused)
    _hint(at.here)
    return shortcuts.WHY if changed and refused is not None and not st.session_state.get(at.key("reason")) else ""


def _hint(here: state.Here) -> None:
    """Draw what a key does, for whoever has not opened the list of keys."""
    third = " · three times: **absent**" * (State.ABSENT in here.study.settings.rater_states)
    with st.container(key="rate_hint"):
        st.markdown(
            f"Press a finding's key once: **present** · twice: **uncertain**{third} · once more: –  \n"
            "Click a sentence of the report to keep it as evidence for what you marked last · `?` lists all keys"
        )


def _comment(at: Desk, sheet: Sheet) -> None:
    noted = at.key("comment")
    if noted not in st.session_state:
        st.session_state[noted] = sheet.comment
    st.text_input(
        shortcuts.COMMENT,
        key=noted,
        placeholder="Comment (optional)",
        label_visibility="collapsed",
        on_change=rating_hearing.comment,
        args=(at,),
        max_chars=1000,
    )


def saved(own: Annotation | None) -> str:
    """Return what was saved last and when, by the clock of the person's browser."""
    if own is None:
        return "Nothing marked yet."
    zone = st.context.timezone
    when = own.at.astimezone(ZoneInfo(zone) if zone else None)
    today = datetime.now(when.tzinfo).date() == when.date()
    return f"{'Submitted' if own.submitted else 'Draft saved'} at {when:{'%H:%M:%S' if today else '%Y-%m-%d %H:%M'}}."
