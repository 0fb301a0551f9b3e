"""What is said of the languages of a cohort before a run, on the screen."""

import streamlit as st

from workbench.ui import data, state, widgets
from workbench.workflow import languages


def draw(here: state.Here, cohort: str, prompt_hash: str, labeler: str) -> None:
    """Draw which reports the prompt's phrases are in no language for, where there are any."""
    found = data.kept(
        here,
        "languages",
        lambda: languages.before_run(here.study, here.actor, cohort=cohort, revision=prompt_hash, labeler=labeler),
        cohort,
        prompt_hash,
        labeler,
    )
    if found.failing:
        st.warning(widgets.plain(found.failing), icon=":material/translate:")
    for note in found.notes:
        st.caption(widgets.plain(note))
