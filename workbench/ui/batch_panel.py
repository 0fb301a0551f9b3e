"""A run's batches on the screen: how each stands, who handed it over, and a button that collects what has come."""

from datetime import UTC, datetime
from types import MappingProxyType

import streamlit as st

from workbench.domain.actors import Role
from workbench.running.batch_requests import estimate
from workbench.running.batching import Collected
from workbench.running.spending import Cap
from workbench.storage.batches import BatchRecord
from workbench.ui import state, widgets
from workbench.workflow import batches, data_use
from workbench.workflow.run import PreparedRun

_STATES = MappingProxyType(
    {
        "validating": "being checked by the provider",
        "in_progress": "being answered",
        "finalizing": "nearly ready",
        "completed": "ready to be collected",
        "ended": "ready to be collected",
        "cancelling": "being cancelled",
        "canceling": "being cancelled",
    }
)


def draw(here: state.Here, prepared: PreparedRun) -> list[BatchRecord]:
    """Draw the batches of a run that are still to be collected, and return them. Nobody is asked until one presses."""
    waiting = batches.under_way(here.study, prepared)
    if not waiting:
        return waiting
    with st.container(border=True):
        told, press = st.columns([6, 2], vertical_alignment="center")
        with told:
            for batch in waiting:
                st.markdown(f":material/schedule_send: {widgets.plain(text(batch))}")
                st.caption(widgets.plain(f"{_told(batch)} {_about(prepared, batch)}"))
            if data_use.permission(here.study, prepared.run.labeler).why_not:
                st.caption(widgets.plain(f"The host may be sent no report any more. {data_use.STILL}"))
        may = here.may(Role.LEAD, Role.ADMIN)
        label, icon = "Collect what has come", ":material/move_to_inbox:"
        if press.button(label, key="run.collect", icon=icon, disabled=not may, type="primary", width="stretch"):
            with widgets.explained():
                with st.spinner("Asking the provider"):
                    found = batches.collect(here.study, here.actor, prepared)
                _say(found)
                st.rerun()
        with press.popover("Cancel", icon=":material/cancel:", disabled=not may, width="stretch"):
            st.markdown("What is answered so far is kept and paid for; the rest can be asked again.")
            if st.button("Cancel it", key="run.cancel"):
                with widgets.explained():
                    with st.spinner("Asking the provider"):
                        found = batches.cancel(here.study, here.actor, prepared)
                    _say(found)
                    st.rerun()
    return waiting


def waits(here: state.Here, prepared: PreparedRun) -> bool:
    """Return whether reports of a run are with a provider."""
    return bool(batches.under_way(here.study, prepared))


def submit(here: state.Here, prepared: PreparedRun, cap: Cap | None) -> None:
    """Hand a run over and say so."""
    with st.spinner("Handing the reports over"):
        found = batches.submit(here.study, here.actor, prepared, cap=cap)
    _say(found)
    st.rerun()


def text(batch: BatchRecord) -> str:
    """Return what a batch is and how it stands, in a sentence."""
    what = f"A batch of {batch.requests:,} reports"
    if not batch.provider_id:
        return f"{what}: it is not known yet whether it reached the provider."
    counted = f", {batch.answered:,} answered" if batch.answered else ""
    lost = f", {batch.failed:,} failed" if batch.failed else ""
    return f"{what} is {_STATES.get(batch.state, batch.state)}{counted}{lost}."


def _told(batch: BatchRecord) -> str:
    handed = f"Handed over by {batch.actor} on {batch.at:%Y-%m-%d at %H:%M} UTC; answers come within a day."
    if batch.told_at is None:
        return f"{handed} Collecting finds out."
    minutes = int((datetime.now(UTC) - batch.told_at).total_seconds() // 60)
    ago = "just now" if minutes < 1 else f"{minutes} min ago" if minutes < 120 else f"{minutes // 60} h ago"
    return f"{handed} The provider was last asked {ago}."


def _about(prepared: PreparedRun, batch: BatchRecord) -> str:
    found = estimate(prepared.run.labeler.price, batch.input_tokens, batch.output_tokens)
    price = prepared.run.labeler.price
    if price is None or found.cost is None or not batch.output_tokens:
        return f"About {batch.input_tokens:,} tokens are sent (estimated)."
    return f"About {found.tokens:,} tokens, {found.cost:,.2f} {price.currency} at most (estimated)."


def _say(found: Collected) -> None:
    parts = []
    if found.submitted:
        parts.append(f"{found.submitted:,} reports are handed over; their answers come within a day.")
    if found.answered or found.failed:
        parts.append(f"{found.answered:,} answers have come; {found.failed:,} reports brought none.")
    parts += found.notes
    state.say(" ".join(parts) or "Nothing has come yet; look again later.")
