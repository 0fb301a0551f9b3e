"""The data-use lock: who opens a host, on what, what it lets through, and that everybody is refused alike."""

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta

import pytest

from workbench.domain.actors import Actor
from workbench.domain.data_use import Basis
from workbench.domain.prompts import Prompt
from workbench.errors import ConflictError, InputError, NotFoundError, RightsError
from workbench.models.anthropic import BASE_URL as ANTHROPIC
from workbench.models.openai import BASE_URL as OPENAI
from workbench.storage import data_use as store
from workbench.storage import runs as run_store
from workbench.workflow import data_use, run
from workbench.workflow.prompts import save_candidate
from workbench.workflow.settings import DataUseSettings, LabelerConfig
from workbench.workflow.study import Study

BASIS = Basis("Contract 7", zero_retention=True)
CLOUD = {
    "gpt": LabelerConfig(kind="openai", model="m"),
    "claude": LabelerConfig(kind="anthropic", model="m"),
    "here": LabelerConfig(kind="openai", model="m", base_url="http://127.0.0.1:8000/v1"),
}


def with_cloud(study: Study, **restriction: object) -> Study:
    """Return the study with three language models."""
    use = DataUseSettings.model_validate(restriction)
    settings = study.settings.model_copy(
        update={"labelers": {**study.settings.labelers, **CLOUD}, "data_use": use},
    )
    return replace(study, settings=settings)


def why_not(study: Study, name: str) -> str:
    return data_use.permission(study, study.labeler(name)).why_not


def test_a_restricted_study_allows_this_computer_and_no_cloud(study: Study) -> None:
    it = with_cloud(study)
    assert why_not(it, "here") == why_not(it, "rules") == ""
    for name, address in (("gpt", OPENAI), ("claude", ANTHROPIC)):
        with pytest.raises(RightsError) as refused:
            data_use.egress(it).check(address)
        assert why_not(it, name) == str(refused.value)
        assert "restricted to this computer" in why_not(it, name)


def test_a_study_that_is_not_restricted_or_lists_the_host_allows_it(study: Study) -> None:
    assert not why_not(with_cloud(study, restricted=False), "gpt")
    listed = with_cloud(study, hosts=["api.openai.com"])
    assert not why_not(listed, "gpt")
    assert why_not(listed, "claude")


def test_a_lead_opens_a_host_on_record_and_closes_it(study: Study, lead: Actor) -> None:
    it = with_cloud(study)
    opening = data_use.open_host(it, lead, " API.openai.com ", BASIS)
    found = data_use.permission(it, it.labeler("gpt"))
    assert (found.why_not, found.opening) == ("", opening)
    assert (opening.host, opening.actor, opening.basis) == ("api.openai.com", lead.name, BASIS)
    assert why_not(it, "claude")
    data_use.close_host(it, lead, "api.openai.com")
    assert f"closed by {lead.name}" in why_not(it, "gpt")
    with pytest.raises(ConflictError, match="closed already"):
        data_use.close_host(it, lead, "api.openai.com")


def test_nobody_but_a_lead_opens_a_host(study: Study, rater: Actor) -> None:
    with pytest.raises(RightsError, match="needs the role lead"):
        data_use.open_host(study, rater, "api.openai.com", BASIS)
    assert data_use.openings(study) == []


@pytest.mark.parametrize(
    ("host", "basis", "told"),
    [
        ("api.openai.com", replace(BASIS, agreement="  "), "on which agreement"),
        ("api.openai.com", replace(BASIS, until=date(2020, 1, 1)), "ended on 2020-01-01"),
        ("https://api.openai.com/v1", BASIS, "not written as"),
        ("*", BASIS, "not written as"),
        ("localhost", BASIS, "this computer"),
        ("127.0.0.1:8000", BASIS, "this computer"),
        ("::1", BASIS, "this computer"),
    ],
)
def test_an_opening_without_a_host_or_basis_is_refused(
    study: Study, lead: Actor, host: str, basis: Basis, told: str
) -> None:
    with pytest.raises(InputError, match=told):
        data_use.open_host(study, lead, host, basis)
    assert data_use.openings(study) == []


def test_closing_what_nobody_opened_is_refused(study: Study, lead: Actor) -> None:
    with pytest.raises(NotFoundError, match="Nobody has opened"):
        data_use.close_host(study, lead, "api.openai.com")


def test_an_opening_ends_with_its_agreement(study: Study, lead: Actor) -> None:
    it = with_cloud(study)
    ended = datetime.now(UTC).date() - timedelta(days=1)
    opening = data_use.open_host(it, lead, "api.openai.com", BASIS)
    with it.database.write() as conn:
        store.open_host(conn, replace(opening, basis=replace(BASIS, until=ended)))
    assert f"ended on {ended}" in why_not(it, "gpt")


def test_label_without_a_database_goes_by_the_settings_and_with_one_by_the_record_too(
    study: Study, lead: Actor
) -> None:
    it = with_cloud(study, hosts=["gpu.example.org"])
    data_use.open_host(it, lead, "api.openai.com", BASIS)
    assert data_use.egress_of(it.folder, it.settings).hosts == {"gpu.example.org", "api.openai.com"}
    assert data_use.egress_of(it.folder / "none", it.settings).hosts == {"gpu.example.org"}


@pytest.mark.parametrize("name", ["gpt", "claude"])
def test_a_run_on_a_cloud_model_is_refused_before_anything_is_recorded(
    rated: Study, lead: Actor, make_prompt: Callable[..., Prompt], name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "k")
    it = with_cloud(rated)
    made = save_candidate(it, lead, make_prompt(), message="m", parent=None)
    with pytest.raises(RightsError) as refused:
        run.prepare(it, lead, cohort="development", revision=made.prompt_hash, labeler=name)
    assert str(refused.value) == why_not(it, name)
    with it.database.read() as conn:
        assert run_store.list_all(conn) == []


def test_a_run_recorded_while_its_host_was_open_does_not_go_on_once_it_is_closed(
    rated: Study, lead: Actor, make_prompt: Callable[..., Prompt], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    it = with_cloud(rated)
    made = save_candidate(it, lead, make_prompt(), message="m", parent=None)
    data_use.open_host(it, lead, "api.openai.com", BASIS)
    prepared = run.prepare(it, lead, cohort="development", revision=made.prompt_hash, labeler="gpt")
    data_use.close_host(it, lead, "api.openai.com")
    for going_on in (
        lambda: run.reopen(it, lead, prepared.run.hash),
        lambda: run.execute(it, prepared),
    ):
        with pytest.raises(RightsError, match="closed by"):
            going_on()


def test_a_run_whose_key_is_missing_names_the_variable_and_records_nothing(
    rated: Study, lead: Actor, make_prompt: Callable[..., Prompt], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    it = with_cloud(rated, hosts=["api.openai.com"])
    made = save_candidate(it, lead, make_prompt(), message="m", parent=None)
    with pytest.raises(InputError, match="OPENAI_API_KEY"):
        run.prepare(it, lead, cohort="development", revision=made.prompt_hash, labeler="gpt")
    with it.database.read() as conn:
        assert run_store.list_all(conn) == []
