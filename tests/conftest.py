"""Fixtures that more than one room's tests need."""

import json
import subprocess
import sys
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

settings.register_profile("any machine", deadline=None)  # a slow machine is no fault of the code
settings.load_profile("any machine")

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


class FaultServer:
    """A running tests/models/fault_server.py, where its script is explained."""

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        assert process.stdout is not None
        self.process = process
        self.port = int(process.stdout.readline())
        self.url = f"http://127.0.0.1:{self.port}"  # base_url of an anthropic labeler; an openai one needs /v1 after it

    def log(self) -> dict[str, Any]:
        """Return what was asked and dealt; ``reports`` is by the SHA-256 of a report's text."""
        with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(f"{self.url}/log", timeout=30) as answer:
            return dict(json.load(answer))


@pytest.fixture
def start_fault_server() -> Iterator[Callable[..., FaultServer]]:
    """Starts language-model servers that misbehave: ``start_fault_server("--seed", "7").url``; stopped afterwards."""
    started = []

    def start(*arguments: str) -> FaultServer:
        script = ROOT / "tests" / "models" / "fault_server.py"
        process = subprocess.Popen([sys.executable, str(script), *arguments], stdout=subprocess.PIPE, text=True)
        started.append(process)
        return FaultServer(process)

    yield start
    for process in started:
        process.kill()
        process.communicate()
