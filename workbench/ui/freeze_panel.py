"""Freezing the votes of a cohort, with a word to say first where not all of them are in."""

import streamlit as st

from workbench.domain.cohorts import Cohort
from workbench.domain.hashing import short
from workbench.domain.references import VoteRule
from workbench.storage.references import ReferenceHead
from workbench.ui import data, state, widgets
from workbench.workflow import adjudicate, reference
from workbench.workflow.rounds import RoundView
from workbench.workflow.unsubmitted import Unsubmitted


def draw(here: state.Here, cohort: Cohort, view: RoundView | None, frozen: ReferenceHead | None) -> None:
    """Draw what freezing needs; ``frozen`` is the last vote that was frozen on the cohort, ``view`` its round."""
    progress = data.rating_progress(here, cohort.name)
    if view is None:
        for rater, n in progress.items():
            st.progress(
                min(n / len(cohort.members), 1.0),
                text=f"{widgets.plain(rater)}: {n} of {len(cohort.members)}",
                width=520,
            )
    if not progress:
        st.info("Nobody has submitted labels for this cohort yet. Raters label on the page Annotate.")
        return
    rule = view.round.rule if view else here.study.vote_rule
    st.markdown(
        f"Freezing counts the votes of **{widgets.plain(cohort.name)}** as they stand ({rule_text(rule)}). What is "
        "frozen never changes afterwards" + (", and the round is closed." if view and view.open else ".")
    )
    left = data.unsubmitted(here, cohort.name)
    reason = ""
    if frozen is not None:
        reason = st.text_input(f"Why is there another version after {frozen.name}?", key=f"freeze.reason.{cohort.name}")
    sure = _said(cohort, left)
    ready = sure and (frozen is None or bool(reason.strip()))
    if st.button("Freeze the reference", type="primary", disabled=not ready, icon=":material/lock:"):
        with widgets.explained(), st.spinner("Counting the votes"):
            made = reference.freeze(here.study, here.actor, cohort.name, reason=reason, incomplete=bool(left))
            left_open = adjudicate.left_open(here.study, made)
            state.say(f"Reference {made.name} ({short(made.hash)}) is frozen. {left_open.told}".strip())
            st.rerun()


def _said(cohort: Cohort, left: tuple[Unsubmitted, ...]) -> bool:
    """Return whether all is said that has to be; what is missing is named beside the box that says so."""
    if not left:
        return st.checkbox("The raters are done: freeze these votes for good", key=f"freeze.sure.{cohort.name}")
    who = "\n".join(f"- {widgets.plain(one.told)}" for one in left)
    st.warning(f"**Not everything is submitted:**\n\n{who}", icon=":material/hourglass_top:")
    missing = sum(one.missing for one in left)
    # The key holds the numbers, so that nobody has confirmed what has changed since.
    return st.checkbox(
        f"Freeze all the same: {missing:,} reports count as missing votes, and that stays on record",
        key=f"freeze.incomplete.{cohort.name}.{who}",
    )


def rule_text(rule: VoteRule) -> str:
    """Return a rule in words."""
    if rule.single_rater:
        return "one rater alone decides"
    return f"{rule.k} of {rule.n} votes make present, a tie is {str(rule.tie).replace('_', ' ')}"
