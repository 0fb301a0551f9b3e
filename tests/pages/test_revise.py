"""Mending a prompt on its page: suggestions, trials, worked examples, the file, and edits that outlive a reload."""

import json
from collections.abc import Callable

from streamlit.testing.v1 import AppTest

from workbench.domain.prompts import Example, Prompt, Revision, RevisionStatus
from workbench.prompting.edits import Edit, Part, edited
from workbench.ui import state
from workbench.workflow import drafts
from workbench.workflow.browse import read_report
from workbench.workflow.cohorts import get_cohort
from workbench.workflow.demo import LEAD, RATER
from workbench.workflow.prompts import find_revision, prompt_file, revisions
from workbench.workflow.study import Study

Open = Callable[..., AppTest]


def press(app: AppTest, label: str) -> AppTest:
    able = (button for button in app.main.button if button.label.startswith(label) and not button.disabled)
    return next(able).click().run()


def area(app: AppTest, label: str) -> object:
    return next(field for field in app.main.text_area if field.label == label)


def told(app: AppTest) -> str:
    shown = [*app.main.markdown, *app.main.caption, *app.main.info, *app.main.warning, *app.main.error]
    return "\n".join(each.value for each in shown).replace("\\", "")


def tab(app: AppTest, *, left: str = "", right: str = "") -> AppTest:
    for key, name in (("revise.tabs", left), ("revise.outcome", right)):
        if name:
            app.session_state[key] = name
    return app.run()


def start_from(app: AppTest, number: int, finding: str = "fracture") -> AppTest:
    app.session_state[state.INTENT] = state.Intent("revise", finding=finding, revision=number)
    return app.switch_page(str(state.page("revise"))).run()


def test_a_suggestion_that_is_accepted_stands_in_the_draft_and_one_declined_does_not_come_again(
    open_page: Open, study: Study
) -> None:
    app = tab(start_from(open_page(study.folder, "revise", LEAD), 1), right="Suggestions")
    press(app, "Suggest edits")
    assert not app.exception
    assert "suggestions** for all findings" in told(app)
    declined = next(m.value for m in app.main.markdown if " · " in m.value).split("**")[1]
    press(app, "Decline")
    press(app, "Accept")
    (kept,) = drafts.unsaved(study, study.actor(LEAD))
    assert kept.prompt.hash != find_revision(study, 1).prompt.hash
    tab(app, right="What you changed")
    assert "added" in told(app)
    tab(app, right="Suggestions")
    press(app, "Suggest edits")
    assert declined not in [m.value.split("**")[1] for m in app.main.markdown if " · " in m.value]


def test_edits_that_are_not_saved_are_there_after_a_reload(open_page: Open, study: Study) -> None:
    app = open_page(study.folder, "revise", LEAD)
    field = area(app, "Synonyms")
    field.set_value(f"{field.value}\nkept over a reload").run()
    address = app.query_params["draft"]
    again = open_page(study.folder, "revise", LEAD)  # another session, as after a reload in a new window
    assert "not saved" in told(again)
    press(again, "Go on with them here")
    assert area(again, "Synonyms").value.endswith("kept over a reload")
    assert again.query_params["draft"] == address


def test_two_tabs_that_save_leave_two_candidates_of_the_same_parent(open_page: Open, study: Study) -> None:
    tabs = [open_page(study.folder, "revise", LEAD) for _ in range(2)]
    for number, app in enumerate(tabs):
        field = area(app, "Synonyms")
        field.set_value(f"{field.value}\nof tab {number}").run()
    for number, app in enumerate(tabs):
        box = next(field for field in app.main.text_input if "What changed" in field.label)
        box.set_value(f"tab {number}").run()
        press(app, "Save as candidate")
    first, second = revisions(study)[-2:]
    assert (first.message, second.message) == ("tab 0", "tab 1")
    assert first.parent_hash == second.parent_hash == find_revision(study, 4).prompt.hash
    assert "both stay" in "\n".join(each.value for each in [*tabs[1].success, *tabs[1].main.markdown, *tabs[1].info])


def test_an_edit_is_tried_on_the_errors_and_as_many_right_reports(open_page: Open, study: Study) -> None:
    app = start_from(open_page(study.folder, "revise", LEAD), 1, "pleural_effusion")
    field = area(app, "Synonyms")
    field.set_value(f"{field.value}\neffusion").run()
    tab(app, right="Try it")
    app.selectbox(key="revise.scope").select("errors").run()
    press(app, "Try it")
    assert not app.exception
    metrics = {metric.label: int(metric.value.replace(",", "")) for metric in app.main.metric}
    assert set(metrics) == {"Become right", "Become wrong", "Unchanged"}
    assert metrics["Become right"] + metrics["Become wrong"] > 0


def test_a_sentence_of_the_study_in_a_worked_example_names_its_report_and_the_lock(
    open_page: Open, study: Study
) -> None:
    app = tab(open_page(study.folder, "revise", LEAD), left="Worked examples")
    report = find_report(study)
    press(app, "Add a worked example")
    fields = [field for field in app.main.text_area if field.label.startswith("Text of example")]
    fields[-1].set_value(report[1]).run()
    assert "restricted" in told(app)
    assert f"Report {report[0]} is left out" in told(app)
    (kept,) = drafts.unsaved(study, study.actor(LEAD))
    assert kept.prompt.guidance.examples[-1] == Example(report[1], {}, report[0])


def find_report(study: Study) -> tuple[str, str]:
    name = min(get_cohort(study, "development").members)
    text = read_report(study, study.actor(LEAD), name).select()
    return name, " ".join(text.split())[:80]


def test_what_is_wrong_in_the_file_is_one_sentence_with_its_line(open_page: Open, study: Study) -> None:
    app = tab(open_page(study.folder, "revise", LEAD), left="Whole file")
    whole = area(app, "Prompt file").value
    area(app, "Prompt file").set_value(whole.replace("findings:", "findings: [", 1)).run()
    press(app, "Take this file over")
    assert "line" in app.main.error[0].value
    area(app, "Prompt file").set_value(whole + "\n{% if %}\n").run()
    press(app, "Take this file over")
    assert "line" in app.main.error[0].value
    assert drafts.unsaved(study, study.actor(LEAD)) == []
    area(app, "Prompt file").set_value(whole.replace("title: ", "title: My ", 1)).run()
    press(app, "Take this file over")
    assert len(drafts.unsaved(study, study.actor(LEAD))) == 1


def test_what_a_model_is_told_stands_beside_with_its_tokens(open_page: Open, study: Study) -> None:
    app = open_page(study.folder, "revise", LEAD)
    field = area(app, "Synonyms")
    field.set_value(f"{field.value}\nunheard of words").run()
    tab(app, right="What a model is told")
    assert "tokens**" in told(app)
    assert any("unheard of words" in code.value for code in app.main.code)


def test_a_prompt_file_changed_by_hand_is_offered_as_a_candidate(open_page: Open, study: Study) -> None:
    path = prompt_file(study, 4)
    path.write_text(path.read_text(encoding="utf-8").replace("title: ", "title: By hand ", 1), encoding="utf-8")
    app = open_page(study.folder, "revise", LEAD)
    assert "changed by hand" in told(app)
    assert revisions(study)[-1].number == 5


def test_a_rater_reads_the_prompt_and_is_offered_no_button(open_page: Open, study: Study) -> None:
    app = open_page(study.folder, "revise", RATER)
    assert not app.exception
    assert not any(button.label in {"Save as candidate", "Suggest edits", "Try it"} for button in app.main.button)


def test_a_language_model_is_asked_for_the_edits_of_one_finding(open_page: Open, study: Study) -> None:
    reply = {"edits": [{"field": "negation.before", "action": "add", "text": "no", "why": "It denies what follows."}]}
    data = study.folder / "data"
    (data / "advice.jsonl").write_text(json.dumps({"default": True, "reply": reply}) + "\n", encoding="utf-8")
    with (data / "study.toml").open("a", encoding="utf-8") as settings:
        settings.write('\n[labelers.advisor]\nkind = "scripted"\nfile = "data/advice.jsonl"\n')
    app = tab(start_from(open_page(study.folder, "revise", LEAD), 1), right="Suggestions")
    app.selectbox(key="revise.suggest.by").select("advisor").run()
    assert "at most five times" in told(app)
    press(app, "Ask for edits of Fracture")
    assert not app.exception
    assert "It denies what follows." in told(app)
    press(app, "Accept")
    (kept,) = drafts.unsaved(study, study.actor(LEAD))
    assert kept.prompt.guidance.cues.negation.before == ("no",)


def test_a_phrase_that_cannot_be_read_is_told_and_not_saved(open_page: Open, study: Study) -> None:
    known = len(revisions(study))
    app = start_from(open_page(study.folder, "revise", LEAD), 1)
    field = area(app, "Synonyms")
    field.set_value(f"{field.value}\nbroken ...").run()
    next(f for f in app.main.text_input if f.label == "What changed and why").set_value("a gap at the end").run()
    press(app, "Save as candidate")
    assert not app.exception
    (said,) = (error.value.replace("\\", "") for error in app.main.error)
    assert "fracture" in said.lower()
    assert "broken ..." in said
    assert len(revisions(study)) == known


def test_a_revision_that_cannot_be_read_stops_nobody_and_is_rejected(
    open_page: Open, study: Study, add_unchecked: Callable[[Study, Prompt], Revision]
) -> None:
    unreadable = edited(find_revision(study).prompt, [Edit("fracture", Part.SYNONYMS, "broken ...")])
    made = add_unchecked(study, unreadable)
    app = start_from(open_page(study.folder, "revise", LEAD), made.number)
    assert not app.exception
    assert "broken ..." in told(app)
    app.selectbox(key="revise.base").set_value(1).run()
    assert not app.exception
    assert area(app, "Synonyms").value
    app = open_page(study.folder, "accept", LEAD)
    app.selectbox(key="accept.revision").set_value(made.number).run()
    next(f for f in app.main.text_input if f.label == "Reason for the decision").set_value("unreadable").run()
    press(app, "Reject revision")
    assert not app.exception
    assert revisions(study)[-1].status is RevisionStatus.REJECTED
