"""The annotate page: drafts at each click, explicit nothing, own labels only."""

import json
import re
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from workbench.domain.annotations import Mark
from workbench.domain.findings import State
from workbench.ui import rating
from workbench.ui.shortcuts import HEARD
from workbench.ui.state import ACTOR, Here
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


def control(place: int, of: str) -> str:
    return f"rate.{RATER}.validation.validation-round-1.{place}.{of}"


def place_shown(app: AppTest) -> int:
    """Return the place of the report on the screen in the rater's own order, from 1."""
    (line,) = [m.value for m in app.main.markdown if m.value.startswith("**Report ")]
    return int(line.split()[1])


def test_the_lead_is_told_who_rates(open_page: Open, board: Any, study: Study) -> None:
    app = open_page(study.folder, "annotate", LEAD)
    assert "choose one of them at the left" in app.info[0].value
    assert RATER in app.info[0].value
    assert board.read(app) is None


def test_every_finding_has_a_control_that_starts_at_not_mentioned(open_page: Open, board: Any, study: Study) -> None:
    app = open_page(study.folder, "annotate", RATER)
    assert [finding["id"] for finding in board.findings(app)] == list(study.label_set.ids)
    assert {board.state(app, finding) for finding in study.label_set.ids} == {State.NOT_MENTIONED}


def test_each_click_is_saved_as_a_draft(open_page: Open, board: Any, study: Study, first: Entry) -> None:
    app = open_page(study.folder, "annotate", RATER)
    assert own(study, first) is None
    board.click(app, "fracture", State.PRESENT)
    assert own(study, first) == {"fracture": State.PRESENT}
    board.click(app, "pneumonia", State.UNCERTAIN)
    assert own(study, first) == {"fracture": State.PRESENT, "pneumonia": State.UNCERTAIN}
    board.click(app, "fracture", State.NOT_MENTIONED)
    assert own(study, first) == {"pneumonia": State.UNCERTAIN}
    assert first in queue(study, study.actor(RATER), "validation").drafts


def test_a_draft_is_there_again_in_another_session(open_page: Open, board: Any, study: Study, first: Entry) -> None:
    board.click(open_page(study.folder, "annotate", RATER), "fracture", State.PRESENT)
    again = open_page(study.folder, "annotate", RATER)
    assert board.state(again, "fracture") is State.PRESENT


def test_submitting_goes_on_to_the_next_report(open_page: Open, board: Any, study: Study, first: Entry) -> None:
    app = open_page(study.folder, "annotate", RATER)
    board.click(app, "fracture", State.PRESENT)
    app.button(key="rate.submit").click().run()
    after = queue(study, study.actor(RATER), "validation")
    assert after.submitted == {first}
    assert own(study, first) == {"fracture": State.PRESENT}
    assert after.next == after.order[1]
    assert place_shown(app) == 2


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


def test_none_of_these_is_closed_once_something_is_marked(
    open_page: Open, board: Any, study: Study, first: Entry
) -> None:
    app = open_page(study.folder, "annotate", RATER)
    board.click(app, "fracture", State.UNCERTAIN)
    assert app.button(key="rate.none").disabled
    assert not app.button(key="rate.submit").disabled


def hearing(app: AppTest) -> dict[str, Any]:
    """Return what the part of the page that hears presses was told, on whatever page it is."""
    (told,) = [e.proto.json for e in app.main.get("bidi_component") if e.proto.component_name == "rating_keys"]
    return dict(json.loads(told))


def hand_in(app: AppTest, *presses: dict[str, str], on: str, tab: str = "t") -> AppTest:
    """Hand in what a browser's tab has kept, as it does on any page."""
    listed = [{"id": number, "on": on, **press} for number, press in enumerate(presses, start=1)]
    app.session_state[HEARD] = {"presses": {"tab": tab, "list": listed}}
    return app.run()


FRACTURE = {"finding": "fracture", "state": State.PRESENT.value}
PNEUMONIA = {"finding": "pneumonia", "state": State.PRESENT.value}
CLOSED = "The round validation-round-1 is closed, so it takes no more labels."


def test_a_round_closed_meanwhile_refuses_in_a_sentence_and_answers_every_key(
    open_page: Open, board: Any, study: Study, first: Entry
) -> None:
    app = open_page(study.folder, "annotate", RATER)
    on = board.read(app)["on"]
    freeze(study, study.actor(LEAD), "validation", incomplete=True)
    hand_in(app, FRACTURE, PNEUMONIA, {"act": "submit"}, on=on)
    assert not app.exception
    assert "validation-round-1 is closed" in app.info[0].value.replace("\\", "")
    assert own(study, first) is None
    assert hearing(app)["heard"] == {"t": 3}
    assert hearing(app)["told"]["text"] == f"Not saved: your last 3 keys or clicks. {CLOSED}"


@pytest.mark.parametrize("closed", [False, True])
def test_keys_that_arrive_on_another_page_are_saved_or_told(
    open_page: Open, board: Any, study: Study, first: Entry, root: Path, *, closed: bool
) -> None:
    app = open_page(study.folder, "annotate", RATER)
    on = board.read(app)["on"]
    if closed:
        freeze(study, study.actor(LEAD), "validation", incomplete=True)
    app.switch_page(str(root / "pages" / "cohorts.py"))
    app.run()
    hand_in(app, FRACTURE, on=on)
    assert hearing(app)["heard"] == {"t": 1}
    assert not hearing(app)["desk"]
    if closed:
        assert own(study, first) is None
        assert hearing(app)["told"]["text"] == f"Not saved: your last key or click. {CLOSED}"
    else:
        assert own(study, first) == {"fracture": State.PRESENT}
        assert hearing(app)["told"] == {"name": "", "text": ""}


@pytest.mark.parametrize("person", [LEAD, RATER])
def test_anothers_keys_are_saved_in_nobodys_name_and_told(
    open_page: Open, board: Any, study: Study, first: Entry, person: str
) -> None:
    app = open_page(study.folder, "annotate", RATER)
    on = board.read(app)["on"].replace(RATER, "Somebody else")
    app.session_state[ACTOR] = person
    app.run()
    hand_in(app, FRACTURE, PNEUMONIA, on=on)
    assert own(study, first) is None
    assert hearing(app)["heard"] == {"t": 2}
    told = f"Not saved: the last 2 keys or clicks of Somebody else. {person} is here now."
    assert hearing(app)["told"]["text"] == told


def test_whoever_comes_after_a_rater_is_not_told_why_their_keys_were_refused(
    open_page: Open, board: Any, study: Study
) -> None:
    app = open_page(study.folder, "annotate", RATER)
    hand_in(app, FRACTURE, {"act": "none"}, PNEUMONIA, on=board.read(app)["on"])
    assert "findings are marked" in app.error[0].value
    app.session_state[ACTOR] = LEAD
    app.run()
    assert hearing(app)["told"]["text"] == f"Not saved: the last keys or clicks of {RATER}."


def test_what_comes_after_a_refused_key_is_told_beside_the_refusal_and_a_saved_key_ends_both(
    open_page: Open, board: Any, study: Study, first: Entry
) -> None:
    app = open_page(study.folder, "annotate", RATER)
    on = board.read(app)["on"]
    hand_in(app, {"act": "submit"}, PNEUMONIA, FRACTURE, on=on)
    assert "nothing is marked; say none of these" in app.error[0].value.replace("\\", "")
    told = "Not saved: your last 2 keys or clicks, since the one before was refused."
    assert hearing(app)["told"]["text"] == told
    assert own(study, first) is None
    hand_in(app, FRACTURE, on=on, tab="t2")
    assert not app.error
    assert hearing(app)["told"]["text"] == ""
    assert own(study, first) == {"fracture": State.PRESENT}


def test_a_refusal_that_the_page_shows_is_told_once(open_page: Open, board: Any, study: Study) -> None:
    app = open_page(study.folder, "annotate", RATER)
    hand_in(app, {"act": "submit"}, on=board.read(app)["on"])
    assert app.error
    assert hearing(app)["told"]["text"] == ""
    press(app, "next")
    assert not app.error
    assert hearing(app)["told"]["text"] == ""


def test_keys_lost_for_the_same_reason_are_counted_together(open_page: Open, board: Any, study: Study) -> None:
    app = open_page(study.folder, "annotate", RATER)
    on = board.read(app)["on"]
    freeze(study, study.actor(LEAD), "validation", incomplete=True)
    hand_in(app, FRACTURE, on=on)
    hand_in(app, FRACTURE, PNEUMONIA, on=on)
    assert hearing(app)["told"]["text"] == f"Not saved: your last 2 keys or clicks. {CLOSED}"


def test_a_key_that_could_not_be_worked_off_is_not_called_saved_and_goes_through_later(
    open_page: Open, board: Any, study: Study, first: Entry, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = open_page(study.folder, "annotate", RATER)

    def fail(*_: object, **__: object) -> None:
        raise sqlite3.OperationalError("disk I/O error")

    with monkeypatch.context() as patched:
        patched.setattr("workbench.ui.rating_work.save", fail)
        hand_in(app, FRACTURE, on=board.read(app)["on"])
        assert app.exception
    app.run()
    assert own(study, first) == {"fracture": State.PRESENT}
    assert hearing(app)["heard"] == {"t": 1}


@pytest.mark.parametrize("left", [True, False])
def test_a_comment_that_comes_too_late_is_told(
    open_page: Open, board: Any, study: Study, first: Entry, *, left: bool
) -> None:
    app = open_page(study.folder, "annotate", RATER)
    on = board.read(app)["on"]
    freeze(study, study.actor(LEAD), "validation", incomplete=True)
    if left:
        app.text_input(key=control(1, "comment")).set_value("old film?").run()
    else:
        hand_in(app, {"comment": "old"}, {"comment": "old film?"}, on=on)
    assert own(study, first) is None
    assert hearing(app)["told"]["text"] == f"Not saved: your comment. {CLOSED}"


def press(app: AppTest, key: str) -> AppTest:
    return app.button(key=f"rate.{key}").click().run()


def test_each_finding_has_its_key_and_its_meaning(open_page: Open, board: Any, study: Study) -> None:
    app = open_page(study.folder, "annotate", RATER)
    drawn = board.findings(app)
    assert {f["id"]: f["key"] for f in drawn} == rating.keys(Here(study, study.actor(RATER)))
    assert {f["id"] for f in drawn if f["critical"]} == {f.id for f in study.label_set.findings if f.critical}
    finding = study.label_set.get("fracture")
    (told,) = [" ".join(words for part in f["help"] for words in part) for f in drawn if f["id"] == finding.id]
    for words in (finding.name_zh, finding.definition, finding.include, finding.exclude):
        assert words in told


def test_keys_go_round_the_answers_and_a_click_on_the_one_that_stands_changes_nothing(
    open_page: Open, board: Any, study: Study
) -> None:
    app = open_page(study.folder, "annotate", RATER)
    board.click(app, "fracture", State.PRESENT)
    board.click(app, "fracture", State.UNCERTAIN)
    assert board.state(app, "fracture") is State.UNCERTAIN
    board.click(app, "fracture", State.UNCERTAIN)
    assert board.state(app, "fracture") is State.UNCERTAIN
    told = board.read(app)
    assert told["cycle"] == [State.NOT_MENTIONED, State.PRESENT, State.UNCERTAIN]
    # What the browser needs to show an undo before the server has answered; the click changed nothing.
    assert told["saved"]["undo"] == [["fracture", State.NOT_MENTIONED], ["fracture", State.PRESENT]]
    assert told["saved"]["last"] == "fracture"


def test_undo_takes_back_one_change_after_the_other(open_page: Open, board: Any, study: Study, first: Entry) -> None:
    app = open_page(study.folder, "annotate", RATER)
    board.click(app, "fracture", State.PRESENT)
    board.click(app, "fracture", State.UNCERTAIN)
    press(app, "undo-button")
    assert own(study, first) == {"fracture": State.PRESENT}
    assert board.state(app, "fracture") is State.PRESENT
    press(app, "undo-button")
    assert own(study, first) == {}
    press(app, "undo-button")
    assert own(study, first) == {}
    assert not app.exception


def test_undo_goes_on_in_another_session_where_it_ended(
    open_page: Open, board: Any, study: Study, first: Entry
) -> None:
    app = open_page(study.folder, "annotate", RATER)
    board.click(app, "fracture", State.PRESENT)
    hand_in(app, {"sentence": "A rib is broken."}, on=board.read(app)["on"])
    board.click(app, "pneumonia", State.PRESENT)
    press(app, "undo-button")
    board.click(app, "fracture", State.UNCERTAIN)
    again = open_page(study.folder, "annotate", RATER)
    # The pneumonia was taken back already, so it is no change any more.
    not_mentioned, present = State.NOT_MENTIONED.value, State.PRESENT.value
    assert board.read(again)["saved"]["undo"] == [
        ["fracture", not_mentioned],
        ["fracture", present],
        ["fracture", present],
    ]
    assert board.read(again)["saved"]["last"] == "fracture"
    press(again, "undo-button")
    saved = open_report(study, study.actor(RATER), "validation", first).own
    assert saved is not None
    assert (saved.states, saved.evidence) == ({"fracture": State.PRESENT}, {"fracture": "A rib is broken."})
    press(again, "undo-button")
    saved = open_report(study, study.actor(RATER), "validation", first).own
    assert saved is not None
    assert (saved.states, saved.evidence) == ({"fracture": State.PRESENT}, {})
    press(again, "undo-button")
    assert own(study, first) == {}
    press(again, "undo-button")
    assert own(study, first) == {}


def test_undo_ends_where_a_report_was_submitted(open_page: Open, board: Any, study: Study, first: Entry) -> None:
    app = open_page(study.folder, "annotate", RATER)
    board.click(app, "fracture", State.PRESENT)
    press(app, "submit")
    press(app, "previous")
    assert board.read(app)["saved"]["undo"] == []
    press(app, "undo-button")
    assert first in queue(study, study.actor(RATER), "validation").submitted
    board.click(app, "pneumonia", State.PRESENT)
    again = open_page(study.folder, "annotate", RATER)
    assert board.read(again)["saved"]["undo"] == [["pneumonia", State.NOT_MENTIONED]]


def test_undo_never_takes_back_on_one_report_what_was_changed_on_another(
    open_page: Open, board: Any, study: Study, first: Entry
) -> None:
    app = open_page(study.folder, "annotate", RATER)
    board.click(app, "fracture", State.PRESENT)
    second = queue(study, study.actor(RATER), "validation").order[1]
    app.session_state[f"rate.report.{RATER}.validation"] = second  # as when the cohort changes and its report is there
    app.run()
    assert board.read(app)["saved"]["undo"] == []
    assert board.read(app)["saved"]["last"] == ""
    press(app, "undo-button")
    assert own(study, second) is None
    assert own(study, first) == {"fracture": State.PRESENT}


def test_two_tabs_lose_nothing_and_show_what_was_saved_last(
    open_page: Open, board: Any, study: Study, first: Entry
) -> None:
    one, two = (open_page(study.folder, "annotate", RATER) for _ in range(2))
    board.click(one, "fracture", State.PRESENT)
    board.click(two, "pneumonia", State.UNCERTAIN)
    assert own(study, first) == {"fracture": State.PRESENT, "pneumonia": State.UNCERTAIN}
    assert board.state(two, "fracture") is State.PRESENT
    board.click(one, "fracture", State.UNCERTAIN)
    assert board.state(one, "pneumonia") is State.UNCERTAIN
    assert own(study, first) == {"fracture": State.UNCERTAIN, "pneumonia": State.UNCERTAIN}


def test_an_unsure_report_is_put_aside_and_comes_back_at_the_end(
    open_page: Open, board: Any, study: Study, first: Entry
) -> None:
    app = open_page(study.folder, "annotate", RATER)
    board.click(app, "fracture", State.UNCERTAIN)
    press(app, "come-back")
    after = queue(study, study.actor(RATER), "validation")
    assert after.flagged == {first}
    assert after.next == after.order[1]
    assert place_shown(app) == 2
    assert "1 to come back to" in app.main.get("progress")[0].proto.text
    press(app, "previous")
    assert any("to come back to" in element.value for element in app.main.markdown)
    press(app, "submit")
    assert queue(study, study.actor(RATER), "validation").submitted == {first}


def test_a_comment_is_kept_with_draft_and_submission(open_page: Open, board: Any, study: Study, first: Entry) -> None:
    app = open_page(study.folder, "annotate", RATER)
    app.text_input(key=control(1, "comment")).set_value("old film?").run()
    board.click(app, "fracture", State.PRESENT)
    press(app, "submit")
    saved = open_report(study, study.actor(RATER), "validation", first).submitted
    assert saved is not None
    assert (saved.comment, saved.states) == ("old film?", {"fracture": State.PRESENT})


def test_a_comment_that_waited_in_the_browser_is_kept_and_leads_nobody_back(
    open_page: Open, board: Any, study: Study, first: Entry
) -> None:
    app = open_page(study.folder, "annotate", RATER)
    on = board.read(app)["on"]
    press(app, "next")
    hand_in(app, {"comment": "old film?"}, on=on)
    assert open_report(study, study.actor(RATER), "validation", first).own.comment == "old film?"  # type: ignore[union-attr]
    assert place_shown(app) == 2


def test_a_submission_in_a_tab_that_does_not_know_of_a_comment_leaves_it(
    open_page: Open, board: Any, study: Study, first: Entry
) -> None:
    stale, app = open_page(study.folder, "annotate", RATER), open_page(study.folder, "annotate", RATER)
    app.text_input(key=control(1, "comment")).set_value("old film?").run()
    press(stale, "none")
    assert open_report(study, study.actor(RATER), "validation", first).submitted.comment == "old film?"  # type: ignore[union-attr]


def test_a_reason_comes_with_what_is_submitted(open_page: Open, board: Any, study: Study, first: Entry) -> None:
    app = open_page(study.folder, "annotate", RATER)
    on = board.read(app)["on"]
    hand_in(app, {"act": "none"}, FRACTURE, {"act": "submit", "reason": "overlooked"}, on=on)
    saved = open_report(study, study.actor(RATER), "validation", first).submitted
    assert saved is not None
    assert (saved.states, saved.reason) == ({"fracture": State.PRESENT}, "overlooked")


def test_submitted_labels_change_only_with_a_reason(open_page: Open, board: Any, study: Study, first: Entry) -> None:
    app = open_page(study.folder, "annotate", RATER)
    press(app, "none")
    press(app, "previous")
    board.click(app, "fracture", State.PRESENT)
    assert "submitted, being changed" in " ".join(text.value for text in app.markdown)
    press(app, "submit")
    assert "say why they change" in app.error[0].value
    app.text_input(key=control(1, "reason")).set_value("overlooked the rib")
    press(app, "submit")
    saved = open_report(study, study.actor(RATER), "validation", first).submitted
    assert saved is not None
    assert (saved.reason, saved.states) == ("overlooked the rib", {"fracture": State.PRESENT})


def test_after_a_block_a_pause_is_offered(
    open_page: Open, board: Any, study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("workbench.ui.rating_state.BLOCK", 2)
    app = open_page(study.folder, "annotate", RATER)
    press(app, "none")
    assert board.read(app) is not None
    press(app, "none")
    assert "A good moment to rest your eyes" in app.success[0].value
    assert board.read(app) is None
    press(app, "go-on")
    assert board.read(app) is not None


def test_changing_the_last_report_of_a_block_offers_no_pause_again(
    open_page: Open, board: Any, study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("workbench.ui.rating_state.BLOCK", 1)
    app = open_page(study.folder, "annotate", RATER)
    press(app, "none")
    press(app, "go-on")
    press(app, "previous")
    press(app, "none")
    assert not any("rest your eyes" in told.value for told in app.success)


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
    assert line == f"**Report {again + 1} of {len(order)}** · new"
    assert own(study, order[again]) is None


def test_nothing_that_reaches_the_browser_tells_a_second_reading_from_a_first(
    open_page: Open, board: Any, study: Study
) -> None:
    order = queue(study, study.actor(RATER), "validation").order
    again = next(entry for entry in order if entry.reading == 2)
    sent = []
    for entry in (Entry(again.report_id), again):
        app = open_page(study.folder, "annotate", RATER)
        app.session_state[f"rate.report.{RATER}.validation"] = entry
        app.run()
        hand_in(app, {"act": "submit"}, on=board.read(app)["on"])  # refused, in a sentence that names the report
        assert "nothing is marked" in app.error[0].value
        place = order.index(entry) + 1
        drawn = "\n".join(str(element.proto) for element in app.main) + json.dumps(hearing(app))
        assert again.report_id not in drawn
        drawn = re.sub(r"ID-[0-9a-f]{32}", "", drawn)  # made of the widget's key
        for own_place in (f"validation-round-1.{place}.", f"Report {place}", f", {place}]"):
            drawn = drawn.replace(own_place, "")
        sent.append(drawn)
    assert sent[0] == sent[1]


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
