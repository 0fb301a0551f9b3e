"""The desk of whoever judges items that somebody doubts: by the report alone, without votes or labels."""

import html

import streamlit as st

from workbench.domain.actors import Role
from workbench.domain.hashing import short
from workbench.domain.references import Reference
from workbench.errors import RightsError
from workbench.ui import data, deciding, reading, state, widgets
from workbench.workflow import doubted
from workbench.workflow.doubted import OpenDoubt


def waiting(here: state.Here) -> list[tuple[Reference, list[OpenDoubt]]]:
    """Return the references of which items are doubted, with the items; none for whoever may not judge them."""
    if not here.may(Role.ADJUDICATOR) or here.may(Role.LEAD, Role.ADMIN):
        return []
    found = []
    for card in data.reference_cards(here):
        reference = data.get_reference(here, card.name)
        try:
            items = doubted.open_doubts(here.study, here.actor, reference)
        except RightsError:  # its cohort is locked, or its round takes labels again
            continue
        if items:
            found.append((reference, items))
    return found


def desk(here: state.Here, reference: Reference, items: list[OpenDoubt]) -> None:
    """Draw the item at hand and what can be said of it."""
    done = sum(item.verdict is not None for item in items)
    key = f"doubts.at.{short(reference.hash)}"
    first = next((i for i, item in enumerate(items) if item.verdict is None), 0)
    at = min(int(st.session_state.get(key, first)), len(items) - 1)
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.progress(done / len(items), text=f"{done} of {len(items)} second looks given", width=420)
        st.button("Previous", icon=":material/arrow_back:", disabled=at == 0, on_click=_go, args=(key, at - 1))
        st.button(
            "Next", icon=":material/arrow_forward:", disabled=at + 1 >= len(items), on_click=_go, args=(key, at + 1)
        )
    item = items[at]
    finding = here.study.label_set.get(item.finding_id)
    left, right = st.columns(2, gap="large")
    with left:
        st.markdown(f"**Item {at + 1} of {len(items)}** · {widgets.plain(item.report.id)}")
        st.html(reading.report_html(item.report, here.study.settings.sections, {}))
    with right:
        st.subheader(widgets.plain(finding.name), anchor=False)
        told = (("", finding.definition), ("Include: ", finding.include), ("Exclude: ", finding.exclude))
        st.html("".join(f"<p><b>{name}</b>{html.escape(text)}</p>" for name, text in told if text))
        _verdict(here, reference, items, at, key)


def _verdict(here: state.Here, reference: Reference, items: list[OpenDoubt], at: int, key: str) -> None:
    item = items[at]
    if item.verdict is not None:
        st.caption(f"Said: {'present' if item.verdict.present else 'not present'}. Saying it again replaces it.")
    said = deciding.form(f"doubts.{short(reference.hash)}.{item.report.id}.{item.finding_id}")
    if said is None:
        return
    present, reason = said
    with widgets.explained():
        doubted.judge(
            here.study,
            here.actor,
            reference,
            item.report.id,
            item.finding_id,
            present=present,
            reason=reason,
        )
        _go(key, deciding.next_open([item.verdict is not None for item in items], at))
        st.rerun()


def _go(key: str, at: int) -> None:
    st.session_state[key] = at


def outcome(here: state.Here, reference: Reference) -> str:
    """Return in a sentence what came of the doubts on a reference so far, empty where there are none."""
    if not here.may(Role.LEAD, Role.ADMIN):
        return ""
    found = doubted.verdicts(here.study, here.actor, reference)
    if not found.doubted:
        return ""
    return (
        f"Of {found.doubted} doubted, {found.doubted_judged} had a second look and {found.doubted_against} were judged "
        f"against the vote; of {found.controls} controls, {found.controls_judged} and {found.controls_against}. "
        "The reference stays as it is."
    )
