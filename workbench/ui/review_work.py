"""A reviewer at work: where they are in their own order, and every press saved at once."""

import json
import time
from datetime import datetime
from zoneinfo import ZoneInfo

import streamlit as st

from workbench.domain.reviews import Judgement
from workbench.errors import WorkbenchError
from workbench.ui import review_desk, review_panel, state, widgets
from workbench.ui.rating import duration
from workbench.ui.rating_state import IDLE, acting
from workbench.ui.review_desk import Press
from workbench.ui.undisturbed import undisturbed
from workbench.workflow import reviewing
from workbench.workflow.reviewing import Desk

_CLOCK = "review.clock"
_REFUSED = "review.refused"
_STYLE = """<style>
.stMainBlockContainer {padding-top: 1.1rem; padding-bottom: 1rem}
.stAppHeader {background: transparent}
.wb-banner {margin-right: 3.5rem}
.stApp {--wb-above: calc(10.2rem + var(--wb-banner, 0rem) + var(--wb-done, 0rem))}
.stApp:has(.wb-banner) {--wb-banner: 2.2rem}
.stApp:has(.st-key-review_done) {--wb-done: 4.6rem}
.st-key-review_head {margin-bottom: -.55rem}
.st-key-review_head h2 {padding: 0}
[data-testid=stMain]:focus-visible {outline: none; box-shadow: none; border-color: transparent}
</style>"""


def head() -> None:
    """Draw the page's heading in one line with what to do: the rest of the height is for the texts."""
    st.html(_STYLE)
    with st.container(horizontal=True, vertical_alignment="center", gap="medium", key="review_head"):
        st.header("Review", anchor=False, width="content")
        st.markdown(
            "Compare the generated report with the reference: rate it (keys **1** to **5**) and mark what is wrong. "
            "Who wrote it stays hidden.",
            width="content",
        )


@st.fragment
def desk(here: state.Here) -> None:
    """Draw the report at hand of the reviewer's open review, the way through them, and what has been said of it."""
    hear(here)  # what arrived while an earlier press was being worked off
    tell_refused()
    held = reviewing.desks(here.study, here.actor)
    if not held:
        st.success("The review has been closed meanwhile. Thank you.", icon=":material/done_all:")
        return
    at = _chosen(held)
    place = _place(here, at)
    _way(here, at, place)
    task = reviewing.open_item(here.study, here.actor, at.name, place)
    on = _on(here, at, place)
    _seconds(on, task.own)
    review_desk.draw(on, task, here.study.label_set.findings, _saved(task.own.at), lambda: hear(here))
    if review_desk.presses():
        st.rerun()  # a new session knows what the browser has kept only from here on


def tell_refused() -> None:
    """Say once why the last press was not saved, where one was not."""
    if refused := st.session_state.pop(_REFUSED, ""):
        st.error(widgets.plain(refused), icon=":material/error:")


def _chosen(held: list[Desk]) -> Desk:
    if len(held) == 1:
        return held[0]
    names = [desk.name for desk in held]
    name = st.selectbox(
        "Review",
        names,
        key="review.name",
        width=190,
        label_visibility="collapsed",
        format_func=lambda one: one.replace("-", " ").capitalize(),
    )
    return held[names.index(name)]


def _way(here: state.Here, at: Desk, place: int) -> None:
    total = len(at.rated)
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.markdown(f"**Report {place + 1} of {total}**", width="content")
        left = "" if at.done == total else _left(at, total - at.done)
        st.progress(at.done / total, text=f"{at.done} of {total} rated{left}")
        for label, icon, step in (("Previous", "back", -1), ("Next", "forward", 1)):
            there = place + step
            st.button(
                label,
                icon=f":material/arrow_{icon}:",
                disabled=not 0 <= there < total,
                key=f"review.{label.lower()}",
                on_click=_go_to,
                args=(here, at, there),
                help="In your own order of reports; what you said is saved already.",
            )
        review_panel.beside_desk(here)
    if at.done == total:
        with st.container(key="review_done"):
            st.success(
                "You have rated every report. Thank you. You can still go back and change something until the study "
                "lead closes the review.",
                icon=":material/done_all:",
            )


def _saved(at: datetime | None) -> str:
    """Return when it was saved last, by the clock of the person's browser."""
    if at is None:
        return "Nothing said yet."
    zone = st.context.timezone
    when = at.astimezone(ZoneInfo(zone) if zone else None)
    today = datetime.now(when.tzinfo).date() == when.date()
    return f"Saved at {when:{'%H:%M:%S' if today else '%Y-%m-%d %H:%M'}}."


def _left(at: Desk, reports: int) -> str:
    return f" · about {duration(at.seconds * reports)} left" if at.seconds else ""


def _on(here: state.Here, at: Desk, place: int) -> str:
    return json.dumps([here.person.name, at.name, place])


def _key(here: state.Here, name: str) -> str:
    return f"review.at.{here.person.name}.{name}"


def _place(here: state.Here, at: Desk) -> int:
    """Return where the reviewer is: where they went, else the first report that is not rated."""
    chosen = st.session_state.get(_key(here, at.name))
    if isinstance(chosen, int) and 0 <= chosen < len(at.rated):
        return chosen
    found = at.after(-1)
    st.session_state[_key(here, at.name)] = found
    return found


@undisturbed
def _go_to(here: state.Here, at: Desk, place: int) -> None:
    st.session_state[_key(here, at.name)] = place


@undisturbed
def hear(here: state.Here) -> None:
    """Work off what was pressed, in its order, each on the report that was on the screen then.

    A refusal ends it, since what was pressed later may rest on what was refused, and is told.
    """
    waiting = review_desk.presses()
    try:
        for press in waiting:
            _take(here, press)
    except WorkbenchError as error:
        st.session_state[_REFUSED] = f"Your last click was not saved. {error}"
    if waiting:
        review_desk.done(waiting[-1])


def _take(here: state.Here, press: Press) -> None:
    person, name, place = json.loads(press.on)
    actor = acting(here)
    if actor is None or actor.name != person:  # nothing is saved in another one's name
        st.session_state[_REFUSED] = f"The last click of {person} was not saved: they are not signed in here any more."
        return
    if press.what == "next":
        held = next((desk for desk in reviewing.desks(here.study, actor) if desk.name == name), None)
        if held is not None:
            st.session_state[_key(here, name)] = held.after(place)
        return
    own = reviewing.open_item(here.study, actor, name, place).own
    said = press.said(own)
    spent = _seconds(press.on, own)
    reviewing.rate(here.study, actor, name, place, Judgement(said.rating, said.marks, said.comment, spent))


def _seconds(on: str, own: Judgement) -> float:
    """Return the seconds spent on a report so far, idle time left out, and let the clock go on from here."""
    now = time.monotonic()
    running, last, spent = st.session_state.get(_CLOCK, ("", now, 0.0))
    if running != on:
        last, spent = now, own.seconds or 0.0
    total = float(spent) + min(now - float(last), IDLE)
    st.session_state[_CLOCK] = (on, now, total)
    return round(total, 1)
