"""A frozen reference: what it rests on, agreement, versions, and the choice to adjudicate before anybody looks."""

import pandas as pd
import streamlit as st

from workbench.domain.actors import Role
from workbench.domain.hashing import short
from workbench.domain.references import Outcome, Reference
from workbench.ui import data, rater_figures, rater_panel, state, tables, widgets
from workbench.workflow import adjudicate, versions
from workbench.workflow.reference import ReferenceSummary

OUTCOMES = {Outcome.PRESENT: "present", Outcome.NOT_PRESENT: "not present", Outcome.SHORT: "short"}


def left_open(here: state.Here, chosen: Reference, known: list[Reference]) -> int:
    """Return how many items can still be adjudicated blind; 0 once somebody looked or the adjudication is finished."""
    finished = any(other.parent_hash == chosen.hash and other.adjudicated for other in known)
    items = len(adjudicate.open_keys(chosen))
    return 0 if finished or not items or adjudicate.closed_because(here.study, chosen) else items


def choice(here: state.Here, chosen: Reference, items: int) -> None:
    """Offer to adjudicate before anybody sees a count; the first look ends it."""
    few = "1 item was" if items == 1 else f"{items:,} items were"
    st.markdown(
        f"**{widgets.plain(chosen.name)}** ({short(chosen.hash)}) is frozen. {few} left open by the vote: ties, or "
        "too few votes. An adjudicator can decide them without seeing names or counts, but only **before anybody "
        "looks at counts, agreement or a score**. The vote alone stays the primary reference either way."
    )
    with st.container(horizontal=True):
        if st.button("Adjudicate first", type="primary", icon=":material/gavel:", key="reference.adjudicate"):
            state.ask(state.Intent("adjudicate", phrase=chosen.name))
            st.switch_page(state.page("adjudicate"))
        if not here.may(Role.LEAD, Role.ADMIN):
            st.caption("The lead decides whether to end the adjudication and show counts.")
            return
        if st.button("Show counts and agreement (ends adjudication)", key="reference.look"):
            with widgets.explained():
                data.summary(here, chosen.name)
                st.rerun()


def draw(here: state.Here, chosen: Reference, known: list[Reference]) -> None:
    """Draw a reference's counts and agreement, which is a look at it, and the versions on its cohort."""
    summary = data.summary(here, chosen.name)
    _facts(here, summary)
    agreement, table, raters, kept = st.tabs(
        ["Agreement per finding", "Votes and coefficients", "Raters", "Versions"],
        key="reference.tabs",
        on_change="rerun",
    )
    with agreement:
        _picture(here, summary)
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
    if raters.open and here.may(Role.LEAD, Role.ADMIN, Role.ADJUDICATOR):
        with raters:
            rater_panel.draw(here, chosen)
    elif raters.open:
        with raters:
            st.info("The lead and the adjudicator compare the raters.")
    with kept:
        _versions(here, chosen, known)


def _facts(here: state.Here, summary: ReferenceSummary) -> None:
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
        if it.adjudicated:
            st.metric(
                "Adjudicated", f"{len(it.adjudicated):,}", width="content", help="Items decided blind by a person"
            )
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


def _picture(here: state.Here, summary: ReferenceSummary) -> None:
    if summary.agreement is None:
        st.info("One rater alone made this reference, so there is no agreement to show.")
        return
    overall = summary.agreement.overall
    st.markdown(
        "Commonest finding on top. For rare findings AC1 flatters and alpha punishes, so read both beside positive "
        "agreement: of the votes for present, the share of fellow raters who said so too."
    )
    rows = [
        rater_figures.AgreementOfFinding(
            here.study.label_set.get(finding).name,
            row.prevalence,
            {"alpha": row.alpha, "AC1": row.ac1, "positive agreement": row.positive},
        )
        for finding, row in zip(summary.agreement.finding_ids, summary.agreement.findings, strict=True)
    ]
    widgets.chart(rater_figures.agreement_dots(rows), key="reference.agreement", alt="Agreement per finding")
    means = {"alpha": overall.alpha, "AC1": overall.ac1, "positive agreement": overall.positive}
    told = " · ".join(f"{name} {widgets.figure_text(f)} (n = {f.n} findings)" for name, f in means.items())
    st.caption(f"Means over the findings where defined: {told}.")


def _versions(here: state.Here, chosen: Reference, known: list[Reference]) -> None:
    rows = [
        {
            "Reference": r.name,
            "Hash": short(r.hash),
            "Kind": "vote, adjudicated" if r.adjudicated else "vote alone",
            "Primary": r is known[0],
            "Made from": next((p.name for p in known if p.hash == r.parent_hash), "the votes"),
            "Frozen by": r.author,
            "When": r.created_at,
            "Reason": r.reason,
        }
        for r in known
    ]
    st.dataframe(
        pd.DataFrame(rows),
        hide_index=True,
        alt="The frozen references of this cohort",
        column_config={"When": st.column_config.DatetimeColumn(format="YYYY-MM-DD HH:mm")},
    )
    parent = next((r for r in known if r.hash == chosen.parent_hash), None)
    if parent is None:
        return
    changed = versions.difference(parent, chosen).outcomes
    st.markdown(f"**{len(changed)} items** are decided differently than in {widgets.plain(parent.name)}.")
    if changed:
        lines = [(r, here.study.label_set.get(f).name, OUTCOMES[old], OUTCOMES[new]) for r, f, old, new in changed]
        st.dataframe(
            pd.DataFrame(lines, columns=["Report", "Finding", parent.name, chosen.name]),
            hide_index=True,
            alt="What changed from the version before",
        )
