"""A lead opens a review of generated reports: what is read, by whom, and what follows from it, before it is fixed."""

from collections.abc import Sequence

import streamlit as st

from workbench.domain.actors import Role
from workbench.domain.people import name_key
from workbench.ui import data, state, widgets
from workbench.workflow import review
from workbench.workflow.review import Offer

_FEW = 6  # so many raters are all named at first


def draw(here: state.Here, *, held: bool, expanded: bool) -> None:
    """Draw how a review is opened, for a lead who need not stay blind; ``held`` says that one is open."""
    if not here.may(Role.LEAD) or data.blinding_round(here):
        return
    offers = data.kept(here, "reviewable", lambda: review.offers(here.study, here.actor))
    people = [name for name, roles in here.study.roster.people.items() if roles & {Role.RATER, Role.ADJUDICATOR}]
    with st.expander("Open a review", expanded=expanded, icon=":material/play_arrow:"):
        if not offers:
            st.markdown(
                "Every data set with generated reports has an open review."
                if held
                else "There is nothing to review yet. First take in what report generators wrote."
            )
            st.page_link(state.page("leaderboard"), label="Take in reports on the page Leaderboard")
        elif not people:
            st.markdown("Nobody could review: reviewers are raters or adjudicators of the study.")
            st.page_link(state.page("people"), label="Add them on the page People")
        else:
            _form(here, offers, people)


def _form(here: state.Here, offers: Sequence[Offer], people: Sequence[str]) -> None:
    offer = _data_set(offers)
    key = offer.data_set.hash
    left, right = st.columns(2)
    systems = left.multiselect("Systems", list(offer.studies), default=list(offer.studies), key=f"review.systems.{key}")
    raters = [name for name in people if Role.RATER in here.study.roster.people[name]]
    reviewers = right.multiselect(
        "Reviewers",
        people,
        default=raters if len(raters) <= _FEW else [],
        help="Raters and adjudicators of the study. Two or more tell how far reviewers agree. Nobody can join later.",
        key="review.reviewers",
    )
    common = offer.common(systems)
    few, seeded = st.columns(2)
    studies = few.number_input(
        f"Studies (of {common:,} that these systems share)",
        min(1, common),
        common,
        min(review.STUDIES, common),
        help="The same studies for every system, drawn by the seed.",
        key=f"review.studies.{key}.{common}",
        disabled=not common,
    )
    seed = seeded.number_input(
        "Seed", 0, value=0, help="The same seed draws the same studies and orders.", key="review.seed"
    )
    if not common:
        st.warning("These systems share no study with a reference." if systems else "Name a system at least.")
        return
    _told(here, systems, int(studies), reviewers)
    if st.button("Open the review", type="primary", disabled=not reviewers, key="review.open"):
        with widgets.explained():
            made = review.open_review(
                here.study,
                here.actor,
                offer.data_set,
                reviewers=reviewers,
                studies=int(studies),
                seed=int(seed),
                systems=systems,
            )
            state.say(f"{made.review.name} is open for {', '.join(made.review.reviewers)}.")
            st.rerun()


def _data_set(offers: Sequence[Offer]) -> Offer:
    names = [f"{offer.data_set.name} ({offer.data_set.task})" for offer in offers]
    return offers[names.index(st.selectbox("Data set", names, key="review.open.data-set", width=420))]


def _told(here: state.Here, systems: Sequence[str], studies: int, reviewers: Sequence[str]) -> None:
    """Say what opening does, in the numbers that were chosen."""
    reports = studies * len(systems)
    st.markdown(
        f"**Opening fixes all of this.** Each reviewer gets {_counted(reports, 'generated report')} "
        f"({_counted(studies, 'study', 'studies')}, {_counted(len(systems), 'system')}; what two wrote alike comes "
        "once), one at a time beside the reference, in an order of their own, and cannot know which system wrote it. "
        "Until you close the review nobody sees a rating, and reviewers see no leaderboard and no score."
    )
    if any(name_key(name) == name_key(here.actor.name) for name in reviewers):
        st.markdown("You review too, so the leaderboard is closed to you until then; you still see how far all are.")


def _counted(n: int, one: str, more: str = "") -> str:
    return f"{n:,} {one if n == 1 else more or one + 's'}"
