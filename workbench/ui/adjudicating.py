"""The adjudicator's desk: one item that the vote left open at a time, without names or counts."""

import html

import streamlit as st

from workbench.domain.hashing import short
from workbench.domain.references import Reference
from workbench.errors import RightsError
from workbench.ui import data, deciding, reading, state, widgets
from workbench.workflow import adjudicate
from workbench.workflow.adjudicate import OpenItem

STYLE = """<style>
.wb-finding {font-size: .95rem; line-height: 1.5}
.wb-finding p {margin: .25rem 0 .5rem 0}
</style>"""


def candidates(here: state.Here) -> tuple[list[Reference], list[str]]:
    """Return the votes that can still be adjudicated, and for the others in a sentence each why they cannot."""
    still, why = [], []
    for card in data.reference_cards(here):
        try:
            reference = data.get_reference(here, card.name)
        except RightsError as error:  # its cohort is locked, and this person edits prompts
            why.append(str(error))
            continue
        if reference.adjudicated:
            continue
        if closed := adjudicate.left_open(here.study, reference).closed:
            why.append(closed)
        else:
            still.append(reference)
    return still, why


def desk(here: state.Here, reference: Reference) -> None:
    """Draw the item at hand, what can be decided about it, and at the end the button that finishes."""
    items = adjudicate.open_items(here.study, here.actor, reference)
    done = sum(item.decision is not None for item in items)
    st.html(STYLE)
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.progress(done / len(items), text=f"{done} of {len(items)} items decided", width=420)
        at = _place(reference, items)
        st.button("Previous", icon=":material/arrow_back:", disabled=at == 0, on_click=_go, args=(reference, at - 1))
        st.button(
            "Next",
            icon=":material/arrow_forward:",
            disabled=at + 1 >= len(items),
            on_click=_go,
            args=(reference, at + 1),
        )
    if done == len(items):
        _finish(here, reference, len(items))
    _item(here, reference, items, at)


def _key(reference: Reference) -> str:
    return f"adjudicate.at.{short(reference.hash)}"


def _go(reference: Reference, at: int) -> None:
    st.session_state[_key(reference)] = at


def _place(reference: Reference, items: list[OpenItem]) -> int:
    first = next((i for i, item in enumerate(items) if item.decision is None), 0)
    return min(int(st.session_state.get(_key(reference), first)), len(items) - 1)


def _item(here: state.Here, reference: Reference, items: list[OpenItem], at: int) -> None:
    item = items[at]
    left, right = st.columns([1, 1], gap="large")
    with left:
        st.markdown(f"**Item {at + 1} of {len(items)}** · {widgets.plain(item.report.id)}")
        with st.container(height=560, border=False):
            st.html(reading.report_html(item.report, here.study.settings.sections, {}))
    with right:
        finding = here.study.label_set.get(item.finding_id)
        parts = [f"<p>{html.escape(finding.definition)}</p>"]
        parts += [
            f"<p><b>{name}:</b> {html.escape(text)}</p>"
            for name, text in (("Include", finding.include), ("Exclude", finding.exclude))
            if text
        ]
        st.subheader(widgets.plain(finding.name), anchor=False)
        st.html(f'<div class="wb-finding">{"".join(parts)}</div>')
        _decide(here, reference, items, at)


def _decide(here: state.Here, reference: Reference, items: list[OpenItem], at: int) -> None:
    item = items[at]
    before = item.decision
    if before is not None:
        st.caption(f"Decided: {'present' if before.present else 'not present'}. Deciding again replaces it, on record.")
    key = f"adjudicate.{short(reference.hash)}.{item.report.id}.{item.finding_id}"
    said = deciding.form(key, before.reason if before else "")
    if said is None:
        return
    present, reason = said
    with widgets.explained():
        adjudicate.decide(
            here.study,
            here.actor,
            reference,
            item.report.id,
            item.finding_id,
            present=present,
            reason=reason,
        )
        _go(reference, deciding.next_open([item.decision is not None for item in items], at))
        st.rerun()


def _finish(here: state.Here, reference: Reference, items: int) -> None:
    with st.container(border=True):
        st.markdown(
            f"All {items} items are decided. Finishing freezes an adjudicated reference beside the vote, which stays "
            "the primary one; both are scored. Nothing can be changed afterwards."
        )
        if st.button("Finish the adjudication", type="primary", icon=":material/lock:", key="adjudicate.finish"):
            with widgets.explained():
                made = adjudicate.finish(here.study, here.actor, reference)
                state.say(f"The adjudicated reference {made.name} ({short(made.hash)}) stands beside {reference.name}.")
                st.rerun()
