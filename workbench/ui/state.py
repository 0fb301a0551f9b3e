"""Who is at the screen, in which study, and what one page hands to the next."""

import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import streamlit as st

from workbench.domain.actors import Actor, Role
from workbench.storage.database import Database
from workbench.workflow.prompts import take_in_files
from workbench.workflow.study import ACTOR_VARIABLE, Study, find_study, read_study

_HERE = "wb.here"
INTENT = "wb.intent"
_SAID = "wb.said"
TAB = "tab."  # begins the names of what belongs to the browser's tab and not to whoever is at it
ACTOR = "wb.actor"
_PICKED = "as"
REFERENCE = "wb.reference"

Token = tuple[int, ...]

PAGES = Path(__file__).resolve().parents[2] / "pages"


def page(name: str) -> Path:
    """Return a page's file, which is how Streamlit wants it named."""
    return PAGES / f"{name}.py"


@dataclass(frozen=True, slots=True)
class Here:
    """The open study and the acting person of one script run."""

    study: Study
    person: Actor
    refused: tuple[str, ...] = ()  # what is wrong with prompt files that could not be read
    renew: Callable[[], Actor | None] | None = None  # who is signed in now; None where one picks a name

    @property
    def actor(self) -> Actor:
        """Return who acts, with the roles they have at this moment: a part of a page may be drawn long after the rest.

        Whoever is signed out meanwhile is shown the door.
        """
        if self.renew is None:
            return self.person
        now = self.renew()
        if now is None or now.name != self.person.name:
            st.rerun()
        return now

    @property
    def token(self) -> Token:
        """Return something that differs after every change of the study's data: the stamps of its files.

        Each commit grows the write-ahead log or moves it into the database. An empty log says nothing: it comes and
        goes with connections.
        """
        path = self.study.database.path
        log = _stamp(path.with_name(path.name + "-wal"))
        return (*_stamp(path), *(log if log[1] else (0, 0)))

    def may(self, *roles: Role) -> bool:
        """Return whether the person has one of the roles. For what a page offers; the workflow does the refusing."""
        return bool(self.actor.roles.intersection(roles))


def _stamp(path: Path) -> tuple[int, int]:
    try:
        stat = path.stat()
    except FileNotFoundError:
        return (0, 0)
    return (stat.st_mtime_ns, stat.st_size)


@dataclass(frozen=True, slots=True)
class Intent:
    """What one page asks the next to open with.

    ``field`` says what the phrase is to become on the page Revise: one of the finding's ``synonyms`` or ``exclusions``,
    or a worked example (``examples``), which quotes the report.
    """

    page: str
    finding: str = ""
    phrase: str = ""
    revision: int | None = None
    report: str = ""
    field: str = "synonyms"


def open_study() -> tuple[Study, tuple[str, ...]]:
    """Open the study for this script run; with what is wrong with prompt files that could not be read."""
    folder = find_study()
    study, refused = _opened(str(folder), files(folder))
    # A database object of this script run's own: settings and label set alone are kept between runs.
    return replace(study, database=Database(study.database.path)), refused


def enter(here: Here) -> None:
    """Let the pages of this script run see study and person; another person finds nothing that was left before."""
    if here.renew is None and st.query_params.get(_PICKED) != here.person.name:
        st.query_params[_PICKED] = here.person.name
    before = opened()
    if before and before.person.name != here.person.name and here.renew:
        leave()
    st.session_state[_HERE] = here


def leave() -> None:
    """Forget everything of this session but what its tab of the browser was answered."""
    kept = {key: value for key, value in st.session_state.items() if str(key).startswith(TAB)}
    st.session_state.clear()
    st.session_state.update(kept)


def picked(study: Study) -> Actor:
    """Return the person picked at the side; before that whom WORKBENCH_AS names, else the lead."""
    person = st.session_state.get(ACTOR) or st.query_params.get(_PICKED)  # the address outlives a reload
    known = person if person in study.roster.people else None  # a name may have gone meanwhile
    return study.actor(known or default_person(study))


def files(folder: Path) -> tuple[tuple[str, int, int], ...]:
    """Return what the files that people edit look like from outside: settings, label sets, prompts."""
    files = [*(folder / "data").glob("*.toml"), *(folder / "data").glob("*.yaml"), *folder.glob("prompts/*/*.md")]
    return tuple((path.name, *_stamp(path)) for path in sorted(files))


@st.cache_resource(max_entries=8, show_spinner="Opening the study")
def _opened(folder: str, files: object) -> tuple[Study, tuple[str, ...]]:  # noqa: ARG001 - files are the key
    study = read_study(Path(folder))
    return study, take_in_files(study).refused


def default_person(study: Study) -> str | None:
    """Return whom WORKBENCH_AS names, else the first lead, else the first person, None when there is nobody."""
    people = study.roster.people
    named = os.environ.get(ACTOR_VARIABLE)
    if named in people:
        return named
    leads = [name for name, roles in people.items() if Role.LEAD in roles]
    return next(iter([*leads, *people]), None)


def here() -> Here:
    """Return the study and person of this script run."""
    found = opened()
    assert found is not None  # noqa: S101 - pages are drawn after open_here
    return found


def opened() -> Here | None:
    """Return the study and person of this session, None before a study could be opened."""
    found = st.session_state.get(_HERE)
    return found if isinstance(found, Here) else None


def ask(intent: Intent) -> None:
    """Leave a wish for the next page."""
    st.session_state[INTENT] = intent


def take_intent(page: str) -> Intent | None:
    """Return the wish left for this page, once."""
    intent = st.session_state.get(INTENT)
    if isinstance(intent, Intent) and intent.page == page:
        del st.session_state[INTENT]
        return intent
    return None


def say(text: str, *, refused: bool = False) -> None:
    """Leave a sentence that is shown after the next rerun, as done or as refused."""
    st.session_state[_SAID] = (text, refused)


def said() -> tuple[str, bool] | None:
    """Return the sentence left by ``say`` and whether it is a refusal, once; None when there is none."""
    found: tuple[str, bool] | None = st.session_state.pop(_SAID, None)
    return found
