"""History: what each revision scored on one reference, what each step bought, any two points compared, decisions."""

import streamlit as st

from workbench.domain.actors import Role
from workbench.domain.prompts import RevisionStatus
from workbench.ui import blind, comparison, data, history_figures, revision_list, state, steps, widgets
from workbench.workflow.history import HistoryRow
from workbench.workflow.score import Score

here = state.here()
widgets.head("History", "See what each step bought, and compare any two.")
blind.stop(here)
STEPS, HEAT, COMPARE, DECIDED = "Steps", "Finding by revision", "Compare any two", "Revisions and decisions"
TABS = "history.tabs"
if f"{TABS}.next" in st.session_state:
    st.session_state[TABS] = st.session_state.pop(f"{TABS}.next")


def step(row: HistoryRow, score: Score) -> history_figures.Step:
    it = score.evaluation
    names = {f.finding_id: here.study.label_set.get(f.finding_id).name for f in it.findings}
    return history_figures.Step(
        str(row.revision.number),
        it.macro_f1,
        it.macro_accuracy,
        {names[f.finding_id]: f.accuracy for f in it.findings},
        row.revision.message,
        {names[f.finding_id]: f.f1 for f in it.findings},
        open=row.revision.status is RevisionStatus.CANDIDATE,
    )


def steps_of(rows: list[HistoryRow]) -> list[history_figures.Step]:
    return [step(row, row.score) for row in rows if row.score and row.revision.status is not RevisionStatus.REJECTED]


cards = data.reference_cards(here)
if not data.revisions(here):
    widgets.missing("There is no prompt yet. Bring one in on the command line: workbench prompt import FILE.")
if not cards:
    widgets.missing("No reference is frozen yet, so no revision has a score.", "reference", "Freeze a reference")
card = data.need_reference(cards, st.session_state.get(state.REFERENCE))
every = {each.name: each for each in data.series(here, card.name)}
labelers = list(every) or list(here.study.settings.labelers)[:1]
labeler = st.selectbox("Labeler", labelers, key="history.labeler", width=260) if len(labelers) > 1 else labelers[0]
known = every.get(labeler)
rows = list(known.rows) if known else data.rows(here, card.name, labeler, accepted_only=False)
accepted = [row for row in rows if row.score is not None and row.revision.status is RevisionStatus.ACCEPTED]
floor = f"{here.study.settings.gate.accuracy:.0%}"
by_step, by_finding, compared, decided = st.tabs([STEPS, HEAT, COMPARE, DECIDED], key=TABS, on_change="rerun")
if by_step.open:
    with by_step:
        left, right = st.columns([6, 5], gap="large")
        with left:
            if accepted:
                alone = data.benchmark(here, card.name) if here.may(Role.LEAD, Role.ADMIN, Role.ADJUDICATOR) else None
                drawn = history_figures.history_lines(
                    steps_of(rows),
                    here.study.settings.gate.accuracy,
                    others={name: steps_of(list(it.rows)) for name, it in every.items() if name != labeler},
                    benchmark=alone.mean_rater if alone else None,
                )
                widgets.chart(drawn, key="history.lines", alt="Macro-F1 and mean accuracy over revisions")
            else:
                st.info(widgets.plain(f"No accepted revision has been scored on {card.name} yet."))
            if accepted:
                under = len(accepted[-1].below_floor)
                told = f"{under} findings are" if under else "no finding is"
                st.caption(f"At revision {accepted[-1].revision.number} {told} under the accuracy floor of {floor}.")
            st.dataframe(
                revision_list.table(here, rows),
                hide_index=True,
                placeholder="—",
                alt="Revisions with their scores",
                column_config={"Macro-F1": st.column_config.NumberColumn(format="%.3f")},
            )
            st.caption("Lines join accepted revisions, hollow points are candidates; the table has rejected ones too.")
        with right:
            steps.draw(here, rows, TABS, COMPARE)
if by_finding.open and accepted:
    with by_finding:
        what = st.segmented_control(
            "Figure", ("F1", "Accuracy"), default="F1", required=True, key="history.what", label_visibility="collapsed"
        )
        names = [finding.name for finding in here.study.label_set.findings]
        if what == "Accuracy":
            st.markdown(f"Each cell is accuracy; those under the floor of {floor} are marked ▼.")
            drawn = history_figures.accuracy_heat(steps_of(rows), names, here.study.settings.gate.accuracy)
        else:
            st.markdown("Each cell is F1; what fell since the revision before is marked ▼.")
            drawn = history_figures.f1_heat(steps_of(rows), names)
        widgets.chart(drawn, key="history.heat", alt=f"{what} per finding over revisions")
if compared.open:
    with compared:
        points = [row.score for each in every.values() for row in each.scored if row.score]
        comparison.draw(here, points)
if decided.open:
    with decided:
        revision_list.records(here, rows)
if accepted and accepted[-1].score:
    widgets.score_facts(here, accepted[-1].score)
