"""The report on a rater's desk, and what the browser calls it."""

import json
from dataclasses import dataclass

import streamlit as st

from workbench.errors import NotFoundError, WorkbenchError
from workbench.ui import rating_work, state
from workbench.workflow.annotate import Act, Entry, Queue

_ORDER = "rate.order"


@dataclass(frozen=True, slots=True)
class Desk:
    """A rater at work on one report of a cohort.

    The browser knows a report by its place in the rater's own order of a round, and never by its id: by that a rater
    could tell a report that comes a second time, which nothing else on the screen may either.
    """

    here: state.Here
    cohort: str
    entry: Entry
    round_name: str = ""
    place: int = 0  # in the order, from 1
    act: Act | None = None  # what was pressed, where the browser numbered it

    @property
    def on(self) -> str:
        """Return the report at hand as the browser names it with what was pressed on it."""
        return json.dumps([self.here.person.name, self.cohort, self.round_name, self.place])

    @property
    def token(self) -> str:
        """Return the name of the report at hand, as the browser and widget keys know it."""
        return f"{self.here.person.name}.{self.cohort}.{self.round_name}.{self.place}"

    def key(self, of: str) -> str:
        """Return the key of a widget that belongs to this report alone."""
        return f"rate.{self.token}.{of}"

    def without_id(self, error: WorkbenchError) -> WorkbenchError:
        """Return a refusal that calls the report by its place."""
        return type(error)(str(error).replace(f"Report {self.entry.report_id}", f"Report {self.place}"))


def desk_of(here: state.Here, cohort: str, queue: Queue, entry: Entry) -> Desk:
    """Return the desk with a report of a queue on it."""
    _know(here, cohort, queue)
    return Desk(here, cohort, entry, queue.round_name, queue.order.index(entry) + 1)


def desk_named(here: state.Here, on: str, act: Act) -> Desk:
    """Return the desk as it was when something was pressed on the report that the browser names ``on``.

    Raises:
        NotFoundError: it is of a round that is not the cohort's any more.
    """
    _, cohort, round_name, place = json.loads(on)
    known = st.session_state.get(_ORDER)
    if known is None or known[:3] != (here.person.name, cohort, round_name):
        known = _know(here, cohort, rating_work.queue(here.study, here.person, cohort))
    _, _, named, order = known
    if named != round_name or not 0 < place <= len(order):
        raise NotFoundError("It was meant for a round that is over; open the page Annotate anew.")
    return Desk(here, cohort, order[place - 1], round_name, place, act)


def _know(here: state.Here, cohort: str, queue: Queue) -> tuple[str, str, str, tuple[Entry, ...]]:
    """Keep a queue's order in the session: reading it anew at each key would take longer than all the rest."""
    known = (here.person.name, cohort, queue.round_name, queue.order)
    st.session_state[_ORDER] = known
    return known
