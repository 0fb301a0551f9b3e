"""Review: one generated report at a time beside its reference, by radiologists who cannot know who wrote it."""

import streamlit as st

from workbench.domain.actors import Role
from workbench.ui import review_panel, review_work, state, widgets
from workbench.workflow import reviewing

here = state.here()
leads = here.may(Role.LEAD, Role.ADMIN)
review_work.hear(here)  # also where no desk is drawn any more
if here.may(Role.RATER, Role.ADJUDICATOR) and reviewing.desks(here.study, here.actor):
    review_work.head()
    review_work.desk(here)
elif leads:
    widgets.head(
        "Review",
        "Radiologists rate what report generators wrote, without knowing which system it was. What they said is shown "
        "once the review is closed.",
    )
    review_panel.draw(here)
else:
    widgets.head("Review", "Here radiologists compare generated reports with the reference, one at a time.")
    review_work.tell_refused()
    if not (rated := review_panel.found_on(here)):
        widgets.missing(
            f"No report waits for {here.actor.name}. The study lead opens a review and names who takes part in it."
        )
    st.caption("No report waits for you. This is what the reviewers said.")
    review_panel.outcome(here, rated)
