"""Reference: from a round of rating to a frozen standard, and how far the raters agreed."""

import streamlit as st

from workbench.domain.actors import Role
from workbench.domain.cohorts import Purpose
from workbench.ui import blind, data, reference_panel, round_panel, state, widgets
from workbench.workflow import rounds
from workbench.workflow.reference import list_references

here = state.here()
widgets.head("Reference", "The raters' votes become the standard that every score is measured against.")
views = [v for v in data.cohort_views(here) if v.cohort.purpose is not Purpose.EVALUATION]
if not views:
    widgets.missing("There is no cohort yet. Allocate one, then let raters label it.", "cohorts", "Allocate a cohort")
cards = data.reference_cards(here)
names = [v.cohort.name for v in views]
in_use = next((c.cohort for c in cards if c.name == st.session_state.get(state.REFERENCE)), names[0])
top = st.container(horizontal=True, vertical_alignment="bottom")
name = top.selectbox("Cohort", names, index=names.index(in_use), key="reference.cohort", width=260)
cohort = next(v.cohort for v in views if v.cohort.name == name)
held = rounds.round_of(here.study, cohort)
frozen = [] if data.blinding_round(here) else list_references(here.study, here.actor)
frozen = [head for head in frozen if head.cohort_hash == cohort.hash]
if here.may(Role.LEAD, Role.ADMIN):
    votes = [head for head in frozen if not head.adjudicated]
    round_panel.draw(here, cohort, held, votes[-1] if votes else None)
elif not frozen and not blind.told(here):
    st.info("This reference is not frozen yet. Until then nobody who rates sees other people's labels.")
blind.stop(here)
if held is not None and held.open and frozen:
    st.info("This round takes labels again. Counts and agreement are shown once it is closed.")
if not frozen or (held is not None and held.open):
    st.stop()
if here.may(Role.LEAD, Role.ADMIN) and next(v.locked for v in views if v.cohort.name == name):
    st.info(
        f"**{widgets.plain(frozen[-1].name)}** is frozen. Whoever edits prompts sees its outcomes and counts once this "
        "validation cohort is unlocked on the page Cohorts; until then an adjudicator who edits none can decide what "
        "the vote left open."
    )
    st.stop()
known = [data.get_reference(here, head.name) for head in frozen]
chosen = known[0]
if len(known) > 1:
    picked = top.selectbox("Version", [r.name for r in known], key=f"reference.version.{name}", width=260)
    chosen = next(r for r in known if r.name == picked)
items = reference_panel.left_open(here, chosen)
if items and here.may(Role.LEAD, Role.ADMIN, Role.ADJUDICATOR):
    reference_panel.choice(here, chosen, items)
elif items:
    st.info("This reference is frozen. Its counts are shown once the lead has ended the adjudication.")
else:
    reference_panel.draw(here, chosen, known, top)
