"""The app's shell: ``streamlit run workbench/ui/app.py`` on the study that WORKBENCH_STUDY names."""

import html

import streamlit as st

from workbench.errors import WorkbenchError
from workbench.ui import data, state, widgets

# In the order of the flow: file, title, icon.
FLOW = (
    ("reports", "Reports", "description"),
    ("cohorts", "Cohorts", "groups"),
    ("annotate", "Annotate", "edit_note"),
    ("reference", "Reference", "how_to_vote"),
    ("run", "Run", "play_circle"),
    ("errors", "Errors", "troubleshoot"),
    ("revise", "Revise", "edit_document"),
    ("accept", "Accept", "verified"),
    ("history", "History", "timeline"),
)


def _sidebar(here: state.Here) -> None:
    views, cards = data.cohort_views(here), data.reference_cards(here)
    people = list(here.study.settings.people)
    with st.sidebar:
        st.markdown(f"**{widgets.plain(here.study.settings.title)}**")
        if people:
            st.selectbox(
                "Acting person",
                people,
                key=state.ACTOR,
                help="Rights follow from the person's roles in data/study.toml.",
                persist_state="session",
            )
            st.caption(", ".join(sorted(here.actor.roles)))
        if cards:
            st.selectbox(
                "Reference in use",
                [card.name for card in cards],
                key=state.REFERENCE,
                help="Runs, errors and the history are scored against it, on its cohort.",
                persist_state="session",
            )
        counts = (
            (data.report_count(here), "report"),
            (len(views), "cohort"),
            (len(cards), "frozen reference"),
        )
        st.caption(" · ".join(f"{n:,} {noun}{'' if n == 1 else 's'}" for n, noun in counts))


def _defaults(here: state.Here) -> None:
    """Choose the first time what a person would: the lead, and the first reference that is not locked away."""
    if st.session_state.get(state.ACTOR) != here.actor.name:
        st.session_state[state.ACTOR] = here.actor.name
    cards = data.reference_cards(here)
    if cards and st.session_state.get(state.REFERENCE) not in [card.name for card in cards]:
        locked = {view.cohort.name for view in data.cohort_views(here) if view.locked}
        st.session_state[state.REFERENCE] = next((c.name for c in cards if c.cohort not in locked), cards[0].name)


def _start() -> None:
    st.switch_page(state.page("reports"))


def main() -> None:
    """Draw the shell and the page that was chosen."""
    st.set_page_config(page_title="Prompt workbench", page_icon=":material/radiology:", layout="wide")
    st.html(widgets.STYLE)
    pages = [
        st.Page(state.page(name), title=title, icon=f":material/{icon}:", url_path=name) for name, title, icon in FLOW
    ]
    # The default page has no address of its own; were it Reports, a bookmark of /reports would be answered "not found".
    start = st.Page(_start, title="Start", default=True, visibility="hidden")
    page = st.navigation([start, *pages], expanded=True)
    try:
        here = state.open_here(st.session_state.get(state.ACTOR))
        _defaults(here)
        _sidebar(here)
    except WorkbenchError as error:
        st.header("The study cannot be opened", anchor=False)
        st.error(widgets.plain(str(error)))
        return
    if here.study.settings.simulated:
        st.html(f'<div class="wb-banner">{html.escape(here.study.settings.simulated)}</div>')
    if said := state.said():
        text, refused = said
        show, icon = (st.error, "error") if refused else (st.success, "check")
        show(widgets.plain(text), icon=f":material/{icon}:")
    with widgets.explained():
        page.run()


main()
