"""Cohorts are drawn and unlocked on record; votes are frozen once and then stand."""

from collections.abc import Callable

from streamlit.testing.v1 import AppTest

from workbench.domain.annotations import Mark
from workbench.workflow.annotate import Entry, open_report, save
from workbench.workflow.cohorts import list_cohorts
from workbench.workflow.demo import LEAD, RATER
from workbench.workflow.ingest import import_reports
from workbench.workflow.reference import get_reference, list_references
from workbench.workflow.study import Study

Open = Callable[..., AppTest]


def field(app: AppTest, label: str) -> object:
    fields = [*app.main.text_input, *app.main.number_input]
    return next(field for field in fields if field.label == label)


def press(app: AppTest, label: str) -> AppTest:
    return next(button for button in app.main.button if button.label == label).click().run()


def take_in(study: Study, reports: int) -> None:
    path = study.folder / "reports.csv"
    # Texts of words of their own: near-duplicates would be drawn together.
    texts = [" ".join(chr(97 + i) * length for length in range(2, 14)) for i in range(reports)]
    lines = [f"r{i},p{i // 2},FINDINGS: {text}." for i, text in enumerate(texts)]
    path.write_text("\n".join(["id,patient,text", *lines]) + "\n", encoding="utf-8")
    columns = {"id": "id", "patient": "patient", "text": "text"}
    import_reports(study, study.actor("Lea"), path, columns=columns)


def test_a_cohort_is_drawn_by_whole_patients(open_page: Open, empty: Study) -> None:
    take_in(empty, 10)
    app = open_page(empty.folder, "cohorts", "Lea")
    field(app, "Name").set_value("tuning")
    field(app, "Reports").set_value(4)
    press(app, "Allocate the cohort")
    assert not app.exception
    (view,) = list_cohorts(empty)
    assert (view.cohort.name, view.reports, view.patients) == ("tuning", 4, 2)
    assert "Cohort tuning: 4 reports of 2 patients" in app.success[0].value.replace("\\", "")
    assert list(app.main.dataframe[0].value["Cohort"]) == ["tuning"]


def test_what_a_cohort_would_hold_is_seen_before_it_is_fixed(open_page: Open, study: Study) -> None:
    path = study.folder / "more.csv"
    texts = {"a1": "There is a small left pleural effusion.", "a2": "Acute fracture of the right clavicle."}
    path.write_text(
        "id,patient,text\n" + "".join(f"{i},{i},FINDINGS: {t}\n" for i, t in texts.items()), encoding="utf-8"
    )
    columns = {"id": "id", "patient": "patient", "text": "text"}
    import_reports(study, study.actor(LEAD), path, columns=columns)
    before = [view.cohort.name for view in list_cohorts(study)]
    app = open_page(study.folder, "cohorts", LEAD)
    field(app, "Reports").set_value(2)
    press(app, "See first what it would hold")
    assert not app.error
    assert any("Not fixed yet:** 2 reports of 2 patients" in element.value for element in app.main.markdown)
    assert any("21 of 21 findings have under 10 positives" in element.value for element in app.main.markdown)
    assert [view.cohort.name for view in list_cohorts(study)] == before


def test_more_reports_than_there_are_is_refused_in_a_sentence(open_page: Open, empty: Study) -> None:
    take_in(empty, 2)
    app = open_page(empty.folder, "cohorts", "Lea")
    field(app, "Name").set_value("tuning")
    press(app, "Allocate the cohort")
    assert "300 reports were asked for, 2 can be drawn" in app.error[0].value.replace("\\", "")
    assert list_cohorts(empty) == []


def test_a_cohort_that_cannot_assess_says_for_how_many_findings(open_page: Open, study: Study) -> None:
    app = open_page(study.folder, "cohorts", LEAD)
    assert any("have under 10 positives here" in element.value for element in app.main.markdown)
    assert len(app.main.get("plotly_chart")) == 1


def test_validation_is_unlocked_only_when_everything_is_named_beforehand(open_page: Open, study: Study) -> None:
    app = open_page(study.folder, "cohorts", LEAD)
    press(app, "Unlock on record")
    assert "must name beforehand" in app.error[0].value
    for label in ("Revision", "Labeler", 'Policy for "uncertain"', "Endpoint", "Why now"):
        field(app, label).set_value("as agreed")
    press(app, "Unlock on record")
    assert not any(view.locked for view in list_cohorts(study))


def test_votes_are_frozen_only_after_saying_that_the_raters_are_done(open_page: Open, study: Study) -> None:
    app = open_page(study.folder, "reference", LEAD)
    app.selectbox(key="reference.cohort").select("validation").run()
    freeze = next(button for button in app.main.button if button.label == "Freeze the reference")
    assert freeze.disabled
    assert len(list_references(study, study.actor(LEAD))) == 1
    told = app.main.warning[0].value.replace("\\", "")
    assert f"{RATER}: 120 of 120 reports not submitted" in told
    assert "rater3: 11 of 120 reports not submitted" in told
    assert "rater1:" not in told  # who is done
    assert "138 reports count as missing votes" in app.main.checkbox[0].label  # 120 + 2 + 11 + 3 + 2
    app.main.checkbox[0].check().run()
    press(app, "Freeze the reference")
    assert [r.name for r in list_references(study, study.actor(LEAD))] == ["development-1", "validation-1"]
    assert not app.exception


def test_the_reference_of_locked_validation_is_not_shown(open_page: Open, study: Study) -> None:
    app = open_page(study.folder, "reference", LEAD)
    app.selectbox(key="reference.cohort").select("validation").run()
    app.main.checkbox[0].check().run()
    press(app, "Freeze the reference")
    assert not app.exception
    assert not app.error
    assert "once this validation cohort is unlocked" in app.main.info[-1].value
    assert not [button for button in app.main.button if "counts" in button.label]
    assert not app.main.dataframe


def test_a_lead_sees_how_far_raters_are_before_freezing_and_no_labels(open_page: Open, study: Study) -> None:
    report = next(iter(list_cohorts(study)[1].cohort.members))
    rater, entry = study.actor(RATER), Entry(report)
    assert open_report(study, rater, "validation", entry).own is None
    save(study, rater, "validation", entry, {}, submitted=True, marks=frozenset({Mark.NONE_OF_THESE}))
    app = open_page(study.folder, "reference", LEAD)
    app.selectbox(key="reference.cohort").select("validation").run()
    bars = [element.proto.text for element in app.main.get("progress")]
    assert any(bar.startswith(f"{RATER}: 1 of 120") for bar in bars)
    assert not app.main.dataframe
    assert not app.main.get("plotly_chart")


def test_a_rater_sees_nothing_of_an_open_round(open_page: Open, study: Study) -> None:
    app = open_page(study.folder, "reference", RATER)
    app.selectbox(key="reference.cohort").select("validation").run()
    assert "Not shown to you before the round" in app.info[0].value
    assert not app.main.dataframe
    assert not app.main.get("progress")


def test_a_reference_is_shown_with_what_it_rests_on(open_page: Open, study: Study) -> None:
    app = open_page(study.folder, "reference", LEAD)
    reference = get_reference(study, study.actor(LEAD), "development-1")
    said = "\n".join(caption.value for caption in app.caption).replace("\\", "")
    for part in (reference.hash[:12], "4 of 6 votes", "Some of these votes are simulated", LEAD, *reference.raters):
        assert part in said
    app.session_state["reference.tabs"] = "Votes and coefficients"
    table = app.run().main.dataframe[0].value
    assert list(table["Finding"]) == [finding.name for finding in study.label_set.findings]
    assert (table["Present"] + table["Not present"] + table["Short"] == 300).all()
