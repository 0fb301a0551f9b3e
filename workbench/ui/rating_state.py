"""What a rater does to a report: each act reads what was saved last, changes one thing, and is saved at once."""

import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace

import streamlit as st

from workbench.domain.actors import Actor
from workbench.domain.annotations import Mark
from workbench.domain.findings import State
from workbench.errors import ConflictError, RightsError, WorkbenchError
from workbench.ui import rating_work, shortcuts, state
from workbench.ui.rating_desk import Desk
from workbench.ui.rating_work import PRACTICE
from workbench.ui.undisturbed import undisturbed
from workbench.workflow import annotate
from workbench.workflow.annotate import ChangedMeanwhileError, Entry, Queue, RatingTask
from workbench.workflow.changes import Change

_TRIES = 20  # to change labels that other tabs change at the same time
IDLE = 60.0  # seconds; of a longer pause between two acts no more than this counts as reading
BLOCK = 25  # reports after which a pause is offered
CYCLE = (State.NOT_MENTIONED, State.PRESENT, State.UNCERTAIN, State.ABSENT)

_CLOCK = "rate.clock"
_HIGHLIT = "rate.highlit"
_UNDO = "rate.undo"
_LAST = "rate.last-finding"
REFUSED = "rate.refused"
PAUSE = "rate.pause"


@dataclass(frozen=True, slots=True)
class Sheet:
    """What is on a rater's sheet for one report."""

    states: Mapping[str, State] = field(default_factory=dict)
    evidence: Mapping[str, str] = field(default_factory=dict)
    comment: str = ""
    marks: frozenset[Mark] = frozenset()


def sheet_of(task: RatingTask) -> Sheet:
    """Return what was saved last for a report."""
    if task.own is None:
        return Sheet()
    own = task.own
    return Sheet(annotate.said(own.states), own.evidence, own.comment, own.marks & {Mark.COME_BACK, Mark.HIGHLIGHTED})


def cycle_of(states: tuple[State, ...]) -> list[State]:
    """Return the states of the round in the order in which presses on a finding's key go round."""
    return [state for state in CYCLE if state in states]


# ---- where the rater is


def current_key(here: state.Here, cohort: str) -> str:
    """Return under which name the session keeps the report that is open."""
    return f"rate.report.{here.person.name}.{cohort}"


def current(here: state.Here, cohort: str, queue: Queue) -> Entry | None:
    """Return the report that is open: the one chosen, else the one worked on last, else the next unfinished one."""
    chosen = st.session_state.get(current_key(here, cohort))
    if isinstance(chosen, Entry) and chosen in queue.order:
        return chosen
    found = queue.last or queue.next
    if found is not None:
        go_to(here, cohort, found)
    return found


@undisturbed
def go_to(here: state.Here, cohort: str, entry: Entry | None) -> None:
    """Open a report, or the next unfinished one for None."""
    st.session_state[current_key(here, cohort)] = entry
    for key in (_UNDO, _LAST, REFUSED):
        st.session_state.pop(key, None)


def _go_on(desk: Desk) -> int:
    """Open the next unfinished report; of those to come back to not the one at hand while there is another.

    Return how many reports are submitted.
    """
    queue = rating_work.queue(desk.here.study, desk.here.actor, desk.cohort)
    following = queue.next
    if following == desk.entry:
        at = queue.order.index(desk.entry)
        round_about = [*queue.order[at + 1 :], *queue.order[:at]]
        following = next((entry for entry in round_about if entry in queue.flagged), following)
    go_to(desk.here, desk.cohort, following)
    return len(queue.submitted)


# ---- the clock


def seconds(desk: Desk, task: RatingTask, *, now: float | None = None) -> float:
    """Return the seconds spent on the report so far, idle time left out, and let the clock go on from here."""
    at = time.monotonic() if now is None else now
    token, last, spent = st.session_state.get(_CLOCK, ("", at, 0.0))
    if token != desk.token:
        last, spent = at, (task.own.seconds or 0.0) if task.own else 0.0
    total = float(spent) + min(at - float(last), IDLE)
    st.session_state[_CLOCK] = (desk.token, at, total)
    return round(total, 1)


def start_clock(desk: Desk, task: RatingTask) -> None:
    """Start the clock of a report when it is first drawn; drawing it again changes nothing."""
    if st.session_state.get(_CLOCK, ("",))[0] != desk.token:
        seconds(desk, task)


# ---- acts


def acting(here: state.Here) -> Actor | None:
    """Return who acts at this moment, None where nobody is signed in any more or may be.

    For acts, in which Streamlit does not let ``Here.actor`` show the door.
    """
    try:
        return here.person if here.renew is None else here.renew()
    except RightsError:
        return None


def _keep(
    desk: Desk,
    change: Callable[[Sheet, RatingTask], Sheet],
    *,
    submitted: bool = False,
    none_of_these: bool = False,
    reason: str = "",
) -> bool:
    """Change what was saved last and save it; keep the sentence of a refusal for the page. Return whether it went."""
    st.session_state.pop(REFUSED, None)
    actor = acting(desk.here)
    if actor is None or actor.name != desk.here.person.name:  # nothing is saved in another one's name
        st.session_state[REFUSED] = RightsError(f"{desk.here.person.name} is not signed in here any more.")
        return False
    try:
        for _ in range(_TRIES):
            task = rating_work.open_report(desk.here.study, actor, desk.cohort, desk.entry)
            sheet = change(sheet_of(task), task)
            with suppress(ChangedMeanwhileError):  # in another tab: then this is changed as it stands now
                rating_work.save(
                    desk.here.study,
                    actor,
                    desk.cohort,
                    desk.entry,
                    sheet.states,
                    submitted=submitted,
                    marks=_marks(desk, sheet, submitted=submitted, none_of_these=none_of_these),
                    evidence=sheet.evidence,
                    comment=sheet.comment,
                    seconds=seconds(desk, task),
                    reason=reason,
                    act=desk.act,
                    read=task,
                )
                return True
        raise ConflictError(f"Report {desk.entry.report_id} is being changed in another tab; close that tab.")
    except WorkbenchError as error:
        st.session_state[REFUSED] = desk.without_id(error)
        return False


def _marks(desk: Desk, sheet: Sheet, *, submitted: bool, none_of_these: bool) -> frozenset[Mark]:
    kept = sheet.marks - {Mark.COME_BACK} if submitted else sheet.marks
    if desk.token in st.session_state.get(_HIGHLIT, ()):
        kept |= {Mark.HIGHLIGHTED}
    return kept | {Mark.NONE_OF_THESE} if none_of_these else kept


@undisturbed
def highlighted(desk: Desk, task: RatingTask) -> RatingTask:
    """Record that phrases are highlighted in the report at hand, also when that ends before it is submitted.

    A report that is submitted is not made a draft by being looked at: should it be amended, the mark goes with that.
    """
    st.session_state.setdefault(_HIGHLIT, set()).add(desk.token)
    if task.own is not None and (task.own.submitted or Mark.HIGHLIGHTED in task.own.marks):
        return task
    _keep(desk, lambda sheet, _: sheet)
    return rating_work.open_report(desk.here.study, desk.here.actor, desk.cohort, desk.entry)


def _with_state(sheet: Sheet, finding: str, wanted: State) -> Sheet:
    states = annotate.said({**sheet.states, finding: wanted})
    kept = {f: words for f, words in sheet.evidence.items() if f in states}
    return replace(sheet, states=states, evidence=kept)


@undisturbed
def mark(desk: Desk, finding: str, wanted: State) -> None:
    """Set a finding's state and remember the one before for undo."""
    undo = _changes(desk)
    length = len(undo)

    def change(sheet: Sheet, _: RatingTask) -> Sheet:
        before = sheet.states.get(finding, State.NOT_MENTIONED)
        del undo[length:]  # of an earlier try
        if wanted is before:
            return sheet
        undo.append(Change(finding, before, sheet.evidence.get(finding)))
        return _with_state(sheet, finding, wanted)

    if _keep(desk, change):
        st.session_state[_LAST] = finding
    else:
        del undo[length:]


def saved(desk: Desk, task: RatingTask, keys: Mapping[str, str]) -> shortcuts.Saved:
    """Return what the browser needs to know of a report, so that it shows at once what a press will do."""
    return shortcuts.Saved(
        on=desk.on,
        keys=keys,
        cycle=cycle_of(task.states),
        states=sheet_of(task).states,
        undo=[(change.finding, change.before) for change in _changes(desk)],
        last=st.session_state.get(_LAST, ""),
    )


def last_marked(sheet: Sheet) -> str:
    """Return the finding that was marked last and still is, empty where none is: a clicked sentence goes to it."""
    last = st.session_state.get(_LAST, "")
    return last if last in sheet.states else ""


@undisturbed
def attach(desk: Desk, sentence: str) -> None:
    """Let the finding marked last rest on a sentence, or no longer on it when it did."""
    undo = _changes(desk)
    length = len(undo)

    def change(sheet: Sheet, _: RatingTask) -> Sheet:
        del undo[length:]  # of an earlier try
        finding = last_marked(sheet)
        if not finding:
            return sheet
        undo.append(Change(finding, sheet.states[finding], sheet.evidence.get(finding)))
        evidence = dict(sheet.evidence)
        if evidence.get(finding) == sentence:
            del evidence[finding]
        else:
            evidence[finding] = sentence
        return replace(sheet, evidence=evidence)

    if st.session_state.get(_LAST):
        _keep(desk, change)


def _changes(desk: Desk) -> list[Change]:
    """Return the changes of the report at hand that can be taken back; a new session reads them from what was saved."""
    token, kept = st.session_state.get(_UNDO, ("", []))
    if token != desk.token:  # the cohort, and with it the report, may have changed without anything being opened
        actor = acting(desk.here)
        kept = list(rating_work.to_take_back(desk.here.study, actor, desk.cohort, desk.entry)) if actor else []
        st.session_state[_UNDO] = (desk.token, kept)
        st.session_state[_LAST] = kept[-1].finding if kept else ""
    found: list[Change] = kept
    return found


@undisturbed
def undo(desk: Desk) -> None:
    """Take back the last change on this report."""
    kept = _changes(desk)
    if not kept:
        return
    last = kept.pop()
    finding, words = last.finding, last.evidence

    def change(sheet: Sheet, _: RatingTask) -> Sheet:
        changed = _with_state(sheet, finding, last.before)
        evidence = {f: w for f, w in changed.evidence.items() if f != finding}
        return replace(changed, evidence={**evidence, finding: words} if words else evidence)

    if _keep(desk, change):
        st.session_state[_LAST] = finding


@undisturbed
def comment(desk: Desk, text: str) -> bool:
    """Save a comment as it stands in its field and return whether it was not refused."""
    return _keep(desk, lambda sheet, _: replace(sheet, comment=text))


def draw_comment_anew() -> None:
    """Let the field of the comment show what is saved the next time it is drawn."""
    for key in [key for key in st.session_state if str(key).startswith("rate.") and str(key).endswith(".comment")]:
        del st.session_state[key]


@undisturbed
def come_back(desk: Desk) -> None:
    """Put the report aside as one to come back to, and go on."""
    if desk.cohort == PRACTICE:
        return
    if _keep(desk, lambda sheet, _: replace(sheet, marks=sheet.marks | {Mark.COME_BACK})):
        _go_on(desk)


@undisturbed
def submit(desk: Desk, *, none_of_these: bool, reason: str = "") -> None:
    """Submit the report as it was saved last and go on; after each block of reports a pause is offered.

    ``reason`` says why submitted labels change, as the browser has it; without it, what the server has of its field.
    """
    if _is_answered(desk):
        _go_on(desk)
        return
    reason = reason or str(st.session_state.get(desk.key("reason"), ""))
    again = desk.entry in rating_work.queue(desk.here.study, desk.here.actor, desk.cohort).submitted
    if not _keep(desk, lambda sheet, _: sheet, submitted=True, none_of_these=none_of_these, reason=reason):
        return
    if desk.cohort == PRACTICE:
        return  # what differs from the key is read first
    done = _go_on(desk)
    st.session_state[PAUSE] = done if done % BLOCK == 0 and not again else 0


def _is_answered(desk: Desk) -> bool:
    """Return whether it is a practice report whose feedback is on the screen."""
    if desk.cohort != PRACTICE:
        return False
    return desk.entry in rating_work.queue(desk.here.study, desk.here.actor, PRACTICE).submitted
