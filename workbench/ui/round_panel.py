"""The lead's part of the page Reference: a round is opened, followed, closed or withdrawn, and its votes are frozen."""

from collections.abc import Sequence

import streamlit as st

from workbench.domain.actors import Role
from workbench.domain.cohorts import Cohort
from workbench.domain.hashing import short
from workbench.domain.rounds import RoundAction, RoundEvent
from workbench.storage.references import ReferenceHead
from workbench.ui import data, freeze_panel, practising, state, widgets
from workbench.workflow import practice, rounds
from workbench.workflow.rounds import RoundView

ACTIONS = {
    RoundAction.OPENED: "opened",
    RoundAction.CLOSED: "closed",
    RoundAction.REOPENED: "re-opened",
    RoundAction.WITHDRAWN: "withdrawn",
}


def draw(here: state.Here, cohort: Cohort, view: RoundView | None, frozen: ReferenceHead | None) -> None:
    """Draw what the lead can do with the votes of a cohort; ``frozen`` is the last vote that was frozen on it."""
    if view is None or (not view.open and view.round.label_set_hash != here.study.label_set.hash):
        _opening(here, cohort, view, expanded=view is None and frozen is None)
    for back in rounds.withdrawn_rounds(here.study, cohort):
        st.caption(f"{widgets.plain(back.round.name)} was {_told(back.events[-1])}.")
    if view is not None:
        # Once its votes are frozen a closed round is history, and the reference below is what one came for.
        past = frozen is not None and not view.open
        with st.expander(f"Round {widgets.plain(view.round.name)}") if past else st.container(border=True):
            _standing(here, cohort, view)
    if frozen is None or _labels_since(view, frozen):
        freeze_panel.draw(here, cohort, view, frozen)


def _labels_since(view: RoundView | None, frozen: ReferenceHead) -> bool:
    """Return whether the round took labels again after a vote was frozen."""
    opening = (RoundAction.OPENED, RoundAction.REOPENED)
    return view is not None and any(e.action in opening and e.at > frozen.created_at for e in view.events)


def _opening(here: state.Here, cohort: Cohort, before: RoundView | None, *, expanded: bool) -> None:
    study = here.study
    raters = [name for name, roles in study.roster.people.items() if Role.RATER in roles]
    with st.expander("Open a round", expanded=expanded, icon=":material/play_arrow:"):
        if before is not None:
            st.markdown("The guideline has changed since the last round, so this is a new one.")
        if not raters:
            st.info("Nobody is a rater yet. Add raters with the command workbench user add.")
            return
        st.markdown(
            "Opening fixes all of this until the votes are frozen. "
            f"**Rule:** {freeze_panel.rule_text(study.vote_rule)}. **Uncertain counts as** "
            f"{widgets.plain(widgets.policy_text(study.label_set.vote_policies, study.label_set))}. "
            f"**Guideline:** {widgets.plain(study.label_set.title)}, version {widgets.plain(study.label_set.version)} "
            f"({short(study.label_set.hash)}). **Answers:** {_answers(study.settings.rater_states)}."
        )
        chosen = st.multiselect(
            "Raters",
            raters,
            default=raters if len(raters) <= study.vote_rule.n else [],
            max_selections=study.vote_rule.n,
            help=f"The vote counts {study.vote_rule.n}. Nobody can join later. Listed are those with the role rater.",
            key=f"round.raters.{cohort.name}",
        )
        members = len(cohort.members)
        twice = st.number_input(
            "Reports that each rater gets twice",
            0,
            members // 2,
            min(rounds.TWICE, members // 10),
            help="Unannounced; they tell how far a rater agrees with themselves and never vote.",
            key=f"round.twice.{cohort.name}",
            width=260,
        )
        if st.button("Open the round", type="primary", disabled=not chosen, key="round.open"):
            with widgets.explained():
                made = rounds.open_round(study, here.actor, cohort.name, raters=chosen, twice=int(twice))
                state.say(f"The round {made.round.name} is open for {', '.join(made.round.raters)}.")
                st.rerun()


def _answers(states: tuple[object, ...]) -> str:
    return ", ".join(str(s).replace("_", " ") for s in states)


def _standing(here: state.Here, cohort: Cohort, view: RoundView) -> None:
    held = view.round
    st.markdown(
        f"**Round {widgets.plain(held.name)}** is :{'green' if view.open else 'gray'}-badge["
        f"{'open' if view.open else 'closed'}] – {_told(view.events[-1])}"
    )
    st.caption(
        widgets.plain(
            f"Fixed: {freeze_panel.rule_text(held.rule)} · uncertain is "
            f"{widgets.policy_text(held.vote_policies, here.study.label_set)} · guideline "
            f"{short(held.label_set_hash)} · answers {_answers(held.states)} · {held.twice} reports come twice"
        )
    )
    if len(view.events) > 1:
        st.caption("Before: " + "; ".join(_told(event) for event in view.events[:-1]))
    _progress(here, cohort, view)
    if here.may(Role.LEAD):
        _turning(here, cohort, view)


def _told(event: RoundEvent) -> str:
    why = f" ({event.reason})" if event.reason else ""
    return widgets.plain(f"{ACTIONS[event.action]} by {event.actor} on {event.at:%Y-%m-%d %H:%M} UTC{why}")


def _progress(here: state.Here, cohort: Cohort, view: RoundView) -> None:
    done = data.rating_progress(here, cohort.name)
    columns = st.columns(3, gap="medium")
    for i, rater in enumerate(view.round.raters):
        n = done.get(rater, 0)
        columns[i % 3].progress(
            min(n / len(cohort.members), 1.0), text=f"{widgets.plain(rater)}: {n} of {len(cohort.members)}"
        )
    if here.may(Role.LEAD, Role.ADMIN):
        _practice(here, view.round.raters)


def _practice(here: state.Here, raters: Sequence[str]) -> None:
    """Draw how practice went, which the raters see of themselves only."""
    if why := practising.available(here):
        st.caption(f"Practice: {widgets.plain(why)}")
        return
    done = practice.progress(here.study, here.actor)
    told = [f"{rater}: {practising.lead_text(done[rater])}" for rater in raters if rater in done]
    st.caption(widgets.plain(f"Practice: {'; '.join(told)}." if told else "Practice: none of these raters has begun."))


def _turning(here: state.Here, cohort: Cohort, view: RoundView) -> None:
    with st.container(horizontal=True):
        _opening_and_closing(here, cohort, view)
        if not rounds.kept_because(here.study, here.actor, cohort.name):
            _withdrawing(here, cohort, view)


def _withdrawing(here: state.Here, cohort: Cohort, view: RoundView) -> None:
    with st.popover("Withdraw the round", icon=":material/undo:"):
        st.markdown("Nobody has saved a label in it yet, so it can be taken back, on record, and opened anew.")
        reason = st.text_input("Why is it withdrawn?", key=f"round.withdraw-reason.{cohort.name}")
        if st.button("Withdraw it on record", key="round.withdraw"):
            with widgets.explained():
                rounds.withdraw_round(here.study, here.actor, cohort.name, reason=reason)
                state.say(f"The round {view.round.name} is withdrawn.")
                st.rerun()


def _opening_and_closing(here: state.Here, cohort: Cohort, view: RoundView) -> None:
    if view.open:
        with st.popover("Close the round", icon=":material/stop_circle:"):
            st.markdown("A closed round takes no more labels. Re-opening it is recorded with its reason.")
            reason = st.text_input("Reason (optional)", key=f"round.close-reason.{cohort.name}")
            if st.button("Close it now", key="round.close"):
                with widgets.explained():
                    rounds.close_round(here.study, here.actor, cohort.name, reason=reason.strip())
                    state.say(f"The round {view.round.name} is closed.")
                    st.rerun()
    elif view.round.label_set_hash == here.study.label_set.hash:
        with st.popover("Re-open the round", icon=":material/restart_alt:"):
            st.markdown("The raters can change their labels again. References that are frozen stay as they are.")
            reason = st.text_input("Why is it re-opened?", key=f"round.reopen-reason.{cohort.name}")
            if st.button("Re-open it on record", key="round.reopen"):
                with widgets.explained():
                    rounds.reopen_round(here.study, here.actor, cohort.name, reason=reason)
                    state.say(f"The round {view.round.name} takes labels again.")
                    st.rerun()
