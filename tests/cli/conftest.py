"""A demo study, made once for the command line's tests."""

from pathlib import Path

import pytest

from workbench.workflow.demo import demo


@pytest.fixture(scope="session")
def made_demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A demo study; copy it before changing it."""
    folder = tmp_path_factory.mktemp("demo") / "study"
    demo(folder)
    return folder
