"""A frozen reference: what it rests on, agreement, versions, and the choice to adjudicate before anybody looks."""

import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator
from streamlit.elements.lib.column_types import ColumnConfig

from workbench.domain.actors import Role
from workbench.domain.hashing import short
from workbench.domain.references import Reference
from workbench.evaluation.agreement import Coefficients
from workbench.ui import data, rater_figures, rater_panel, split_panel, state, tables, widgets
from workbench.workflow import adjudicate, versions
from workbench.workflow.agreed import Agreed, View
from workbench.workflow.reference import ReferenceSummary

VALUES, INTERVALS = "Votes and values", "95 % intervals"
SHORT_NAMES = {
    "Prevalence": "Preval.",
    "Percent agreement": "Percent",
    "Positive agreement": "Positive",
    "Alpha": "Alpha",
    "Fleiss": "Fleiss",
    "AC1": "AC1",
    "Brennan-Prediger": "B-P",
}


def left_open(here: state.Here, chosen: Reference) -> int:
    """Return how many items can still be adjudicated blind; 0 once somebody looked or the adjudication is finished."""
    left = adjudicate.left_open(here.study, chosen)
    return 0 if left.closed else left.items


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


def draw(here: state.Here, chosen: Reference, known: list[Reference], top: DeltaGenerator) -> None:
    """Draw a reference's counts and agreement, which is a look at it, and the versions on its cohort.

    ``top`` is the row above in which one chooses what to see.
    """
    summary = data.summary(here, chosen.name)
    with top:
        view = _view(summary)
    _facts(here, summary)
    sees_raters = here.may(Role.LEAD, Role.ADMIN, Role.ADJUDICATOR)
    names = ["Agreement per finding", "Votes and coefficients", "Raters", split_panel.TAB, "Versions"]
    agreement, table, raters, split, kept = st.tabs(names, key="reference.tabs", on_change="rerun")
    if agreement.open:
        with agreement:
            _picture(here, summary, view, pick=sees_raters)
    if table.open:
        with table:
            _table(here, summary, view, pick=sees_raters)
    for tab, panel in ((raters, rater_panel), (split, split_panel)):
        if tab.open:
            with tab:
                if sees_raters:
                    panel.draw(here, chosen, view)
                else:
                    st.info("The lead and the adjudicator see who said what.")
    if kept.open:
        with kept:
            _versions(here, chosen, known)


def _view(summary: ReferenceSummary) -> View:
    if not summary.views:
        return View.TWO_STATES
    names = {View.TWO_STATES: "Two states (primary)", View.FOUR_STATES: "Four states"}
    picked = st.segmented_control(
        "Agreement on",
        list(View),
        default=View.TWO_STATES,
        format_func=names.__getitem__,
        required=True,
        key="reference.view",
        help="Two states: present or not, with “uncertain” counted by the vote policy, as in the vote itself. Four "
        "states: present, uncertain, absent and not mentioned as the raters gave them.",
    )
    return picked or View.TWO_STATES


def _facts(here: state.Here, summary: ReferenceSummary) -> None:
    it = summary.reference
    decided = sum(row.present + row.not_present for row in summary.findings)
    shorts, ties = (sum(getattr(row, name) for row in summary.findings) for name in ("short", "ties"))
    counts, facts = st.columns([6, 5], gap="medium")
    with counts, st.container(horizontal=True, gap="medium"):
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
    facts.caption(
        widgets.plain(
            f"{it.name} {short(it.hash)} · {rule}, a tie is {str(it.rule.tie).replace('_', ' ')} · uncertain "
            f"is {widgets.policy_text(it.vote_policies, here.study.label_set)} · raters: {', '.join(it.raters)} "
            f"· frozen by {it.author} on {it.created_at:%Y-%m-%d %H:%M} UTC"
        )
        + told
    )


def _picture(here: state.Here, summary: ReferenceSummary, view: View, *, pick: bool) -> None:
    if not summary.views:
        st.info("One rater alone made this reference, so there is no agreement to show.")
        return
    seen = summary.views[view]
    st.markdown(
        "Commonest finding on top. For rare findings AC1 flatters and alpha punishes, so read both beside positive "
        "agreement: of the votes for present, the share of fellow raters who said so too."
        + (" **Click a dot** for the reports behind it." if pick else "")
    )
    rows = [
        rater_figures.AgreementOfFinding(
            here.study.label_set.get(finding).name,
            row.prevalence,
            {"alpha": row.alpha, "AC1": row.ac1, "positive agreement": row.positive},
            finding,
            _left_out(row, seen.agreement.resamples),
        )
        for finding, row in zip(seen.agreement.finding_ids, seen.agreement.findings, strict=True)
    ]
    widgets.chart(
        rater_figures.agreement_dots(rows),
        key="reference.agreement",
        alt="Agreement per finding",
        on_pick=split_panel.go if pick else None,
    )
    overall = seen.agreement.overall
    means = {"alpha": overall.alpha, "AC1": overall.ac1, "positive agreement": overall.positive}
    told = " · ".join(f"{name} {widgets.figure_text(f)} (n = {f.n} findings)" for name, f in means.items())
    st.caption(f"On {view.words}. Means over the findings where defined: {told}.")
    _gaps(here, seen)


def _left_out(row: Coefficients, resamples: int) -> dict[str, str]:
    names = {"alpha": "alpha", "ac1": "AC1", "positive": "positive agreement"}
    return {
        names[name]: f"undefined in {times:,} of {resamples:,} draws of patients, which are left out"
        for name, times in row.left_out.items()
        if name in names and times
    }


def _gaps(here: state.Here, seen: Agreed) -> None:
    """Say what missing votes leave out of which coefficient, and what is undefined."""
    if seen.gaps.missing:
        st.caption(seen.gaps.told()[0])
    with st.expander("What is left out of which coefficient"):
        notes = tables.agreement_notes(seen.agreement, here.study.label_set)
        answers = ", ".join(widgets.STATE_NAMES[s] for s in seen.states)
        chosen = [f"Raters chose between: {answers}."] if seen.view is View.FOUR_STATES else []
        st.markdown("\n".join(f"- {widgets.plain(sentence)}" for sentence in (*seen.gaps.told(), *chosen, *notes)))


def _table(here: state.Here, summary: ReferenceSummary, view: View, *, pick: bool) -> None:
    label_set, wide = here.study.label_set, False
    if summary.views:
        ways = [VALUES, INTERVALS]
        shown = st.segmented_control(
            "Show", ways, default=VALUES, required=True, key="reference.shown", label_visibility="collapsed"
        )
        wide = shown == INTERVALS
    frame = (
        tables.intervals(summary.views[view].agreement, label_set) if wide else tables.votes(summary, view, label_set)
    )

    def picked() -> None:
        rows = st.session_state[key].selection.rows
        if rows and rows[0] < len(label_set.ids):
            split_panel.go(label_set.ids[rows[0]])

    key = f"reference.table.{wide}"
    st.dataframe(
        frame,
        hide_index=True,
        height="content",
        placeholder="—",
        column_config=_columns(wide=wide),
        key=key,
        on_select=picked if pick else "ignore",
        selection_mode="single-row",
        alt="Votes and agreement per finding",
    )
    if summary.views:
        st.caption(f"Agreement on {view.words}." + (" Choose a row for the reports behind it." if pick else ""))
        _gaps(here, summary.views[view])


def _columns(*, wide: bool) -> dict[str, ColumnConfig]:
    """Return columns so narrow that all of them are seen on a screen of 1400 pixels; full names on hover."""
    columns = {"Finding": st.column_config.TextColumn(width=190 if wide else 200, pinned=True)}
    for name, label in SHORT_NAMES.items():
        if wide:
            columns[name] = st.column_config.TextColumn(label, width=118, help=f"{name}, 95 % interval over patients")
        else:
            columns[name] = st.column_config.NumberColumn(label, width=70, format="%.3f", help=name)
    if not wide:
        for name, label in (("Present", "Present"), ("Not present", "Not"), ("Short", "Short"), ("Ties", "Ties")):
            columns[name] = st.column_config.NumberColumn(label, width=62, help=f"{name}: reports")
        columns["n"] = st.column_config.NumberColumn(width=50, help="Reports with two votes or more")
    return columns


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
    if not chosen.adjudicated and (told := adjudicate.left_open(here.study, chosen).told):
        st.caption(widgets.plain(told))
    if chosen.reason:
        st.caption(widgets.plain(f"{chosen.name}: {chosen.reason}"))
    parent = next((r for r in known if r.hash == chosen.parent_hash), None)
    if parent is None:
        if len(known) > 1:
            st.caption("Choose a later version above to see what it changed.")
        return
    found = versions.difference(parent, chosen)
    st.markdown("  \n".join(widgets.plain(sentence) for sentence in found.told))
    if found.outcomes:
        names = here.study.label_set
        lines = [
            (r, names.get(f).name, split_panel.OUTCOMES[old], split_panel.OUTCOMES[new])
            for r, f, old, new in found.outcomes
        ]
        st.dataframe(
            pd.DataFrame(lines, columns=["Report", "Finding", parent.name, chosen.name]),
            hide_index=True,
            alt="What changed from the version before",
        )
