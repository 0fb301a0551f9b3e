"""Adjudicate: what the vote left open, one item at a time, before anybody has seen a count."""

import streamlit as st

from workbench.domain.actors import Role
from workbench.ui import adjudicating, doubting, state, widgets

here = state.here()
widgets.head(
    "Adjudicate",
    "Decide what the vote left open, one finding of one report at a time, by the report alone: names and counts stay "
    "hidden.",
)
if not here.may(Role.ADJUDICATOR):
    judges = [name for name, roles in here.study.roster.people.items() if Role.ADJUDICATOR in roles]
    widgets.missing(
        "Ties, and items with too few votes, are decided here by an adjudicator before anybody has looked at counts or "
        f"agreement. {here.actor.name} is not one"
        + (f"; that is for {', '.join(judges)}." if judges else "; nobody is yet. An admin gives that role.")
    )
doubts = doubting.waiting(here)
still, why = adjudicating.candidates(here)
unjudged = [(reference, items) for reference, items in doubts if any(item.verdict is None for item in items)]
# One desk at a time: two would share their keys, and nobody judges two things at once.
for reference, items in unjudged[:1] or ([] if still else doubts[:1]):
    st.markdown(
        f"**A second look at {widgets.plain(reference.name)}.** Somebody doubts some of these items; the others are "
        "there so that nobody can tell which. The frozen reference stays as it is."
    )
    doubting.desk(here, reference, items)
    st.stop()
if not still:
    for sentence in why:
        st.caption(widgets.plain(sentence))
    widgets.missing(
        "There is nothing to adjudicate now. Open items appear here when the lead has frozen the votes of a round and "
        "nobody has looked at counts, agreement or a score yet."
    )
names = [reference.name for reference in still]
intent = state.take_intent("adjudicate")
if intent and intent.phrase in names:
    st.session_state["adjudicate.reference"] = intent.phrase
chosen = names[0]
if len(names) > 1:
    chosen = st.selectbox("Vote", names, key="adjudicate.reference", width=260)
adjudicating.desk(here, still[names.index(chosen)])
