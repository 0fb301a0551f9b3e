"""Reports: import them, find them, and read one as a labeler does."""

import streamlit as st

from workbench.domain.actors import Role
from workbench.ui import data, state, tables, uploads, widgets
from workbench.workflow.browse import ReportLine

ANY = "all"
MOST = 5000  # rows that are sent to the browser
LONG = 2500  # characters from which a report scrolls by itself


def filtered(lines: tuple[ReportLine, ...], text: str, cohort: str, section: str) -> list[ReportLine]:
    wanted = text.strip().lower()
    return [
        line
        for line in lines
        if (cohort == ANY or cohort in line.cohorts or (cohort == "in no cohort" and not line.cohorts))
        and (section == ANY or section in line.sections)
        and (not wanted or wanted in line.id.lower() or wanted in line.patient_id.lower() or wanted in line.search)
    ]


here = state.here()
shelf = data.shelf(here)
widgets.head("Reports", "The reports of this study. Choose one in the table to read it as a labeler does.")
views = data.cohort_views(here)
if here.may(Role.LEAD, Role.ADMIN):
    uploads.import_panel(here, expanded=not shelf.lines and not shelf.hidden)
if not shelf.lines:
    if shelf.hidden:
        st.info(f"All {shelf.hidden} reports are in a locked validation cohort, hidden from whoever edits prompts.")
    elif here.may(Role.LEAD, Role.ADMIN):
        st.info("There are no reports yet. Import a file of them above to begin.")
    else:
        st.info("There are no reports yet. The study lead imports them.")
    st.stop()

with st.container(horizontal=True, gap="large"):
    st.metric("Reports you may read", f"{len(shelf.lines):,}", width="content")
    st.metric("Patients", f"{len({line.patient_id for line in shelf.lines}):,}", width="content")
    for view in views:
        lock = " (locked)" if view.locked else ""
        st.metric(f"{widgets.plain(view.cohort.name)}{lock}", f"{view.reports:,}", width="content")
if shelf.hidden:
    st.caption(
        f"{shelf.hidden} reports are hidden: their validation cohort is locked, and whoever edits prompts must not see "
        "them before it is unlocked on record."
    )

left, right = st.columns([5, 4], gap="medium")
with left:
    search, by_cohort, by_section = st.columns([3, 2, 2])
    text = search.text_input("Search", placeholder="word, report or patient id", key="reports.search")
    cohort = by_cohort.selectbox("Cohort", [ANY, *(v.cohort.name for v in views), "in no cohort"])
    section = by_section.selectbox(
        "Has section", [ANY, *sorted({s for line in shelf.lines for s in line.sections})], key="reports.section"
    )
    lines = filtered(shelf.lines, text, cohort, section)
    chosen = st.dataframe(
        tables.reports(lines[:MOST]),
        hide_index=True,
        height=min(37 + 35 * max(len(lines), 1), 560),
        on_select="rerun",
        selection_mode="single-row",
        key="reports.table",
        column_config={
            "Words": st.column_config.NumberColumn(help="in the sections that a labeler reads"),
            "Begins with": st.column_config.TextColumn(width="large"),
        },
        alt="Reports with patient, cohort and beginning",
    )
    cut = f"; the first {MOST:,} are listed, search to narrow them down" if len(lines) > MOST else ""
    st.caption(f"{len(lines):,} of {len(shelf.lines):,} reports{cut}")
with right:
    picked = chosen.selection.rows
    line = lines[picked[0]] if picked and picked[0] < len(lines) else next(iter(lines), None)
    if line is None:
        st.info("No report fits these filters.")
    else:
        report = data.report(here, line.id)
        st.markdown(f"**{widgets.plain(report.id)}** · patient {widgets.plain(report.patient_id)}")
        read = here.study.settings.sections
        with st.container(height=640 if len(report.text) > LONG else "content", border=False):
            widgets.report_text(report, read)
        st.caption(f"A labeler reads: {', '.join(read)}. {line.words} words of this report.")
