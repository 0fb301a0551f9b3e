"""From an error to a mended prompt, its trial, its run's score, the gate, and the history."""

from collections.abc import Callable
from dataclasses import replace

import pytest
from streamlit.testing.v1 import AppTest

from workbench.domain.error_kinds import ErrorKind
from workbench.domain.prompts import Revision, RevisionStatus
from workbench.ui import state
from workbench.workflow.accept import open_gate
from workbench.workflow.demo import LEAD
from workbench.workflow.prompts import find_revision, revisions, save_candidate
from workbench.workflow.reference import get_reference
from workbench.workflow.revise import with_finding, with_guidance
from workbench.workflow.run import execute, prepare
from workbench.workflow.score import score_run
from workbench.workflow.study import Study

Open = Callable[..., AppTest]


def press(app: AppTest, label: str) -> AppTest:
    return next(button for button in app.main.button if button.label.startswith(label)).click().run()


def write(app: AppTest, label: str, text: str) -> AppTest:
    return next(field for field in app.main.text_input if field.label.startswith(label)).set_value(text).run()


def area(app: AppTest, label: str) -> object:
    return next(field for field in app.main.text_area if field.label == label)


def page_now(app: AppTest) -> str:
    return app.header[0].value


def candidate(study: Study, *, scored: bool) -> Revision:
    """A candidate that differs from revision 4 in its title alone."""
    lead, parent = study.actor(LEAD), find_revision(study)
    prompt = with_guidance(parent.prompt, title="A candidate")
    made = save_candidate(study, lead, prompt, message="For the test", parent=parent.revision.prompt_hash)
    if scored:
        prepared = prepare(study, lead, cohort="development", revision=made.prompt_hash)
        execute(study, prepared)
        score_run(study, lead, prepared.run.hash, get_reference(study, lead, "development-1"))
    return made


def test_a_finding_and_words_are_carried_from_an_error_to_the_editor(open_page: Open, study: Study) -> None:
    app = open_page(study.folder, "errors", LEAD)
    finding = next(box.value for box in app.main.selectbox if box.label.startswith("Finding"))
    name = study.label_set.get(finding).name
    write(app, "Words for the prompt", "  quite  new words ")
    press(app, "Synonym")
    assert page_now(app) == "Revise"
    assert app.selectbox(key="revise.finding").value == finding
    assert area(app, "Synonyms").value.splitlines()[-1] == "quite new words"
    assert any(f"{name}: synonym 'quite new words' added" in m.value.replace("\\", "") for m in app.main.markdown)


def test_words_become_an_exclusion_and_a_sentence_a_worked_example(open_page: Open, study: Study) -> None:
    app = open_page(study.folder, "errors", LEAD)
    finding = next(box.value for box in app.main.selectbox if box.label.startswith("Finding"))
    write(app, "Words for the prompt", "only looks so")
    press(app, "Exclusion")
    assert area(app, "Exclusions").value.splitlines()[-1] == "only looks so"
    app = open_page(study.folder, "errors", LEAD)
    sentence = "A sentence of more than eight words is no phrase, but it can be quoted."
    write(app, "Words for the prompt", sentence)
    assert next(button for button in app.main.button if button.label == "Synonym").disabled
    press(app, "Worked example")
    name = study.label_set.get(finding).name
    assert any("example" in m.value and "added" in m.value for m in app.main.markdown), name


def test_an_error_is_said_to_be_of_another_kind(open_page: Open, study: Study) -> None:
    app = open_page(study.folder, "errors", LEAD)
    press(app, "Save")
    assert "say in a sentence why" in app.error[0].value
    # What is in a form is handed in with its button.
    next(box for box in app.main.selectbox if box.label == "Kind").select(ErrorKind.SECTION)
    next(field for field in app.main.text_input if field.label == "Why").set_value("It stands in the indication")
    press(app, "Save")
    assert any("It stands in the indication" in m.value.replace("\\", "") for m in app.main.markdown)


def test_walking_through_mistakes_stops_at_both_ends(open_page: Open, study: Study) -> None:
    app = open_page(study.folder, "errors", LEAD)
    buttons = {button.label: button for button in app.main.button}
    assert buttons["Previous"].disabled
    seen = set()
    for _ in range(40):
        seen.add(next(m.value for m in app.main.markdown if m.value.startswith("Error")))
        following = next(button for button in app.main.button if button.label == "Next")
        if following.disabled:
            break
        following.click().run()
    assert not app.exception
    last = next(m.value for m in app.main.markdown if m.value.startswith("Error"))
    assert last == f"Error **{len(seen)} of {len(seen)}**"


def test_an_edit_is_shown_in_words_tried_and_saved(open_page: Open, study: Study) -> None:
    app = open_page(study.folder, "revise", LEAD)
    before = revisions(study)
    field = area(app, "Synonyms")
    field.set_value(field.value + "\nutterly new phrase\n\n").run()
    assert any("synonym 'utterly new phrase' added" in m.value.replace("\\", "") for m in app.main.markdown)
    app.session_state["revise.outcome"] = "Try it"
    press(app.run(), "Try it")
    assert {m.label: m.value for m in app.main.metric}["Become wrong"] == "0"
    press(app, "Save as candidate")
    assert "needs a message" in app.error[0].value
    assert revisions(study) == before
    write(app, "What changed and why", "A phrase nobody writes")
    press(app, "Save as candidate")
    assert page_now(app) == "Run"
    made = revisions(study)[-1]
    assert (made.number, made.status, made.message) == (5, RevisionStatus.CANDIDATE, "A phrase nobody writes")
    assert app.selectbox(key="run.revision").value == 5


def test_edits_of_two_findings_are_saved_together(open_page: Open, study: Study) -> None:
    app = open_page(study.folder, "revise", LEAD)
    for finding in ("fracture", "pneumonia"):
        app.selectbox(key="revise.finding").select(finding).run()
        field = area(app, "Synonyms")
        field.set_value(f"{field.value}\nnew for {finding}").run()
    write(app, "What changed and why", "Two at once")
    press(app, "Save as candidate")
    guidance = find_revision(study, 5).prompt.guidance
    for finding in ("fracture", "pneumonia"):
        assert f"new for {finding}" in guidance.findings[finding].synonyms


def test_edits_thrown_away_leave_the_revision_as_it_was(open_page: Open, study: Study) -> None:
    app = open_page(study.folder, "revise", LEAD)
    as_it_was = area(app, "Synonyms").value
    area(app, "Synonyms").set_value("nothing else").run()
    press(app, "Throw the edits away")
    assert area(app, "Synonyms").value == as_it_was
    assert any("Nothing yet" in caption.value for caption in app.caption)


def test_an_unscored_candidate_is_sent_to_be_run(open_page: Open, study: Study) -> None:
    made = candidate(study, scored=False)
    app = open_page(study.folder, "accept", LEAD)
    assert f"Revision {made.number} has not been scored" in app.info[0].value
    press(app, "Run it")
    assert page_now(app) == "Run"
    assert app.selectbox(key="run.revision").value == made.number


def test_a_study_scored_by_an_earlier_rules_engine_is_not_called_unscored(
    open_page: Open, study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("workbench.labelers.rules.ENGINE_VERSION", "later")
    app = open_page(study.folder, "errors", LEAD)
    assert "with a labeler as it is set now; History has what was scored before" in app.info[0].value


def test_a_finished_run_is_scored_when_it_is_looked_at(open_page: Open, study: Study) -> None:
    made = candidate(study, scored=False)
    execute(study, prepare(study, study.actor(LEAD), cohort="development", revision=made.prompt_hash))
    app = open_page(study.folder, "run", LEAD)
    metrics = {metric.label: metric.value for metric in app.main.metric}
    assert float(metrics["Macro-F1"]) > 0
    facts = "\n".join(element.proto.body for element in app.main.get("html"))
    for part in (made.prompt_hash[:12], "development-1", "simulated votes", "300 of 300 reports", "Looks"):
        assert part in facts


def test_a_revision_is_accepted_only_with_a_reason_and_signatures(open_page: Open, study: Study) -> None:
    made = candidate(study, scored=True)
    app = open_page(study.folder, "accept", LEAD)
    press(app, "Accept revision")
    assert "needs a reason" in app.error[0].value
    write(app, "Reason", "As good as before")
    press(app, "Accept revision")
    told = app.error[0].value.replace("\\", "")
    assert "needs your sign-off" in told
    assert "_" not in told  # findings by name, not by id
    for box in app.main.checkbox:
        box.check().run()
    press(app, "Accept revision")
    assert page_now(app) == "History"
    assert find_revision(study, made.number).revision.status is RevisionStatus.ACCEPTED
    assert made.number in set(app.main.dataframe[0].value["Revision"])


def test_each_newly_missed_positive_is_read_and_signed_by_itself(open_page: Open, study: Study) -> None:
    parent, lead = find_revision(study), study.actor(LEAD)
    held = parent.prompt.guidance.findings["pneumothorax"]
    prompt = with_finding(parent.prompt, "pneumothorax", replace(held, synonyms=("never written",)))
    made = save_candidate(study, lead, prompt, message="worse", parent=parent.revision.prompt_hash)
    prepared = prepare(study, lead, cohort="development", revision=made.prompt_hash)
    execute(study, prepared)
    missed = open_gate(study, lead, score_run(study, lead, prepared.run.hash, get_reference(study, lead))).missed
    assert len(missed) > 1
    app = open_page(study.folder, "accept", LEAD)
    write(app, "Reason", "For the test")
    write(app, "Override", "For the test")
    opened = [each for each in app.main.expander if each.label.startswith("Pneumothorax in ")]
    assert len(opened) == len(missed)
    for box in app.main.checkbox:
        box.check().run()
    for field in [field for field in app.main.text_input if field.label == "Why it may be missed"][:-1]:
        field.set_value("only suspected").run()
    told = f"{len(missed) - 1} of {len(missed)} signed"  # the one without a reason is none of them
    assert any(told in each.value for each in app.main.caption)
    assert any("Not signed yet" in each.value for each in app.main.caption)
    app.switch_page(str(state.page("errors"))).run()
    app.switch_page(str(state.page("accept"))).run()
    assert any(told in each.value for each in app.main.caption), "whoever read on elsewhere has not to sign again"
    press(app, "Accept revision")
    assert f"newly misses Pneumothorax in report {missed[-1][0]}" in app.error[0].value.replace("\\", "")
    [field for field in app.main.text_input if field.label == "Why it may be missed"][-1].set_value(
        "only suspected"
    ).run()
    press(app, "Accept revision")
    assert page_now(app) == "History"
    assert find_revision(study, made.number).revision.status is RevisionStatus.ACCEPTED


def test_a_rejected_revision_stays_on_record(open_page: Open, study: Study) -> None:
    made = candidate(study, scored=True)
    app = open_page(study.folder, "accept", LEAD)
    write(app, "Reason", "Not worth it")
    press(app, "Reject revision")
    assert page_now(app) == "History"
    table = app.main.dataframe[0].value.set_index("Revision")
    assert table.loc[made.number, "Status"] == "rejected"


def test_what_somebody_else_did_is_seen_at_the_next_look(open_page: Open, study: Study) -> None:
    app = open_page(study.folder, "history", LEAD)
    assert set(app.main.dataframe[0].value["Revision"]) == {1, 2, 3, 4}
    candidate(study, scored=False)
    app.run()
    assert set(app.main.dataframe[0].value["Revision"]) == {1, 2, 3, 4, 5}


def test_an_intent_reaches_its_page_once(open_page: Open, study: Study) -> None:
    app = open_page(study.folder, "reports", LEAD)
    app.session_state[state.INTENT] = state.Intent("revise", finding="fracture", revision=2)
    app.switch_page(str(state.page("revise"))).run()
    assert app.selectbox(key="revise.finding").value == "fracture"
    assert app.selectbox(key="revise.base").value == 2
    app.selectbox(key="revise.finding").select("pneumonia").run()
    assert app.selectbox(key="revise.finding").value == "pneumonia"
