"""What a labeler is, where it runs and on what basis, and a button that says hello to it."""

from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta

import streamlit as st

from workbench.domain.actors import Role
from workbench.domain.data_use import Basis, Opening
from workbench.domain.runs import Hello, LabelerSettings, Price
from workbench.errors import InputError
from workbench.running.spending import Cap
from workbench.ui import state, widgets
from workbench.workflow import data_use, labelers
from workbench.workflow.labelers import LabelerCard

_HELD = {
    "json_schema": "it is held to the findings' form",
    "json_object": "it is held to JSON",
    "tool": "it is held to the findings' form",
    "text": "nothing holds it to a form, so more replies may fail",
}


@dataclass(frozen=True, slots=True)
class Wish:
    """How a run is wished for: how often each report is labelled, what it may take, and whether as a batch."""

    repeats: int = 1
    cap: Cap | None = None
    batch: bool = False


def draw(here: state.Here, name: str) -> LabelerCard:
    """Draw what a labeler is, and return it."""
    card = labelers.card(here.study, name)
    settings = card.settings
    if settings is None:
        st.error(widgets.plain(card.problem), icon=":material/error:")
    elif settings.kind == "rules":
        st.caption("Rules: they carry out the prompt's guidance on this computer, without a model. It costs nothing.")
    elif settings.kind == "scripted":
        st.warning(
            "A scripted labeler: its replies are simulated and come from a file. No model is asked, and its score says "
            "nothing about any model.",
            icon=":material/theater_comedy:",
        )
    else:
        _served(here, card, settings)
    return card


def _served(here: state.Here, card: LabelerCard, settings: LabelerSettings) -> None:
    with st.container(border=True):
        told, asked = st.columns([6, 1], vertical_alignment="center")
        with told:
            st.markdown(_where(card, settings))
            facts = [_price_text(settings.price), f"{settings.concurrency} in flight", hello_text(card.hello)]

            st.caption(" · ".join(widgets.plain(fact) for fact in facts))
        may = here.may(Role.LEAD, Role.ADMIN) and not card.problem
        if asked.button("Say hello", key="run.hello", icon=":material/waving_hand:", disabled=not may, width="stretch"):
            _say_hello(here, card.name)
        if card.permission.opening and not card.permission.why_not:
            st.caption(widgets.plain(f"Opened on record. {basis_text(card.permission.opening)}"))
        if card.problem:
            icon = ":material/lock:" if card.permission.why_not else ":material/key:"
            st.error(widgets.plain(card.problem), icon=icon)
        if here.may(Role.LEAD):
            _lock(here, card)


def _where(card: LabelerCard, settings: LabelerSettings) -> str:
    model = widgets.plain(settings.model or settings.kind)
    if card.place == labelers.HERE:
        return f":material/computer: **{model}** runs on this computer. No report leaves it."
    sent = "would be" if card.problem else "are"
    return f":material/cloud_upload: **{model}** runs at **{widgets.plain(card.place)}**. Reports {sent} sent there."


def _lock(here: state.Here, card: LabelerCard) -> None:
    """Draw what a lead opens a host with, or closes it."""
    host = card.place
    if card.permission.opening and not card.permission.why_not:
        opened = card.permission.opening.host
        if st.button("Close this host", key="run.close", icon=":material/lock:"):
            with widgets.explained():
                data_use.close_host(here.study, here.actor, opened)
                state.say(f"{opened} is closed: nothing more is sent there.")
                st.rerun()
    elif card.permission.why_not:
        with st.popover("Open this host on record", icon=":material/lock_open:"), st.form("run.open", border=False):
            st.markdown(f"Reports of this study will be sent to **{widgets.plain(host)}**. On what basis?")
            agreement = st.text_input("Agreement", placeholder="Contract, date, who signed", key="run.agreement")
            kept = st.radio("Is anything of a report kept there?", ("No: zero retention", "Yes"), index=None)
            until = st.date_input("Last day of the agreement, if it has one", value=None)
            if st.form_submit_button("Open it", type="primary"):
                with widgets.explained():
                    _open(here, host, agreement, kept, until)


def _open(here: state.Here, host: str, agreement: str, kept: str | None, until: date | None) -> None:
    if kept is None:
        raise InputError("Say whether anything of a report is kept there.")
    opening = data_use.open_host(here.study, here.actor, host, Basis(agreement, kept != "Yes", until))
    state.say(f"{opening.host} may be sent reports of this study.")
    st.rerun()


def _say_hello(here: state.Here, name: str) -> None:
    with widgets.explained():
        with st.spinner("Asking it something that holds nothing of any report"):
            answer = labelers.say_hello(here.study, here.actor, name)
        if answer:
            served = f" as {answer.served_model}" if answer.served_model else ""
            state.say(f"{name} answered{served} in {answer.latency:.1f} s.")
        st.rerun()


def hello_text(hello: Hello | None) -> str:
    """Return when a labeler's server last answered, in words."""
    if hello is None:
        return "never said hello to"
    ago = datetime.now(UTC) - hello.at
    served = f" as {hello.served_model}" if hello.served_model else ""
    return f"answered {_ago(ago)}{served} in {hello.latency:.1f} s; {_HELD.get(hello.constraint, hello.constraint)}"


def _ago(gap: timedelta) -> str:
    minutes = int(gap.total_seconds() // 60)
    if minutes < 1:
        return "just now"
    if minutes < 120:
        return f"{minutes} min ago"
    return f"{minutes // 60} h ago" if minutes < 48 * 60 else f"{minutes // 1440} days ago"


def _price_text(price: Price | None) -> str:
    if price is None:
        return "price not given, so cost is not shown"
    cached = f", {price.cached_input:g} cached" if price.cached_input is not None else ""
    return f"{price.currency} {price.input:g} in{cached}, {price.output:g} out per million tokens"


def basis_text(opening: Opening) -> str:
    """Return on what basis a host was opened."""
    basis = opening.basis
    kept = "nothing of a report is kept there" if basis.zero_retention else "reports may be kept there"
    until = f", until {basis.until}" if basis.until else ""
    return f"{basis.agreement}; {kept}{until}. By {opening.actor}, {opening.at:%Y-%m-%d}."


def wish(card: LabelerCard, repeats_so_far: int = 1) -> Wish:
    """Draw what a run of a model may take, and return it; nothing is asked where it costs nothing.

    ``repeats_so_far`` is how often its last run asked each report, so that one finds that run again.
    """
    settings = card.settings
    if settings is None or settings.kind == "rules" or card.problem:
        return Wish(repeats_so_far)
    one, two, three, four = st.columns([2, 2, 2, 3], vertical_alignment="bottom")
    repeats = one.number_input(
        "Times each report is asked",
        1,
        20,
        repeats_so_far,
        key=f"run.repeats.{card.name}.{repeats_so_far}",
        help="The first answer is the score; more show how steady it is",
    )
    tokens = two.number_input(
        "Stop at tokens",
        0,
        None,
        None,
        step=100_000,
        key="run.tokens",
        placeholder="no limit",
        help="In and out together",
    )
    price = settings.price
    cost = three.number_input(
        f"Stop at {price.currency}" if price else "Stop at a cost",
        0.0,
        None,
        None,
        step=1.0,
        key="run.cost",
        placeholder="no limit" if price else "no price given",
        disabled=price is None,
        help=None if price else "Give the labeler a price in data/study.toml to see and cap its cost",
    )
    cap = Cap(int(tokens) if tokens else None, cost or None)
    batch = (
        card.asks_server
        and card.place != labelers.HERE
        and four.checkbox(
            f"As a batch: {_share(price)}, within a day",
            key="run.batch",
            help="All reports are handed over at once and answered when the provider has time; collect the answers "
            "here later. The provider keeps the reports meanwhile.",
        )
    )
    return Wish(int(repeats), cap if cap.set else None, bool(batch))


def _share(price: Price | None) -> str:
    factor = price.batch_factor if price else 0.5
    return "half the price" if factor == 0.5 else f"{factor:.0%} of the price"
