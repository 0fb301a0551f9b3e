"""History: what each revision scored on the same reference and cohort, decisions, and what changed between any two."""

import pandas as pd
import streamlit as st

from workbench.domain.hashing import short
from workbench.domain.prompts import RevisionStatus
from workbench.ui import blind, data, editing, figures, gates, state, tables, widgets
from workbench.workflow.history import HistoryRow
from workbench.workflow.score import Score

here = state.here()
widgets.head("History", "How accuracy grew from revision to revision, on one reference and cohort.")
blind.stop(here)


def step(row: HistoryRow, score: Score) -> figures.Step:
    it = score.evaluation
    names = {f.finding_id: here.study.label_set.get(f.finding_id).name for f in it.findings}
    accuracy = {names[f.finding_id]: f.accuracy for f in it.findings}
    return figures.Step(str(row.revision.number), it.macro_f1, it.macro_accuracy, accuracy, row.revision.message)


def table(rows: list[HistoryRow]) -> pd.DataFrame:
    return pd.DataFrame(
        [
            {
                "Revision": row.revision.number,
                "Status": str(row.revision.status),
                "Macro-F1": row.score.evaluation.macro_f1.value if row.score else None,
                "95 %": tables.interval(row.score.evaluation.macro_f1) if row.score else "not scored",
                "n": row.score.evaluation.macro_f1.n if row.score else None,
                "Under 90 %": len(row.below_floor) if row.score else None,
            }
            for row in reversed(rows)
        ]
    )


def records(rows: list[HistoryRow]) -> None:
    for row in reversed(rows):
        it = row.revision
        st.markdown(
            f"**Revision {it.number}** · {it.status} · {short(it.prompt_hash)} · {widgets.plain(it.author)}, "
            f"{it.created_at:%Y-%m-%d %H:%M} UTC  \n{widgets.plain(it.message)}"
        )
        for said in data.decisions(here, it.prompt_hash):
            signed = f" Signed: {', '.join(gates.NAMES.get(n, n) for n in said.signed)}." if said.signed else ""
            override = f" Override: {said.override}" if said.override else ""
            told = f"{said.status} by {said.actor}, {said.at:%Y-%m-%d %H:%M} UTC: {said.reason}.{signed}{override}"
            st.caption(widgets.plain(told))


def difference(rows: list[HistoryRow]) -> None:
    by_number = {row.revision.number: row.revision for row in rows}
    numbers = list(by_number)
    one, two = st.columns(2)
    old = one.selectbox("From revision", numbers, index=max(len(numbers) - 2, 0), key="history.old")
    new = two.selectbox("to revision", numbers, index=len(numbers) - 1, key="history.new")
    if old == new:
        st.caption("Choose two different revisions.")
        return
    editing.changes(here, data.prompt(here, by_number[old].prompt_hash), data.prompt(here, by_number[new].prompt_hash))


cards = data.reference_cards(here)
if not data.revisions(here):
    widgets.missing("There is no prompt yet. Bring one in on the command line: workbench prompt import FILE.")
if not cards:
    widgets.missing("No reference is frozen yet, so no revision has a score.", "reference", "Freeze a reference")
card = data.need_reference(cards, st.session_state.get(state.REFERENCE))
labelers = list(here.study.settings.labelers)
labeler = st.selectbox("Labeler", labelers, key="history.labeler", width=260) if len(labelers) > 1 else labelers[0]
rows = data.rows(here, card.name, labeler, accepted_only=False)
scored = [row for row in rows if row.score is not None and row.revision.status is RevisionStatus.ACCEPTED]
left, right = st.columns([5, 6], gap="large")
with left:
    if scored:
        steps = [step(row, row.score) for row in scored if row.score]
        widgets.chart(
            figures.history_lines(steps), key="history.lines", alt="Macro-F1 and mean accuracy over revisions"
        )
    else:
        st.info(widgets.plain(f"No accepted revision has been scored on {card.name} yet."))
    st.dataframe(
        table(rows),
        hide_index=True,
        placeholder="—",
        alt="Revisions with their scores",
        column_config={
            "Macro-F1": st.column_config.NumberColumn(format="%.3f"),
        },
    )
    st.caption("Pictures show accepted revisions; the table candidates and rejected ones too.")
    if scored and scored[-1].score:
        widgets.score_facts(here, scored[-1].score)
with right:
    heat, decided, diff = st.tabs(
        ["Accuracy per finding", "Revisions and decisions", "What changed"], key="history.tabs", on_change="rerun"
    )
    if heat.open and scored:
        with heat:
            under = len(scored[-1].below_floor)
            told = f"{under} findings are under the floor of 90 %" if under else "no finding is under the floor of 90 %"
            st.markdown(f"At revision {scored[-1].revision.number} {told}; cells under it are marked ▼.")
            names = [finding.name for finding in here.study.label_set.findings]
            widgets.chart(
                figures.accuracy_heat(steps, names), key="history.heat", alt="Accuracy per finding over revisions"
            )
    if decided.open:
        with decided:
            records(rows)
    if diff.open:
        with diff:
            difference(rows)
