"""Errors: what costs most, what was said instead, and each mistake with its text."""

import streamlit as st

from workbench.domain.findings import Policy
from workbench.ui import blind, data, figures, mistakes, scoring, state, tables, widgets
from workbench.workflow.browse import StateCounts
from workbench.workflow.score import Score

ALL_KINDS = "all kinds"


def right_cells(policy: Policy) -> frozenset[tuple[str, str]]:
    right = {("present", "present"), ("not present", "absent"), ("not present", "not mentioned")}
    if policy is not Policy.EXCLUDE:
        right.add(("present" if policy is Policy.PRESENT else "not present", "uncertain"))
    return frozenset(right)


def cells(score: Score, counts: dict[str, StateCounts]) -> list[figures.CellsOfFinding]:
    def said(by_state: object) -> dict[str, int]:
        return {widgets.STATE_NAMES[s]: n for s, n in by_state.items()}  # type: ignore[attr-defined]

    return [
        figures.CellsOfFinding(
            here.study.label_set.get(f).name,
            said(c.present),
            said(c.not_present),
            right_cells(score.prediction_policies.of(f)),
        )
        for f, c in counts.items()
    ]


def go(key: str, at: int) -> None:
    st.session_state[key] = max(at, 0)


def walk(score: Score, finding: str) -> None:
    found = [m for m in data.mistakes(here, score) if m.finding_id == finding]
    kinds = [kind for kind in mistakes.KINDS if any(m.kind is kind for m in found)]
    with st.container(horizontal=True, vertical_alignment="bottom"):
        kind = st.selectbox("Kind", [ALL_KINDS, *kinds], width=160, key=f"errors.kind.{finding}")
        found = [m for m in found if kind in (ALL_KINDS, m.kind)]
        if not found:
            st.success("No mistakes here.")
            return
        key = f"errors.at.{score.hash}.{finding}.{kind}"
        at = min(st.session_state.get(key, 0), len(found) - 1)
        st.button("Previous", shortcut="Left", disabled=at == 0, on_click=go, args=(key, at - 1))
        st.button("Next", shortcut="Right", disabled=at + 1 >= len(found), on_click=go, args=(key, at + 1))
        st.markdown(f"Mistake **{at + 1} of {len(found)}**")
        phrase = st.text_input(
            "Words to carry over as a synonym", key=f"errors.phrase.{finding}.{at}", placeholder="optional", width=260
        )
        if st.button("Mend this finding", type="primary", icon=":material/edit_document:"):
            state.ask(
                state.Intent("revise", finding, phrase.strip(), score.prepared.number, report=found[at].report.id)
            )
            st.switch_page(state.page("revise"))
    mistakes.draw(here, found[at])


here = state.here()
widgets.head("Errors", "Start with the finding that costs most, read what went wrong, and carry it over to be mended.")
blind.stop(here)
cards = data.reference_cards(here)
if not cards:
    widgets.missing("No reference is frozen yet, so nothing can be wrong yet.", "reference", "Freeze a reference")
card = data.need_reference(cards, st.session_state.get(state.REFERENCE))
scores = data.scored(here, card.name)
if not scores:
    widgets.missing(f"No revision has been scored on {card.name} yet.", "run", "Run a revision")
one, two = st.columns([2, 3], vertical_alignment="bottom")
names = {s.hash: scoring.name(s) for s in scores}
chosen = one.selectbox("Score", list(names), format_func=names.__getitem__, key=f"errors.score.{card.name}")
score = next(s for s in scores if s.hash == chosen)
table = tables.costs(score.evaluation, here.study.label_set)
wrong = {
    row["id"]: f"{row['Finding']} · {row['Missed']} missed, {row['Invented']} invented" for _, row in table.iterrows()
}
finding = two.selectbox(
    "Finding, costliest first", list(wrong), format_func=wrong.__getitem__, key=f"errors.finding.{chosen}"
)
widgets.score_facts(here, score)
mistake_tab, heat_tab, table_tab = st.tabs(
    ["Mistakes", "What was said instead", "Cost per finding"], key="errors.tabs", on_change="rerun"
)
if mistake_tab.open:
    with mistake_tab:
        walk(score, finding)
if heat_tab.open:
    with heat_tab:
        st.markdown("Each row is a finding. Teal is right and red is wrong under the policy; numbers are reports.")
        widgets.chart(
            figures.confusion_heat(cells(score, data.state_counts(here, score))),
            key="errors.heat",
            alt="What the labeler said by reference",
        )
if table_tab.open:
    with table_tab:
        st.dataframe(
            table.drop(columns="id"),
            hide_index=True,
            height=780,
            placeholder="—",
            column_config=scoring.figure_columns(),
            alt="Findings by what they cost macro-F1",
        )
