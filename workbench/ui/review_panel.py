"""What a lead sees of reviews: how far each reviewer is while one is open, and what was found once it is closed."""

from collections.abc import Sequence

import streamlit as st

from workbench.domain.actors import Role
from workbench.domain.people import name_key
from workbench.domain.reviews import OTHER, RATINGS, Fault
from workbench.evaluation.marking import COEFFICIENTS, MarksAgreement
from workbench.storage.leaderboard import DataSetRecord
from workbench.ui import data, review_opening, state, widgets
from workbench.ui.review_desk import FAULTS
from workbench.workflow import review, review_results, systems
from workbench.workflow.review import Progress
from workbench.workflow.review_results import Outcome, SystemReview

_ELSEWHERE = "Ratings that were made elsewhere come in with the command `workbench review import FILE.csv`."


def draw(here: state.Here) -> None:
    """Draw, for a lead, the open reviews, what was found on one data set, and how a review is opened."""
    held = review.progress(here.study, here.actor)
    for each in held:
        with st.container(border=True):
            st.markdown(
                f"**{widgets.plain(each.view.review.name)}** of {widgets.plain(each.data_set.name)} is open: "
                f"{each.items} reports to read ({len(each.view.review.study_ids)} studies). Ratings are shown once it "
                "is closed."
            )
            _bars(each)
            if here.may(Role.LEAD):
                with st.popover("Close the review", icon=":material/lock:"):
                    _closing(here, each)
    rated = found_on(here)
    if rated:
        outcome(here, rated)
    elif not held:
        st.info("No generated report has been reviewed yet.")
    review_opening.draw(here, held=bool(held), expanded=not held and not rated)
    if not rated:
        st.caption(_ELSEWHERE)


def beside_desk(here: state.Here) -> None:
    """Draw, for a lead who reviews too, how far everybody is in their review, and how it is closed.

    Counts alone: whoever reviews is told no data set, no system and nothing that was said.
    """
    if not here.may(Role.LEAD, Role.ADMIN):
        return
    own = [each for each in review.progress(here.study, here.actor) if _takes_part(here, each)]
    with st.popover("Reviewers", icon=":material/group:", help="How far everybody is; closing the review."):
        for each in own:
            st.markdown(f"**{widgets.plain(each.view.review.name)}**: ratings are shown once it is closed.")
            _bars(each)
            if here.may(Role.LEAD):
                _closing(here, each)


def _takes_part(here: state.Here, each: Progress) -> bool:
    return name_key(here.actor.name) in map(name_key, each.view.review.reviewers)


def found_on(here: state.Here) -> list[DataSetRecord]:
    """Return the data sets whose ratings may be seen; none for somebody who must stay blind."""
    if data.blinding_round(here):
        return []
    return review_results.rated_data_sets(here.study, systems.data_sets(here.study, here.actor))


def outcome(here: state.Here, rated: Sequence[DataSetRecord]) -> None:
    """Draw what the reviewers of one of some data sets said."""
    names = [f"{d.name} ({d.task})" for d in rated]
    chosen = st.selectbox("What the reviewers of a data set said", names, key="review.data-set", width=420)
    with widgets.explained():
        _outcome(here, _results(here, rated[names.index(chosen)]))


def _bars(each: Progress) -> None:
    for reviewer, rated in each.rated.items():
        st.progress(rated / each.items, text=f"{widgets.plain(reviewer)}: {rated} of {each.items} rated")


def _closing(here: state.Here, each: Progress) -> None:
    name = each.view.review.name
    left = sum(each.items - rated for rated in each.rated.values())
    st.markdown(
        "Closing is for good: nobody can rate any more, and everybody sees what was said."
        + (f" **{left} ratings are still to be given.**" if left else "")
    )
    reason = st.text_input("Reason (optional)", key=f"review.close-reason.{name}")
    if st.button("Close it", type="primary", key=f"review.close.{name}"):
        with widgets.explained():
            review.close_review(here.study, here.actor, each.data_set, reason=reason)
            state.say(f"{name} is closed.")
            st.rerun()


def _results(here: state.Here, data_set: DataSetRecord) -> Outcome:
    return data.kept(here, "reviewed", lambda: review_results.results(here.study, here.actor, data_set), data_set.hash)


def _outcome(here: state.Here, found: Outcome) -> None:
    st.dataframe(
        [
            {
                "system": one.system,
                "mean rating (95 %)": widgets.figure_text(one.rating, 2),
                "studies": one.rating.n,
                **{f"{step}": n for step, n in enumerate(one.given, 1)},
                "faults a report (95 %)": widgets.figure_text(one.per_report, 2),
            }
            for one in found.systems
        ],
        hide_index=True,
        width="stretch",
    )
    scale = " · ".join(f"{step} {words.lower()}" for step, words in RATINGS.items())
    st.caption(
        widgets.plain(
            f"{scale}. By {', '.join(f'{name} ({n})' for name, n in found.reviewers.items())}"
            + (f"; {found.imported} imported" if found.imported else "")
            + (f"; {found.outdated} more are of texts that were replaced since" if found.outdated else "")
            + ("." if found.patients_known else "; one patient per study assumed.")
        )
    )
    left, right = st.columns([9, 11], gap="large")
    with left:
        st.markdown("**Agreement of the reviewers on the rating**")
        _agreement(found)
    with right:
        st.markdown("**Agreement of metrics with the reviewers**")
        _metrics(found)
    st.markdown("**Faults marked**, by how many ratings")
    rows = [row for one in found.systems for row in _faults(here, one)]
    if not rows:
        st.caption("None.")
        return
    st.dataframe(rows, hide_index=True, width="stretch")
    st.markdown("**Agreement of the reviewers on faults**, with 95 % intervals")
    _marks(here, found.marks)


def _agreement(found: Outcome) -> None:
    agreement = found.agreement
    figures = {
        "ordinal alpha (Krippendorff)": agreement.alpha,
        "equal ratings": agreement.percent,
        "at most one step apart": agreement.within_one,
    }
    st.dataframe(
        [
            {"of two reviewers": name, "value (95 %)": widgets.figure_text(value, 2), "texts": value.n}
            for name, value in figures.items()
        ],
        hide_index=True,
        width="stretch",
    )
    st.caption("Alpha is 1 where all agree and about 0 where ratings are given at random.")


def _marks(here: state.Here, found: MarksAgreement) -> None:
    names = _names(here)
    st.dataframe(
        [
            {
                "finding": names[row.finding_id],
                "fault": FAULTS[row.fault][0] if row.fault else "any",
                "marked in": f"{row.marked} of {row.ratings}",
                "texts of two": row.texts,
                **{COEFFICIENTS[name]: widgets.figure_text(value, 2) for name, value in row.figures().items()},
            }
            for row in found.rows
        ],
        hide_index=True,
        width="stretch",
    )
    means = "; ".join(
        f"{COEFFICIENTS[name]} {widgets.figure_text(value, 2)} over {value.n}" for name, value in found.overall.items()
    )
    st.caption(
        widgets.plain(
            f"Texts of two: how many two or more reviewers rated. {found.ground}: {means}. Positive specific agreement "
            "is the share of marks that another reviewer of the same text set too. Alpha and AC1 take out what chance "
            "would give; for faults that are rare alpha is strict and AC1 flatters, so read both beside it."
        )
    )


def _names(here: state.Here) -> dict[str, str]:
    return {finding.id: finding.name for finding in here.study.label_set.findings} | {OTHER: "anything else"}


def _metrics(found: Outcome) -> None:
    if not found.metrics:
        st.caption(widgets.plain(found.no_metrics))
        return
    st.dataframe(
        [
            {
                "metric": each.metric.name + ("" if each.metric.higher_is_better else " (lower is better)"),
                "Kendall tau-b (95 %)": widgets.figure_text(each.correlation.kendall, 2),
                "Spearman (95 %)": widgets.figure_text(each.correlation.spearman, 2),
                "texts": each.correlation.kendall.n,
            }
            for each in found.metrics
        ],
        hide_index=True,
        width="stretch",
    )


def _faults(here: state.Here, one: SystemReview) -> list[dict[str, object]]:
    names = _names(here)
    marked = [finding for finding in names if any(key[0] == finding for key in one.faults)]
    return [
        {
            "system": one.system,
            "finding": names[finding],
            **{FAULTS[fault][0]: one.faults.get((finding, fault), 0) for fault in Fault},
        }
        for finding in marked
    ]
