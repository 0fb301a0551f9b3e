"""The adjudicate page: one open item at a time, by the report alone; then a reference beside the vote."""

from collections.abc import Callable

import pytest
from streamlit.testing.v1 import AppTest

from workbench.domain.error_kinds import ErrorKind
from workbench.workflow import adjudicate, doubted, errors, run
from workbench.workflow.demo import LEAD, RATER
from workbench.workflow.opening import open_study
from workbench.workflow.reference import freeze, get_reference
from workbench.workflow.score import score_run
from workbench.workflow.study import Study

Open = Callable[..., AppTest]
JUDGE = "Dr. Judge"


def words(app: AppTest) -> str:
    texts = [*app.main.markdown, *app.info, *app.caption, *app.error, *app.success, *app.subheader]
    bars = [bar.proto.text for bar in app.main.get("progress")]
    pieces = [element.proto.body for element in app.main.get("html")]
    return "\n".join([*(str(element.value) for element in texts), *bars, *pieces]).replace("\\", "")


def press(app: AppTest, label: str) -> AppTest:
    return next(button for button in app.main.button if button.label == label).click().run()


@pytest.fixture
def vote(study: Study) -> Study:
    """The demo study with an adjudicator, and the votes on the validation cohort frozen and not looked at."""
    path = study.folder / "data" / "study.toml"
    text = path.read_text(encoding="utf-8")
    assert "[people]\n" in text
    path.write_text(text.replace("[people]\n", f'[people]\n"{JUDGE}" = ["adjudicator"]\n'), encoding="utf-8")
    changed = open_study(study.folder)
    freeze(changed, changed.actor(LEAD), "validation", incomplete=True)
    return changed


def test_whoever_is_no_adjudicator_is_told_what_it_is_for(open_page: Open, vote: Study) -> None:
    app = open_page(vote.folder, "adjudicate", RATER)
    assert "decided here by an adjudicator" in words(app)
    assert JUDGE in words(app)
    assert not app.main.button


def test_with_nothing_open_it_says_why(open_page: Open, study: Study) -> None:
    app = open_page(study.folder, "adjudicate", LEAD)
    assert "A run was scored on development-1" in words(app)
    assert "nothing to adjudicate now" in words(app)


def test_an_item_shows_the_report_and_the_guideline_and_neither_names_nor_counts(open_page: Open, vote: Study) -> None:
    frozen = get_reference(vote, vote.actor(JUDGE), "validation-1")
    item = adjudicate.open_items(vote, vote.actor(JUDGE), frozen)[0]
    app = open_page(vote.folder, "adjudicate", JUDGE)
    shown, finding = words(app), vote.label_set.get(item.finding_id)
    assert item.report.id in shown
    assert finding.name in shown
    assert finding.definition[:20] in shown
    assert f"0 of {len(adjudicate.open_items(vote, vote.actor(JUDGE), frozen))} items decided" in shown
    for secret in (*frozen.raters, "tie", "short", "votes:", "of 6"):
        assert secret.lower() not in shown.lower().replace(item.report.text.lower(), "")
    assert adjudicate.closed_because(vote, frozen) == ""


def test_a_decision_needs_a_reason_and_goes_on(open_page: Open, vote: Study) -> None:
    frozen, judge = get_reference(vote, vote.actor(JUDGE), "validation-1"), vote.actor(JUDGE)
    app = open_page(vote.folder, "adjudicate", JUDGE)
    press(app, "Present")
    assert "an adjudication needs a reason" in words(app)
    app.text_area[0].set_value("a meniscus is described")
    press(app, "Not present")
    items = adjudicate.open_items(vote, judge, frozen)
    assert items[0].decision is not None
    assert (items[0].decision.present, items[0].decision.reason) == (False, "a meniscus is described")
    assert all(item.decision is None for item in items[1:])
    assert f"Item 2 of {len(items)}" in words(app)


def test_the_adjudicated_reference_is_frozen_beside_the_vote_at_the_end(open_page: Open, vote: Study) -> None:
    frozen, judge = get_reference(vote, vote.actor(JUDGE), "validation-1"), vote.actor(JUDGE)
    for each in adjudicate.open_items(vote, judge, frozen):
        adjudicate.decide(vote, judge, frozen, each.report.id, each.finding_id, present=False, reason="as written")
    app = open_page(vote.folder, "adjudicate", JUDGE)
    app.button(key="adjudicate.finish").click().run()
    assert not app.exception
    made = get_reference(vote, vote.actor(JUDGE), "validation-1-adjudicated")
    assert made.parent_hash == frozen.hash
    assert "is adjudicated" in words(app)


def test_a_lead_who_adjudicates_reads_no_locked_report(open_page: Open, vote: Study) -> None:
    app = open_page(vote.folder, "adjudicate", LEAD)
    assert "validation cohort validation is locked" in words(app)
    assert not app.main.text_area


def test_a_doubted_item_gets_a_second_look_among_controls_and_the_reference_stays(open_page: Open, vote: Study) -> None:
    lead = vote.actor(LEAD)
    reference = get_reference(vote, lead, "development-1")
    prepared = run.prepare(vote, lead, cohort="development")
    score = score_run(vote, lead, prepared.run.hash, reference)
    wrong = errors.mistakes(vote, lead, score)[0]
    cell = (wrong.report.id, wrong.finding_id)
    errors.tag(vote, lead, score, cell, kind=ErrorKind.DOUBTFUL, comment="three hedged")
    app = open_page(vote.folder, "adjudicate", JUDGE)
    assert "A second look at development-1" in words(app)
    assert "0 of 2 second looks given" in words(app)
    assert "three hedged" not in words(app)
    press(app, "Present")
    assert "0 of 2 second looks given" in words(app)  # it needs its reason
    for done in (1, 2):
        next(area for area in app.main.text_area if area.label == "Reason").set_value("seen in the impression")
        press(app, "Not present")
        assert not app.exception
        assert ("1 of 2 second looks given" in words(app)) == (done == 1)
    assert "items decided" in words(app)  # then what the vote left open
    found = doubted.verdicts(vote, lead, reference)
    assert (found.doubted, found.doubted_judged, found.controls, found.controls_judged) == (1, 1, 1, 1)
    assert get_reference(vote, lead, "development-1").hash == reference.hash
