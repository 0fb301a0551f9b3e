"""The app's shell: ``streamlit run workbench/ui/app.py`` on the study that WORKBENCH_STUDY names."""

import html

import streamlit as st

from workbench.domain.actors import Actor, Role
from workbench.errors import RightsError, WorkbenchError
from workbench.ui import data, rating_hearing, sign_in, state, widgets
from workbench.ui.reconnect import redraw_on_reconnect
from workbench.workflow import blindness
from workbench.workflow.roster import told
from workbench.workflow.settings import SignIn
from workbench.workflow.study import Study

# In the order of the flow: file, title, icon.
FLOW = (
    ("reports", "Reports", "description"),
    ("cohorts", "Cohorts", "groups"),
    ("annotate", "Annotate", "edit_note"),
    ("reference", "Reference", "how_to_vote"),
    ("adjudicate", "Adjudicate", "gavel"),
    ("run", "Run", "play_circle"),
    ("errors", "Errors", "troubleshoot"),
    ("revise", "Revise", "edit_document"),
    ("accept", "Accept", "verified"),
    ("history", "History", "timeline"),
    ("leaderboard", "Leaderboard", "leaderboard"),
    ("review", "Review", "rate_review"),
)


# Where whoever rates finds nothing but a refusal while a round is open.
SIGHTED = ("reference", "adjudicate", "run", "errors", "revise", "accept", "history", "leaderboard")


def _only_rates_blind(study: Study, actor: Actor) -> bool:
    """Return whether a person signed in does nothing but rate, in a study with an open round.

    In a study where one picks a name all pages stay in sight: there one looks around.
    """
    picks = study.settings.sign_in is SignIn.PICK
    return not picks and actor.roles == {Role.RATER} and bool(blindness.blinding_round(study, actor))


def _shut(study: Study, actor: Actor) -> tuple[str, ...]:
    """Return the pages that have nothing for a person at this time: they are left out of the navigation."""
    if study.settings.sign_in is SignIn.PICK or actor.roles != {Role.RATER}:
        return ()
    return (*SIGHTED * _only_rates_blind(study, actor), *("review",) * (not blindness.reviews_ever(study, actor)))


def _sidebar(here: state.Here) -> None:
    views, cards = data.cohort_views(here), data.reference_cards(here)
    with st.sidebar:
        st.markdown(f"**{widgets.plain(here.study.settings.title)}**")
        if here.renew:
            sign_in.sidebar(here.study, here.person)
        else:
            st.selectbox(
                "Acting person",
                list(here.study.roster.people),
                key=state.ACTOR,
                help="A demo lets you be anybody. Rights follow from the person's roles.",
                persist_state="session",
            )
            st.caption(told(here.person.roles))
        if cards:
            st.selectbox(
                "Reference in use",
                [card.name for card in cards],
                key=state.REFERENCE,
                help="Runs, errors and the history are scored against it, on its cohort.",
                persist_state="session",
            )
        counts = [(data.report_count(here), "report"), (len(views), "cohort")]
        if not data.blinding_round(here):  # whoever rates is not told, and must not be told that there is none
            counts.append((len(cards), "frozen reference"))
        st.caption(" · ".join(f"{n:,} {noun}{'' if n == 1 else 's'}" for n, noun in counts))


def _defaults(here: state.Here) -> None:
    """Choose the first time what a person would: the lead, and the first reference that is not locked away."""
    if not here.renew and st.session_state.get(state.ACTOR) != here.person.name:
        st.session_state[state.ACTOR] = here.person.name
    cards = data.reference_cards(here)
    if cards and st.session_state.get(state.REFERENCE) not in [card.name for card in cards]:
        locked = {view.cohort.name for view in data.cohort_views(here) if view.locked}
        st.session_state[state.REFERENCE] = next((c.name for c in cards if c.cohort not in locked), cards[0].name)


def _who(study: Study) -> tuple[Actor | None, str]:
    """Return who is at the screen, None where nobody is signed in, and why the one who is may not come in."""
    if study.settings.sign_in is SignIn.PICK:
        sign_in.refuse_strangers()
        return state.picked(study), ""
    try:
        return sign_in.signed_in(study), ""
    except RightsError as error:
        return None, str(error)


def _come_in(study: Study, actor: Actor, refused: tuple[str, ...]) -> None:
    picks = study.settings.sign_in is SignIn.PICK
    here = state.Here(study, actor, refused, None if picks else lambda: sign_in.signed_in(study))
    state.enter(here)
    _defaults(here)
    _sidebar(here)


def _start() -> None:
    """Open the page that somebody most likely came for: whoever only rates came to rate."""
    here = state.here()
    rates = here.renew is not None and here.person.roles == {Role.RATER}
    reviews = rates and not data.blinding_round(here) and blindness.reviewing(here.study, here.actor)
    st.switch_page(state.page("review" if reviews else "annotate" if rates else "reports"))


def main() -> None:
    """Draw the shell and the page that was chosen."""
    st.set_page_config(page_title="Prompt workbench", page_icon=":material/radiology:", layout="wide")
    st.html(widgets.STYLE)
    redraw_on_reconnect()
    # The default page has no address of its own; were it Reports, a bookmark of /reports would be answered "not found".
    start = st.Page(_start, title="Start", default=True, visibility="hidden")
    try:
        study, unread = state.open_study()
        actor, why = _who(study)
        manages = actor is not None and bool(actor.roles & {Role.LEAD, Role.ADMIN})
        shut = _shut(study, actor) if actor is not None else ()
        pages = [
            st.Page(
                state.page(name),
                title=title,
                icon=f":material/{icon}:",
                url_path=name,
                visibility="hidden" if name in shut else "visible",
            )
            for name, title, icon in FLOW
        ]
        pages.append(
            st.Page(
                state.page("people"),
                title="People",
                icon=":material/badge:",
                url_path="people",
                # Whoever else asks for its address is told why not, which a page that is not there could not do.
                visibility="visible" if manages else "hidden",
            )
        )
        # Hidden, not left out: the page asked for stays in the address while one signs in.
        page = st.navigation([start, *pages], expanded=True, position="sidebar" if actor else "hidden")
        if actor is None:
            state.leave()
            rating_hearing.elsewhere(None)
            sign_in.page(study, why)
            return
        _come_in(study, actor, unread)
    except WorkbenchError as error:
        st.header("The study cannot be opened", anchor=False)
        st.error(widgets.plain(str(error)))
        return
    if study.settings.simulated:
        st.html(f'<div class="wb-banner">{html.escape(study.settings.simulated)}</div>')
    if said := state.said():
        text, refused = said
        show, icon = (st.error, "error") if refused else (st.success, "check")
        show(widgets.plain(text), icon=f":material/{icon}:")
    if page.url_path != "annotate":  # which hears by itself
        rating_hearing.elsewhere(state.here())
    with widgets.explained():
        page.run()


main()
