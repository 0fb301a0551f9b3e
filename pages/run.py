"""Run: a revision over a cohort, followed while it works, then scored."""

import streamlit as st

from workbench.domain.actors import Role
from workbench.domain.prompts import RevisionStatus
from workbench.ui import batch_panel, data, labeler_panel, run_languages, run_progress, run_result, sent, state, widgets
from workbench.workflow import run
from workbench.workflow.run import PreparedRun

here = state.here()
intent = state.take_intent("run")
widgets.head("Run", "Let a labeler read a cohort with one revision of the prompt; the score follows by itself.")


@st.fragment(run_every=0.7)
def follow(prepared: PreparedRun) -> None:
    with widgets.explained():
        done = run.progress(here.study, prepared)
        run_progress.draw(prepared, done, going=True)
        pid = st.session_state.get("run.process")
        stopped = run.ended(pid) if pid else not done.alive
        # A run that asks again for what failed counts as finished from its first moment.
        if stopped or (done.finished and not done.unanswered):
            for key in ("run.following", "run.process"):
                st.session_state.pop(key, None)
            if not done.finished and not batch_panel.waits(here, prepared):
                state.say(f"The run has stopped: {run.last_words(here.study)}", refused=True)
            elif done.unanswered:
                state.say(f"{done.unanswered} calls brought no reply; ask again once the server answers.", refused=True)
            st.rerun()
        st.caption("It goes on when this page is closed.")


def start(cohort: str, labeler: str, wish: labeler_panel.Wish) -> None:
    with widgets.explained():
        prepared = run.prepare(
            here.study, here.actor, cohort=cohort, revision=number, labeler=labeler, repeats=wish.repeats
        )
        if wish.batch:
            batch_panel.submit(here, prepared, wish.cap)
        st.session_state["run.process"] = run.start(here.study, here.actor, prepared, cap=wish.cap)
        st.session_state["run.following"] = prepared.run.hash
        st.rerun()


revisions, views = data.revisions(here), data.cohort_views(here)
if not revisions or not views:
    if not views:
        widgets.missing("A run needs a cohort first.", "cohorts", "Allocate a cohort")
    widgets.missing("A run needs a prompt first. Bring one in on the command line: workbench prompt import FILE.")
newest = data.newest(here) or revisions[-1]
wanted = intent.revision if intent and intent.revision else newest.number
cards = data.reference_cards(here)
in_use = next((c.cohort for c in cards if c.name == st.session_state.get(state.REFERENCE)), views[0].cohort.name)
one, two, three, four = st.columns([3, 2, 2, 2], vertical_alignment="bottom")
if intent and intent.revision:
    st.session_state["run.revision"] = wanted
by_number = {r.number: r for r in revisions}
number = one.selectbox(
    "Revision",
    list(by_number)[::-1],
    index=list(by_number)[::-1].index(wanted),
    key="run.revision",
    format_func=lambda n: data.revision_name(by_number[n]),
)
cohort_names = [view.cohort.name for view in views]
cohort = two.selectbox("Cohort", cohort_names, index=cohort_names.index(in_use), key="run.cohort")
labeler = three.selectbox("Labeler", list(here.study.settings.labelers), key="run.labeler")
revision, view = by_number[number], next(v for v in views if v.cohort.name == cohort)
st.caption(widgets.plain(f"{revision.message} · by {revision.author}"))
card = labeler_panel.draw(here, labeler)
if card.settings is None:
    st.stop()
latest = data.known_run(here, revision.prompt_hash, view.cohort.hash, labeler)
wish = labeler_panel.wish(card, latest.run.repeats if latest else 1)
known = data.known_run(here, revision.prompt_hash, view.cohort.hash, labeler, wish.repeats)
done = run.progress(here.study, known) if known else None
following = known is not None and (st.session_state.get("run.following") == known.run.hash or bool(done and done.alive))
waiting = bool(known and not following and batch_panel.draw(here, known))
ready = not view.locked and not card.problem and not following and here.may(Role.LEAD, Role.ADMIN)
label, icon = run_progress.button(done, going=following, waiting=waiting)
idle = waiting or not (ready and run_progress.to_do(done))
if four.button(label, icon=icon, type="primary", key="run.start", disabled=idle, width="stretch"):
    start(cohort, labeler, wish)
if not here.may(Role.LEAD, Role.ADMIN):
    st.info("Runs are started by the study lead.")
if view.locked:
    st.warning(
        f"The validation cohort {cohort} is locked: unlock it on record on the page Cohorts before running on it."
    )
else:
    run_languages.draw(here, cohort, revision.prompt_hash, labeler)
    sent.panel(here, revision.prompt_hash, sorted(view.cohort.members))
if known and following:
    follow(known)
elif known and done and done.finished:
    if known.run.labeler.kind != "rules":
        run_progress.draw(known, done)
    run_result.draw(here, known, cohort, waiting=revision.status is RevisionStatus.CANDIDATE)
elif known and done and waiting:
    run_progress.draw(known, done, waiting=True)
elif known and done and (done.done or done.stopped):
    run_progress.draw(known, done)
    st.caption(widgets.plain(f"This run was stopped; continue it and nothing is labelled twice. {done.stopped}"))
