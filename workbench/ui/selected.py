"""The part of a page that hears which words of a report somebody has selected with the mouse or the keyboard."""

from collections.abc import Callable

import streamlit as st

LONGEST = 400  # characters; whoever selects more wants to copy, not to carry over

_SCRIPT = """
export default function ({ data, setStateValue }) {
  const within = (node) => (node?.nodeType === 3 ? node.parentElement : node)?.closest?.(".wb-report .wb-text");
  let last = "";
  const tell = () => {
    const selection = window.getSelection();
    const text = String(selection).replace(/\\s+/g, " ").trim();
    if (!text || text === last || text.length > data.longest) return;
    if (!within(selection.anchorNode) || !within(selection.focusNode)) return;
    last = text;
    setStateValue("words", { text, on: data.on });
  };
  const onKey = (e) => (e.key === "Shift" || e.shiftKey) && tell();
  document.addEventListener("mouseup", tell);
  document.addEventListener("keyup", onKey);
  return () => {
    document.removeEventListener("mouseup", tell);
    document.removeEventListener("keyup", onKey);
  };
}
"""


def listen(key: str, on: str, heard: Callable[[str], object]) -> None:
    """Hear what is selected in a report on the page; ``heard`` is told the words before the page is drawn again.

    Args:
        key: the element's own.
        on: which report is shown, so that words of the one before are not taken for words of this one.
        heard: is told the words, on one line.
    """

    def changed() -> None:
        said = (st.session_state.get(key) or {}).get("words") or {}
        if said.get("on") == on and said.get("text"):
            heard(str(said["text"]))

    component = st.components.v2.component("selected_words", js=_SCRIPT)
    component(data={"on": on, "longest": LONGEST}, key=key, default={"words": {}}, on_words_change=changed, height=0)
