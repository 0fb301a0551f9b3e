"""The annotate page: drafts at each click, explicit nothing, own labels only."""

from collections.abc import Callable
from dataclasses import replace

import pytest
from streamlit.testing.v1 import AppTest
from streamlit.testing.v1.element_tree import ButtonGroup

from workbench.domain.annotations import Mark
from workbench.domain.findings import State
from workbench.ui import rating
from workbench.ui.state import Here
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


def shown(app: AppTest, report: Entry, finding: str) -> ButtonGroup:
    """The control of a finding, whichever version of it is on the page."""
    return next(c for c in app.main.segmented_control if str(c.key).startswith(f"{control(report, finding)}."))


def mark(app: AppTest, report: Entry, finding: str, state: State) -> None:
    shown(app, report, finding).set_value(state).run()


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
    assert shown(again, first, "fracture").value is State.PRESENT


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
    freeze(study, study.actor(LEAD), "validation", incomplete=True)
    mark(app, first, "fracture", State.PRESENT)
    assert not app.exception
    assert "validation-round-1 is closed" in app.info[0].value.replace("\\", "")
    assert own(study, first) is None


def test_a_finding_is_explained_by_definition_include_and_exclude(study: Study) -> None:
    finding = study.label_set.get("fracture")
    told = rating.finding_help(finding).replace("\\", "")
    for part in (finding.name_zh, finding.definition, finding.include, finding.exclude):
        assert part in told


@pytest.mark.parametrize("field", ["name", "name_zh", "definition", "include", "exclude"])
def test_markdown_in_a_finding_is_explained_as_text(study: Study, field: str) -> None:
    hostile = replace(study.label_set.get("fracture"), **{field: "[x](http://y) $z$"})
    assert r"\[x\]\(http\://y\) \$z\$" in rating.finding_help(hostile)


def press(app: AppTest, key: str) -> AppTest:
    return app.button(key=f"rate.{key}").click().run()


def test_each_finding_shows_its_key(open_page: Open, study: Study) -> None:
    app = open_page(study.folder, "annotate", RATER)
    labels = [control.label for control in app.main.segmented_control]
    keys = rating.keys(Here(study, study.actor(RATER)))
    assert all(label.startswith(f"`{key}` ") for label, key in zip(labels, keys.values(), strict=True))


def test_undo_takes_back_one_change_after_the_other(open_page: Open, study: Study, first: Entry) -> None:
    app = open_page(study.folder, "annotate", RATER)
    mark(app, first, "fracture", State.PRESENT)
    mark(app, first, "fracture", State.UNCERTAIN)
    press(app, "undo-button")
    assert own(study, first) == {"fracture": State.PRESENT}
    assert shown(app, first, "fracture").value is State.PRESENT
    press(app, "undo-button")
    assert own(study, first) == {}
    press(app, "undo-button")
    assert own(study, first) == {}
    assert not app.exception


def test_two_tabs_lose_nothing_and_show_what_was_saved_last(open_page: Open, study: Study, first: Entry) -> None:
    one, two = (open_page(study.folder, "annotate", RATER) for _ in range(2))
    mark(one, first, "fracture", State.PRESENT)
    mark(two, first, "pneumonia", State.UNCERTAIN)
    assert own(study, first) == {"fracture": State.PRESENT, "pneumonia": State.UNCERTAIN}
    assert shown(two, first, "fracture").value is State.PRESENT
    mark(one, first, "fracture", State.UNCERTAIN)
    assert shown(one, first, "pneumonia").value is State.UNCERTAIN
    assert own(study, first) == {"fracture": State.UNCERTAIN, "pneumonia": State.UNCERTAIN}


def test_an_unsure_report_is_put_aside_and_comes_back_at_the_end(open_page: Open, study: Study, first: Entry) -> None:
    app = open_page(study.folder, "annotate", RATER)
    mark(app, first, "fracture", State.UNCERTAIN)
    press(app, "come-back")
    after = queue(study, study.actor(RATER), "validation")
    assert after.flagged == {first}
    assert after.next == after.order[1]
    assert any(after.order[1].report_id in element.value for element in app.main.markdown)
    assert "1 to come back to" in app.main.get("progress")[0].proto.text
    press(app, "previous")
    assert any("to come back to" in element.value for element in app.main.markdown)
    press(app, "submit")
    assert queue(study, study.actor(RATER), "validation").submitted == {first}


def test_a_comment_is_kept_with_draft_and_submission(open_page: Open, study: Study, first: Entry) -> None:
    app = open_page(study.folder, "annotate", RATER)
    app.text_input(key=control(first, "comment")).set_value("old film?").run()
    mark(app, first, "fracture", State.PRESENT)
    press(app, "submit")
    saved = open_report(study, study.actor(RATER), "validation", first).submitted
    assert saved is not None
    assert (saved.comment, saved.states) == ("old film?", {"fracture": State.PRESENT})


def test_submitted_labels_change_only_with_a_reason(open_page: Open, study: Study, first: Entry) -> None:
    app = open_page(study.folder, "annotate", RATER)
    press(app, "none")
    press(app, "previous")
    mark(app, first, "fracture", State.PRESENT)
    press(app, "submit")
    assert "say why they change" in app.error[0].value
    app.text_input(key=control(first, "reason")).set_value("overlooked the rib")
    press(app, "submit")
    saved = open_report(study, study.actor(RATER), "validation", first).submitted
    assert saved is not None
    assert (saved.reason, saved.states) == ("overlooked the rib", {"fracture": State.PRESENT})


def test_after_a_block_a_pause_is_offered(open_page: Open, study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("workbench.ui.rating_state.BLOCK", 2)
    app = open_page(study.folder, "annotate", RATER)
    press(app, "none")
    assert app.main.segmented_control
    press(app, "none")
    assert "A good moment to rest your eyes" in app.success[0].value
    assert not app.main.segmented_control
    press(app, "go-on")
    assert app.main.segmented_control


def test_the_time_left_is_told_from_ones_own_pace(open_page: Open, study: Study) -> None:
    app = open_page(study.folder, "annotate", RATER)
    assert "left" not in app.main.get("progress")[0].proto.text
    press(app, "none")
    assert " min left" in app.main.get("progress")[0].proto.text


def test_a_second_reading_looks_like_any_other(open_page: Open, study: Study) -> None:
    order = queue(study, study.actor(RATER), "validation").order
    app = open_page(study.folder, "annotate", RATER)
    again = next(i for i, entry in enumerate(order) if entry.reading == 2)
    app.session_state[f"rate.report.{RATER}.validation"] = order[again]
    app.run()
    (line,) = [m.value for m in app.main.markdown if "Report " in m.value]
    assert line.replace("\\", "") == f"**Report {again + 1} of {len(order)}** · {order[again].report_id} · new"
    assert own(study, order[again]) is None


def toggle(app: AppTest, *, on: bool) -> AppTest:
    return app.toggle(key="rate.highlight").set_value(on).run()


def report_html(app: AppTest) -> str:
    return next(str(e.proto.body) for e in app.main.get("html") if "wb-report" in str(e.proto.body))


def test_phrases_are_highlighted_on_request_only(open_page: Open, study: Study) -> None:
    app = open_page(study.folder, "annotate", RATER)
    assert "<mark>" not in report_html(app)
    toggle(app, on=True)
    assert "<mark>" in report_html(app)
    assert any("can draw the eye" in caption.value for caption in app.main.caption)


def test_highlighting_is_recorded_at_once_and_stays_when_it_is_switched_off(
    open_page: Open, study: Study, first: Entry
) -> None:
    app = open_page(study.folder, "annotate", RATER)
    toggle(app, on=True)
    draft = open_report(study, study.actor(RATER), "validation", first).own
    assert draft is not None
    assert (draft.marks, draft.submitted) == ({Mark.HIGHLIGHTED}, False)
    toggle(app, on=False)
    press(app, "none")
    press(app, "none")
    order = queue(study, study.actor(RATER), "validation").order
    marks = [open_report(study, study.actor(RATER), "validation", entry).submitted for entry in order[:2]]
    assert [Mark.HIGHLIGHTED in (m.marks if m else ()) for m in marks] == [True, False]


def test_highlighting_goes_on_with_the_next_report_and_is_recorded_there_too(open_page: Open, study: Study) -> None:
    app = open_page(study.folder, "annotate", RATER)
    toggle(app, on=True)
    press(app, "none")
    second = queue(study, study.actor(RATER), "validation").order[1]
    own = open_report(study, study.actor(RATER), "validation", second).own
    assert own is not None
    assert Mark.HIGHLIGHTED in own.marks


def test_looking_at_a_submitted_report_with_highlights_leaves_it_submitted(
    open_page: Open, study: Study, first: Entry
) -> None:
    app = open_page(study.folder, "annotate", RATER)
    press(app, "none")
    press(app, "previous")
    toggle(app, on=True)
    assert first in queue(study, study.actor(RATER), "validation").submitted


def test_without_an_accepted_prompt_there_is_nothing_to_highlight(
    open_page: Open, study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("workbench.workflow.highlighting.phrases", lambda *_: None)
    assert open_page(study.folder, "annotate", RATER).toggle(key="rate.highlight").disabled
