"""The run page: what it says of a run that stopped, of a labeler set up wrongly, and of a locked cohort."""

import subprocess
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from workbench.domain.cohorts import Purpose
from workbench.domain.data_use import Basis
from workbench.models import egress
from workbench.storage import runs
from workbench.ui import state
from workbench.workflow import batches, data_use, run
from workbench.workflow.cohorts import define
from workbench.workflow.demo import LEAD, RATER
from workbench.workflow.ingest import import_reports
from workbench.workflow.opening import open_study
from workbench.workflow.prompts import find_revision, save_candidate
from workbench.workflow.revise import with_guidance
from workbench.workflow.study import Study

Open = Callable[..., AppTest]


TO_START = frozenset({"Start the run", "Continue the run"})


def start_button(app: AppTest, labels: frozenset[str] | set[str] = TO_START) -> Any:
    return next(button for button in app.main.button if button.label in labels)


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


def test_why_a_run_stopped_is_told_when_its_page_is_opened_later(open_page: Open, study: Study) -> None:
    prepared = unscored(study)
    with study.database.write() as conn:
        runs.add_stop(conn, prepared.run.hash, "The key was refused.", datetime.now(UTC))
    app = open_page(study.folder, "run", LEAD)
    assert not app.exception
    told = [caption.value.replace("\\", "") for caption in app.main.caption]
    assert "This run was stopped; continue it and nothing is labelled twice. The key was refused." in told


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
    assert start_button(app).disabled


def test_reports_that_the_prompt_cannot_read_are_told_before_the_run(
    open_page: Open, study: Study, tmp_path: Path
) -> None:
    app = open_page(study.folder, "run", LEAD)
    assert not any("this prompt's phrases" in warning.value for warning in app.main.warning)
    lead = study.actor(LEAD)
    texts = tmp_path / "chinese.csv"
    texts.write_text('id,text\nzh1,"FINDINGS: 右侧胸腔少量积液。"\nzh2,FINDINGS: Clear.\n', encoding="utf-8")
    import_reports(study, lead, texts)
    define(study, lead, "elsewhere", Purpose.EXTERNAL, ["zh1", "zh2"])
    app = open_page(study.folder, "run", LEAD)
    app.selectbox(key="run.cohort").select("elsewhere").run()
    assert not app.exception
    told = app.main.warning[0].value.replace("\\", "")
    assert told.startswith("1 of 2 reports is in Chinese; this prompt's phrases are in English: the rules labeler will")
    app.selectbox(key="run.labeler").select("simulated-replies").run()
    assert not any("rules labeler will not" in warning.value for warning in app.main.warning)
    assert any("A language model may read them all the same" in each.value for each in app.main.caption)


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


def add(study: Study, lines: str) -> None:
    with (study.folder / "data" / "study.toml").open("a", encoding="utf-8") as settings:
        settings.write(f"\n{lines}\n")


def chosen(open_page: Open, study: Study, labeler: str, person: str = LEAD) -> AppTest:
    app = open_page(study.folder, "run", person)
    app.selectbox(key="run.labeler").select(labeler).run()
    assert not app.exception
    return app


@pytest.mark.parametrize("kind", ["openai", "anthropic"])
def test_a_restricted_study_refuses_a_cloud_model_before_anything_is_started(
    open_page: Open, study: Study, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(f"{kind.upper()}_API_KEY", "k")
    add(study, f'[labelers.cloud]\nkind = "{kind}"\nmodel = "m"')
    opened = open_study(study.folder)
    app = chosen(open_page, study, "cloud")
    sentence = data_use.permission(opened, opened.labeler("cloud")).why_not
    assert sentence
    assert [error.value.replace("\\", "") for error in app.error] == [sentence]
    assert start_button(app).disabled
    assert app.button(key="run.hello").disabled


def test_an_opened_cloud_model_shows_its_basis_and_says_which_key_is_missing(
    open_page: Open, study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    add(study, '[labelers.cloud]\nkind = "openai"\nmodel = "m"')
    data_use.open_host(study, study.actor(LEAD), "api.openai.com", Basis("Contract 7", zero_retention=True))
    app = chosen(open_page, study, "cloud")
    assert any("Contract 7; nothing of a report is kept there" in each.value for each in app.caption)
    assert "OPENAI_API_KEY" in app.error[0].value.replace("\\", "")
    assert start_button(app).disabled


def test_saying_hello_tells_what_answered(
    open_page: Open, study: Study, start_fault_server: Callable[..., Any]
) -> None:
    add(study, f'[labelers.here]\nkind = "openai"\nmodel = "m"\nbase_url = "{start_fault_server().url}/v1"')
    app = chosen(open_page, study, "here")
    assert any("runs on this computer" in each.value for each in app.markdown)
    assert any("never said hello to" in each.value for each in app.caption)
    app.button(key="run.hello").click().run()
    assert not app.error
    assert any("answered just now" in each.value for each in app.caption)


def finished(study: Study, server: Any) -> None:
    """Run the fault server's model over the development cohort; one report gets no reply."""
    add(study, f'[labelers.here]\nkind = "openai"\nmodel = "m"\nbase_url = "{server.url}/v1"\nconcurrency = 8')
    opened = open_study(study.folder)
    run.execute(opened, run.prepare(opened, opened.actor(LEAD), cohort="development", labeler="here"))


def test_a_model_that_adds_nothing_is_seen_beside_the_rules_at_once(
    open_page: Open, study: Study, start_fault_server: Callable[..., Any]
) -> None:
    # It finds nothing, since no demo report is written as it reads them, and refuses some.
    finished(
        study, start_fault_server("--seed", "3", "--trouble", "0.2", "--passing", "ok", "--final", "refusal,invented")
    )
    app = chosen(open_page, study, "here")
    labels = [metric.label for metric in app.main.metric]
    assert {"This model, macro-F1", "Rules labeler, macro-F1", "Difference"} <= set(labels)
    assert any("the model adds nothing" in each.value for each in app.markdown)
    assert start_button(app, {"Run is finished"}).disabled
    told = app.main.segmented_control(key="doubts.kind").options
    assert any(each.startswith("refused · ") for each in told)
    assert "report talks to the labeler · 1" in told


def test_a_run_with_failures_offers_to_ask_again(
    open_page: Open, study: Study, start_fault_server: Callable[..., Any]
) -> None:
    finished(study, start_fault_server("--seed", "3", "--trouble", "0.05", "--passing", "ok", "--final", "409"))
    app = chosen(open_page, study, "here")
    button = start_button(app, {"Ask the failed ones again"})
    assert not button.disabled
    assert "no reply" in app.get("progress")[0].proto.text


def test_a_lead_opens_a_host_on_the_page_with_its_basis_and_closes_it(open_page: Open, study: Study) -> None:
    add(study, '[labelers.cloud]\nkind = "openai"\nmodel = "m"')
    app = chosen(open_page, study, "cloud")
    app.text_input(key="run.agreement").set_value("Contract 7")
    press(app, "Open it")
    assert "Say whether anything" in app.error[-1].value
    assert data_use.openings(study) == []
    app.radio[0].set_value("No: zero retention")
    press(app, "Open it")
    (opening,) = data_use.openings(study)
    assert (opening.host, opening.actor) == ("api.openai.com", LEAD)
    assert opening.basis == Basis("Contract 7", zero_retention=True)
    press(app, "Close this host")
    assert data_use.openings(study)[0].closed_by == LEAD


def press(app: AppTest, label: str) -> None:
    next(button for button in app.main.button if button.label == label).click().run()
    assert not app.exception


def test_repeats_show_how_steady_the_model_is(
    open_page: Open, study: Study, start_fault_server: Callable[..., Any]
) -> None:
    url = start_fault_server().url
    add(study, f'[labelers.here]\nkind = "openai"\nmodel = "m"\nbase_url = "{url}/v1"\nconcurrency = 8')
    opened = open_study(study.folder)
    lead = opened.actor(LEAD)
    run.execute(opened, run.prepare(opened, lead, cohort="development", labeler="here", repeats=2))
    app = chosen(open_page, study, "here")
    assert any("Each report was asked 2 times" in each.value for each in app.markdown)
    assert "answers came, each report being asked 2 times" in app.get("progress")[0].proto.text


@pytest.fixture
def batch_server(start_batch_server: Callable[..., Any]) -> str:
    """The address of a server that takes batches, which end when they have been looked at twice."""
    return f"{start_batch_server('--looks', '2').url}/v1"


def test_a_run_is_handed_over_as_a_batch_shown_while_it_is_under_way_and_collected_by_a_button(
    open_page: Open, study: Study, batch_server: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    price = "{input = 10.0, output = 20.0}"
    add(study, f'[labelers.far]\nkind = "openai"\nmodel = "m"\nbase_url = "{batch_server}"\nprice = {price}')
    assert not [box for box in chosen(open_page, study, "far").main.checkbox if box.key == "run.batch"]
    monkeypatch.setattr("workbench.workflow.labelers.runs_here", lambda _: False)
    app = chosen(open_page, study, "far")
    box = app.checkbox(key="run.batch")
    assert box.label == "As a batch: half the price, within a day"
    box.check().run()
    start_button(app).click().run()
    assert not app.exception
    assert not app.error
    told = [each.value.replace("\\", "") for each in (*app.main.markdown, *app.main.caption)]
    (record,) = batches.of_run(study, run.load(study, run.list_records(study)[-1].run.hash))
    assert any(f"A batch of {record.requests} reports is being answered" in each for each in told)
    assert any(f"Handed over by {LEAD} on" in each for each in told)
    assert start_button(app, {"Waits for its batch"}).disabled

    press(app, "Collect what has come")  # the first look: not yet
    assert any("is being answered" in each.value for each in app.main.markdown)
    press(app, "Collect what has come")
    assert start_button(app, {"Run is finished"}).disabled
    assert any("at 0.5 of today's price, as a batch" in each.value.replace("\\", "") for each in app.main.caption)


def test_a_rater_sees_no_button_to_collect_that_works(open_page: Open, study: Study, batch_server: str) -> None:
    add(study, f'[labelers.far]\nkind = "openai"\nmodel = "m"\nbase_url = "{batch_server}"')
    opened = open_study(study.folder)
    lead = opened.actor(LEAD)
    batches.submit(opened, lead, run.prepare(opened, lead, cohort="development", labeler="far"))
    assert chosen(open_page, study, "far", RATER).button(key="run.collect").disabled


def test_a_batch_whose_host_was_closed_can_be_collected_and_the_page_says_that_this_sends_no_report(
    open_page: Open, study: Study, batch_server: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    add(study, f'[labelers.far]\nkind = "openai"\nmodel = "m"\nbase_url = "{batch_server}"')
    opened = open_study(study.folder)
    lead = opened.actor(LEAD)
    batches.submit(opened, lead, run.prepare(opened, lead, cohort="development", labeler="far"))
    for module in (egress, data_use):  # from here on the server of this test counts as one elsewhere, never opened
        monkeypatch.setattr(module, "is_loopback", lambda _: False)
    app = chosen(open_page, study, "far")
    assert any("The host may be sent no report any more" in each.value for each in app.main.caption)
    press(app, "Collect what has come")
    press(app, "Collect what has come")
    assert not app.exception
    prepared = run.load(study, run.list_records(study)[-1].run.hash)
    assert run.progress(study, prepared).finished


def test_a_scripted_labeler_says_that_it_is_simulated(open_page: Open, study: Study) -> None:
    (study.folder / "data" / "replies.jsonl").write_text('{"default": true, "reply": {"findings": []}}\n')
    add(study, '[labelers.script]\nkind = "scripted"\nfile = "data/replies.jsonl"')
    app = chosen(open_page, study, "script")
    assert "its replies are simulated" in app.warning[0].value
