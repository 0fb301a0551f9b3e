"""A label set of three findings, and files made of bytes."""

from collections.abc import Callable
from pathlib import Path

import pytest

from workbench.domain.findings import Finding, LabelSet, Policies, Policy


@pytest.fixture(scope="session")
def three() -> LabelSet:
    findings = tuple(Finding(name, name.title(), "", "", "Seen.") for name in ("effusion", "edema", "cavity"))
    return LabelSet("three", "1", "Three", findings, Policies(Policy.PRESENT), Policies(Policy.PRESENT))


@pytest.fixture
def file(tmp_path: Path) -> Callable[..., Path]:
    def make(content: str | bytes, name: str = "file.csv") -> Path:
        path = tmp_path / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return make
