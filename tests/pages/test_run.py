"""The run page: what it says of a run that stopped, of a labeler set up wrongly, and of a locked cohort."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from streamlit.testing.v1 import AppTest

from workbench.ui import state
from workbench.workflow import run
from workbench.workflow.demo import LEAD, RATER
from workbench.workflow.prompts import find_revision, save_candidate
from workbench.workflow.revise import with_guidance
from workbench.workflow.study import Study

Open = Callable[..., AppTest]


def start_button(app: AppTest) -> object:
    return next(button for button in app.main.button if button.label in {"Start the run", "Continue the run"})


def unscored(study: Study) -> run.PreparedRun:
    """A recorded run of a new candidate, with nothing labelled yet."""
    lead, parent = study.actor(LEAD), find_revision(study)
    prompt = with_guidance(parent.prompt, title="Another")
    made = save_candidate(study, lead, prompt, message="For the test", parent=parent.revision.prompt_hash)
    return run.prepare(study, lead, cohort="development", revision=made.prompt_hash)


def test_a_run_whose_process_died_says_its_last_words_and_can_be_started_again(open_page: Open, study: Study) -> None:
    prepared = unscored(study)
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    (study.folder / "data" / "run.log").write_text("Starting.\nThe key was refused.\n\n", encoding="utf-8")
    app = open_page(study.folder, "reports", LEAD)
    app.session_state["run.following"] = prepared.run.hash
    app.session_state["run.process"] = gone.pid
    app.switch_page(str(state.page("run"))).run()
    assert not app.exception
    assert "The run has stopped: The key was refused." in app.error[0].value.replace("\\", "")
    assert not start_button(app).disabled


def test_a_run_that_was_never_started_offers_to_start_and_shows_no_score(open_page: Open, study: Study) -> None:
    unscored(study)
    app = open_page(study.folder, "run", LEAD)
    assert start_button(app).label == "Start the run"
    assert not app.main.metric


def set_up_wrongly(folder: Path) -> None:
    with (folder / "data" / "study.toml").open("a", encoding="utf-8") as settings:
        settings.write('\n[labelers.broken]\nkind = "scripted"\nfile = "data/not-there.jsonl"\n')


def test_a_labeler_set_up_wrongly_is_told_where_it_is_chosen(open_page: Open, study: Study) -> None:
    set_up_wrongly(study.folder)
    app = open_page(study.folder, "run", LEAD)
    assert not app.error
    app.selectbox(key="run.labeler").select("broken").run()
    assert not app.exception
    assert "not-there.jsonl" in app.error[0].value.replace("\\", "")


def test_a_labeler_set_up_wrongly_spoils_no_other_page(open_page: Open, study: Study) -> None:
    set_up_wrongly(study.folder)
    for page in ("errors", "revise", "accept", "history"):
        app = open_page(study.folder, page, LEAD)
        assert not app.exception
        assert not app.error


def test_a_locked_cohort_cannot_be_run_on_and_its_reports_are_not_offered(open_page: Open, study: Study) -> None:
    app = open_page(study.folder, "run", LEAD)
    app.selectbox(key="run.cohort").select("validation").run()
    assert "is locked" in app.warning[0].value
    assert not app.main.toggle
    start_button(app).click().run()
    assert "so one cannot run a prompt on it" in app.error[0].value


def test_a_rater_cannot_start_a_run(open_page: Open, study: Study) -> None:
    unscored(study)
    app = open_page(study.folder, "run", RATER)
    assert start_button(app).disabled
    assert any("Runs are started by the study lead" in info.value for info in app.info)


def test_what_a_model_is_sent_is_shown_for_a_report(open_page: Open, study: Study) -> None:
    app = open_page(study.folder, "run", LEAD)
    app.main.toggle[0].set_value(True).run()
    system, user = (block.value for block in app.main.code)
    text = user.removeprefix("<report>\n").removesuffix("\n</report>")
    assert text
    assert text != user
    assert text not in system
    assert any("tokens, an estimate" in caption.value for caption in app.caption)
