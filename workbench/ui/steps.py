"""The steps of the history: what was edited in each, in words, and what that bought, finding by finding."""

import streamlit as st

from workbench.domain.prompts import RevisionStatus
from workbench.evaluation.evaluations import Evaluation
from workbench.ui import comparison, data, editing, state, widgets
from workbench.workflow.history import HistoryRow
from workbench.workflow.score import Score

MOST = 4  # findings named each way


def draw(here: state.Here, rows: list[HistoryRow], tab: str, compare: str) -> None:
    """Draw what each scored revision bought over its parent, newest first; a button opens a step in the comparison.

    ``tab`` is the key of the page's tabs, and ``compare`` names the one with the comparison.
    """
    scored = {row.revision.prompt_hash: (row, row.score) for row in rows if row.score}
    made = []
    before: tuple[HistoryRow, Score] | None = None  # the last accepted one stands in for a parent without a score
    for row, score in scored.values():
        parent = scored.get(row.revision.parent_hash or "", before)
        if parent:
            made.append((parent, (row, score)))
        if row.revision.status is RevisionStatus.ACCEPTED:
            before = (row, score)
    if not made:
        st.caption("With a second scored revision, this tells what each step bought.")
    for parent, after in reversed(made):
        _step(here, parent, after, tab, compare)


def _step(
    here: state.Here, before: tuple[HistoryRow, Score], after: tuple[HistoryRow, Score], tab: str, compare: str
) -> None:
    (earlier, old), (later, new) = before, after
    was, now = old.evaluation.macro_f1.value, new.evaluation.macro_f1.value
    bought = "" if was is None or now is None else f" {now - was:+.3f}"
    color = "gray" if was is None or now is None or now == was else "red" if now < was else "green"
    with st.container(border=True):
        head, button = st.columns([5, 2], vertical_alignment="center")
        head.markdown(
            f"**Revision {earlier.revision.number} → {later.revision.number}** · :{color}[macro-F1{bought}]  \n"
            f"{widgets.plain(later.revision.message)}"
        )
        key = f"{old.hash[:10]}.{new.hash[:10]}"
        if button.button("Compare", key=f"history.compare.{key}", icon=":material/compare_arrows:"):
            comparison.show(old.hash, new.hash)
            st.session_state[f"{tab}.next"] = compare
            st.rerun()
        _bought(here, old.evaluation, new.evaluation)
        with st.expander("The edits, in words"):
            prompts = (data.prompt(here, row.revision.prompt_hash) for row in (earlier, later))
            editing.changes(here, *prompts)


def _bought(here: state.Here, old: Evaluation, new: Evaluation) -> None:
    """Draw which findings' F1 fell and which rose most."""
    changes = []
    for then, now in zip(old.findings, new.findings, strict=True):
        if then.f1.value is not None and now.f1.value is not None and now.f1.value != then.f1.value:
            changes.append((now.f1.value - then.f1.value, here.study.label_set.get(now.finding_id).name))
    fell = sorted(change for change in changes if change[0] < 0)
    rose = sorted((change for change in changes if change[0] > 0), reverse=True)
    for color, word, found in (("red", "Worse", fell), ("green", "Better", rose)):
        if found:
            named = ", ".join(f"{widgets.plain(name)} {change:+.2f}" for change, name in found[:MOST])
            more = f" and {len(found) - MOST} more" if len(found) > MOST else ""
            st.markdown(f":{color}[{word}]: {named}{more}")
