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
from workbench.ui.state import TAB

RESERVED = "cr"  # Streamlit's own
LETTERS = tuple(letter for letter in "abcdefghijklmnopqrstuvwxyz" if letter not in RESERVED)
SPARE = (*LETTERS, *"1234567890")
HEARD = "rate.heard"
_SEEN = f"{TAB}heard"  # by tab
ACTS = {"s": "submit", "n": "none", "u": "come-back", "z": "undo-button"}  # with Alt, by the names of their buttons
DOUBLE = 300  # milliseconds; leaving a report again within them is one press that was made twice
MOMENT = 100  # milliseconds after which a field has handed in what was written in it
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
_SCRIPT = """
export default function ({ data, parentElement, setStateValue }) {
  const fresh = () => ({ tab: Date.now().toString(36) + Math.random().toString(36).slice(2), last: 0, presses: [] });
  const box = (window.wbRating ??= fresh());
  const heard = data.heard[box.tab] ?? 0;
  box.presses = box.presses.filter((p) => p.id > heard);
  const on = () => document.querySelector(".wb-on")?.dataset.on ?? data.on;
  // A new session of the server cannot tell yet which of the presses that wait are in what it has saved.
  const unsure = !(box.tab in data.heard) && box.presses.length && box.saved?.on === data.on;
  if (!unsure) box.saved = { on: data.on, ...data.saved };
  // What the server will have saved once it has worked off what waits; as ``rating_state`` does it.
  const shown = () => {
    const saved = box.saved.on === on() ? box.saved : { states: {}, undo: [], last: "" };
    const states = { ...saved.states };
    const undo = [...saved.undo];
    let last = saved.last;
    const was = (finding) => states[finding] ?? data.none;
    for (const press of box.presses.filter((p) => p.on === on())) {
      if (press.finding) {
        if (press.state !== was(press.finding)) undo.push([press.finding, was(press.finding)]);
        states[press.finding] = press.state;
        last = press.finding;
      } else if (press.sentence && was(last) !== data.none) {
        undo.push([last, was(last)]);
      } else if (press.act === "undo-button" && undo.length) {
        const [finding, before] = undo.pop();
        states[finding] = before;
        last = finding;
      }
    }
    return states;
  };
  // A key is sent with the answer that it shows: a stale tab means what stands in it, not what stands on the server.
  const after = (finding) => {
    const now = shown()[finding] ?? data.none;
    return data.cycle[(data.cycle.indexOf(now) + 1) % data.cycle.length];
  };
  box.redraw = () => document.querySelector(".wb-board")?.draw(shown());
  // From leaving a report until the server has answered, a key can be meant neither for it nor for the next one.
  if (box.leaving && heard >= box.leaving.id) box.leaving = null;
  const leaving = () => box.leaving?.on === on();
  const early = () => {
    box.early = true;
    lost();
  };
  const hand = () => setStateValue("presses", { tab: box.tab, list: box.presses });
  const send = (what) => {
    box.last += 1;
    box.left = 0;
    box.early = false;
    box.presses = [...box.presses, { id: box.last, on: on(), ...what }];
    hand();
    tell();
    box.redraw();
  };
  const act = (name) => {
    const leaves = name !== "undo-button";
    // The second half of a double press, with nothing in between; the page may already show the next report.
    if (leaves && Date.now() - (box.left ?? 0) < data.double) return;
    send({ act: name });
    if (!leaves) return;
    box.left = Date.now();
    box.leaving = { id: box.last, on: on() };
  };
  const note = (id, text) => {
    const there = document.getElementById(id);
    if (text && there?.title === text) return null;
    there?.remove();
    if (!text) return null;
    const made = Object.assign(document.createElement("div"), { id, textContent: text, title: text });
    made.setAttribute("role", "status");
    made.style.cssText = data.look;
    document.body.append(made);
    return made;
  };
  const lost = () => {
    const close = Object.assign(document.createElement("button"), { type: "button", textContent: data.close });
    close.style.cssText = data.button;
    close.onclick = () => {
      box.early = false;
      box.lost = "";
      lost();
    };
    const text = box.lost || (box.early ? data.early : "");
    note("wb-lost", document.getElementById("wb-unsaved") ? "" : text)?.append(close);
  };
  const tell = () => {
    clearTimeout(box.timer);
    document.body.toggleAttribute("data-wb-saving", box.presses.length > 0);
    if (box.presses.length) {
      box.timer = setTimeout(() => {
        note("wb-unsaved", data.unsaved);
        lost();
      }, 1500);
    } else note("wb-unsaved", "");
    lost();
  };
  const writes = (e) => e && (e.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(e.tagName));
  const letter = (e) => (/^[a-z0-9]$/i.test(e.key) ? e.key : e.code.replace(/^(Key|Digit)/, "")).toLowerCase();
  const hold = (e) => {
    e.preventDefault();
    e.stopImmediatePropagation();
  };
  const onKey = (e) => {
    const focused = document.activeElement;
    const closed = focused?.getAttribute("role") === "combobox" && focused.getAttribute("aria-expanded") !== "true";
    const writing = writes(focused) && !closed;
    if (e.altKey && !e.ctrlKey && !e.metaKey && e.key !== "Alt") {
      // What is being written is handed in before a shortcut such as Alt+S acts on it.
      if (writing) focused.blur();
      const name = data.acts[letter(e)];
      if (!name || !on()) return;  // no report is on the screen: the shortcut is another button's
      hold(e);
      if (e.repeat || leaving()) return;
      // The field hands in what was written a moment after it lost the focus; the act must not overtake it.
      if (writing) setTimeout(act, data.moment, name);
      else act(name);
      return;
    }
    if (writing || e.ctrlKey || e.altKey || e.metaKey || e.repeat) return;
    if (e.key === "?") {
      document.querySelector(".st-key-rate_help button")?.click();
      return;
    }
    const finding = data.keys[letter(e)];
    if (!finding) return;
    if (closed) {
      // A select box keeps the focus after one has chosen; a letter is not meant for it then.
      hold(e);
      focused.blur();
    }
    if (leaving()) early();
    else send({ finding, state: after(finding) });
  };
  const onClick = (e) => {
    const button = e.target.closest?.("button");
    const name = button && Object.values(data.acts).find((n) => button.closest(`.st-key-rate-${n}`));
    if (name) {
      hold(e);
      if (!leaving()) act(name);
      return;
    }
    const radio = e.target.closest?.(".wb-board [role=radio]");
    if (radio) {
      const { finding } = radio.parentElement.dataset;
      const { state } = radio.dataset;
      if (leaving()) early();
      else if (state !== (shown()[finding] ?? data.none)) send({ finding, state });
      return;
    }
    const sentence = on() && e.target.closest?.(".wb-sentence");
    if (!sentence || String(window.getSelection())) return;
    if (leaving()) early();
    else send({ sentence: sentence.innerText.trim() });
  };
  // A click takes the focus from a field just before it is heard. What was written there is handed in a moment later
  // and must not come after the report, or the page, was left: so the click waits that long.
  const onBlur = (e) => {
    if (writes(e.target)) box.written = Date.now();
  };
  const onPointer = (e) => {
    const written = Date.now() - (box.written ?? 0) < 2 * data.moment;
    const aim = e.target.closest?.("button, a");
    if (!aim || !written || !e.isTrusted || e.ctrlKey || e.metaKey || e.shiftKey) return onClick(e);
    hold(e);
    setTimeout(() => aim.click(), data.moment);
  };
  if (data.asked && box.asked !== on() + data.asked) {
    document.querySelector(`[data-testid=stMain] input[aria-label="${data.asked}"]`)?.focus();
  }
  box.asked = data.asked && on() + data.asked;
  const onLeave = (e) => box.presses.length && e.preventDefault();
  box.forget?.();
  const heeded = [["beforeunload", onLeave]];
  if (data.desk) heeded.push(["keydown", onKey, true], ["focusout", onBlur, true], ["click", onPointer, true]);
  for (const each of heeded) window.addEventListener(...each);
  const forget = () => heeded.forEach((each) => window.removeEventListener(...each));
  box.forget = forget;
  if (data.told.name !== box.told) {
    box.told = data.told.name;
    box.lost = data.told.text;
  }
  tell();
  box.redraw();
  // Another page, or this one drawn anew: what still waits is handed in here.
  if (box.place !== parentElement && box.presses.length) setTimeout(() => box.presses.length && hand(), 0);
  box.place = parentElement;
  return forget;
}
"""


@dataclass(frozen=True, slots=True)
class Press:
    """A finding's key, a click on one of its answers or on a sentence of the report, or one of ``ACTS``.

    By number within a browser's tab.
    """

    tab: str
    number: int
    on: str  # the report that was on the screen
    finding: str = ""
    state: str = ""  # of the finding: the answer that was clicked, or that its key was shown to lead to
    sentence: str = ""
    act: str = ""


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
        Press(tab, p["id"], p["on"], **{what: p[what] for what in ("finding", "state", "sentence", "act") if what in p})
        for p in sent.get("list", [])
        if p["id"] > seen
    ]


def _component() -> Callable[..., object]:
    return st.components.v2.component("rating_keys", js=_SCRIPT)
