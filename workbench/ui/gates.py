"""The gate on the screen: each check as a sentence, with a box to sign where a name is needed."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import streamlit as st

from workbench.domain.actors import Role
from workbench.domain.people import name_key
from workbench.domain.prompts import Revision
from workbench.evaluation.gate import GateCheck, GateStatus
from workbench.ui import data, error_list, kept, state, widgets
from workbench.workflow import accept, browse
from workbench.workflow.accept import Gate
from workbench.workflow.score import Score

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


@dataclass(slots=True)
class Signed:
    """What is signed on the page: checks by name, and newly missed positives by report and finding with the reason."""

    checks: list[str] = field(default_factory=list)
    missed: dict[tuple[str, str], str] = field(default_factory=dict)


def draw(here: state.Here, gate: Gate, *, may_sign: bool) -> Signed:
    """Draw the checks and return what is signed of them."""
    signed = Signed()
    for check in gate.checks:
        icon, color = LOOKS[check.status]
        st.markdown(f":{color}[{icon}] {widgets.plain(widgets.named(check.sentence, here.study.label_set))}")
        if check.status is GateStatus.BLOCKED and here.may(Role.LEAD, Role.ADMIN, Role.ADJUDICATOR):
            _read_errors(here, gate.score, check)
        if check.name == "newly_missed":
            _missed(here, gate, signed, may_sign=may_sign)
        elif check.status is GateStatus.NEEDS_SIGNOFF and may_sign:
            key = f"accept.sign.{gate.score.hash}.{check.name}"
            if kept.box(f"I have looked at this and sign it: {widgets.plain(here.actor.name)}", key):
                signed.checks.append(check.name)
    _second(here, gate, data.revisions(here))
    return signed


def _read_errors(here: state.Here, score: Score, check: GateCheck) -> None:
    """Draw a way to the errors of each finding that keeps the gate closed."""
    with st.container(horizontal=True, gap="small", vertical_alignment="center"):
        st.markdown("Read the errors:", width="content")
        for finding in check.findings:
            name = here.study.label_set.get(finding).name
            key = f"accept.errors.{check.name}.{finding}"
            if st.button(name, key=key, icon=":material/troubleshoot:", type="tertiary"):
                error_list.show(score, finding)
                st.switch_page(state.page("errors"))


def _missed(here: state.Here, gate: Gate, signed: Signed, *, may_sign: bool) -> None:
    """Draw each report with a critical finding that was found before and is missed now, to be read and signed."""
    for report, finding in gate.missed:
        with st.expander(f"{widgets.plain(here.study.label_set.get(finding).name)} in {widgets.plain(report)}"):
            sections = gate.score.prepared.run.sections
            widgets.report_text(browse.read_report(here.study, here.actor, report), sections)
            if not may_sign:
                continue
            key = f"accept.missed.{gate.score.hash}.{report}.{finding}"
            why = kept.line("Why it may be missed", f"{key}.why", max_chars=200).strip()
            if kept.box(f"I have read this report and sign it: {widgets.plain(here.actor.name)}", key):
                if why:
                    signed.missed[report, finding] = why
                else:
                    st.caption(":orange[Not signed yet: say above why it may be missed.]")
    if gate.missed and may_sign:
        st.caption(
            f"{len(signed.missed)} of {len(gate.missed)} signed. Open each, say why in a few words, and tick it."
        )


def _second(here: state.Here, gate: Gate, known: Sequence[Revision]) -> None:
    """Draw who has signed as a second person, and where one may sign oneself."""
    if not gate.second_person:
        return
    for each in gate.signatures:
        said = f": {each.comment}" if each.comment else ""
        st.markdown(f":green[:material/how_to_reg:] {widgets.plain(f'{each.actor} has signed as second person{said}')}")
    if not gate.signatures:
        st.markdown(":orange[:material/how_to_reg:] A second person has to sign, who neither wrote nor accepts it.")
    if not here.may(Role.LEAD, Role.ADMIN, Role.ADJUDICATOR):
        return
    me = name_key(here.actor.name)
    if any(name_key(each.actor) == me for each in gate.signatures):
        st.caption("You have signed it; somebody else accepts it.")
        return
    if any(each.prompt_hash == gate.score.prepared.run.prompt_hash and name_key(each.author) == me for each in known):
        st.caption("You wrote it, so somebody else signs it.")
        return
    with st.popover("Sign as second person", icon=":material/draw:"):
        comment = st.text_input("What you looked at", key=f"accept.second.{gate.score.hash}", max_chars=500)
        if st.button(f"Sign as {widgets.plain(here.actor.name)}", type="primary"):
            with widgets.explained():
                made = accept.sign_second(here.study, here.actor, gate.score, comment=comment)
                state.say(f"{made.actor} has signed revision {gate.score.prepared.number}.")
                st.rerun()
