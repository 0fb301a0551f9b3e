"""How the labeler that reads a leaderboard errs, finding by finding, on people's reports and on generated ones."""

import streamlit as st

from workbench.domain.findings import LabelSet
from workbench.evaluation.numbers import Figure
from workbench.ui import widgets
from workbench.ui.state import Here
from workbench.workflow.extractor import LabelerErrors, rates_by_finding


def draw(here: Here, errors: LabelerErrors) -> None:
    """Draw the labeler's sensitivity and specificity per finding and kind of text."""
    st.markdown("**How the labeler errs**, by finding and kind of text, with 95 % intervals (Jeffreys)")
    shown = rows(errors, here.study.label_set)
    if shown:
        st.dataframe(shown, hide_index=True, alt="The labeler's errors by finding")
    st.caption(
        widgets.plain(
            "Sensitivity: of the labelled texts that have the finding, the share in which the labeler finds it; "
            "specificity likewise of those without it. n counts these texts. Left out are findings that no labelled "
            "text has and in which it made no error."
        )
    )


def rows(errors: LabelerErrors, label_set: LabelSet) -> list[dict[str, str]]:
    """Return a row per finding as it is shown; columns of generated reports only where raters have labelled some."""
    names = {finding.id: finding.name for finding in label_set.findings}
    found = []
    for finding_id, human, machine in rates_by_finding(errors):
        row = {"finding": names.get(finding_id, finding_id)}
        row |= {
            "sensitivity, radiologists' texts": _told(human.sensitivity),
            "specificity, radiologists' texts": _told(human.specificity),
        }
        if machine is not None:
            row |= {"sensitivity, generated texts": _told(machine.sensitivity)}
            row |= {"specificity, generated texts": _told(machine.specificity)}
        found.append(row)
    return found


def _told(figure: Figure) -> str:
    return widgets.figure_text(figure, 2) + (f" n {figure.n}" if figure.defined else "")
