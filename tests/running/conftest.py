"""A study's database with a prompt, a label set and a cohort, so that runs can be recorded."""

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from workbench.domain.cohorts import Cohort, Purpose
from workbench.domain.findings import Finding, LabelSet, Policies, Policy
from workbench.domain.prompts import FindingGuidance, Guidance, Prompt
from workbench.domain.runs import LabelerSettings, Run
from workbench.prompting.files import prompt_text
from workbench.storage import cohorts, label_sets, prompts, runs
from workbench.storage.database import Database

NOW = datetime(2026, 1, 1, tzinfo=UTC)


@pytest.fixture(scope="session")
def label_set() -> LabelSet:
    policies = Policies(Policy.PRESENT)
    findings = tuple(Finding(i, i, i, "lung", "") for i in ("effusion", "edema"))
    return LabelSet("demo", "1", "Demo", findings, policies, policies)


@pytest.fixture(scope="session")
def prompt() -> Prompt:
    findings = {i: FindingGuidance("", (i,)) for i in ("effusion", "edema")}
    return Prompt(Guidance("demo", "en", "t", "", findings), "Label the report.\n")


@pytest.fixture
def database(tmp_path: Path) -> Database:
    return Database(tmp_path / "workbench.db")


@pytest.fixture
def a_run(database: Database, label_set: LabelSet, prompt: Prompt) -> Callable[..., Run]:
    """Record a run of the prompt by a labeler and return it."""
    cohort = Cohort("c", Purpose.DEVELOPMENT, {}, {}, 1, NOW, "Ann")

    def record(labeler: LabelerSettings | None = None, *, repeats: int = 1) -> Run:
        chosen = labeler or LabelerSettings("fake", "scripted")
        run = Run(prompt.hash, label_set.hash, cohort.hash, chosen, repeats=repeats)
        with database.write() as conn:
            runs.add(conn, run, "Ann", NOW)
        return run

    with database.write() as conn:
        label_sets.add(conn, label_set)
        prompts.add_revision(conn, prompt, prompt_text(prompt), parent_hash=None, author="Ann", at=NOW, message="")
        cohorts.add(conn, cohort)
    return record
