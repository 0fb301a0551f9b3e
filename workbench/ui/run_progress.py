"""How a run gets on, on the screen: done, failed by kind, speed, tokens, cost, time left, and why it waits."""

from datetime import UTC, datetime

import streamlit as st

from workbench.domain.runs import RunProgress
from workbench.ui import widgets
from workbench.workflow.run import PreparedRun

KINDS = {
    "blank": "blank",
    "truncated": "cut off",
    "refused": "refused",
    "malformed": "not in the form asked for",
    "wrong_label": "unknown finding or state",
    "too_long": "report too long",
    "failed": "no reply",
}


def bar(done: RunProgress) -> None:
    """Draw how far a run has come, and what failed."""
    failed = ", ".join(f"{n:,} {KINDS.get(kind, kind)}" for kind, n in done.failed.items() if n) or "none failed"
    st.progress(
        min(done.done / max(done.total, 1), 1.0), text=f"{done.done:,} of {done.total:,} reports labelled · {failed}"
    )


def draw(prepared: PreparedRun, done: RunProgress) -> None:
    """Draw a run that asks a model: the bar, and what it takes."""
    bar(done)
    if prepared.run.labeler.kind == "rules":
        return
    pace, used = done.pace, done.usage
    if pace and pace.paused_until and pace.paused_until > datetime.now(UTC):
        until = pace.paused_until.astimezone()
        st.warning(
            widgets.plain(f"Everybody waits until {until:%H:%M:%S}: {pace.paused_why}"), icon=":material/pause_circle:"
        )
    columns = st.columns(6, gap="medium")
    _figure(
        columns[0],
        "Requests per second",
        f"{pace.per_second:.1f}" if pace and pace.per_second is not None else None,
        f"{pace.in_flight} in flight" if pace else "nobody works on it now",
    )
    _figure(columns[1], "Time left", _span(pace.seconds_left) if pace else None, "at this speed" if pace else "")
    known = used.replies > 0
    cached = f"{used.cached_tokens:,} of them cached" if used.cached_tokens else "none cached"
    unsaid = "the server does not say" if used.unknown else "no reply yet"
    _figure(columns[2], "Tokens in", f"{used.input_tokens:,}" if known else None, cached if known else unsaid)
    per = f"{used.output_tokens / used.replies:,.0f} a reply" if known else unsaid
    _figure(columns[3], "Tokens out", f"{used.output_tokens:,}" if known else None, per)
    price = prepared.run.labeler.price
    why = "" if price else "the labeler has no price in data/study.toml"
    _figure(columns[4], "Cost so far", _money(done.cost, prepared), why or (unsaid if done.cost is None else ""))
    if not done.finished:
        _figure(columns[5], "Cost at the end", _money(done.forecast, prepared), why or "forecast from the mean so far")


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


def button(done: RunProgress | None) -> tuple[str, str]:
    """Return label and icon of the button that starts a run, goes on with it, or asks again for what failed."""
    if done is None or not done.done:
        return "Start the run", ":material/play_arrow:"
    if not done.finished:
        return "Continue the run", ":material/play_arrow:"
    if done.unanswered:
        return "Ask the failed ones again", ":material/replay:"
    return "Run is finished", ":material/check:"
