"""Run: a revision over a cohort, followed while it works, then scored."""

import streamlit as st

from workbench.domain.actors import Role
from workbench.domain.prompts import RevisionStatus
from workbench.domain.runs import RunProgress
from workbench.ui import blind, data, scoring, sent, state, widgets
from workbench.workflow import run, score
from workbench.workflow.run import PreparedRun

here = state.here()
intent = state.take_intent("run")
widgets.head("Run", "Let a labeler read a cohort with one revision of the prompt; the score follows by itself.")


def bar(done: RunProgress) -> None:
    failed = ", ".join(f"{n} {kind}" for kind, n in done.failed.items() if n) or "none failed"
    st.progress(done.done / max(done.total, 1), text=f"{done.done} of {done.total} reports labelled · {failed}")


@st.fragment(run_every=0.7)
def follow(prepared: PreparedRun) -> None:
    with widgets.explained():
        done = run.progress(here.study, prepared)
        bar(done)
        pid = st.session_state.get("run.process")
        stopped = run.ended(pid) if pid else not done.alive
        if done.finished or stopped:
            st.session_state.pop("run.following", None)
            if not done.finished:
                state.say(f"The run has stopped: {run.last_words(here.study)}", refused=True)
            st.rerun()
        st.caption("It goes on when this page is closed.")


def start(prompt_hash: str, cohort: str, labeler: str) -> None:
    with widgets.explained():
        prepared = run.prepare(here.study, here.actor, cohort=cohort, revision=prompt_hash, labeler=labeler)
        st.session_state["run.process"] = run.start(here.study, here.actor, prepared)
        st.session_state["run.following"] = prepared.run.hash
        st.rerun()


def result(prepared: PreparedRun, cohort: str) -> None:
    blind.stop(here)
    cards = [card for card in data.reference_cards(here) if card.cohort == cohort]
    if not cards:
        widgets.missing(
            f"The run is finished. The cohort {cohort} has no reference yet: freeze one to score it.",
            "reference",
            "Freeze a reference",
        )
    chosen = st.session_state.get(state.REFERENCE)
    name = chosen if chosen in [card.name for card in cards] else cards[0].name
    found = data.find_score(here, prepared, name)
    if found is None:
        with st.spinner("Scoring"):
            found = score.score_run(here.study, here.actor, prepared.run.hash, data.get_reference(here, name))
    with st.container(horizontal=True):
        if st.button("See its errors", type="primary", icon=":material/troubleshoot:"):
            st.switch_page(state.page("errors"))
        waiting = by_number[prepared.number].status is RevisionStatus.CANDIDATE
        if waiting and st.button("Accept or reject it", icon=":material/verified:"):
            state.ask(state.Intent("accept", revision=prepared.number))
            st.switch_page(state.page("accept"))
    scoring.draw(here, found)


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
known = data.known_run(here, revision.prompt_hash, view.cohort.hash, labeler)
done = run.progress(here.study, known) if known else None
following = known is not None and (st.session_state.get("run.following") == known.run.hash or bool(done and done.alive))
label = "Start the run" if not done or not done.done else "Run is finished" if done.finished else "Continue the run"
ready = not (done and (done.finished or following)) and here.may(Role.LEAD, Role.ADMIN)
if four.button(label, type="primary", icon=":material/play_arrow:", disabled=not ready, width="stretch"):
    start(revision.prompt_hash, cohort, labeler)
if not here.may(Role.LEAD, Role.ADMIN):
    st.info("Runs are started by the study lead.")
if view.locked:
    st.warning(
        f"The validation cohort {cohort} is locked: unlock it on record on the page Cohorts before running on it."
    )
else:
    sent.panel(here, revision.prompt_hash, sorted(view.cohort.members))
if known and done and done.finished:
    result(known, cohort)
elif known and following:
    follow(known)
elif known and done and done.done:
    bar(done)
    st.caption("This run was stopped; continue it and nothing is labelled twice.")
