"""A score on the screen: its figures, chart, table, policies, and what it rests on."""

from typing import Any

import streamlit as st

from workbench.domain.findings import LabelSet
from workbench.ui import data, figures, state, tables, widgets
from workbench.workflow.score import Score

FIGURES = ("F1", "Recall", "Precision", "Specificity", "Accuracy", "Costs macro-F1")
WORST, ANATOMY = "Lowest F1 first", "By anatomy"
CHART, TABLE, POLICIES = "F1 per finding", "All figures", "If uncertain counted otherwise"


def figure_columns() -> dict[str, Any]:
    """Return how the columns of figures are shown."""
    return {name: st.column_config.NumberColumn(format="%.3f") for name in FIGURES} | {
        "Note": st.column_config.TextColumn(width="large")
    }


def name(score: Score) -> str:
    """Return a score as it is chosen: revision, labeler, macro-F1."""
    run = score.prepared.run
    macro = widgets.figure_text(score.evaluation.macro_f1)
    return f"revision {score.prepared.number} · {run.labeler.name} · macro-F1 {macro}"


def headline(score: Score) -> None:
    """Draw the overall figures with n and interval."""
    it = score.evaluation
    columns = st.columns(5, gap="medium")
    with columns[0]:
        widgets.metric(
            "Macro-F1", it.macro_f1, "findings", "Mean F1 over the findings with a positive in the reference"
        )
    with columns[1]:
        widgets.metric("Micro-F1", it.micro_f1, "cells", "F1 of the counts summed over all findings")
    with columns[2]:
        widgets.metric("Mean accuracy", it.macro_accuracy, "findings")
    with columns[3]:
        st.metric("Failed replies", f"{it.n_failed:,}", help="They count as wrong, never as absent")
        told = f"macro-F1 over answered reports {widgets.figure_text(it.macro_f1_answered)}" if it.n_failed else ""
        st.caption(told or f"of {it.n_reports:,} reports")
    with columns[4]:
        st.metric(
            "Looks", score.looks, help="How often this cohort was scored or tried on so far: each look tunes to it"
        )
        st.caption("at this cohort so far")
    invented = sum(finding.fp for finding in it.unsupported)
    if invented:
        st.caption(
            f"{invented} false positives on {len(it.unsupported)} findings without a positive cost macro-F1 nothing."
        )
    if it.macro_f1_reweighted is not None:
        st.caption(f"Reweighted for the enriched draw: macro-F1 {widgets.figure_text(it.macro_f1_reweighted)}.")


def dots(score: Score, label_set: LabelSet, order: str) -> list[figures.Dot]:
    """Return the findings for the dot plot: the lowest F1 on top and those without one last, or in anatomical order."""
    rows = list(score.evaluation.findings)
    if order == WORST:
        rows.sort(key=lambda row: 2.0 if row.f1.value is None else row.f1.value)
    return [
        figures.Dot(
            label_set.get(row.finding_id).name, row.f1, row.too_few, f"{row.support} positives. {tables.note(row)}"
        )
        for row in rows
    ]


def draw(here: state.Here, score: Score) -> None:
    """Draw a score."""
    headline(score)
    widgets.score_facts(here, score)
    chart, table, policies = st.tabs([CHART, TABLE, POLICIES], key="score.tabs", on_change="rerun")
    if chart.open:
        with chart:
            order = st.segmented_control(
                "Order", (WORST, ANATOMY), default=WORST, required=True, key="score.order", label_visibility="collapsed"
            )
            drawn = figures.f1_by_finding(dots(score, here.study.label_set, order), score.evaluation.macro_f1)
            widgets.chart(drawn, key="score.f1", alt="F1 per finding with its interval")
    if table.open:
        with table:
            st.dataframe(
                tables.scores(score.evaluation, here.study.label_set),
                hide_index=True,
                height=780,
                placeholder="—",
                column_config=figure_columns(),
                alt="Counts and figures per finding",
            )
    if policies.open:
        with policies:
            st.markdown(
                'Macro-F1 if "uncertain" counted the same for every finding, in the votes and in the predictions:'
            )
            st.dataframe(
                tables.policies(data.policies(here, score)), hide_index=True, alt="Macro-F1 by pair of policies"
            )
