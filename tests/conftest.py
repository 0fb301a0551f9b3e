"""Fixtures that more than one room's tests need."""

import json
import subprocess
import sys
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from workbench.domain.prompts import Prompt, Revision
from workbench.prompting.files import prompt_text
from workbench.storage.prompts import add_revision
from workbench.workflow.study import Study

# A slow machine is no fault of the code.
settings.register_profile("any machine", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("any machine")

NO_NETWORK = 75  # how only_loopback.py says so
ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="session")
def root() -> Path:
    """The project's root folder."""
    return ROOT


@pytest.fixture(scope="session")
def shared() -> Path:
    """Real reports and labels, which are not part of the project; tests that need them skip where they are missing."""
    folder = ROOT.parent / "shared" / "data"
    if not folder.is_dir():
        pytest.skip(f"real reports are not here: {folder} is missing")
    return folder


@pytest.fixture
def add_unchecked() -> Callable[[Study, Prompt], Revision]:
    """Puts a prompt into a study without reading its text back, as was done before that was checked."""

    def add(study: Study, prompt: Prompt) -> Revision:
        with study.database.write() as conn:
            return add_revision(
                conn,
                prompt,
                prompt_text(prompt),
                parent_hash=None,
                author="Somebody",
                at=datetime.now(UTC),
                message="saved before the check",
            )

    return add


class ModelServer:
    """A running server of tests/models, where its script is explained."""

    def __init__(self, script: str, *arguments: str) -> None:
        command = [sys.executable, str(ROOT / "tests" / "models" / script), *arguments]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert self.process.stdout is not None
        self.port = int(self.process.stdout.readline())
        self.url = f"http://127.0.0.1:{self.port}"  # base_url of an anthropic labeler; an openai one needs /v1 after it

    def log(self) -> dict[str, Any]:
        """Return what was asked and dealt; of a fault server ``reports`` is by the SHA-256 of a report's text."""
        with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(f"{self.url}/log", timeout=30) as answer:
            return dict(json.load(answer))


@contextmanager
def servers(script: str) -> Iterator[Callable[..., ModelServer]]:
    """Give what starts servers; they are stopped afterwards."""
    started = []

    def start(*arguments: str) -> ModelServer:
        started.append(ModelServer(script, *arguments))
        return started[-1]

    yield start
    for server in started:
        server.process.kill()
        server.process.communicate()


@pytest.fixture
def start_fault_server() -> Iterator[Callable[..., ModelServer]]:
    """Starts language-model servers that misbehave: ``start_fault_server("--seed", "7").url``; stopped afterwards."""
    with servers("fault_server.py") as start:
        yield start


@pytest.fixture
def start_judge_server() -> Iterator[Callable[..., ModelServer]]:
    """Starts servers that judge generated reports by what these say of themselves; stopped afterwards."""
    with servers("judge_server.py") as start:
        yield start


@pytest.fixture
def start_batch_server() -> Iterator[Callable[..., ModelServer]]:
    """Starts servers that take batches: ``start_batch_server("--looks", "2").url``; stopped afterwards."""
    with servers("batch_server.py") as start:
        yield start


@pytest.fixture
def run_with_only_loopback() -> Callable[..., dict[str, Any]]:
    """Runs a command where only loopback is reached; see tests/models/only_loopback.py.

    ``run_with_only_loopback(*command, env=...)`` returns ``code``, ``output`` and ``left``: the addresses beyond this
    computer that the command or its children sent packets for. Skips where no network of its own can be made, and only
    there: a command that takes longer than ``seconds``, or a watcher that breaks, is an error.
    """

    def run(*command: str, env: Mapping[str, str], seconds: float = 300) -> dict[str, Any]:
        script = ROOT / "tests" / "models" / "only_loopback.py"
        unshare = ["unshare", "--map-root-user", "--net", sys.executable, str(script), str(seconds)]
        try:
            done = subprocess.run(
                [*unshare, *command], capture_output=True, text=True, timeout=400, check=False, env=env, cwd=ROOT
            )
        except FileNotFoundError:
            pytest.skip("this system has no unshare, so no network of its own can be made")
        if done.returncode == NO_NETWORK or done.stderr.startswith("unshare:"):
            pytest.skip(f"this system lets nobody make a network of its own: {done.stderr.strip()[-200:]}")
        if done.returncode:
            raise RuntimeError(f"what watches the network ended with {done.returncode}: {done.stderr.strip()[-500:]}")
        return dict(json.loads(done.stdout))

    return run
