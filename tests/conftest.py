"""Fixtures that more than one room's tests need."""

from pathlib import Path

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
