"""Practice on the rater's desk: offered before the first report, feedback after each, a summary at the end."""

import html

import streamlit as st

from workbench.domain.findings import State
from workbench.errors import WorkbenchError
from workbench.ui import rating_hearing, rating_state, widgets
from workbench.ui.rating_desk import Desk
from workbench.ui.rating_work import PRACTICE
from workbench.ui.state import Here
from workbench.workflow import practice
from workbench.workflow.annotate import Queue
from workbench.workflow.practice import Feedback, Kind, Point, Result

BANNER = "Practice: these labels count for nothing."
MINUTES = 5
_ON = "rate.practising"
_DECLINED = "rate.practice-declined"

TOLD = {
    Kind.MISSED: "missed",
    Kind.OVER_CALLED: "over-called",
    Kind.CERTAINTY: "there, but how certain",
    Kind.NEGATIVE: "the same in a vote",
}

STYLE = """<style>
.wb-points {display: flex; flex-direction: column; gap: .45rem}
.wb-point {border-left: 3px solid; padding: .3rem .7rem; border-radius: 0 .4rem .4rem 0; font-size: .92rem}
.wb-point.missed {border-color: #c5524a; background: rgba(197,82,74,.09)}
.wb-point.over-called {border-color: #cf7a3f; background: rgba(207,122,63,.10)}
.wb-point.certainty {border-color: #c99b2e; background: rgba(224,164,60,.12)}
.wb-point.negative, .wb-point.agreed {border-color: rgba(47,143,151,.75); background: rgba(47,143,151,.06)}
.wb-point .kind {font-size: .74rem; letter-spacing: .04em; text-transform: uppercase; font-weight: 600; opacity: .8}
.wb-point .why {display: block; margin-top: .1rem}
</style>"""


def is_on() -> bool:
    """Return whether the rater is practising and not rating a cohort."""
    return bool(st.session_state.get(_ON))


def begin() -> None:
    """Put the practice reports on the desk."""
    st.session_state[_ON] = True
    st.session_state.pop(rating_state.REFUSED, None)


def end() -> None:
    """Go back to the cohort."""
    st.session_state[_ON] = False
    st.session_state[_DECLINED] = True
    st.session_state.pop(rating_state.REFUSED, None)


def banner() -> str:
    """Say in the cohort's place that this is practice, and return what stands for its name."""
    st.html(f'<div class="wb-banner practice">{BANNER}</div>', width="content")
    return PRACTICE


def available(here: Here) -> str:
    """Return why there is no practice, empty where there is."""
    try:
        made = practice.load(here.study)
    except WorkbenchError as error:
        return str(error)
    return "" if made else "This study has no practice reports."


def button(here: Here, queue: Queue | None = None) -> None:
    """Draw the way to practice, or back from it; nothing while practice is offered below anyhow."""
    if is_on():
        st.button("Leave practice", icon=":material/logout:", key="rate.practice-end", on_click=end)
        return
    if queue is not None and _offered(here, queue):
        return
    why = available(here)
    st.button(
        "Practice",
        icon=":material/school:",
        key="rate.practice",
        on_click=begin,
        disabled=bool(why),
        help=widgets.plain(why) or "Practice reports with feedback. They count for nothing.",
    )


def offer(here: Here, queue: Queue) -> None:
    """Offer practice while nothing of the round was touched, unless it is done, declined or not there."""
    if not _offered(here, queue):
        return
    done = practice.result(here.study, here.actor)
    left = done.total - done.submitted
    more = " more" if done.submitted else ""
    told = f"{left}{more} report{'' if left == 1 else 's'}"
    hello = "Not through with practice yet?" if done.submitted else "New here?"
    with st.container(key="rate_offer", horizontal=True, vertical_alignment="center", gap="small", border=True):
        st.markdown(
            f":material/school: **{hello}** {told} with feedback, about "
            f"{max(1, round(MINUTES * left / done.total))} minutes. They count for nothing."
        )
        label = "Go on practising" if done.submitted else "Practice first"
        st.button(label, type="primary", key="rate.practice-begin", on_click=begin)
        st.button("Skip, label now", key="rate.practice-skip", on_click=end)


def _offered(here: Here, queue: Queue) -> bool:
    if queue.closed or queue.submitted or queue.drafts or st.session_state.get(_DECLINED) or available(here):
        return False
    done = practice.result(here.study, here.actor)
    return done.submitted < done.total


def feedback(at: Desk) -> None:
    """Draw how the rater's answer stands to the key, and the way on."""
    found = practice.feedback(at.here.study, at.here.actor, at.entry)
    done = practice.result(at.here.study, at.here.actor)
    st.html(STYLE)
    told = [p for p in found.points if p.kind is Kind.AGREED and (p.why or p.key in practice.POSITIVE)]
    with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
        st.markdown(_headline(found), width="content")
        st.button(
            "See how you did" if done.submitted == done.total else "Next practice report",
            type="primary",
            shortcut="Alt+S",
            key="rate.submit",
            on_click=rating_hearing.then(at.here, lambda: rating_state.submit(at, none_of_these=False)),
        )
    with st.container(height=560, border=False, key="rate_feedback"):
        st.html(f'<div class="wb-points">{"".join(_point(at.here, p) for p in found.differing)}</div>')
        if told:
            st.markdown("**What you read as the answer key does:**")
            st.html(f'<div class="wb-points">{"".join(_point(at.here, p) for p in told)}</div>')
        st.caption(_rest(found, len(told)))


def _headline(found: Feedback) -> str:
    total, differing = len(found.points), len(found.differing)
    if not differing:
        return f":material/check_circle: **All {total} findings as in the answer key.**"
    return f"**{total - differing} of {total} findings as in the answer key.** What differs:"


def _rest(found: Feedback, told: int) -> str:
    rest = len(found.points) - len(found.differing) - told
    return f"The other {rest} findings are not there, as you said." if rest else ""


def _point(here: Here, point: Point) -> str:
    name = html.escape(here.study.label_set.get(point.finding).name)
    said, key = (_state_name(here, state) for state in (point.said, point.key))
    if point.kind is Kind.AGREED:
        head = f"<b>{name}</b>: {key}."
    else:
        head = f'<b>{name}</b> <span class="kind">{TOLD[point.kind]}</span><br>You: {said}. Answer key: <b>{key}</b>.'
    why = f'<span class="why">{html.escape(point.why)}</span>' if point.why else ""
    return f'<div class="wb-point {point.kind}">{head}{why}</div>'


def _state_name(here: Here, state: State) -> str:
    if state is State.NOT_MENTIONED and State.ABSENT not in here.study.settings.rater_states:
        return "not mentioned or denied"
    return widgets.STATE_NAMES[state]


def summary(here: Here) -> None:
    """Draw how practice went as a whole, and the way to the real round."""
    done = practice.result(here.study, here.actor)
    st.subheader("Practice is done", anchor=False)
    with st.container(horizontal=True, gap="large", key="rate_summary"):
        for label, value, tip in _figures(done):
            st.metric(label, value, help=tip, width="content")
    if differed := _differed(here, done):
        st.markdown(differed)
    st.button("Begin the real round", type="primary", shortcut="Alt+S", key="rate.practice-done", on_click=end)
    st.caption(
        "Previous, above, shows each report with its feedback again. The lead sees how it went; no other rater does."
    )


def _figures(done: Result) -> list[tuple[str, str, str]]:
    """Return how practice went: what is counted, how many, and what that means."""
    return [
        ("As in the answer key", f"{done.agreed} of {done.cells}", "Findings over all practice reports"),
        ("Found", f"{done.found} of {done.positives}", "Of the findings that are present or uncertain"),
        ("Over-called", f"{done.kinds.get(Kind.OVER_CALLED, 0)}", "Marked, and not there by the answer key"),
        (
            "Certainty mixed up",
            f"{done.kinds.get(Kind.CERTAINTY, 0)}",
            "Found, but present was taken for uncertain or the other way round",
        ),
    ]


def _differed(here: Here, done: Result) -> str:
    if not done.differed:
        return ""
    most = [f"{widgets.plain(here.study.label_set.get(f).name)} ({n})" for f, n in done.differed[:3]]
    return f"What differed most: {', '.join(most)}."


def lead_text(done: Result) -> str:
    """Return a rater's practice as the lead reads it: how far and how it went."""
    if not done.submitted:
        return f"begun, 0 of {done.total}"
    over = done.kinds.get(Kind.OVER_CALLED, 0)
    return f"{done.submitted} of {done.total}, {done.found} of {done.positives} findings found, {over} over-called"
