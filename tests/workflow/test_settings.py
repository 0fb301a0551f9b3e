"""What the README tells people to write into study.toml is taken as it stands there."""

import re
import textwrap
import tomllib
from pathlib import Path

import pytest

from workbench.labelers.registry import settings_of
from workbench.workflow.settings import StudySettings
from workbench.workflow.study import labeler_of

BLOCK = re.compile(r"(?:^    .*\n)+", re.MULTILINE)


def blocks(root: Path) -> list[str]:
    """Return the indented blocks of the README that are lines for study.toml."""
    text = (root / "README.md").read_text(encoding="utf-8")
    found = [textwrap.dedent(block.group()) for block in BLOCK.finditer(text)]
    # Blocks for two providers may be one below the other, with a blank line between them.
    return [block for block in found if block.startswith("[")]


def test_every_block_for_study_toml_in_the_readme_is_valid(root: Path) -> None:
    kinds = set()
    for block in blocks(root):
        settings = StudySettings.model_validate({"title": "t", **tomllib.loads(block)})
        for name in settings.labelers:
            labeler = labeler_of(settings, root, name)
            kinds.add((labeler.kind, labeler.base_url))
    assert {kind for kind, _ in kinds} >= {"openai", "anthropic"}
    assert {address for _, address in kinds} >= {
        None,
        "http://127.0.0.1:8080/v1",
        "http://127.0.0.1:8000/v1",
        "http://127.0.0.1:11434/v1",
    }


def test_a_price_is_per_million_tokens() -> None:
    lines = """
        title = "t"
        [labelers.m]
        kind = "openai"
        model = "m"
        price = {input = 2.0, output = 8.0, cached_input = 0.5, currency = "EUR"}
    """
    price = labeler_of(StudySettings.model_validate(tomllib.loads(lines)), Path(), "m").price
    assert price is not None
    # 1,000 in at 2, 3,000 cached at 0.5, 500 out at 8 per million: 0.002 + 0.0015 + 0.004.
    assert price.of(4_000, 500, 3_000) == pytest.approx(0.0075)
    assert price.currency == "EUR"


def test_price_and_pace_do_not_make_another_labeler() -> None:
    bare = StudySettings.model_validate({"title": "t", "labelers": {"m": {"kind": "openai", "model": "m"}}})
    dear = StudySettings.model_validate(
        {
            "title": "t",
            "labelers": {
                "m": {"kind": "openai", "model": "m", "concurrency": 99, "price": {"input": 1, "output": 2}},
            },
        }
    )
    of_both = {labeler_of(settings, Path(), "m").hash for settings in (bare, dear)}
    assert of_both == {settings_of("m", kind="openai", model="m").hash}
