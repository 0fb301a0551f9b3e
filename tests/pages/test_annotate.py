"""The annotate page: drafts at each click, explicit nothing, own labels only."""

from collections.abc import Callable

import pytest
from streamlit.testing.v1 import AppTest

from workbench.domain.findings import State
from workbench.ui import rating
from workbench.workflow.annotate import Entry, open_report, queue
from workbench.workflow.demo import LEAD, RATER
from workbench.workflow.reference import freeze
from workbench.workflow.study import Study

Open = Callable[..., AppTest]


@pytest.fixture
def first(study: Study) -> Entry:
    """The report the demo rater is given first."""
    report = queue(study, study.actor(RATER), "validation").next
    assert report is not None
    return report


def own(study: Study, report: Entry) -> dict[str, State] | None:
    task = open_report(study, study.actor(RATER), "validation", report)
    return dict(task.own.states) if task.own else None


def control(report: Entry, of: str) -> str:
    return f"rate.{RATER}.validation.{report.report_id}.{report.reading}.{of}"


def mark(app: AppTest, report: Entry, finding: str, state: State) -> None:
    app.segmented_control(key=control(report, finding)).set_value(state).run()


def test_the_lead_is_told_who_rates(open_page: Open, study: Study) -> None:
    app = open_page(study.folder, "annotate", LEAD)
    assert "choose one of them at the left" in app.info[0].value
    assert RATER in app.info[0].value
    assert not app.main.segmented_control


def test_every_finding_has_a_control_that_starts_at_not_mentioned(open_page: Open, study: Study) -> None:
    app = open_page(study.folder, "annotate", RATER)
    assert len(app.main.segmented_control) == len(study.label_set.findings)
    assert {control.value for control in app.main.segmented_control} == {State.NOT_MENTIONED}


def test_each_click_is_saved_as_a_draft(open_page: Open, study: Study, first: Entry) -> None:
    app = open_page(study.folder, "annotate", RATER)
    assert own(study, first) is None
    mark(app, first, "fracture", State.PRESENT)
    assert own(study, first) == {"fracture": State.PRESENT}
    mark(app, first, "pneumonia", State.UNCERTAIN)
    assert own(study, first) == {"fracture": State.PRESENT, "pneumonia": State.UNCERTAIN}
    mark(app, first, "fracture", State.NOT_MENTIONED)
    assert own(study, first) == {"pneumonia": State.UNCERTAIN}
    assert first in queue(study, study.actor(RATER), "validation").drafts


def test_a_draft_is_there_again_in_another_session(open_page: Open, study: Study, first: Entry) -> None:
    mark(open_page(study.folder, "annotate", RATER), first, "fracture", State.PRESENT)
    again = open_page(study.folder, "annotate", RATER)
    assert again.segmented_control(key=control(first, "fracture")).value is State.PRESENT


def test_submitting_goes_on_to_the_next_report(open_page: Open, study: Study, first: Entry) -> None:
    app = open_page(study.folder, "annotate", RATER)
    mark(app, first, "fracture", State.PRESENT)
    app.button(key="rate.submit").click().run()
    after = queue(study, study.actor(RATER), "validation")
    assert after.submitted == {first}
    assert own(study, first) == {"fracture": State.PRESENT}
    assert after.next != first
    assert after.next is not None
    assert any(after.next.report_id in element.value for element in app.main.markdown)


def test_an_untouched_report_is_submitted_only_by_the_explicit_none(
    open_page: Open, study: Study, first: Entry
) -> None:
    app = open_page(study.folder, "annotate", RATER)
    app.button(key="rate.submit").click().run()
    assert "nothing is marked; say none of these" in app.error[0].value.replace("\\", "")
    assert queue(study, study.actor(RATER), "validation").submitted == frozenset()
    app.button(key="rate.none").click().run()
    assert queue(study, study.actor(RATER), "validation").submitted == {first}
    assert own(study, first) == {}


def test_none_of_these_is_closed_once_something_is_marked(open_page: Open, study: Study, first: Entry) -> None:
    app = open_page(study.folder, "annotate", RATER)
    mark(app, first, "fracture", State.UNCERTAIN)
    assert app.button(key="rate.none").disabled
    assert not app.button(key="rate.submit").disabled


def test_a_round_closed_meanwhile_refuses_in_a_sentence(open_page: Open, study: Study, first: Entry) -> None:
    app = open_page(study.folder, "annotate", RATER)
    freeze(study, study.actor(LEAD), "validation")
    mark(app, first, "fracture", State.PRESENT)
    assert not app.exception
    assert "validation-round-1 is closed" in app.info[0].value.replace("\\", "")
    assert own(study, first) is None


def test_a_finding_is_explained_by_definition_include_and_exclude(study: Study) -> None:
    finding = study.label_set.get("fracture")
    told = rating.finding_help(finding).replace("\\", "")
    for part in (finding.name_zh, finding.definition, finding.include, finding.exclude):
        assert part in told
