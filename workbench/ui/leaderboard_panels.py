"""Panels of the leaderboard: systems in order, two systems at a time, two metrics at a time."""

import streamlit as st

from workbench.ui import leaderboard_data, leaderboard_errors, widgets
from workbench.ui.leaderboard_figures import systems_with_intervals
from workbench.ui.state import Here
from workbench.workflow.extractor import order_words
from workbench.workflow.leaderboard import Board
from workbench.workflow.leaderboard_words import SHARED, counted, direction, unranked_words


def draw_systems(here: Here, board: Board) -> None:
    """Draw the systems by one metric with intervals and ties, by all metrics in a table, and the page to save."""
    by_name = {column.metric.name: column for column in board.columns}
    chosen = st.segmented_control("Metric", list(by_name), default=next(iter(by_name)), required=True, key="lb.metric")
    column = by_name[str(chosen)]
    told = direction(column.metric.higher_is_better)
    n = column.ranking.systems[0].value.n
    of_what = counted(n, "finding") if column.ranking.n_findings else counted(n, "study", "studies")
    over = f"over {of_what}" if n else "each over its own studies, not ranked"
    drawn = systems_with_intervals(
        leaderboard_data.lines(column), f"{column.metric.name}, {told}, 95 % interval, {over}"
    )
    widgets.chart(drawn, key=f"leaderboard.lines.{column.metric.id}", alt=f"Systems by {column.metric.name}")
    tied = any(place.tied_with for place in column.ranking.systems)
    ties = (
        f"An orange line joins systems that are tied: their difference may be chance. {SHARED}"
        if tied
        else "No two systems are tied."
    )
    for told in (unranked_words(column.ranking) or ties, column.metric.definition):
        if told:
            st.caption(widgets.plain(told))
    if column.judge:
        st.caption(widgets.plain(column.judge))
    if board.ground:
        st.caption(widgets.plain(board.ground))
    st.dataframe(
        leaderboard_data.table(board).style.format(precision=3, na_rep="—"),
        hide_index=True,
        alt="Systems by metric",
        placeholder="—",
        column_config={"System": st.column_config.TextColumn(width=240)},
    )
    for sentence in board.uneven:
        st.caption(widgets.plain(sentence))
    page = leaderboard_data.html(here, board)
    name = f"{board.scoring.data_set.name}.html"
    st.download_button("Save as a page (HTML)", page, name, icon=":material/download:")


def draw_pairs(here: Here, board: Board) -> None:
    """Draw every two systems' difference, and what the labeler's own errors leave open of their order."""
    compared = leaderboard_data.pairs(board)
    if compared.empty:
        st.info("There are no two systems with a Ran Score to compare.")
    else:
        st.caption(
            "Each two compared by swapping their reports within patients; p-values corrected over all pairs (Holm)."
        )
        st.dataframe(compared, hide_index=True, alt="Pairs of systems by Ran Score")
    if board.errors is None:
        st.caption("How much the labeler errs is not known here: it has no score on a reference of this study.")
        return
    order, source = order_words(board.errors)
    st.markdown(
        f"**What the labeler's own errors leave open.** {widgets.plain(f'{order} {source}'.strip())} "
        "Where many tables had to be emptied, too few reports were labelled to tell."
    )
    st.dataframe(leaderboard_data.errors(board), hide_index=True, alt="Systems without the labeler's errors")
    leaderboard_errors.draw(here, board.errors)


def draw_metrics(here: Here, board: Board) -> None:
    """Draw how far every two metrics put reports into the same order."""
    st.caption(
        "How far two metrics put the same reports into the same order: 1 the same, 0 no common order, -1 the reverse. "
        "Intervals are over patients."
    )
    with st.spinner("Comparing metrics", show_time=True):
        table = leaderboard_data.together(here, board)
    st.dataframe(table, hide_index=True, alt="Metrics with each other")
