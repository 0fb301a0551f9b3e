"""One key per finding, and the part of the page that hears them.

A button of Streamlit's own would lose the second of two quick presses, since presses that wait together count as one,
and whatever is pressed while the connection is down. So the browser keeps a numbered list of what was pressed and on
which report, until the server says that it has it; the server works it off in that order, each number once. What is
shown is what the server has saved, changed by what waits in that list: a press is seen before the server has answered.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

import streamlit as st

from workbench.domain.findings import State
from workbench.ui.rating_script import SCRIPT
from workbench.ui.state import TAB
from workbench.ui.typed import PAUSE

RESERVED = "cr"  # Streamlit's own
LETTERS = tuple(letter for letter in "abcdefghijklmnopqrstuvwxyz" if letter not in RESERVED)
SPARE = (*LETTERS, *"1234567890")
HEARD = "rate.heard"
_SEEN = f"{TAB}heard"  # by tab
ACTS = {"s": "submit", "n": "none", "u": "come-back", "z": "undo-button"}  # with Alt, by the names of their buttons
DOUBLE = 300  # milliseconds; leaving a report again within them is one press that was made twice
MOMENT = 100  # milliseconds after which a field has handed in what was written in it
COMMENT = "Comment"  # the labels of the fields beside a report
WHY = "Why the submitted labels change"
CLOSE = "OK"
EARLY = "Not taken: what you pressed while a report was still being submitted."
UNSAVED = "Not saved yet: your last keys wait for the server. Keep this page open."

_LOOK = (
    "position: fixed; bottom: 1rem; left: 50%; transform: translateX(-50%); z-index: 1000000; padding: .5rem 1rem;"
    "border-radius: .4rem; background: #8a4b08; color: #fff; font: 600 .9rem/1.4 sans-serif; width: max-content;"
    "max-width: min(46rem, 92vw); display: flex; gap: 1rem; align-items: center; box-sizing: border-box"
)

_BUTTON = (
    "font: inherit; color: inherit; background: none; border: 1px solid; border-radius: .3rem; padding: .1rem .7rem;"
    "cursor: pointer"
)


@dataclass(frozen=True, slots=True)
class Press:
    """A finding's key, a click on one of its answers or on a sentence of the report, a comment, or one of ``ACTS``.

    By number within a browser's tab.
    """

    tab: str
    number: int
    on: str  # the report that was on the screen
    finding: str = ""
    state: str = ""  # of the finding: the answer that was clicked, or that its key was shown to lead to
    sentence: str = ""
    act: str = ""
    comment: str | None = None  # as it stands in its field; empty where it was taken out
    reason: str = ""  # with an act: why submitted labels change, as it stands in its field


_PARTS = ("finding", "state", "sentence", "act", "comment", "reason")


def keys_of(names: Sequence[str]) -> tuple[str, ...]:
    """Return a key for each name, the same ones at each call; empty for names beyond the keys there are.

    As many names as possible get a letter of their own: their first one where it is free, then the first of another
    word, then any.
    """
    return _keys_of(tuple(names))


@lru_cache(maxsize=8)
def _keys_of(names: tuple[str, ...]) -> tuple[str, ...]:
    owner: dict[str, int] = {}

    def place(at: int, tried: set[str]) -> bool:
        for letter in _wishes(names[at]):
            if letter not in owner and letter not in tried:
                owner[letter] = at
                return True
        for letter in _wishes(names[at]):
            if letter not in tried:
                tried.add(letter)
                if place(owner[letter], tried):
                    owner[letter] = at
                    return True
        return False

    for at in range(len(names)):
        place(at, set())
    found = {at: key for key, at in owner.items()}
    spare = iter(key for key in SPARE if key not in owner)
    return tuple(found.get(at) or next(spare, "") for at in range(len(names)))


def _wishes(name: str) -> list[str]:
    words = name.lower().split()
    first = [word[0] for word in words] + [letter for word in words for letter in word]
    return [letter for letter in dict.fromkeys(first) if letter in LETTERS]


@dataclass(frozen=True, slots=True)
class Saved:
    """What the browser needs to know of the report on the screen, all of it as saved last."""

    on: str = ""  # empty without a report
    keys: Mapping[str, str] = field(default_factory=dict)  # key to finding
    cycle: Sequence[State] = ()  # the answers in the order in which presses on a key go round
    states: Mapping[str, State] = field(default_factory=dict)
    undo: Sequence[tuple[str, State]] = ()  # the changes that can be taken back, with the answer before, oldest first
    last: str = ""  # the finding that was changed last
    desk: bool = True  # whether it is the page on which reports are rated


@dataclass(frozen=True, slots=True)
class Told:
    """What a person is told at the foot of the screen until they close it; by name, so that it comes up once."""

    name: str = ""
    text: str = ""


def listen(saved: Saved, heard: Callable[[], object], asked: str = "", told: Told = Told()) -> None:
    """Hear keys and clicks while a report is shown; ``heard`` is called when something was pressed.

    ``asked`` is the label of the field that the person is asked to fill in: it gets the cursor once.
    Without a report nothing new is heard, but the browser hands in what it still holds, and learns that it arrived.
    """
    _component()(
        data={
            "on": saved.on,
            "keys": dict(saved.keys),
            "acts": dict(ACTS) if saved.on else {},
            "cycle": list(saved.cycle),
            "none": State.NOT_MENTIONED.value,
            "saved": {"states": dict(saved.states), "undo": list(map(list, saved.undo)), "last": saved.last},
            "heard": dict(st.session_state.get(_SEEN, {})),
            "double": DOUBLE,
            "moment": MOMENT,
            "pause": PAUSE,
            "comment": COMMENT,
            "why": WHY,
            "unsaved": UNSAVED,
            "told": {"name": told.name, "text": told.text},
            "desk": saved.desk,
            "early": EARLY,
            "close": CLOSE,
            "look": _LOOK,
            "button": _BUTTON,
            "asked": asked,
        },
        key=HEARD,
        default={"presses": {}},
        on_presses_change=heard,
        height=0,
    )


def waiting() -> bool:
    """Return whether there are presses that were not taken yet."""
    return bool(_new())


def presses(saved: Callable[[str], int]) -> list[Press]:
    """Return the presses that were not taken yet, in their order; ``done`` takes them.

    ``saved`` says up to which number the presses of a tab were worked off before this session: after a restart of the
    server the browser sends again what it has got no answer to.
    """
    new = _new()
    if not new:
        return []
    tab = new[0].tab
    seen = st.session_state.setdefault(_SEEN, {})
    if tab not in seen:
        seen[tab] = saved(tab)
    return [press for press in new if press.number > seen[tab]]


def done(press: Press) -> None:
    """Take a press and all before it: the browser is told and forgets them."""
    st.session_state.setdefault(_SEEN, {})[press.tab] = press.number


def _new() -> list[Press]:
    sent = (st.session_state.get(HEARD) or {}).get("presses") or {}
    tab = str(sent.get("tab", ""))
    seen = st.session_state.get(_SEEN, {}).get(tab, 0)
    return [
        Press(tab, p["id"], p["on"], **{part: p[part] for part in _PARTS if part in p})
        for p in sent.get("list", [])
        if p["id"] > seen
    ]


def _component() -> Callable[..., object]:
    return st.components.v2.component("rating_keys", js=SCRIPT)
