"""Errors: what costs most, of what kind each error is, what was said instead, and each one with its text."""

import streamlit as st

from workbench.domain.findings import Policy
from workbench.ui import blind, data, error_list, error_tables, figures, scoring, state, tables, widgets
from workbench.workflow.browse import StateCounts
from workbench.workflow.errors import COSTLIEST
from workbench.workflow.score import Score

ALL_FINDINGS = ""


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


def pick(picked: str) -> None:
    finding, _, kind = picked.partition(" ")
    st.session_state[f"errors.finding.{chosen}"] = finding
    st.session_state[error_list.KIND] = kind
    st.session_state[error_list.TABS] = error_list.READ


def draw_finding(score: Score, finding: str) -> None:
    row, name = score.evaluation.of(finding), widgets.plain(here.study.label_set.get(finding).name)
    left, right = st.columns(2, gap="large")
    with left:
        st.markdown(f"**{name}**: right and wrong, as scored")
        st.dataframe(error_tables.two_by_two(row), hide_index=True, alt="2 by 2 confusion")
    with right:
        st.markdown("What was said, in four states")
        counts = data.state_counts(here, score)[finding]
        st.dataframe(error_tables.four_states(counts), hide_index=True, alt="Four states by reference")
    st.caption(f"{counts.short} short votes are left out of both." if counts.short else "No short vote is left out.")


here = state.here()
widgets.head("Errors", "Pick a finding, read a kind of error once, and carry the words over to mend the prompt.")
blind.stop(here)
cards = data.reference_cards(here)
if not cards:
    widgets.missing("No reference is frozen yet, so nothing can be wrong yet.", "reference", "Freeze a reference")
card = data.need_reference(cards, st.session_state.get(state.REFERENCE))
scores = data.scored(here, card.name)
if not scores:
    now = " with a labeler as it is set now; History has what was scored before" if data.series(here, card.name) else ""
    widgets.missing(f"No revision has been scored on {card.name} yet{now}.", "run", "Run a revision")
KINDS, AGAINST, SAID = "By kind and finding", "Against the raters", "What was said instead"
one, two = st.columns([2, 3], vertical_alignment="bottom")
names = {s.hash: scoring.name(s) for s in scores}
chosen = one.selectbox("Score", list(names), format_func=names.__getitem__, key=f"errors.score.{card.name}")
score = next(s for s in scores if s.hash == chosen)
table = tables.costs(score.evaluation, here.study.label_set)
wrong = {
    row["id"]: f"{row['Finding']} · {row['Missed']} missed, {row['Invented']} invented" for _, row in table.iterrows()
}
finding = two.selectbox(
    "Finding, costliest first",
    [*wrong, ALL_FINDINGS],
    format_func=lambda f: wrong.get(f, "All findings"),
    key=f"errors.finding.{chosen}",
    help=COSTLIEST,
)
read, by_kind, against, said = st.tabs([error_list.READ, KINDS, AGAINST, SAID], key=error_list.TABS, on_change="rerun")
agreement, benchmark = data.summary(here, card.name).agreement, data.benchmark(here, card.name)
if read.open:
    with read:
        if finding:
            error_tables.draw_line(score.evaluation.of(finding), agreement, benchmark)
        error_list.walk(here, score, error_list.ask(here, score, finding))
if by_kind.open:
    with by_kind:
        st.markdown("Each number is how many errors; costliest finding on top. Click one to read them.")
        drawn = error_tables.by_kind(data.mistakes(here, score), here.study.label_set, list(wrong))
        widgets.chart(drawn, key="errors.kinds", alt="Errors by finding and kind", on_pick=pick)
        error_tables.draw_rules()
if against.open:
    with against:
        error_tables.draw_against(score.evaluation, here.study.label_set, agreement, benchmark)
if said.open:
    with said:
        if finding:
            draw_finding(score, finding)
        st.markdown("Each row is a finding. Teal is right and red is wrong under the policy; numbers are reports.")
        widgets.chart(
            figures.confusion_heat(cells(score, data.state_counts(here, score))),
            key="errors.heat",
            alt="What the labeler said by reference",
        )
widgets.score_facts(here, score)
