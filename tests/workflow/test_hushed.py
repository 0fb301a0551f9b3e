"""Whatever the environment asks the providers' clients to log, a run and a batch say no word of a report."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from workbench.domain.actors import Actor
from workbench.domain.cohorts import Purpose
from workbench.domain.prompts import Prompt
from workbench.workflow import labelers
from workbench.workflow.cohorts import define
from workbench.workflow.ingest import import_reports
from workbench.workflow.prompts import save_candidate
from workbench.workflow.study import Study, read_study

CANARIES = ("REPORT-CANARY", "pneumothorax", "Label the report")  # of the report, of both, of the prompt
LOUD = {"OPENAI_LOG": "debug", "ANTHROPIC_LOG": "debug"}


@pytest.fixture
def served(
    start_fault_server: Callable[..., Any], start_batch_server: Callable[..., Any], request: pytest.FixtureRequest
) -> Any:
    """The address of a server that answers calls, or that takes batches."""
    return (start_batch_server("--looks", "1") if request.param else start_fault_server()).url


@pytest.mark.parametrize("kind", ["openai", "anthropic"])
@pytest.mark.parametrize(("served", "how"), [(False, []), (True, ["--batch"])], indirect=["served"])
def test_a_client_that_is_told_to_log_everything_logs_no_report(  # noqa: PLR0917 - two servers, two ways
    study: Study,
    lead: Actor,
    make_prompt: Callable[..., Prompt],
    csv_file: Callable[[str, str], Path],
    served: str,
    how: list[str],
    kind: str,
) -> None:
    rows = "".join(f'r{i},p{i},"FINDINGS: REPORT-CANARY {i}. pneumothorax present."\n' for i in range(3))
    import_reports(study, lead, csv_file("reports.csv", f"id,patient_id,text\n{rows}"))
    define(study, lead, "all", Purpose.DEVELOPMENT, ["r0", "r1", "r2"])
    prompt = save_candidate(study, lead, make_prompt(), message="m", parent=None).prompt_hash
    address = f"{served}/v1" if kind == "openai" else served
    with (study.folder / "data" / "study.toml").open("a", encoding="utf-8") as file:
        file.write(f'\n[labelers.m]\nkind = "{kind}"\nmodel = "m"\nbase_url = "{address}"\nmax_tokens = 500\n')
    # What the server can do is known, so that the first client of the process is the one that is sent reports.
    labelers.say_hello(read_study(study.folder), lead, "m")
    run = [sys.executable, "-m", "workbench", "run", "--cohort", "all", "--labeler", "m", "--prompt", prompt, *how]
    where = ["--study", str(study.folder), "--as", lead.name]
    # A process of its own: clients look at the environment once, as they are imported.
    done = subprocess.run(
        [*run, *where], capture_output=True, text=True, env={**os.environ, **LOUD}, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr[-500:]
    said = done.stdout + done.stderr
    assert "3" in said
    for canary in CANARIES:
        assert canary not in said
