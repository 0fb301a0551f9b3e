"""One key per finding, and the part of the page that hears them.

A button of Streamlit's own would lose the second of two quick presses: presses that wait together count as one. So the
browser keeps a numbered list of presses and the server works off what it has not seen yet.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import streamlit as st

RESERVED = "cr"  # Streamlit's own
LETTERS = tuple(letter for letter in "abcdefghijklmnopqrstuvwxyz" if letter not in RESERVED)
SPARE = (*LETTERS, *"1234567890")
HEARD = "rate.heard"
_SEEN = "rate.heard.last"

_SCRIPT = """
export default function ({ data, setStateValue }) {
  const box = (window.wbRating ??= { last: 0, presses: [] });
  const send = (what) => {
    box.last = Math.max(box.last + 1, Date.now());
    box.presses = [...box.presses, { id: box.last, on: data.on, ...what }].slice(-60);
    setStateValue("presses", box.presses);
  };
  const writes = (e) => e && (e.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(e.tagName));
  const letter = (e) => (/^[a-z0-9]$/i.test(e.key) ? e.key : e.code.replace(/^(Key|Digit)/, "")).toLowerCase();
  const onKey = (e) => {
    const focused = document.activeElement;
    const closed = focused?.getAttribute("role") === "combobox" && focused.getAttribute("aria-expanded") !== "true";
    if (writes(focused) && !closed) {
      // What is being written is handed in before a shortcut such as Alt+S acts on it.
      if (e.altKey && !e.ctrlKey && e.key !== "Alt") focused.blur();
      return;
    }
    if (e.ctrlKey || e.altKey || e.metaKey || e.repeat) return;
    if (e.key === "?") {
      document.querySelector(".st-key-rate_help button")?.click();
      return;
    }
    const finding = data.keys[letter(e)];
    if (!finding) return;
    if (closed) {
      // A select box keeps the focus after one has chosen; a letter is not meant for it then.
      e.preventDefault();
      e.stopPropagation();
      focused.blur();
    }
    send({ finding });
  };
  const onClick = (e) => {
    const sentence = e.target.closest?.(".wb-sentence");
    if (sentence && !String(window.getSelection())) send({ sentence: sentence.innerText.trim() });
  };
  box.forget?.();
  document.addEventListener("keydown", onKey, true);
  document.addEventListener("click", onClick);
  const forget = () => {
    document.removeEventListener("keydown", onKey, true);
    document.removeEventListener("click", onClick);
  };
  box.forget = forget;
  return forget;
}
"""


@dataclass(frozen=True, slots=True)
class Press:
    """A finding's key, or a click on a sentence of the report."""

    finding: str = ""
    sentence: str = ""


def keys_of(names: Sequence[str]) -> tuple[str, ...]:
    """Return a key for each name, the same ones at each call; empty for names beyond the keys there are.

    As many names as possible get a letter of their own: their first one where it is free, then the first of another
    word, then any.
    """
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


def listen(on: str, keys: Mapping[str, str], heard: Callable[..., None], *args: object) -> None:
    """Hear the keys (key to finding) while the report ``on`` is shown; ``heard`` is called with ``args``."""
    _component()(
        data={"on": on, "keys": dict(keys)},
        key=HEARD,
        default={"presses": []},
        on_presses_change=lambda: heard(*args),
        height=0,
    )


def presses(on: str) -> list[Press]:
    """Return the presses on the report ``on`` that were not taken yet, in their order, and take them."""
    kept = st.session_state.get(HEARD) or {}
    last = st.session_state.get(_SEEN, 0)
    new = [p for p in kept.get("presses") or [] if p["id"] > last]
    if new:
        st.session_state[_SEEN] = new[-1]["id"]
    return [Press(p.get("finding", ""), p.get("sentence", "")) for p in new if p["on"] == on]


def _component() -> Callable[..., object]:
    return st.components.v2.component("rating_keys", js=_SCRIPT)
