"""The demo study, an empty one, and pages opened without a browser."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from workbench.domain.actors import Role
from workbench.ui.state import ACTOR
from workbench.workflow.demo import demo
from workbench.workflow.opening import NewStudy, init_study, open_study
from workbench.workflow.settings import SignIn
from workbench.workflow.study import Study

SECONDS = 60  # AppTest gives up after 3 by itself, which a first opening on a busy machine can take
Open = Callable[..., AppTest]


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
