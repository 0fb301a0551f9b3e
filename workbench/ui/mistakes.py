"""One mistake on the screen: the text with the words the labeler went by, the votes, and what it said."""

import streamlit as st

from workbench.domain.references import ReferenceItem
from workbench.evaluation.mistakes import MistakeKind
from workbench.ui import state, widgets
from workbench.workflow.errors import Mistake

KINDS = {
    MistakeKind.MISSED: "missed: the reference has it, the labeler does not",
    MistakeKind.INVENTED: "invented: the labeler has it, the reference does not",
    MistakeKind.FAILED: "failed: there was no usable reply",
}


def vote_text(item: ReferenceItem) -> str:
    """Return the vote in words."""
    missing = f", {item.missing} missing" if item.missing else ""
    tie = ", a tie" if item.tie else ""
    votes = "1 vote" if item.present == 1 else f"{item.present} votes"
    return f"{str(item.outcome).replace('_', ' ')} by {votes} for present{missing}{tie}"


def draw(here: state.Here, mistake: Mistake) -> None:
    """Draw a mistake: facts at the right of the report."""
    text, facts = st.columns([5, 4], gap="medium")
    with text:
        st.markdown(f"**Report {widgets.plain(mistake.report.id)}**")
        evidence = [mistake.evidence] if mistake.kind is not MistakeKind.FAILED else []
        widgets.report_text(mistake.report, here.study.settings.sections, evidence)
    with facts:
        name = widgets.plain(here.study.label_set.get(mistake.finding_id).name)
        st.markdown(f"**{name}** {KINDS[mistake.kind]}")
        said = widgets.STATE_NAMES[mistake.predicted]
        st.markdown(f"Labeler: **{said}**{', on these words:' if mistake.evidence else ', no words quoted.'}")
        if mistake.evidence:
            st.html(f'<div class="wb-report"><mark>{widgets.marked(mistake.evidence, [])}</mark></div>')
        st.markdown(f"Reference: **{vote_text(mistake.reference)}**")
        widgets.chips(mistake.votes)
        finding = here.study.label_set.get(mistake.finding_id)
        with st.expander("What raters were told"):
            st.markdown(widgets.plain(finding.definition))
            for name, told in (("Include", finding.include), ("Exclude", finding.exclude)):
                if told:
                    st.markdown(f"**{name}:** {widgets.plain(told)}")
