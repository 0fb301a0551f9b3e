"""What is being written in a field is handed in after a short pause, so that a reload loses no more than that.

Streamlit hands a field in when it is left, or by Enter (a larger one by Ctrl+Enter). This presses that key for whoever
has stopped writing for a moment; the field keeps the cursor and whatever is written meanwhile.
"""

import streamlit as st

PAUSE = 1000  # milliseconds without a key

_SCRIPT = """
export default function ({ data }) {
  let timer = 0;
  const handIn = (field) => {
    if (document.activeElement !== field) return;  // it was left, and so handed in
    const key = { key: "Enter", code: "Enter", keyCode: 13, ctrlKey: field.tagName === "TEXTAREA", bubbles: true };
    field.dispatchEvent(new KeyboardEvent("keydown", key));
  };
  const onInput = (e) => {
    clearTimeout(timer);
    if (!e.isComposing && e.target.matches?.(data.fields)) timer = setTimeout(handIn, data.pause, e.target);
  };
  const heeded = ["input", "compositionend"];
  for (const name of heeded) window.addEventListener(name, onInput, true);
  return () => {
    clearTimeout(timer);
    for (const name of heeded) window.removeEventListener(name, onInput, true);
  };
}
"""


def hand_in(fields: str, key: str) -> None:
    """Hand in what is being written in the fields of a page that a CSS selector names, none of them within a form."""
    name = f"{key}-box"
    with st.container(key=name):
        st.html(f"<style>.st-key-{name} {{position: absolute; height: 0; overflow: hidden}}</style>")
        st.components.v2.component("typed", js=_SCRIPT)(data={"fields": fields, "pause": PAUSE}, key=key, height=0)
