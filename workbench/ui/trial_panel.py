"""Trying an unsaved prompt: on which reports, and what becomes right and wrong."""

import streamlit as st

from workbench.domain.error_kinds import ErrorKind
from workbench.domain.prompts import Prompt
from workbench.ui import state, widgets
from workbench.ui.error_tables import NAMES
from workbench.workflow import browse, revise
from workbench.workflow.revise import Flip, Scope, Trial, Wish
from workbench.workflow.score import Score

_SCOPES = {
    Scope.COHORT: "The whole cohort",
    Scope.ERRORS: "Reports with an error, and as many without",
    Scope.KIND: "One kind of error",
    Scope.REPORT: "One report",
}
_SHOWN = 40


def draw(here: state.Here, base: Prompt, draft: Prompt, score: Score, finding: str) -> None:
    """Draw the choice of reports, the button, and the result of the last trial of this draft."""
    wish = _wish(here, score, finding)
    key = f"revise.trial.{base.hash}"
    if st.button("Try it", icon=":material/science:", disabled=draft.hash == base.hash, help="Counts as a look"):
        with widgets.explained(), st.spinner("Reading the reports with the edit"):
            tried = revise.try_prompt(here.study, here.actor, draft, score, wish)
            st.session_state[key] = (draft.hash, tried)
    tried_before = st.session_state.get(key)
    if draft.hash == base.hash:
        st.caption("Nothing to try yet: edit at the left or accept a suggestion.")
    elif tried_before and tried_before[0] == draft.hash:
        _result(here, tried_before[1])
    elif tried_before:
        st.caption("The edit has changed since it was tried.")


def _wish(here: state.Here, score: Score, finding: str) -> Wish:
    scope = st.selectbox("On which reports", list(_SCOPES), format_func=_SCOPES.__getitem__, key="revise.scope")
    name = here.study.label_set.get(finding).name
    if scope is Scope.REPORT:
        report = st.selectbox("Report", [report.id for report in score.prepared.reports], key="revise.scope.report")
        return Wish(scope, report=report or "")
    if scope is Scope.COHORT:
        return Wish(scope)
    kind = None
    if scope is Scope.KIND:
        kinds = [kind for kind in ErrorKind if kind is not ErrorKind.UNEXPLAINED]
        kind = st.selectbox("Kind of error", kinds, format_func=NAMES.__getitem__, key="revise.scope.kind")
    alone = st.checkbox(f"Errors of {name} only", value=True, key="revise.scope.alone")
    return Wish(scope, finding if alone else "", kind=kind)


def _result(here: state.Here, result: Trial) -> None:
    after, before = result.after.value, result.before.value
    whole = after is not None and before is not None
    columns = st.columns(4 if whole else 3, gap="small")
    if after is not None and before is not None:
        columns[0].metric("Macro-F1", f"{after:.3f}", f"{after - before:+.3f}")
    columns[-3].metric("Become right", f"{result.fixed:,}")
    columns[-2].metric("Become wrong", f"{result.broken:,}")
    columns[-1].metric("Unchanged", f"{result.still_right + result.still_wrong:,}")
    of_all = (
        f"Before {widgets.figure_text(result.before)}, after {widgets.figure_text(result.after)}, "
        f"n = {result.after.n} findings. "
        if whole
        else ""
    )
    st.caption(
        f"Labels on {len(result.reports)} reports; of the unchanged {result.still_wrong} are wrong. {of_all}"
        f"{result.looks} looks at this cohort so far."
    )
    if not result.flips:
        st.info("No label that counts changes on these reports.")
    _by_finding(here, result)
    for flip in result.flips[:_SHOWN]:
        _flip(here, flip)
    if len(result.flips) > _SHOWN:
        st.caption(f"{len(result.flips) - _SHOWN} more are not shown.")


def _by_finding(here: state.Here, result: Trial) -> None:
    """Draw how many labels change per finding, the one that loses most first."""
    findings = list(dict.fromkeys(flip.finding_id for flip in result.flips))
    rows = []
    for finding in findings:
        fixed = sum(flip.fixed for flip in result.flips if flip.finding_id == finding)
        broken = sum(not flip.fixed for flip in result.flips if flip.finding_id == finding)
        rows.append({"Finding": here.study.label_set.get(finding).name, "Right now": fixed, "Wrong now": broken})
    if rows:
        rows.sort(key=lambda row: (-int(str(row["Wrong now"])), -int(str(row["Right now"]))))
        st.dataframe(rows, hide_index=True, alt="Labels that change, by finding")


def _flip(here: state.Here, flip: Flip) -> None:
    name = widgets.plain(here.study.label_set.get(flip.finding_id).name)
    states = f"{widgets.STATE_NAMES[flip.before]} → {widgets.STATE_NAMES[flip.after]}"
    word, icon = ("right now", ":material/check:") if flip.fixed else ("wrong now", ":material/close:")
    with st.expander(f"{name} in {widgets.plain(flip.report_id)}: {word} ({states})", icon=icon), widgets.explained():
        report = browse.read_report(here.study, here.actor, flip.report_id)
        widgets.report_text(report, here.study.settings.sections)
