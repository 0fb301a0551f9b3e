"""A served demo study and a Chromium, or a skip that says why."""

import importlib.util
import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest
from selenium.webdriver.chrome.webdriver import WebDriver

from workbench.workflow.demo import demo
from workbench.workflow.opening import open_study
from workbench.workflow.study import Study

REQUIRED = "WORKBENCH_REQUIRE_BROWSER"


@pytest.fixture(scope="session")
def browsing() -> ModuleType:
    """The module ``chromium``, which the script that takes the pictures imports too."""
    path = Path(__file__).with_name("chromium.py")
    spec = importlib.util.spec_from_file_location("chromium", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["chromium"] = module
    spec.loader.exec_module(module)
    if module.programs() is None:
        told = "there is no Chromium with its driver here (Debian: apt-get install chromium chromium-driver)"
        if os.environ.get(REQUIRED) == "1":
            pytest.fail(f"{told}, and {REQUIRED}=1 forbids the skip")
        pytest.skip(told)
    return module


@pytest.fixture(scope="session")
def made_demo(browsing: ModuleType, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The demo study, made once; nothing is written to it where no browser is."""
    folder = tmp_path_factory.mktemp("browser") / "demo"
    demo(folder)
    return folder


@pytest.fixture
def study(made_demo: Path, tmp_path: Path) -> Study:
    """A demo study of the test's own."""
    return open_study(Path(shutil.copytree(made_demo, tmp_path / "study")))


@pytest.fixture
def driver(browsing: ModuleType) -> Iterator[WebDriver]:
    """A Chromium of the test's own."""
    with browsing.chromium() as opened:
        yield opened
