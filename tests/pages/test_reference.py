"""The page Reference once votes are frozen: two views, intervals, the reports behind a figure, and versions."""

from collections.abc import Callable
from pathlib import Path

from streamlit.testing.v1 import AppTest

from workbench.workflow.demo import LEAD, RATER
from workbench.workflow.ingest import import_labels
from workbench.workflow.reference import freeze, get_reference, summarize
from workbench.workflow.study import Study

Open = Callable[..., AppTest]


def tab(app: AppTest, name: str) -> AppTest:
    app.session_state["reference.tabs"] = name
    return app.run()


def said(app: AppTest) -> str:
    texts = [element.value for element in (*app.main.markdown, *app.main.caption, *app.main.info, *app.main.success)]
    return "\n".join(texts).replace("\\", "")


def test_each_view_is_named_and_gives_its_own_figures(open_page: Open, study: Study) -> None:
    app = open_page(study.folder, "reference", LEAD)
    assert "On two states (primary): present or not" in said(app)
    two = tab(app, "Votes and coefficients").main.dataframe[0].value
    app.segmented_control(key="reference.view").select("four-states").run()
    assert "Agreement on four states: present, uncertain, absent and not mentioned" in said(app)
    four = app.main.dataframe[0].value
    lead = study.actor(LEAD)
    views = summarize(study, lead, get_reference(study, lead, "development-1")).views
    for frame, view in ((two, "two-states"), (four, "four-states")):
        expected = [row.alpha.value for row in views[view].agreement.findings]  # type: ignore[index]
        assert list(frame["Alpha"]) == expected
    assert list(two["Present"]) == list(four["Present"])  # the vote itself has no view
    assert not app.exception


def test_intervals_are_in_the_table_and_what_drops_what_is_said(open_page: Open, study: Study) -> None:
    app = tab(open_page(study.folder, "reference", LEAD), "Votes and coefficients")
    app.segmented_control(key="reference.shown").select("95 % intervals").run()
    table = app.main.dataframe[0].value
    lead = study.actor(LEAD)
    agreement = summarize(study, lead, get_reference(study, lead, "development-1")).agreement
    assert agreement is not None
    mean = agreement.overall.alpha
    assert table.iloc[-1]["Finding"] == "Mean over findings"
    assert table.iloc[-1]["Alpha"] == f"{mean.value:.2f} ({mean.low:.2f}–{mean.high:.2f})"
    assert "of 37,800 votes are missing; nobody else's vote is dropped" in said(app)
    assert "Percent agreement, positive agreement and alpha leave them out" in said(app)
    assert "Fleiss and AC1 still count places with a lone vote" in said(app)


def test_split_reports_come_with_who_said_what(open_page: Open, study: Study) -> None:
    app = open_page(study.folder, "reference", LEAD)
    app.session_state["split.finding"] = "atelectasis"
    tab(app, "Split reports")
    listed = app.main.dataframe[0].value
    assert "Finding" not in listed.columns
    assert listed["Raters said"][0].startswith("3 present")  # the most split first
    assert f"Report **1 of {len(listed)}**" in said(app)
    assert f"**Atelectasis** in report **{listed['Report'][0]}**" in said(app)
    next(button for button in app.main.button if button.label == "Next").click().run()
    assert f"in report **{listed['Report'][1]}**" in said(app)
    app.selectbox(key="split.how").select("two raters").run()
    assert "Report **1 of" in said(app)
    app.selectbox(key="split.two").select("rater1").run()
    assert "Choose two different raters" in said(app)
    assert not app.exception


def test_a_rater_sees_agreement_after_the_rounds_and_never_who_said_what(open_page: Open, study: Study) -> None:
    freeze(study, study.actor(LEAD), "validation", incomplete=True)  # so that no round is open
    app = open_page(study.folder, "reference", RATER)
    assert len(app.main.get("plotly_chart")) == 1
    for name in ("Raters", "Split reports"):
        tab(app, name)
        assert "The lead and the adjudicator see who said what" in said(app)
        assert not app.main.dataframe
        assert not app.main.get("plotly_chart")


def test_the_raters_come_with_the_kept_benchmark_and_who_over_calls(open_page: Open, study: Study) -> None:
    app = tab(open_page(study.folder, "reference", LEAD), "Raters")
    assert "A single rater reaches" in said(app)
    assert "Who over-calls" in said(app)
    assert len(app.main.get("plotly_chart")) == 3
    assert not app.exception


def test_a_later_version_says_what_it_changed_and_why(open_page: Open, study: Study, tmp_path: Path) -> None:
    lead = study.actor(LEAD)
    first = get_reference(study, lead, "development-1")
    (report, finding), _ = next(
        (key, item) for key, item in sorted(first.items.items()) if item.present == 3 and not item.missing
    )
    voter = next(r for r in first.raters if _state(study, report, r, finding) != "present")
    path = tmp_path / f"{voter}.csv"
    columns = ",".join(study.label_set.ids)
    cells = ",".join("1" if f == finding else "" for f in study.label_set.ids)
    path.write_text(f"report_id,reviewed,{columns}\n{report},1,{cells}\n")
    import_labels(study, lead, path)
    second = freeze(study, lead, "development", reason="read again", incomplete=True)
    app = open_page(study.folder, "reference", LEAD)
    app.selectbox(key="reference.version.development").select(second.name).run()
    if any(button.label.startswith("Show counts") for button in app.main.button):
        next(button for button in app.main.button if button.label.startswith("Show counts")).click().run()
    tab(app, "Versions")
    assert f"decided differently in {second.name} than in {first.name}" in said(app)
    changed = app.main.dataframe[1].value
    assert (report, "present") in set(zip(changed["Report"], changed[second.name], strict=True))
    assert "read again" in said(app)


def _state(study: Study, report: str, rater: str, finding: str) -> str:
    with study.database.read() as conn:
        row = conn.execute(
            "SELECT states FROM annotations WHERE report_id = ? AND rater = ? ORDER BY id DESC", (report, rater)
        ).fetchone()
    import json

    return str(json.loads(row["states"]).get(finding)) if row else "missing"
