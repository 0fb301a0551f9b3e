"""A prompt as others see it: what a model is told, what changed against any revision, and the file it is kept in."""

from collections.abc import Mapping

import streamlit as st

from workbench.domain.prompts import Prompt, Revision
from workbench.errors import InputError, WorkbenchError
from workbench.prompting.diff import diff_text
from workbench.prompting.files import parse_prompt, prompt_text
from workbench.prompting.render import system_text
from workbench.prompting.tokens import count_tokens
from workbench.ui import data, editing, state, unsaved, widgets


def to_start_from(here: state.Here, base: Revision) -> Prompt:
    """Return the prompt of a revision; where it cannot be read the page says so, and what to do, and ends."""
    try:
        return data.prompt(here, base.prompt_hash)
    except WorkbenchError as error:
        widgets.refuse(error)
        st.info("Start from another revision; the study lead rejects this one on the page Accept.")
        st.stop()


def changed(here: state.Here, base: Revision, draft: Prompt, known: Mapping[int, Revision]) -> None:
    """Draw what differs between the draft and a revision that is picked, in words or as lines of the file."""
    left, right = st.columns([3, 2], vertical_alignment="bottom")
    number = left.selectbox(
        "Against revision",
        list(known),
        index=list(known).index(base.number),
        format_func=lambda n: data.revision_name(known[n]),
        key=f"revise.diff.{base.prompt_hash}",
    )
    shown = right.segmented_control("Shown", ["In words", "As text"], default="In words", key="revise.diff.shown")
    with widgets.explained():
        _differences(here, data.prompt(here, known[number].prompt_hash), draft, number, as_text=shown == "As text")


def _differences(here: state.Here, other: Prompt, draft: Prompt, number: int, *, as_text: bool) -> None:
    if other.hash == draft.hash:
        st.caption(f"Nothing yet: this is revision {number} as it stands. Edit at the left.")
    elif as_text:
        lines = diff_text(other, draft, old_name=f"revision {number}", new_name="your edit")
        st.code(lines, language="diff", wrap_lines=True)
    else:
        editing.changes(here, other, draft)


def rendered(here: state.Here, draft: Prompt) -> None:
    """Draw the text that a language model is told before each report, with an estimate of its tokens."""
    with widgets.explained():
        text = system_text(draft, here.study.label_set)
        st.markdown(f"About **{count_tokens(text):,} tokens**, the same before every report; the report follows.")
        st.code(text, language=None, wrap_lines=True, height=560)


def file_editor(here: state.Here, base: Prompt, draft: Prompt) -> None:
    """Draw the whole prompt file, body included; what is wrong in it is told with its line."""
    st.caption("The whole prompt as it is kept, with the template that makes the text for a model.")
    written = st.text_area(
        "Prompt file", value=prompt_text(draft), key=unsaved.key_of(base, "file", draft.hash[:12]), height=520
    )
    if st.button("Take this file over", disabled=(written or "") == prompt_text(draft)):
        with widgets.explained():
            made = parse_prompt(written or "", label_set=here.study.label_set, where="prompt file")
            try:
                system_text(made, here.study.label_set)
            except InputError as error:
                raise InputError(f"prompt file: {error}") from None
            unsaved.take(here, base, made)
            st.rerun()
