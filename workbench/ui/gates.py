"""The gate on the screen: each check as a sentence, with a box to sign where a name is needed."""

import streamlit as st

from workbench.evaluation.gate import GateStatus
from workbench.ui import state, widgets
from workbench.workflow.accept import Gate

LOOKS = {
    GateStatus.PASSED: (":material/check_circle:", "green"),
    GateStatus.NEEDS_SIGNOFF: (":material/draw:", "orange"),
    GateStatus.BLOCKED: (":material/block:", "red"),
}

NAMES = {
    "replies": "failed replies",
    "accuracy": "accuracy under the floor",
    "recall": "recall",
    "assessable": "findings too rare to assess",
    "newly_missed": "newly missed positives of critical findings",
    "macro_f1": "macro-F1",
}


def draw(here: state.Here, gate: Gate, *, may_sign: bool) -> list[str]:
    """Draw the checks and return the names of those that are signed."""
    signed = []
    for check in gate.checks:
        icon, color = LOOKS[check.status]
        st.markdown(f":{color}[{icon}] {widgets.plain(widgets.named(check.sentence, here.study.label_set))}")
        if check.status is GateStatus.NEEDS_SIGNOFF and may_sign:
            key = f"accept.sign.{gate.score.hash}.{check.name}"
            if st.checkbox(f"I have looked at this and sign it: {widgets.plain(here.actor.name)}", key=key):
                signed.append(check.name)
    return signed
