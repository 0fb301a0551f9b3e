"""A page that lives on when the connection comes back.

After a restart of the server Streamlit's browser side connects anew and, where it finds nothing under way, leaves the
page as it was: it looks alive, but the new server knows none of its controls and drops what they send. So the page asks
to be drawn as soon as the connection is back, which also hands in what was changed meanwhile.
"""

import streamlit as st

_SCRIPT = """
export default function ({ setStateValue }) {
  const app = document.querySelector("[data-test-connection-state]");
  if (!app) return;
  const connected = () => app.dataset.testConnectionState === "CONNECTED";
  let before = connected();
  const watch = new MutationObserver(() => {
    const now = connected();
    // Not at once: until the page has taken note of the connection itself, what is sent is dropped.
    if (now && !before) setTimeout(() => setStateValue("back", Date.now()), 500);
    before = now;
  });
  watch.observe(app, { attributes: true, attributeFilter: ["data-test-connection-state"] });
  return () => watch.disconnect();
}
"""


def redraw_on_reconnect() -> None:
    """Let the page be drawn anew whenever the browser was cut off and is connected again."""
    with st.container(key="wb_reconnect"):
        st.html("<style>.st-key-wb_reconnect {position: absolute; height: 0; overflow: hidden}</style>")
        st.components.v2.component("reconnect", js=_SCRIPT)(key="wb.reconnect", on_back_change=lambda: None, height=0)
