from pathlib import Path

import pytest

from workbench.errors import InputError
from workbench.formats.alterations import read_alterations

PLAIN = """\
format: 1
language: en
marks: [The, is]
findings:
  - name: effusion
    words: [Pleural  Effusion, effusion]
    invented: There is an effusion.
unsure: ["no"]
degrees: [small]
places: [left]
severity: {small: large}
never_swapped: []
glued: [this]
synonyms: [[bony, osseous]]
abbreviations: {pneumothorax: PTX}
style: {openings: {there is: ""}, endings: {}}
normal: {predicates: {is normal: normal}, fillers: [], blockers: []}
"""


def read(tmp_path: Path, text: str) -> object:
    path = tmp_path / "words.yaml"
    path.write_text(text, encoding="utf-8")
    return read_alterations(path)


def test_phrases_are_read_in_lower_case_and_what_is_put_in_their_place_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "words.yaml"
    path.write_text(PLAIN, encoding="utf-8")
    words = read_alterations(path)
    assert words.findings[0].words == ("pleural effusion", "effusion")
    assert words.marks == {"the", "is"}
    assert words.abbreviations == {"pneumothorax": "PTX"}
    assert words.exchanged == {"bony": "osseous", "osseous": "bony"}
    assert not words.findings[0].critical
    assert not words.findings[0].minor


def test_a_finding_says_how_much_it_matters_and_what_else_gives_it_away(tmp_path: Path) -> None:
    path = tmp_path / "words.yaml"
    more = "invented: There is an effusion.\n    minor: true\n    group: pleura\n    traces: [Blunted  angle]\n"
    path.write_text(PLAIN.replace("invented: There is an effusion.\n", more), encoding="utf-8")
    words = read_alterations(path)
    assert words.findings[0].minor
    assert words.about == (("pleural effusion", "effusion", "blunted angle"),)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("language: en", "tongue: en", "tongue is no key"),
        ('unsure: ["no"]', "unsure: [1]", "should be text"),
        ("words: [Pleural  Effusion, effusion]", "words: []", "at least 1"),
        ("words: [Pleural  Effusion, effusion]", "words: [effusion, Effusion]", "'effusion' stands twice"),
        ("invented:", "critical: true\n    minor: true\n    invented:", "critical and minor"),
        ("[[bony, osseous]]", "[[bony, osseous], [bony, of bone]]", "synonym 'bony' stands twice"),
        ("[[bony, osseous]]", "[[bony]]", "at least 2"),
        ("format: 1", "format: 2", "format"),
    ],
)
def test_faults_are_named_with_the_file(tmp_path: Path, old: str, new: str, said: str) -> None:
    assert old in PLAIN
    with pytest.raises(InputError, match=said) as caught:
        read(tmp_path, PLAIN.replace(old, new))
    assert "words.yaml" in str(caught.value)
