"""Reference: from votes to a frozen standard, and how far the raters agreed."""

import streamlit as st

from workbench.domain.actors import Role
from workbench.domain.cohorts import Purpose
from workbench.domain.hashing import short
from workbench.ui import data, figures, state, tables, widgets
from workbench.workflow import reference
from workbench.workflow.reference import ReferenceSummary


def freeze_panel(here: state.Here, cohort: str, reports: int) -> None:
    rule = here.study.vote_rule
    st.markdown(
        f"**{widgets.plain(cohort)}** has no reference yet. Freezing counts the votes as they stand: a finding is "
        f"present when at least {rule.k} of {rule.n} raters say so, and an even split becomes "
        f"{str(rule.tie).replace('_', ' ')}. The reference never changes afterwards and the round is closed."
    )
    progress = data.rating_progress(here, cohort)
    if not progress:
        st.info("Nobody has submitted labels for this cohort yet. Raters label on the page Annotate.")
    for rater, done in progress.items():
        st.progress(done / reports, text=f"{widgets.plain(rater)}: {done} of {reports} reports submitted", width=520)
    sure = st.checkbox("The raters are done: freeze these votes for good", disabled=not progress)
    if st.button("Freeze the reference", type="primary", disabled=not sure, icon=":material/lock:"):
        with widgets.explained(), st.spinner("Counting the votes"):
            made = reference.freeze(here.study, here.actor, cohort)
            state.say(f"Reference {made.name} ({short(made.hash)}) is frozen.")
            st.rerun()


def facts(here: state.Here, summary: ReferenceSummary) -> None:
    it = summary.reference
    decided = sum(row.present + row.not_present for row in summary.findings)
    shorts, ties = (sum(getattr(row, name) for row in summary.findings) for name in ("short", "ties"))
    with st.container(horizontal=True, gap="large"):
        st.metric("Reports", f"{summary.reports:,}", width="content")
        st.metric("Raters", len(it.raters), width="content")
        st.metric("Decided", f"{decided:,}", width="content", help="Report and finding pairs that the vote decided")
        st.metric(
            "Short", f"{shorts:,}", width="content", help="Too few votes to decide; left out of scores and counted"
        )
        st.metric("Ties", f"{ties:,}", width="content", help="Full votes split evenly")
    rule = "one rater alone" if it.rule.single_rater else f"{it.rule.k} of {it.rule.n} votes make present"
    told = "  \n:orange[Some of these votes are simulated.]" if it.simulated else ""
    st.caption(
        widgets.plain(
            f"{it.name} {short(it.hash)} · {rule}, a tie is {str(it.rule.tie).replace('_', ' ')} · uncertain "
            f"is {widgets.policy_text(it.vote_policies, here.study.label_set)} · raters: {', '.join(it.raters)} "
            f"· frozen by {it.author} on {it.created_at:%Y-%m-%d %H:%M} UTC"
        )
        + told
    )


def picture(here: state.Here, summary: ReferenceSummary) -> None:
    if summary.agreement is None:
        st.info("One rater alone made this reference, so there is no agreement to show.")
        return
    overall = summary.agreement.overall
    st.markdown(
        "Commonest finding on top. For rare findings AC1 flatters and alpha punishes, so read both beside positive "
        "agreement: of the votes for present, the share of fellow raters who said so too."
    )
    rows = [
        figures.AgreementOfFinding(
            here.study.label_set.get(finding).name,
            row.prevalence,
            {"alpha": row.alpha, "AC1": row.ac1, "positive agreement": row.positive},
        )
        for finding, row in zip(summary.agreement.finding_ids, summary.agreement.findings, strict=True)
    ]
    widgets.chart(figures.agreement_dots(rows), key="reference.agreement", alt="Agreement per finding")
    means = {"alpha": overall.alpha, "AC1": overall.ac1, "positive agreement": overall.positive}
    told = " · ".join(f"{name} {widgets.figure_text(f)} (n = {f.n} findings)" for name, f in means.items())
    st.caption(f"Means over the findings where defined: {told}.")


def drawn(here: state.Here, summary: ReferenceSummary) -> None:
    agreement, table = st.tabs(["Agreement per finding", "Votes and coefficients"])
    with agreement:
        picture(here, summary)
    with table:
        columns = {name: st.column_config.NumberColumn(format="%.3f") for name in tables.COEFFICIENTS.values()}
        st.dataframe(
            tables.votes(summary, here.study.label_set),
            hide_index=True,
            height=780,
            placeholder="—",
            column_config=columns,
            alt="Votes and agreement per finding",
        )


here = state.here()
widgets.head("Reference", "The raters' votes become the standard that every score is measured against.")
views = data.cohort_views(here)
if not views:
    widgets.missing("There is no cohort yet. Allocate one, then let raters label it.", "cohorts", "Allocate a cohort")
cards = data.reference_cards(here)
with_card = {card.cohort for card in cards}
names = [v.cohort.name for v in views if v.cohort.purpose is not Purpose.EVALUATION]
in_use = next((c.cohort for c in cards if c.name == st.session_state.get(state.REFERENCE)), names[0])
cohort = st.selectbox("Cohort", names, index=names.index(in_use), key="reference.cohort", width=260)
mine = [card for card in cards if card.cohort == cohort]
if not mine:
    if here.may(Role.LEAD, Role.ADMIN):
        freeze_panel(here, cohort, next(v.reports for v in views if v.cohort.name == cohort))
    else:
        st.info("This reference is not frozen yet. Until then nobody who rates sees other people's labels.")
    st.stop()
name = mine[0].name if len(mine) == 1 else st.selectbox("Reference", [card.name for card in mine], width=260)
summary = data.summary(here, name)
facts(here, summary)
drawn(here, summary)
