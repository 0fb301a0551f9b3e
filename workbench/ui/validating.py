"""Validation at the end: unlock it for the accepted revision, on record, and see it beside development."""

import pandas as pd
import streamlit as st

from workbench.domain.actors import Role
from workbench.domain.cohorts import Purpose
from workbench.ui import data, state, widgets
from workbench.workflow import cohorts
from workbench.workflow.score import Score


def draw(here: state.Here, reference_name: str) -> None:
    """Draw the validation cohorts for the revision accepted last, if it is scored on the reference."""
    views = [view for view in data.cohort_views(here) if view.cohort.purpose is Purpose.VALIDATION]
    labeler = next(iter(here.study.settings.labelers))
    rows = data.rows(here, reference_name, labeler, accepted_only=True)
    score = rows[-1].score if rows else None
    if not views or score is None or score.prepared.cohort.purpose is Purpose.VALIDATION:
        return
    st.subheader("Validation", anchor=False)
    st.markdown(f"Once no more edits are planned: does revision {score.prepared.number} hold on reports it never met?")
    for view in views:
        if view.locked:
            _locked(here, score, view)
        else:
            _opened(here, score, view.cohort.name, view.cohort.hash)


def _locked(here: state.Here, score: Score, view: cohorts.CohortView) -> None:
    name, number, labeler = view.cohort.name, score.prepared.number, score.prepared.run.labeler.name
    told = f"{name}: {view.reports} reports of {view.patients} patients, locked."
    st.markdown(f":material/lock: {widgets.plain(told)}")
    if not here.may(Role.LEAD):
        st.caption("The study lead unlocks it.")
        return
    with st.expander(f"Unlock {widgets.plain(name)} for revision {number} with {widgets.plain(labeler)}"):
        st.caption(
            "This is recorded for good. What is run on it later, other than this revision, counts as exploratory."
        )
        if not any(card.cohort == name for card in data.reference_cards(here)):
            st.caption("Better first: have it rated and freeze its reference, while nobody who edits prompts sees it.")
        endpoint = st.text_input(
            "What is measured", value="macro-F1 with its 95 % interval", key=f"validate.end.{name}"
        )
        reason = st.text_input("Why now", key=f"validate.why.{name}")
        if st.button("Unlock on record", icon=":material/lock_open:", key=f"validate.unlock.{name}"):
            label_set = here.study.label_set
            votes = widgets.policy_text(score.reference.vote_policies, label_set)
            predictions = widgets.policy_text(score.prediction_policies, label_set)
            details = {
                "revision": str(number),
                "labeler": labeler,
                "policies": f"{votes} in votes, {predictions} in predictions",
                "endpoint": endpoint or "",
            }
            with widgets.explained():
                cohorts.unlock(here.study, here.actor, name, reason=reason or "", details=details)
                state.say(f"The validation cohort {name} is unlocked, on record.")
                st.rerun()


def _opened(here: state.Here, score: Score, name: str, cohort_hash: str) -> None:
    st.markdown(f":material/lock_open: {widgets.plain(name)} is unlocked, on record.")
    cards = [card for card in data.reference_cards(here) if card.cohort == name]
    if not cards:
        st.info(widgets.plain(f"No reference is frozen on {name} yet; have it rated, then freeze one."))
        return
    run = score.prepared.run
    prepared = data.known_run(here, run.prompt_hash, cohort_hash, run.labeler.name)
    found = data.find_score(here, prepared, cards[-1].name) if prepared else None
    if found is None:
        if st.button(f"Run revision {score.prepared.number} on it", icon=":material/play_circle:"):
            state.ask(state.Intent("run", revision=score.prepared.number))
            st.switch_page(state.page("run"))
        return
    if found.exploratory:
        st.warning("Exploratory: another revision or labeler was named when this cohort was unlocked.")
    shown = [
        {
            "Language": row.language or "all languages",
            "Development": widgets.figure_text(row.development),
            "Reports, development": row.reports[0],
            "Validation": widgets.figure_text(row.validation),
            "Reports, validation": row.reports[1],
        }
        for row in data.beside_validation(here, score, found)
    ]
    st.markdown("Macro-F1 with its 95 % interval:")
    st.dataframe(pd.DataFrame(shown), hide_index=True, alt="Macro-F1 on development and validation")
