"""Labelers by kind, and the identity that says which one a run was made with."""

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest

from workbench.domain.findings import Finding, LabelSet, Policies, Policy, State
from workbench.domain.prompts import FindingGuidance, Guidance, Prompt
from workbench.domain.runs import ExtractionStatus, Mention
from workbench.errors import ConflictError, InputError
from workbench.labelers.registry import make_labeler, settings_of

LABEL_SET = LabelSet(
    "demo",
    "1",
    "Demo",
    (Finding("effusion", "Effusion", "", "pleura", ""),),
    Policies(Policy.PRESENT),
    Policies(Policy.PRESENT),
)
PROMPT = Prompt(Guidance("demo", "en", "t", "", {"effusion": FindingGuidance("", ("effusion",))}), "Label it.")
REPLY = '{"default": true, "reply": {"findings": [{"finding": "effusion", "state": "uncertain", "evidence": "Fluid"}]}}'


def test_makes_a_rules_labeler() -> None:
    settings = settings_of("rules", kind="rules")
    labeler = make_labeler(settings, PROMPT, LABEL_SET)
    assert labeler.settings.hash == settings.hash
    assert asyncio.run(labeler.label("An effusion.")).state("effusion") is State.PRESENT


def test_makes_a_scripted_labeler(tmp_path: Path) -> None:
    file = tmp_path / "replies.jsonl"
    file.write_text(REPLY, encoding="utf-8")
    settings = settings_of("script", kind="scripted", file=file)
    extraction = asyncio.run(make_labeler(settings, PROMPT, LABEL_SET).label("Fluid?"))
    assert extraction.status is ExtractionStatus.OK
    assert extraction.mentions == {"effusion": Mention(State.UNCERTAIN, "Fluid")}
    assert extraction.latency is not None


def test_pace_and_place_of_the_file_do_not_change_the_identity_and_its_content_does(tmp_path: Path) -> None:
    first, second, third = (tmp_path / f"{name}.jsonl" for name in "abc")
    first.write_text(REPLY, encoding="utf-8")
    second.write_text(REPLY, encoding="utf-8")
    third.write_text(REPLY.replace("uncertain", "absent"), encoding="utf-8")
    base = settings_of("s", kind="scripted", file=first)
    assert settings_of("other", kind="scripted", file=second, delay=1, concurrency=9, timeout=1).hash == base.hash
    assert settings_of("s", kind="scripted", file=third).hash != base.hash


def test_a_file_that_has_changed_since_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "replies.jsonl"
    file.write_text(REPLY, encoding="utf-8")
    settings = settings_of("script", kind="scripted", file=file)
    file.write_text(REPLY.replace("uncertain", "absent"), encoding="utf-8")
    with pytest.raises(ConflictError, match=r"no labeler script any more .* start a new run\.$"):
        make_labeler(settings, PROMPT, LABEL_SET)
    with pytest.raises(ConflictError, match="no labeler script any more"):
        make_labeler(replace(settings, file=None), PROMPT, LABEL_SET)


def test_another_version_of_the_rules_engine_is_refused() -> None:
    old = replace(settings_of("rules", kind="rules"), options={"engine": "0"})
    with pytest.raises(ConflictError, match="engine changed"):
        make_labeler(old, PROMPT, LABEL_SET)


def test_an_unknown_kind_is_refused_and_the_known_ones_are_named() -> None:
    settings = replace(settings_of("rules", kind="rules"), kind="rulez")
    with pytest.raises(InputError, match=r"called 'rulez'; the kinds are .*rules.*scripted"):
        make_labeler(settings, PROMPT, LABEL_SET)
    with pytest.raises(InputError, match="rulez"):
        settings_of("x", kind="rulez")


def test_a_setting_without_effect_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="a labeler of kind rules has no use for temperature"):
        settings_of("rules", kind="rules", temperature=0.0)
    with pytest.raises(InputError, match="needs its file of replies"):
        settings_of("script", kind="scripted")
