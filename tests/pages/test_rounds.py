"""Rounds on the page Reference: fixed when opened, followed, closed, re-opened on record, adjudicated before a look."""

from collections.abc import Callable

import pytest
from streamlit.testing.v1 import AppTest

from workbench.domain.cohorts import Purpose
from workbench.domain.findings import State
from workbench.domain.references import Outcome
from workbench.domain.rounds import RoundAction
from workbench.workflow import adjudicate
from workbench.workflow.annotate import Entry, queue, save
from workbench.workflow.cohorts import define, get_cohort, unlock
from workbench.workflow.demo import LEAD, RATER
from workbench.workflow.ingest import import_reports
from workbench.workflow.reference import freeze, get_reference, list_references
from workbench.workflow.rounds import RoundView, round_of
from workbench.workflow.study import Study

Open = Callable[..., AppTest]
DETAILS = {"revision": "1", "labeler": "rules", "policies": "as set", "endpoint": "macro-F1"}


def words(app: AppTest) -> str:
    texts = [*app.main.markdown, *app.info, *app.caption, *app.error, *app.success]
    return "\n".join(str(element.value) for element in texts).replace("\\", "")


def on(app: AppTest, cohort: str) -> AppTest:
    return app.selectbox(key="reference.cohort").select(cohort).run()


def held(study: Study, cohort: str) -> RoundView:
    view = round_of(study, get_cohort(study, cohort))
    assert view is not None
    return view


@pytest.fixture
def drawn(empty: Study) -> Study:
    """A study with a rater, a lead and a cohort of two reports on which no round was opened."""
    path = empty.folder / "reports.csv"
    path.write_text("id,patient,text\nr1,p1,FINDINGS: Clear.\nr2,p2,FINDINGS: Broken rib.\n", encoding="utf-8")
    lead = empty.actor("Lea")
    import_reports(empty, lead, path, columns={"id": "id", "patient": "patient", "text": "text"})
    define(empty, lead, "pilot", Purpose.DEVELOPMENT, ["r1", "r2"])
    return empty


def test_a_lead_opens_a_round_having_seen_what_it_fixes(open_page: Open, drawn: Study) -> None:
    app = open_page(drawn.folder, "reference", "Lea")
    for part in ("4 of 6 votes make present", "a tie is not present", "Uncertain counts as", drawn.label_set.hash[:12]):
        assert part in words(app)
    assert app.multiselect(key="round.raters.pilot").options == ["Rita"]
    app.button(key="round.open").click().run()
    assert not app.exception
    view = held(drawn, "pilot")
    assert (view.open, view.round.raters) == (True, ("Rita",))
    assert "pilot-round-1 is open for Rita" in words(app)
    assert len(queue(drawn, drawn.actor("Rita"), "pilot").order) == 2


def test_a_rater_is_offered_no_round_controls(open_page: Open, drawn: Study) -> None:
    app = open_page(drawn.folder, "reference", "Rita")
    assert not app.main.button
    assert not app.main.multiselect


def test_progress_is_shown_for_every_rater_of_the_round(open_page: Open, study: Study) -> None:
    app = on(open_page(study.folder, "reference", LEAD), "validation")
    bars = [bar.proto.text for bar in app.main.get("progress")]
    assert sorted(bar.split(":")[0] for bar in bars) == sorted(held(study, "validation").round.raters)
    assert f"{RATER}: 0 of 120" in bars


def test_closing_and_reopening_are_on_record_and_reopening_needs_a_reason(open_page: Open, study: Study) -> None:
    app = on(open_page(study.folder, "reference", LEAD), "validation")
    app.button(key="round.close").click().run()
    assert not held(study, "validation").open
    app.button(key="round.reopen").click().run()
    assert "Re-opening a round needs a reason" in words(app)
    app.text_input(key="round.reopen-reason.validation").set_value("a rater was ill")
    app.button(key="round.reopen").click().run()
    assert held(study, "validation").open
    assert [(e.action, e.reason) for e in held(study, "validation").events][-1] == (
        RoundAction.REOPENED,
        "a rater was ill",
    )


def test_counts_are_hidden_from_everybody_while_a_frozen_round_is_open_again(open_page: Open, study: Study) -> None:
    app = open_page(study.folder, "reference", LEAD)
    assert app.main.get("plotly_chart")
    app.text_input(key="round.reopen-reason.development").set_value("labels were mixed up")
    app.button(key="round.reopen").click().run()
    for person, told in ((LEAD, "takes labels again"), (RATER, "Not shown to you before the round")):
        app = open_page(study.folder, "reference", person)
        assert not app.main.dataframe
        assert not app.main.get("plotly_chart")
        assert told in words(app)


def test_another_version_needs_a_reason(open_page: Open, study: Study) -> None:
    app = open_page(study.folder, "reference", LEAD)
    app.text_input(key="round.reopen-reason.development").set_value("labels were mixed up")
    app.button(key="round.reopen").click().run()
    assert "rater3: 14 of 300 reports not submitted" in app.main.warning[0].value.replace("\\", "")
    app.main.checkbox[0].check().run()
    button = next(b for b in app.main.button if b.label == "Freeze the reference")
    assert button.disabled
    app.text_input(key="freeze.reason.development").set_value("corrected").run()
    button = next(b for b in app.main.button if b.label == "Freeze the reference")
    assert not button.disabled


def test_a_round_opened_by_mistake_is_withdrawn_on_the_page(open_page: Open, drawn: Study) -> None:
    app = open_page(drawn.folder, "reference", "Lea")
    app.button(key="round.open").click().run()
    app.text_input(key="round.withdraw-reason.pilot").set_value("the wrong raters")
    app.button(key="round.withdraw").click().run()
    assert not app.exception
    assert round_of(drawn, get_cohort(drawn, "pilot")) is None
    assert "pilot-round-1 was withdrawn by Lea" in words(app)
    assert "(the wrong raters)" in words(app)
    app.button(key="round.open").click().run()  # the very same again
    assert held(drawn, "pilot").open
    save(drawn, drawn.actor("Rita"), "pilot", Entry("r1"), {"fracture": State.PRESENT}, submitted=False)
    app.run()
    assert not [button for button in app.main.button if button.key == "round.withdraw"]
    assert [button for button in app.main.button if button.key == "round.close"]


@pytest.fixture
def open_vote(study: Study) -> Study:
    """The validation cohort unlocked and its votes frozen, at which nobody has looked."""
    unlock(study, study.actor(LEAD), "validation", reason="the prompt is final", details=DETAILS)
    freeze(study, study.actor(LEAD), "validation", incomplete=True)
    return study


def test_the_page_looks_at_no_count_before_the_lead_chooses(open_page: Open, open_vote: Study) -> None:
    vote = get_reference(open_vote, open_vote.actor(LEAD), "validation-1")
    for person in (LEAD, RATER):
        app = on(open_page(open_vote.folder, "reference", person), "validation")
        assert not app.main.dataframe
        assert not app.main.get("plotly_chart")
        assert not app.main.metric
    assert adjudicate.closed_because(open_vote, vote) == ""
    app = on(open_page(open_vote.folder, "reference", LEAD), "validation")
    assert f"{adjudicate.left_open(open_vote, vote).items} items were left open" in words(app)
    app.button(key="reference.look").click().run()
    assert not app.exception
    assert f"{LEAD} looked at the counts" in adjudicate.closed_because(open_vote, vote)
    assert len(app.main.get("plotly_chart")) == 1
    app.session_state["reference.tabs"] = "Versions"
    app.run()
    assert adjudicate.left_open(open_vote, vote).told in words(app)
    assert "can no longer be adjudicated blind" in words(app)


def test_a_rater_cannot_end_the_adjudication(open_page: Open, open_vote: Study) -> None:
    app = on(open_page(open_vote.folder, "reference", RATER), "validation")
    assert not app.main.button
    assert "once the lead has ended the adjudication" in words(app)


def test_versions_tell_what_an_adjudication_changed(open_page: Open, open_vote: Study) -> None:
    vote, lead = get_reference(open_vote, open_vote.actor(LEAD), "validation-1"), open_vote.actor(LEAD)
    items = adjudicate.open_items(open_vote, lead, vote)
    for each in items:
        adjudicate.decide(open_vote, lead, vote, each.report.id, each.finding_id, present=True, reason="as described")
    adjudicate.finish(open_vote, lead, vote)
    app = on(open_page(open_vote.folder, "reference", LEAD), "validation")
    app.selectbox(key="reference.version.validation").select("validation-1-adjudicated").run()
    app.session_state["reference.tabs"] = "Versions"
    app.run()
    versions, changed = app.main.dataframe[0].value, app.main.dataframe[1].value
    assert list(versions["Kind"]) == ["vote alone", "vote, adjudicated"]
    assert list(versions["Primary"]) == [True, False]
    seen = get_reference(open_vote, lead, "validation-1").items
    before = [seen[each.report.id, each.finding_id].outcome for each in items]
    assert len(changed) == sum(outcome is not Outcome.PRESENT for outcome in before) > 0
    assert [r.name for r in list_references(open_vote, open_vote.actor(LEAD))][-1] == "validation-1-adjudicated"
