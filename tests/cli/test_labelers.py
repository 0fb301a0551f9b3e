"""Labelers and the data-use lock from the command line: the same refusal wherever it is tried."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from workbench.workflow import data_use
from workbench.workflow.demo import LEAD, RATER
from workbench.workflow.opening import open_study

Run = Callable[..., Any]
SETTINGS = """
[labelers.gpt]
kind = "openai"
model = "some-model"
price = {input = 1.0, output = 4.0}

[labelers.claude]
kind = "anthropic"
model = "some-model"
"""


@pytest.fixture
def with_cloud(study: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """A demo study with two cloud models and their keys."""
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "k")
    with (Path(study) / "data" / "study.toml").open("a", encoding="utf-8") as settings:
        settings.write(SETTINGS)
    return study


@pytest.mark.parametrize(("name", "host"), [("gpt", "api.openai.com"), ("claude", "api.anthropic.com")])
def test_a_restricted_study_refuses_a_cloud_model_in_one_sentence_everywhere(
    workbench: Run, with_cloud: str, tmp_path: Path, name: str, host: str
) -> None:
    opened = open_study(Path(with_cloud))
    sentence = data_use.permission(opened, opened.labeler(name)).why_not
    assert host in sentence
    reports = tmp_path / "reports.csv"
    reports.write_text("id,text\nr1,Small effusion.\n", encoding="utf-8")
    for arguments in (
        ("run", "--cohort", "development", "--labeler", name),
        ("labeler", "hello", name),
        ("label", str(reports), "-o", "labels.csv", "--labeler", name),
    ):
        said = workbench(*arguments, "--study", with_cloud)
        assert said.code == 1
        assert said.err.strip().splitlines()[-1] == f"workbench: {sentence}"
    assert not (tmp_path / "labels.csv").exists()


def test_opening_and_closing_a_host_is_on_record_and_shown(workbench: Run, with_cloud: str) -> None:
    where = ("--study", with_cloud)
    refused = workbench(
        "data-use", "open", "api.openai.com", "--agreement", "C 7", "--zero-retention", "--as", RATER, *where
    )
    assert refused.code == 1
    assert "needs the role lead" in refused.err
    unsaid = workbench("data-use", "open", "api.openai.com", "--agreement", "C 7", "--as", LEAD, *where)
    assert unsaid.code == 2  # whether anything is kept there has to be said
    workbench(
        "data-use", "open", "api.openai.com", "--agreement", "C 7", "--zero-retention", "--until", "2999-12-31", *where
    )
    (opening,) = workbench("data-use", "list", "--json", *where).json["openings"]
    assert (opening["host"], opening["agreement"], opening["until"]) == ("api.openai.com", "C 7", "2999-12-31")
    assert opening["zero_retention"] is True
    gpt = next(
        each for each in workbench("labeler", "list", "--json", *where).json["labelers"] if each["name"] == "gpt"
    )
    assert gpt["problem"] == ""
    assert gpt["opening"]["opened_by"] == LEAD
    assert "zero retention, until 2999-12-31" in workbench("data-use", "list", *where).out.replace("\n", " ")
    assert workbench("data-use", "close", "api.openai.com", *where).code == 0
    assert workbench("data-use", "list", "--json", *where).json["openings"][0]["closed_by"] == LEAD


def test_hello_from_the_command_line(workbench: Run, study: str, start_fault_server: Callable[..., Any]) -> None:
    with (Path(study) / "data" / "study.toml").open("a", encoding="utf-8") as settings:
        settings.write(f'\n[labelers.qwen]\nkind = "openai"\nmodel = "q"\nbase_url = "{start_fault_server().url}/v1"\n')
    said = workbench("labeler", "hello", "qwen", "--json", "--study", study).json
    assert said["hello"]["constraint"] == "json_schema"
    assert "asks no server" in workbench("labeler", "hello", "rules", "--study", study).out


@pytest.mark.parametrize(
    ("lines", "told"),
    [
        ('[labelers.m]\nkind = "openai"\nmodel = "m"\nreply = "every"\n', "labelers.m.reply: is no key that is known"),
        ('[labelers.m]\nkind = "openai"\nmodel = "m"\nprice = {input = 1.0}\n', "labelers.m.price.output: is missing"),
        ('[labelers.m]\nkind = "openai"\nmodel = "m"\nconcurrency = 0\n', "labelers.m.concurrency"),
        ('[data_use]\nhosts = ["https://x/"]\n', "not written as a name or address"),
        ("[data_use]\nopen = true\n", "data_use.open: is no key that is known"),
    ],
)
def test_settings_that_are_wrong_are_named_in_a_sentence(workbench: Run, study: str, lines: str, told: str) -> None:
    with (Path(study) / "data" / "study.toml").open("a", encoding="utf-8") as settings:
        settings.write(f"\n{lines}")
    said = workbench("labeler", "list", "--study", study)
    assert said.code == 1
    assert told in said.err
