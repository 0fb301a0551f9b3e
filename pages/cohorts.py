"""Cohorts: draw them by patient, see the positives to expect, unlock validation on record."""

import streamlit as st

from workbench.domain.actors import Role
from workbench.domain.cohorts import Purpose
from workbench.ui import data, figures, state, tables, widgets
from workbench.workflow import cohorts

HELP = {
    Purpose.TAXONOMY: "to settle findings and guidelines",
    Purpose.DEVELOPMENT: "prompts are tuned on it",
    Purpose.VALIDATION: "locked until the prompt is final",
    Purpose.EVALUATION: "report generators are scored on it",
    Purpose.EXTERNAL: "another hospital or language",
}


def allocate_form(here: state.Here) -> None:
    with st.form("cohorts.allocate", border=False):
        name, purpose = st.columns([2, 3])
        named = name.text_input("Name", placeholder="development")
        kind = purpose.selectbox("Purpose", list(Purpose), index=1, format_func=lambda p: f"{p}: {HELP[p]}")
        size, seed, enrich = st.columns(3)
        many = size.number_input("Reports", min_value=1, value=300, help="About so many: patients are drawn whole.")
        seeded = seed.number_input("Seed", min_value=0, value=1, help="The same seed draws the same reports.")
        factor = enrich.number_input(
            "Enrich rare findings",
            min_value=1.0,
            max_value=50.0,
            value=1.0,
            step=1.0,
            help="How many times likelier a report with a phrase of a rare finding is drawn; 1 for a plain draw.",
        )
        if st.form_submit_button("Allocate the cohort", type="primary"):
            with widgets.explained(), st.spinner("Drawing patients"):
                done = cohorts.allocate(
                    here.study,
                    here.actor,
                    named,
                    kind or Purpose.DEVELOPMENT,
                    size=int(many),
                    seed=int(seeded),
                    enrich=float(factor),
                )
                state.say(f"Cohort {done.cohort.name}: {len(done.cohort.members)} reports of {done.patients} patients.")
                st.rerun()


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
with left:
    if can:
        with st.expander("Allocate a cohort", expanded=not views, icon=":material/add:"):
            allocate_form(here)
        for view in views:
            if view.locked:
                with st.expander(f"Unlock {widgets.plain(view.cohort.name)}", icon=":material/lock:"):
                    unlock_form(here, view.cohort.name)
with right:
    if views:
        names = [view.cohort.name for view in views]
        name = st.selectbox("Positives to expect in", names)
        counts = data.expected(here, name)
        if counts is None:
            st.info("Accept a prompt first: its phrases tell which reports are likely to hold a finding.")
        else:
            shown = {here.study.label_set.get(f).name: n for f, n in counts.items()}
            few = [name for name, n in shown.items() if n < figures.TOO_FEW]
            st.markdown(
                f"By the accepted prompt's phrases {len(few)} of {len(shown)} findings have under {figures.TOO_FEW} "
                "positives here: this cohort cannot assess them."
            )
            widgets.chart(figures.expected_bars(shown), key="cohorts.expected", alt="Positives to expect per finding")
