"""The text fields of a prompt's editor: what is handed in is in the draft before the page is drawn again."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass

import streamlit as st

from workbench.domain.prompts import Prompt
from workbench.errors import WorkbenchError
from workbench.ui import state, unsaved

Put = Callable[[Prompt, str], Prompt]


def lines(text: str) -> tuple[str, ...]:
    """Return the phrases of a text area, one per line."""
    return tuple(" ".join(line.split()) for line in text.splitlines() if line.strip())


@dataclass(frozen=True, slots=True)
class Fields:
    """Draws the fields of the editor of one revision. ``put`` of each puts what was written into a draft.

    Whoever writes and goes to another page at once cuts the drawing short, often before the end at which the page keeps
    its draft; so a field keeps what was written by itself, first thing. And it is told what it holds each time it is
    drawn: set once in the session state, that would not reach a browser that was drawing another page by then, which
    then shows the field empty and hands that in.
    """

    here: state.Here
    base: Prompt

    def area(self, label: str, held: str, key: str, put: Put, *, height: int, told: str | None = None) -> str:
        """Draw a text area that holds what the draft says, and return what is written in it."""
        value = _written(key, held)
        keep = (key, put)
        return st.text_area(label, value, key=key, height=height, help=told, on_change=self._keep, args=keep) or ""

    def phrases(
        self,
        label: str,
        held: Sequence[str],
        key: str,
        put: Callable[[Prompt, tuple[str, ...]], Prompt],
        *,
        height: int,
        told: str | None = None,
    ) -> tuple[str, ...]:
        """Draw a text area of phrases, one per line, and return them."""

        def put_lines(draft: Prompt, text: str) -> Prompt:
            return put(draft, lines(text))

        return lines(self.area(label, "\n".join(held), key, put_lines, height=height, told=told))

    def line(self, label: str, held: str, key: str, put: Put, *, told: str | None = None) -> str:
        """Draw a field of one line and return what is written in it."""
        value = _written(key, held)
        return st.text_input(label, value, key=key, help=told, on_change=self._keep, args=(key, put)) or ""

    def _keep(self, key: str, put: Put) -> None:
        with suppress(WorkbenchError):  # the page keeps its draft too, and says there what is wrong
            draft = unsaved.draft(self.here, self.base)
            unsaved.keep(self.here, self.base, put(draft, str(st.session_state.get(key) or "")))


def _written(key: str, held: str) -> str:
    return str(st.session_state.get(key, held) or "")
