"""Annotate: one report at a time, one's own labels only, every click saved."""

from workbench.domain.actors import Role
from workbench.ui import rating, rating_hearing, state, widgets
from workbench.workflow import annotate

here = state.here()
if not here.may(Role.RATER):
    rating_hearing.elsewhere(here)
    widgets.head("Annotate", "Here raters label reports, each on their own and without seeing the others.")
    raters = [name for name, roles in here.study.roster.people.items() if Role.RATER in roles]
    others = "nobody is yet; the lead adds raters with the command workbench user add"
    if raters:
        others = f"{'that is for' if here.renew else 'choose one of them at the left:'} {', '.join(raters)}"
    widgets.missing(f"{here.actor.name} is not a rater, so there is nothing to label here: {others}.")

names = annotate.ratable_cohorts(here.study)
if not names:
    rating_hearing.elsewhere(here)
    widgets.head("Annotate", "Here you label reports, one at a time.")
    widgets.missing("There is no cohort to label yet. The study lead allocates one on the page Cohorts.")
rating.head(
    "Mark what the report says is there, then submit. What you leave at – counts as not mentioned; "
    ":red[●] is dangerous to miss."
)
rating.desk(here, names)
