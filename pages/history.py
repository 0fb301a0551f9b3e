"""History: what each revision scored on the same reference and cohort, decisions, and what changed between any two."""

import pandas as pd
import streamlit as st

from workbench.domain.hashing import short
from workbench.ui import data, editing, figures, state, tables, widgets
from workbench.workflow.history import HistoryRow
from workbench.workflow.score import Score

here = state.here()
widgets.head("History", "How accuracy grew from revision to revision, on one reference and cohort.")


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
                "95 %": tables.interval(row.score.evaluation.macro_f1) if row.score else "not scored here",
                "n": row.score.evaluation.macro_f1.n if row.score else None,
                "Under 90 %": len(row.below_floor) if row.score else None,
                "Message": row.revision.message,
                "By": row.revision.author,
                "When": row.revision.created_at,
                "Hash": short(row.revision.prompt_hash),
            }
            for row in reversed(rows)
        ]
    )


def decisions(rows: list[HistoryRow]) -> None:
    for row in reversed(rows):
        for it in reversed(data.decisions(here, row.revision.prompt_hash)):
            signed = f" Signed: {', '.join(it.signed)}." if it.signed else ""
            override = f" Override: {it.override}" if it.override else ""
            st.markdown(
                f"**Revision {row.revision.number} {it.status}** by {widgets.plain(it.actor)}, {it.at:%Y-%m-%d %H:%M}: "
                + widgets.plain(f"{it.reason}.{signed}{override}")
            )


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
    st.info("There is no prompt yet. Bring one in with `workbench prompt import FILE`.")
    st.stop()
if not cards:
    st.info("No reference is frozen yet, so no revision has a score. Freeze one on the page Reference.")
    st.stop()
card = data.need_reference(cards, st.session_state.get(state.REFERENCE))
labelers = list(here.study.settings.labelers)
labeler = st.selectbox("Labeler", labelers, key="history.labeler", width=260) if len(labelers) > 1 else labelers[0]
rows = data.rows(here, card.name, labeler, accepted_only=False)
scored = [row for row in rows if row.score is not None]
left, right = st.columns([5, 6], gap="large")
with left:
    if scored:
        steps = [step(row, row.score) for row in scored if row.score]
        st.plotly_chart(figures.history_lines(steps), key="history.lines")
    else:
        st.info(f"No revision has been scored on {card.name} yet.")
    st.dataframe(
        table(rows),
        hide_index=True,
        placeholder="—",
        alt="Revisions with their scores",
        column_config={
            "Macro-F1": st.column_config.NumberColumn(format="%.3f"),
            "When": st.column_config.DatetimeColumn(format="YYYY-MM-DD HH:mm"),
        },
    )
    told = " · simulated votes" if card.simulated else ""
    st.caption(
        widgets.plain(f"Reference {card.name} {short(card.hash)} on cohort {card.cohort} · labeler {labeler}{told}")
    )
with right:
    heat, decided, diff = st.tabs(
        ["Accuracy per finding", "Decisions", "What changed"], key="history.tabs", on_change="rerun"
    )
    if heat.open and scored:
        with heat:
            last = scored[-1]
            st.markdown(
                f"{len(last.below_floor)} findings are under {figures.FLOOR:.0%} at revision {last.revision.number}: ▼."
            )
            names = [finding.name for finding in here.study.label_set.findings]
            st.plotly_chart(figures.accuracy_heat(steps, names), key="history.heat")
    if decided.open:
        with decided:
            decisions(rows)
    if diff.open:
        with diff:
            difference(rows)
