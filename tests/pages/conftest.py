"""The demo study, an empty one, and pages opened without a browser."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from workbench.domain.actors import Role
from workbench.domain.findings import State
from workbench.ui.shortcuts import HEARD
from workbench.ui.state import ACTOR
from workbench.workflow.demo import demo
from workbench.workflow.opening import NewStudy, init_study, open_study
from workbench.workflow.settings import SignIn
from workbench.workflow.study import Study

SECONDS = 60  # AppTest gives up after 3 by itself, which a first opening on a busy machine can take
Open = Callable[..., AppTest]


class Board:
    """The findings on the page Annotate, which no browser draws here: what it would show, and clicks on it."""

    def __init__(self) -> None:
        self._clicks = 0

    def read(self, app: AppTest) -> dict[str, Any] | None:
        """Return what the part of the page that hears presses was told; None where no findings are on the page."""
        return self._told(app, "rating_keys") if self._told(app, "rating_board") else None

    def findings(self, app: AppTest) -> list[dict[str, Any]]:
        """Return the findings that are drawn, each with its key, name and help."""
        drawn = self._told(app, "rating_board")
        assert drawn is not None
        return [finding for column in drawn["columns"] for group in column for finding in group["findings"]]

    @staticmethod
    def _told(app: AppTest, name: str) -> dict[str, Any] | None:
        told = [e.proto.json for e in app.main.get("bidi_component") if e.proto.component_name == name]
        return dict(json.loads(told[0])) if told else None

    def state(self, app: AppTest, finding: str) -> State:
        """Return the answer that is shown of a finding."""
        told = self.read(app)
        assert told is not None
        return State(told["saved"]["states"].get(finding, State.NOT_MENTIONED))

    def click(self, app: AppTest, finding: str, state: State) -> AppTest:
        """Click an answer of a finding, or press the key that leads to it."""
        told = self.read(app)
        assert told is not None
        self._clicks += 1
        press = {"id": self._clicks, "on": told["on"], "finding": finding, "state": state}
        app.session_state[HEARD] = {"presses": {"tab": f"tab-{id(app)}", "list": [press]}}
        return app.run()


@pytest.fixture
def board() -> Board:
    """The findings on the page Annotate."""
    return Board()


@pytest.fixture(scope="session")
def demo_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The demo study; tests that change it use ``study``."""
    folder = tmp_path_factory.mktemp("pages") / "demo"
    demo(folder)
    return folder


@pytest.fixture
def study(demo_folder: Path, tmp_path: Path) -> Study:
    """A demo study of the test's own."""
    shutil.copytree(demo_folder, tmp_path / "study")
    return open_study(tmp_path / "study")


@pytest.fixture
def empty(tmp_path: Path) -> Study:
    """A study with people and nothing else."""
    people = {"Lea": [Role.LEAD], "Rita": [Role.RATER]}
    new = NewStudy("New study", people, simulated="For tests.", with_prompts=False, sign_in=SignIn.PICK)
    return init_study(tmp_path / "empty", new)


@pytest.fixture
def open_page(root: Path, monkeypatch: pytest.MonkeyPatch) -> Open:
    """Open a page of a study as a person; without one, as the app chooses."""

    def opened(folder: Path, page: str, person: str | None = None) -> AppTest:
        monkeypatch.setenv("WORKBENCH_STUDY", str(folder))
        app = AppTest.from_file(str(root / "workbench" / "ui" / "app.py"), default_timeout=SECONDS)
        if person:
            app.session_state[ACTOR] = person
        app.run()
        app.switch_page(str(root / "pages" / f"{page}.py"))
        return app.run()

    return opened
