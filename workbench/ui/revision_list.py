"""The revisions of a history as a list: with their scores, and with what was decided on them."""

import pandas as pd
import streamlit as st

from workbench.domain.hashing import short
from workbench.ui import data, gates, state, tables, widgets
from workbench.workflow.history import HistoryRow


def table(here: state.Here, rows: list[HistoryRow]) -> pd.DataFrame:
    """Return the revisions with their scores, newest first."""
    return pd.DataFrame(
        [
            {
                "Revision": row.revision.number,
                "Status": str(row.revision.status),
                "Macro-F1": row.score.evaluation.macro_f1.value if row.score else None,
                "95 %": tables.interval(row.score.evaluation.macro_f1) if row.score else "not scored",
                "n": row.score.evaluation.macro_f1.n if row.score else None,
                f"Under {here.study.settings.gate.accuracy:.0%}": len(row.below_floor) if row.score else None,
            }
            for row in reversed(rows)
        ]
    )


def records(here: state.Here, rows: list[HistoryRow]) -> None:
    """Draw who made each revision, when and why, and what was decided on it, newest first."""
    for row in reversed(rows):
        it = row.revision
        scored = f" · macro-F1 {widgets.figure_text(row.score.evaluation.macro_f1)}" if row.score else ""
        st.markdown(
            f"**Revision {it.number}** · {it.status} · {short(it.prompt_hash)} · {widgets.plain(it.author)}, "
            f"{it.created_at:%Y-%m-%d %H:%M} UTC{scored}  \n{widgets.plain(it.message)}"
        )
        for said in data.decisions(here, it.prompt_hash):
            checks = (gates.NAMES.get(n) or widgets.named(n, here.study.label_set) for n in said.signed)
            signed = f" Signed: {', '.join(checks)}." if said.signed else ""
            override = f" Override: {said.override}" if said.override else ""
            told = f"{said.status} by {said.actor}, {said.at:%Y-%m-%d %H:%M} UTC: {said.reason}.{signed}{override}"
            st.caption(widgets.plain(told))
