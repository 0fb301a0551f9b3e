"""The commands that put a study away and bring it back."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., Any]


def test_a_backup_is_made_and_restored(workbench: Run, study: str) -> None:
    made = workbench("backup", "-o", "b.zip", "--study", study, "--json")
    assert made.code == 0, made.err
    assert made.json["study"] == "Demo study"
    back = workbench("restore", "b.zip", "again", "--json")
    assert back.code == 0, back.err
    assert back.json["files"] == made.json["files"]
    histories = [workbench("history", "--study", folder, "--json").out for folder in (study, "again")]
    assert histories[0] == histories[1]


def test_a_backup_for_people_says_what_it_did(workbench: Run, study: str) -> None:
    made = workbench("backup", "-o", "b.zip", "--study", study)
    assert "9 files" in made.out
    back = workbench("restore", "b.zip", "again")
    assert back.out.startswith("Demo study as of ")


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["backup", "-o", "b.zip", "--as", "Demo rater", "--study", "{study}"], "may not back up the study"),
        (["backup", "-o", "none/b.zip", "--study", "{study}"], "none/b.zip cannot be written"),
        (["backup", "-o", "{study}/data/workbench.db", "--study", "{study}"], "a part of the study itself"),
        (["restore", "good.zip", "{study}"], "already holds a study"),
        (["restore", "good.zip", "new", "--as", "Demo rater"], "may not restore the study"),
        (["restore", "cut.zip", "new"], "cut.zip is damaged or no backup"),
        (["restore", "none.zip", "new"], "There is no file none.zip"),
        (["restore", "{study}/data/study.toml", "new"], "is damaged or no backup"),
    ],
)
def test_a_refusal_is_one_sentence_and_leaves_nothing(
    workbench: Run, study: str, arguments: list[str], told: str
) -> None:
    assert workbench("backup", "-o", "good.zip", "--study", study).code == 0
    Path("cut.zip").write_bytes(Path("good.zip").read_bytes()[:-100])
    result = workbench(*[a.format(study=study) for a in arguments])
    assert (result.code, result.out) == (1, "")
    assert told in " ".join(result.err.split())
    assert result.err.count("\n") == 1
    assert sorted(path.name for path in Path().iterdir()) == ["cut.zip", "demo", "good.zip"]
