"""Annotate: one report at a time, one's own labels only, every click saved."""

import streamlit as st

from workbench.domain.actors import Role
from workbench.ui import rating, state, widgets
from workbench.workflow import annotate

here = state.here()
if not here.may(Role.RATER):
    widgets.head("Annotate", "Here raters label reports, each on their own and without seeing the others.")
    raters = [name for name, roles in here.study.roster.people.items() if Role.RATER in roles]
    others = "nobody is yet; the lead adds raters with the command workbench user add"
    if raters:
        others = f"{'that is for' if here.renew else 'choose one of them at the left:'} {', '.join(raters)}"
    widgets.missing(f"{here.actor.name} is not a rater, so there is nothing to label here: {others}.")

names = annotate.ratable_cohorts(here.study)
if not names:
    widgets.head("Annotate", "Here you label reports, one at a time.")
    widgets.missing("There is no cohort to label yet. The study lead allocates one on the page Cohorts.")
queues = {name: annotate.queue(here.study, here.actor, name) for name in names}
unfinished = [name for name, queue in queues.items() if not queue.closed and queue.next]
widgets.head(
    "Annotate",
    "Mark what the report says is there. What you leave at – counts as not mentioned; :red[●] is dangerous to miss.",
)
with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
    cohort = st.selectbox(
        "Cohort", names, index=names.index(unfinished[0]) if unfinished else 0, key="annotate.cohort", width=220
    )
    queue = queues[cohort]
    if not queue.order:
        widgets.missing(queue.closed)
    done = len(queue.submitted)
    st.progress(
        done / len(queue.order),
        text=f"{done} of {len(queue.order)} reports submitted · {len(queue.drafts)} in draft",
        width=420,
    )
    entry = rating.current_report(here, queue)
    at = queue.order.index(entry) if entry else len(queue.order)
    if st.button("Previous", icon=":material/arrow_back:", disabled=at == 0, help="In your own order of reports"):
        rating.go_to(here, queue.order[at - 1])
        st.rerun()
    if st.button("Next", icon=":material/arrow_forward:", disabled=at + 1 >= len(queue.order)):
        rating.go_to(here, queue.order[at + 1])
        st.rerun()
if queue.closed:
    widgets.missing(queue.closed)
if entry is None:
    st.success("You have submitted every report of this cohort. Thank you.", icon=":material/done_all:")
    st.stop()
if not st.session_state.get(rating.SINCE):
    rating.go_to(here, entry)
task = annotate.open_report(here.study, here.actor, cohort, entry)
left, right = st.columns([6, 11], gap="medium")
with left:
    status = "submitted" if entry in queue.submitted else "draft" if entry in queue.drafts else "new"
    st.markdown(f"**Report {at + 1} of {len(queue.order)}** · {widgets.plain(entry.report_id)} · {status}")
    with st.container(height=640, border=False):
        widgets.report_text(task.report, here.study.settings.sections, unread="context")
with right:
    rating.panel(here, cohort, task)
