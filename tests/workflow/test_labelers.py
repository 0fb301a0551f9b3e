"""A study's labelers: what each is, and that hello tells within a sentence whether its server answers."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from workbench.domain.actors import Actor
from workbench.domain.data_use import Basis
from workbench.domain.prompts import Prompt
from workbench.errors import InputError, RightsError, WorkbenchError
from workbench.labelers.server_address import server_address
from workbench.models import anthropic, openai
from workbench.models.base import CallError
from workbench.workflow import data_use, labelers, run
from workbench.workflow.prompts import save_candidate
from workbench.workflow.settings import LabelerConfig
from workbench.workflow.study import Study


def with_labeler(study: Study, **config: Any) -> Study:
    """Return the study with one more labeler, called m."""
    more = {**study.settings.labelers, "m": LabelerConfig(**{"kind": "openai", "model": "m", **config})}
    return replace(study, settings=study.settings.model_copy(update={"labelers": more}))


def test_addresses_that_are_checked_are_those_that_are_asked(study: Study) -> None:
    for kind, module in (("openai", openai), ("anthropic", anthropic)):
        assert server_address(with_labeler(study, kind=kind).labeler("m")) == module.BASE_URL


def test_how_many_are_in_flight_goes_by_where_it_runs(study: Study) -> None:
    here = "http://localhost:8080/v1"
    assert with_labeler(study, base_url=here).labeler("m").concurrency == 1
    assert with_labeler(study).labeler("m").concurrency == 8
    assert with_labeler(study, base_url=here, concurrency=4).labeler("m").concurrency == 4


def test_a_card_says_where_it_runs_and_why_it_cannot_be_used(study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    cloud = labelers.card(with_labeler(study), "m")
    assert (cloud.place, cloud.key_variable) == ("api.openai.com", "OPENAI_API_KEY")
    assert "restricted" in cloud.problem
    here = labelers.card(with_labeler(study, base_url="http://127.0.0.1:8000/v1"), "m")
    assert (here.place, here.problem, here.key_variable) == (labelers.HERE, "", None)
    broken = labelers.card(with_labeler(study, kind="scripted", model=None, file="none.jsonl"), "m")
    assert broken.settings is None
    assert "none.jsonl" in broken.problem
    assert not labelers.card(study, "rules").asks_server


def test_hello_tells_what_the_server_can_and_is_remembered(
    study: Study, lead: Actor, start_fault_server: Callable[..., Any]
) -> None:
    server = start_fault_server("--rejects", "json_schema", "--reject-status", "500")
    it = with_labeler(study, base_url=f"{server.url}/v1")
    assert labelers.card(it, "m").hello is None
    answer = labelers.say_hello(it, lead, "m")
    assert answer is not None
    assert answer.constraint == "json_object"
    assert answer.served_model
    assert labelers.card(it, "m").hello == answer
    assert labelers.card(with_labeler(it, base_url=f"{server.url}/v1", temperature=0), "m").hello is None


def test_a_run_asks_what_the_server_can_once_and_later_runs_remember(
    rated: Study, lead: Actor, make_prompt: Callable[..., Prompt], start_fault_server: Callable[..., Any]
) -> None:
    server = start_fault_server("--rejects", "json_schema", "--reject-status", "500")
    it = with_labeler(rated, base_url=f"{server.url}/v1")
    for title, probes in (("first", 2), ("second", 0)):
        made = save_candidate(it, lead, make_prompt(title), message="m", parent=None)
        prepared = run.prepare(it, lead, cohort="development", revision=made.prompt_hash, labeler="m")
        before = server.log()["calls"]
        done = run.execute(it, prepared)
        assert (done.done, done.failed) == (6, {})
        found = run.extractions(it, lead, prepared)
        assert {extraction.constraint for extraction in found.values()} == {"json_object"}
        # Six reports; the first run asks for json_schema in vain and then for json_object.
        assert server.log()["calls"] - before == 6 + probes


def test_a_server_that_is_not_there_is_told_of_in_a_sentence(study: Study, lead: Actor) -> None:
    it = with_labeler(study, base_url="http://127.0.0.1:9/v1")
    with pytest.raises(WorkbenchError, match="cannot be reached"):
        labelers.say_hello(it, lead, "m")
    assert labelers.card(it, "m").hello is None


def test_hello_is_said_to_no_server_that_is_locked_or_lacks_its_key(
    study: Study, lead: Actor, rater: Actor, monkeypatch: pytest.MonkeyPatch
) -> None:
    it = with_labeler(study)
    with pytest.raises(RightsError, match="restricted"):
        labelers.say_hello(it, lead, "m")
    data_use.open_host(it, lead, "api.openai.com", Basis("Contract", zero_retention=True))
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with pytest.raises(InputError, match="OPENAI_API_KEY"):
        labelers.say_hello(it, lead, "m")
    with pytest.raises(RightsError, match="say hello"):
        labelers.say_hello(it, rater, "rules")
    assert labelers.say_hello(it, lead, "rules") is None


def test_a_run_that_is_under_way_asks_no_more_once_its_host_is_closed(
    rated: Study,
    lead: Actor,
    make_prompt: Callable[..., Prompt],
    start_fault_server: Callable[..., Any],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(labelers, "_LOOK_SECONDS", -1.0)
    server = start_fault_server()
    it = with_labeler(rated, base_url=f"{server.url}/v1")
    made = save_candidate(it, lead, make_prompt(), message="m", parent=None)
    prepared = run.prepare(it, lead, cohort="development", revision=made.prompt_hash, labeler="m")
    looks = iter([None, None])

    def closed_after_two(study: Study, settings: object) -> None:
        if next(looks, "closed"):
            raise RightsError("It was closed by Dr. Lead.")

    monkeypatch.setattr(data_use, "require_allowed", closed_after_two)
    monkeypatch.setattr(run, "require_ready", lambda *_: None)
    done = run.execute(it, prepared)
    assert done.stopped.startswith("It was closed by Dr. Lead.")
    assert done.done == 2
    assert run.progress(it, prepared).stopped == done.stopped  # whoever looks later is told too
    looks = iter([None] * 9)
    assert (run.execute(it, prepared).stopped, run.progress(it, prepared).stopped) == ("", "")


def test_why_a_run_could_not_begin_is_told_to_whoever_looks_later(
    rated: Study, lead: Actor, make_prompt: Callable[..., Prompt], start_fault_server: Callable[..., Any]
) -> None:
    server = start_fault_server()
    it = with_labeler(rated, base_url=f"{server.url}/v1")
    made = save_candidate(it, lead, make_prompt(), message="m", parent=None)
    prepared = run.prepare(it, lead, cohort="development", revision=made.prompt_hash, labeler="m")
    server.process.kill()
    server.process.wait()
    with pytest.raises(CallError) as told:
        run.execute(it, prepared)
    assert run.progress(it, prepared).stopped == str(told.value)
    assert "cannot be reached" in str(told.value)
