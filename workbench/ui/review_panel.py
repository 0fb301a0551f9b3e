"""What a lead sees of reviews: how far each reviewer is while one is open, and what was found once it is closed."""

from collections.abc import Sequence

import streamlit as st

from workbench.domain.reviews import OTHER, RATINGS, Fault
from workbench.storage.leaderboard import DataSetRecord
from workbench.ui import data, state, widgets
from workbench.ui.review_desk import FAULTS
from workbench.workflow import review, review_results, systems
from workbench.workflow.review import Progress
from workbench.workflow.review_results import Outcome, SystemReview

_HOW = (
    'A lead opens a review with the command `workbench review open DATA_SET --reviewer "Dr. A" --reviewer "Dr. B" '
    "--studies 30`, and takes in ratings that were made elsewhere with `workbench review import FILE.csv`."
)


def draw(here: state.Here) -> None:
    """Draw, for a lead, the open reviews, then what was found on one data set."""
    held = review.progress(here.study, here.actor)
    for each in held:
        _progress(here, each)
    rated = found_on(here)
    if rated:
        outcome(here, rated)
        return
    if not held:
        st.info("No generated report has been reviewed yet.")
    st.markdown(_HOW)


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


def _progress(here: state.Here, each: Progress) -> None:
    with st.container(border=True):
        name = each.view.review.name
        st.markdown(
            f"**{widgets.plain(name)}** of {widgets.plain(each.data_set.name)} is open: {each.items} reports to read "
            f"({len(each.view.review.study_ids)} studies). Ratings are shown once it is closed."
        )
        for reviewer, rated in each.rated.items():
            st.progress(rated / each.items, text=f"{widgets.plain(reviewer)}: {rated} of {each.items} rated")
        with st.popover("Close the review", icon=":material/lock:"):
            left = sum(each.items - rated for rated in each.rated.values())
            st.markdown(
                "Closing is for good: nobody can rate any more, and everybody sees what was said."
                + (f" **{left} ratings are still to be given.**" if left else "")
            )
            if st.button("Close it", type="primary", key=f"review.close.{name}"):
                with widgets.explained():
                    review.close_review(here.study, here.actor, each.data_set)
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
        st.markdown("**Agreement of the reviewers**")
        _agreement(found)
    with right:
        st.markdown("**Agreement of metrics with the reviewers**")
        _metrics(found)
    st.markdown("**Faults marked**, by how many ratings")
    rows = [row for one in found.systems for row in _faults(here, one)]
    if rows:
        st.dataframe(rows, hide_index=True, width="stretch")
    else:
        st.caption("None.")


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
    names = {finding.id: finding.name for finding in here.study.label_set.findings} | {OTHER: "anything else"}
    marked = [finding for finding in names if any(key[0] == finding for key in one.faults)]
    return [
        {
            "system": one.system,
            "finding": names[finding],
            **{FAULTS[fault][0]: one.faults.get((finding, fault), 0) for fault in Fault},
        }
        for finding in marked
    ]
