"""What a browser's tab hands in of a rater's keys and clicks: worked off in its order, on whatever page it arrives.

Each is answered, also where it can no longer be saved; then the person reads how many were not, and why, wherever in
the app they are by then.
"""

import json
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import streamlit as st

from workbench.domain.actors import Actor, Role
from workbench.domain.findings import State
from workbench.errors import WorkbenchError
from workbench.ui import rating_state, shortcuts, state, widgets
from workbench.ui.rating_desk import Desk, desk_named
from workbench.ui.rating_state import REFUSED
from workbench.ui.shortcuts import Press, Saved, Told
from workbench.ui.undisturbed import undisturbed
from workbench.workflow import annotate
from workbench.workflow.annotate import Act

_LOST = f"{state.TAB}lost"
_STYLE = "<style>.st-key-rate_ears {position: absolute; height: 0; overflow: hidden}</style>"


@dataclass(frozen=True, slots=True)
class Lost:
    """Presses that were not saved, or with 0 of them a comment, and why."""

    name: str
    reader: str  # who is told, empty for nobody signed in; whoever else is here by then is not told the reason
    owner: str
    number: int
    why: str
    shown: bool = False  # the page itself shows the refusal of the first; the rest was not taken because of it

    def told(self, reader: str) -> str:
        """Return it as a sentence for whoever is at the tab, empty where nothing is left to be told."""
        if reader != self.reader:
            return f"Not saved: the last keys or clicks of {self.owner}."
        rest = self.number - self.shown
        if self.shown:
            return f"Not saved: {_counted('your last', rest)}, since the one before was refused." if rest > 0 else ""
        if not self.number:
            return f"Not saved: your comment. {self.why}"
        what = _counted("your last", rest) if self.owner == reader else f"{_counted('the last', rest)} of {self.owner}"
        return f"Not saved: {what}. {self.why}"

    def with_those(self, before: Sequence["Lost"]) -> "Lost":
        """Return it together with what was lost for the same reason just before."""
        same = [each.number for each in before if each == replace(self, name=each.name, number=each.number)]
        return replace(self, number=self.number + sum(same))


def listen(here: state.Here | None, saved: Saved, asked: str = "", *, refusal_shown: bool = False) -> None:
    """Hear keys and clicks on the report that is on the screen, and answer those that came before.

    ``asked`` is as in ``shortcuts.listen``; ``refusal_shown`` says that the page shows the sentence of the refusal.
    """
    with st.container(key="rate_ears"):
        st.html(_STYLE)
        shortcuts.listen(saved, lambda: hear(here), asked, _told(here, shown=refusal_shown))


def elsewhere(here: state.Here | None) -> None:
    """Take in, on a page without a report, what still waits in the browser from before; None where nobody is there."""
    hear(here)
    listen(here, Saved(desk=False))
    if shortcuts.waiting():
        st.rerun()  # a new session knows what the browser has kept only from here on


@undisturbed
def hear(here: state.Here | None) -> bool:
    """Work off what was pressed since the last time, in its order, each on the report that was on the screen then.

    A refusal ends it, since what was pressed later may rest on what was refused. Return whether nothing was refused.
    """
    actor = rating_state.acting(here) if here else None
    pressed = shortcuts.presses(lambda tab: _worked_off(here, actor, tab))
    if not pressed:
        return True
    st.session_state.pop(REFUSED, None)
    before = st.session_state.pop(_LOST, [])
    at_hand = here.person.name if here and actor and actor.name == here.person.name else ""
    own = [press for press in pressed if _person(press) == at_hand]
    lost = _strangers([press for press in pressed if _person(press) != at_hand], actor)
    for place, press in enumerate(own):
        if here is not None and not _take(here, press):
            rest = own[place:]
            number = len(rest) if any(each.comment is None for each in rest) else 0
            lost.append(Lost(_name(own), at_hand, at_hand, number, _reason(here)))
            break
        shortcuts.done(press)
    shortcuts.done(pressed[-1])
    if lost:
        st.session_state[_LOST] = [each.with_those(before) for each in lost]
    return REFUSED not in st.session_state


def then(here: state.Here, act: Callable[[], None]) -> Callable[[], None]:
    """Return an act for a button: it comes after what was pressed before, and not at all when that was refused."""

    def both() -> None:
        if hear(here):
            act()

    return both


def comment(desk: Desk) -> None:
    """Save the comment as it stands in its field, or tell that it was not."""
    text = st.session_state.get(desk.key("comment"))
    # The field of a report that was left may be heard of once more, without what it held.
    if text is not None and not rating_state.comment(desk, text):
        person = desk.here.person.name
        st.session_state[_LOST] = [Lost(f"comment.{time.time_ns()}", person, person, 0, _reason(desk.here))]


def _worked_off(here: state.Here | None, actor: Actor | None, tab: str) -> int:
    if here is None or actor is None or Role.RATER not in actor.roles:
        return 0
    return annotate.heard(here.study, actor, tab)


def _person(press: Press) -> str:
    return str(json.loads(press.on)[0])


def _take(here: state.Here, press: Press) -> bool:
    """Do what was pressed and return whether it was not refused."""
    try:
        desk = desk_named(here, press.on, Act(press.tab, press.number))
        # What was written is kept where it belongs; the person may have gone on meanwhile.
        elsewhere = desk.entry != st.session_state.get(rating_state.current_key(here, desk.cohort))
        if elsewhere and press.comment is None:
            rating_state.go_to(here, desk.cohort, desk.entry)
        _do(desk, press)
    except WorkbenchError as error:
        st.session_state[REFUSED] = error
    return REFUSED not in st.session_state


def _do(desk: Desk, press: Press) -> None:
    if press.finding:
        rating_state.mark(desk, press.finding, State(press.state))
    elif press.sentence:
        rating_state.attach(desk, " ".join(press.sentence.split()))
    elif press.comment is not None:
        rating_state.comment(desk, press.comment)
    elif press.act == "undo-button":
        rating_state.undo(desk)
    elif press.act == "come-back":
        rating_state.come_back(desk)
    elif press.act:
        rating_state.submit(desk, none_of_these=press.act == "none", reason=press.reason)


def _reason(here: state.Here) -> str:
    return widgets.named(str(st.session_state[REFUSED]), here.study.label_set)


def _strangers(pressed: Sequence[Press], actor: Actor | None) -> list[Lost]:
    """Return what was pressed as somebody who is not at this tab any more: it is saved in nobody else's name."""
    reader = actor.name if actor else ""
    why = f"{reader} is here now." if reader else "Nobody is signed in here any more."
    owners = list(map(_person, pressed))
    return [Lost(_name(pressed), reader, owner, owners.count(owner), why) for owner in dict.fromkeys(owners)]


def _name(pressed: Sequence[Press]) -> str:
    return f"{pressed[-1].tab}.{pressed[-1].number}"


def _counted(which: str, number: int) -> str:
    return f"{which} key or click" if number == 1 else f"{which} {number} keys or clicks"


def _told(here: state.Here | None, *, shown: bool) -> Told:
    lost: list[Lost] = st.session_state.get(_LOST, [])
    if shown and lost:  # from now on, also when the page shows it no more
        lost = [*lost[:-1], replace(lost[-1], shown=True)]
        st.session_state[_LOST] = lost
    reader = here.person.name if here else ""
    return Told(" ".join(each.name for each in lost), " ".join(filter(None, (each.told(reader) for each in lost))))
