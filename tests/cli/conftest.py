"""A demo study, made once for the command line's tests, and a command line to run on it."""

import json
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from workbench.cli import main
from workbench.workflow.demo import demo


@pytest.fixture(scope="session")
def made_demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A demo study; copy it before changing it."""
    folder = tmp_path_factory.mktemp("demo") / "study"
    demo(folder)
    return folder


@dataclass
class Result:
    code: int
    out: str
    err: str

    @property
    def json(self) -> dict[str, object]:
        value = json.loads(self.out)
        assert isinstance(value, dict)
        return value


Run = Callable[..., Result]


@pytest.fixture
def workbench(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Run:
    """Run a command in an empty folder and return its exit code and what it printed."""
    monkeypatch.chdir(tmp_path)
    for name in ("WORKBENCH_STUDY", "WORKBENCH_AS"):
        monkeypatch.delenv(name, raising=False)

    def run(*arguments: str) -> Result:
        monkeypatch.setattr("sys.argv", ["workbench", *arguments])
        capsys.readouterr()
        with pytest.raises(SystemExit) as stop:
            main()
        captured = capsys.readouterr()
        code = stop.value.code
        return Result(code if isinstance(code, int) else 1 if code else 0, captured.out, captured.err)

    return run


@pytest.fixture
def study(made_demo: Path, tmp_path: Path) -> str:
    """A copy of the demo study to work in."""
    folder = tmp_path / "demo"
    shutil.copytree(made_demo, folder)
    return str(folder)
