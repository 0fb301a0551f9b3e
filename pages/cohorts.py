"""Cohorts: draw them by patient, see the positives to expect, unlock validation on record."""

import streamlit as st

from workbench.domain.actors import Role
from workbench.ui import allocation, blind, data, state, tables, widgets
from workbench.workflow import cohorts


def unlock_form(here: state.Here, name: str) -> None:
    with st.form(f"cohorts.unlock.{name}", border=False):
        st.markdown(
            f"Unlocking **{widgets.plain(name)}** is recorded for good. Name beforehand what will be measured; later "
            "runs on it are exploratory."
        )
        one, two = st.columns(2)
        details = {
            "revision": one.text_input("Revision", placeholder="number and hash"),
            "labeler": two.text_input("Labeler", placeholder="rules"),
            "policies": one.text_input('Policy for "uncertain"', placeholder="present in votes and predictions"),
            "endpoint": two.text_input("Endpoint", placeholder="macro-F1 over findings with 10 positives or more"),
        }
        reason = st.text_input("Why now")
        if st.form_submit_button("Unlock on record"):
            with widgets.explained():
                cohorts.unlock(here.study, here.actor, name, reason=reason, details=details)
                state.say(f"The validation cohort {name} is unlocked, on record.")
                st.rerun()


here = state.here()
views = data.cohort_views(here)
widgets.head(
    "Cohorts",
    "Draw reports for one purpose each, whole patients at a time. A cohort is fixed once it is made.",
)
can = here.may(Role.LEAD, Role.ADMIN)
if not views:
    st.info(
        "There are no cohorts yet. Allocate one for development and one for validation."
        if can
        else "There are no cohorts yet. The study lead allocates them."
    )
if views:
    st.dataframe(
        tables.cohorts(views),
        hide_index=True,
        alt="Cohorts with their purpose and counts",
        column_config={"When": st.column_config.DatetimeColumn(format="YYYY-MM-DD")},
    )
left, right = st.columns([1, 1], gap="large")
preview = None
with left:
    if can:
        with st.expander("Allocate a cohort", expanded=not views, icon=":material/add:"):
            preview = allocation.form(here)
        for view in views:
            if view.locked:
                with st.expander(f"Unlock {widgets.plain(view.cohort.name)}", icon=":material/lock:"):
                    unlock_form(here, view.cohort.name)
with right:
    if preview is not None:
        st.markdown(
            f"**Not fixed yet:** {len(preview.cohort.members)} reports of {preview.patients} patients would be drawn. "
            + preview.fewer
        )
        blind.stop(here)
        allocation.expectation(here, preview.expected)
    elif views and can:
        blind.stop(here)
        name = st.selectbox("Positives to expect in", [view.cohort.name for view in views])
        allocation.expectation(here, data.expected(here, name))
