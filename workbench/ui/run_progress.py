"""How a run gets on, on the screen: done, failed by kind, speed, tokens, cost, time left, and why it waits."""

from datetime import UTC, datetime

import streamlit as st

from workbench.domain.runs import Pace, RunProgress
from workbench.ui import widgets
from workbench.workflow.run import PreparedRun

Figure = tuple[str, str | None, str]  # label, value (None: a dash), and what is said below it
_NO_PRICE = "the labeler has no price in data/study.toml"
KINDS = {
    "blank": "blank",
    "other_language": "in a language the prompt does not read",
    "truncated": "cut off",
    "refused": "refused",
    "malformed": "not in the form asked for",
    "wrong_label": "unknown finding or state",
    "too_long": "report too long",
    "failed": "no reply",
}


def bar(done: RunProgress, repeats: int = 1) -> None:
    """Draw how far a run has come, and what failed."""
    failed = ", ".join(f"{n:,} {KINDS.get(kind, kind)}" for kind, n in done.failed.items() if n) or "none failed"
    what = "reports labelled" if repeats == 1 else f"answers came, each report being asked {repeats} times"
    st.progress(min(done.done / max(done.total, 1), 1.0), text=f"{done.done:,} of {done.total:,} {what} · {failed}")


def draw(prepared: PreparedRun, done: RunProgress, *, going: bool = False, waiting: bool = False) -> None:
    """Draw how far a run has come and, where it asks a model, what it takes.

    Args:
        prepared: the run.
        done: how far it has come.
        going: it was started just now.
        waiting: its reports are with a provider, so that nobody here works on it.
    """
    bar(done, prepared.run.repeats)
    if prepared.run.labeler.kind == "rules" or (waiting and not done.done):
        return
    pace = done.pace
    if pace and pace.paused_until and pace.paused_until > datetime.now(UTC):
        until = pace.paused_until.astimezone()
        st.warning(
            widgets.plain(f"Everybody waits until {until:%H:%M:%S}: {pace.paused_why}"), icon=":material/pause_circle:"
        )
    figures = [*_tokens(done), _cost(prepared, done)]
    if not (done.finished or waiting):
        figures = [*_speed(pace, going=going), *figures, _forecast(prepared, done)]
    for column, figure in zip(st.columns(6, gap="medium"), figures, strict=False):
        _figure(column, *figure)


def _speed(pace: Pace | None, *, going: bool) -> list[Figure]:
    if pace is None:
        idle = "it is starting" if going else "nobody works on it now"
        return [("Requests per second", None, idle), ("Time left", None, idle)]
    per_second = None if pace.per_second is None else f"{pace.per_second:.1f}"
    return [
        ("Requests per second", per_second, f"{pace.in_flight} in flight"),
        ("Time left", _span(pace.seconds_left), "at this speed"),
    ]


def _tokens(done: RunProgress) -> list[Figure]:
    used = done.usage
    if not used.replies:
        why = _unsaid(done)
        return [("Tokens in", None, why), ("Tokens out", None, why)]
    lost = f", {used.lost:,} calls without token counts" if used.lost else ""
    cached = f"{used.cached_tokens:,} of them cached" if used.cached_tokens else "none known to be cached"
    return [
        ("Tokens in", f"{used.input_tokens:,}", cached),
        ("Tokens out", f"{used.output_tokens:,}", f"{used.output_tokens / used.replies:,.0f} a reply{lost}"),
    ]


def _cost(prepared: PreparedRun, done: RunProgress) -> Figure:
    if prepared.run.labeler.price is None:
        return "Cost so far", None, _NO_PRICE
    return "Cost so far", _money(done.cost, prepared), _unsaid(done) if done.cost is None else _at(prepared, done)


def _at(prepared: PreparedRun, done: RunProgress) -> str:
    """Return at which price a cost is."""
    price, used = prepared.run.labeler.price, done.usage
    if price is None or not used.batch_input_tokens:
        return "at today's price"
    share = used.batch_input_tokens / max(used.input_tokens, 1)
    part = "" if share > 0.999 else f", {share:.0%} of it as a batch"
    return f"at {price.batch_factor:g} of today's price, as a batch" if not part else f"at today's price{part}"


def _forecast(prepared: PreparedRun, done: RunProgress) -> Figure:
    if prepared.run.labeler.price is None:
        return "Cost at the end", None, _NO_PRICE
    return "Cost at the end", _money(done.forecast, prepared), "forecast from the mean so far"


def _unsaid(done: RunProgress) -> str:
    return "the server does not say how many" if done.usage.unknown else "no reply yet"


def _figure(column: "st.delta_generator.DeltaGenerator", label: str, value: str | None, told: str) -> None:
    with column:
        st.metric(label, value or widgets.UNDEFINED)
        if told:
            st.caption(widgets.plain(told))


def _money(amount: float | None, prepared: PreparedRun) -> str | None:
    price = prepared.run.labeler.price
    if amount is None or price is None:
        return None
    return f"{amount:,.4f} {price.currency}" if amount < 1 else f"{amount:,.2f} {price.currency}"


def _span(seconds: float | None) -> str | None:
    if seconds is None:
        return None
    if seconds < 90:
        return f"{max(seconds, 0):.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 90 * 60 else f"{seconds / 3600:.1f} h"


def to_do(done: RunProgress | None) -> bool:
    """Return whether there is anything left to ask for."""
    return done is None or not done.finished or done.unanswered > 0


def button(done: RunProgress | None, *, going: bool = False, waiting: bool = False) -> tuple[str, str]:
    """Return label and icon of the button that starts a run, goes on with it, or asks again for what failed.

    ``waiting``: its reports are with a provider.
    """
    if going:
        return "It is running", ":material/hourglass_top:"
    if waiting:
        return "Waits for its batch", ":material/schedule_send:"
    if done is None or not done.done:
        return "Start the run", ":material/play_arrow:"
    if not done.finished:
        return "Continue the run", ":material/play_arrow:"
    if done.unanswered:
        return "Ask the failed ones again", ":material/replay:"
    return "Run is finished", ":material/check:"
