"""Files of what a judge is told."""

from pathlib import Path

import pytest

from workbench.errors import InputError
from workbench.formats.judges import read_judge


def written(folder: Path, text: str) -> Path:
    path = folder / "judge.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def test_a_second_question_makes_it_two_passes(tmp_path: Path) -> None:
    one = read_judge(written(tmp_path, "format: 1\nname: n\nfind: Find.\n"))
    two = read_judge(written(tmp_path, "format: 1\nname: n\nfind: Find.\nweigh: Weigh.\n"))
    assert (one.find, one.weigh, two.weigh) == ("Find.", "", "Weigh.")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("format: 1\nname: n\n", "find is missing"),
        ("format: 1\nname: n\nfind: ' '\n", "find is blank"),
        ("format: 1\nname: n\nfind: F\nwiegh: W\n", "wiegh is no key"),
        ("format: 2\nname: n\nfind: F\n", "format should be 1"),
        ("- a\n", "it should hold format, name, find and weigh"),
        ("find: [", "line 1: the YAML cannot be read"),
    ],
)
def test_a_fault_is_one_sentence_with_its_place(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(InputError, match=said):
        read_judge(written(tmp_path, text))
