"""Many sentences, each read as a radiologist reads it, and what must hold for any finding's name.

The sentences stand in ``rules_sentences.txt``, grouped by what they try; the last shipped prompt reads them.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.formats.label_sets import read_label_set
from workbench.labelers.rules import RulesLabeler
from workbench.prompting.files import read_prompt

ROOT = Path(__file__).resolve().parents[2]
LABEL_SET = read_label_set(ROOT / "data" / "cxr21.yaml")
PROMPT = read_prompt(max((ROOT / "prompts" / "cxr21").glob("*.md")), label_set=LABEL_SET)
LABELER = RulesLabeler(PROMPT, LABEL_SET)
SIGNS = {"present": "+", "absent": "-", "uncertain": "?"}
# Short names in the file of sentences.
NAMES = {
    "lung_opacity": "opacity",
    "pulmonary_edema": "edema",
    "interstitial_abnormality": "interstitial",
    "nodule_or_mass": "nodule",
    "cavity_or_cyst": "cavity",
    "emphysema_or_hyperinflation": "emphysema",
    "pleural_effusion": "effusion",
    "pleural_thickening": "pleura",
    "tracheobronchial_abnormality": "trachea",
    "mediastinal_or_hilar_abnormality": "mediastinum",
    "cardiomegaly": "heart",
    "vascular_abnormality": "vascular",
    "other_bone_abnormality": "bone",
    "diaphragm_abnormality": "diaphragm",
    "support_device": "device",
}


def states(text: str) -> dict[str, str]:
    return {finding: mention.state.value for finding, mention in LABELER.label_text(text).items()}


def signed(text: str) -> set[str]:
    return {SIGNS[state] + NAMES.get(finding, finding) for finding, state in states(text).items()}


def sentences() -> Iterator[tuple[str, str, str]]:
    """Group, sentence and what it says of each line of the file."""
    group = ""
    for line in Path(__file__).with_name("rules_sentences.txt").read_text(encoding="utf-8").splitlines():
        if line.startswith("## "):
            group = line[3:]
        elif line and not line.startswith("#"):
            text, _, expected = line.rpartition(" |")
            yield group, text.replace("\\n", "\n"), expected


CASES = [pytest.param(text, expected, id=f"{group}: {text}") for group, text, expected in sentences()]


def test_the_file_of_sentences_is_whole() -> None:
    known = {NAMES.get(finding, finding) for finding in LABEL_SET.ids}
    assert len(CASES) > 1000
    assert len({text for _, text, _ in sentences()}) == len(CASES)
    assert {item[1:] for _, _, expected in sentences() for item in expected.split()} == known


@pytest.mark.parametrize(("text", "expected"), CASES)
def test_a_sentence_says_what_a_radiologist_takes_it_to_say(text: str, expected: str) -> None:
    assert signed(text) == set(expected.split())


# What must hold for any finding's name: every synonym that is plain words, with all that it means by itself.
PLAIN = [
    (synonym, frozenset(states(f"{synonym}.")))
    for guidance in PROMPT.guidance.findings.values()
    for synonym in guidance.synonyms
    if all(character.isalpha() or character in " -" for character in synonym)
]


def each(means: frozenset[str], state: str) -> dict[str, str]:
    return dict.fromkeys(means, state)


def of(means: frozenset[str], text: str) -> dict[str, str]:
    return {finding: state for finding, state in states(text).items() if finding in means}


# Names that are a piece of a sentence ("heart is enlarged", "due to infection"), or begin with a word that opens one
# after a comma ("small airway disease"), do not stand in a list.
OPENERS = {t[2:] for t in PROMPT.guidance.cues.negation.terminators if t.startswith(", ")}
PIECES = {word for opener in OPENERS for word in opener.split("/")} | {"is", "are", "in", "due", "with", "by"}
PIECES |= {"consistent", "increase", "right-sided"}
LISTED = st.sampled_from([one for one in PLAIN if not PIECES & set(one[0].split())])


def by_themselves(names: Sequence[tuple[str, frozenset[str]]]) -> bool:
    """Whether names side by side mean just what each means alone ("calcified atherosclerosis" does not)."""
    return states(" or ".join(name for name, _ in names)) == each(frozenset().union(*(m for _, m in names)), "present")


TWO_NAMES = st.tuples(LISTED, LISTED).filter(lambda p: p[0][1].isdisjoint(p[1][1])).filter(by_themselves)
THREE_NAMES = st.lists(LISTED, min_size=3, max_size=3, unique_by=lambda one: one[0]).filter(by_themselves)


def test_every_finding_has_plain_names_and_each_means_its_finding() -> None:
    assert set().union(*(means for _, means in PLAIN)) == set(LABEL_SET.ids)
    assert all(means for _, means in PLAIN)


@given(LISTED)
def test_a_name_alone_is_present_and_a_denial_or_a_doubt_before_or_after_turns_it(
    name: tuple[str, frozenset[str]],
) -> None:
    text, means = name
    assert states(f"{text}.") == each(means, "present")
    assert of(means, f"No {text}.") == each(means, "absent")
    assert of(means, f"Possible {text}.") == each(means, "uncertain")
    assert of(means, f"No change in {text}.") == each(means, "present")
    assert of(means, f"{text} is not seen.") == each(means, "absent")
    assert of(means, f"{text} cannot be excluded.") == each(means, "uncertain")
    assert of(means, f"{text}: none.") == each(means, "absent")


@given(TWO_NAMES)
def test_a_denial_holds_for_both_of_a_pair_and_ends_with_its_sentence(
    pair: tuple[tuple[str, frozenset[str]], tuple[str, frozenset[str]]],
) -> None:
    (one, means_one), (other, means_other) = pair
    assert of(means_one | means_other, f"No {one} or {other}.") == each(means_one | means_other, "absent")
    assert of(means_other, f"No {one}. {other.capitalize()}.") == each(means_other, "present")
    assert of(means_other, f"No {one}, but {other}.") == each(means_other, "present")
    assert of(means_one, f"{one} without {other}.") == each(means_one, "present")


@given(THREE_NAMES)
def test_a_denial_holds_for_a_whole_list_before_or_after_it(names: list[tuple[str, frozenset[str]]]) -> None:
    one, two, three = (name for name, _ in names)
    means = frozenset().union(*(part for _, part in names))
    for text in (
        f"No {one}, {two} or {three}.",
        f"No {one}, {two}, or {three}.",
        f"{one}, {two} and {three} are absent.",
        f"{one}, {two}, and {three} are not seen.",
        f"Neither {one} nor {two} nor {three} is seen.",
    ):
        assert set(of(means, text).values()) == {"absent"}, text


@given(
    st.sampled_from([case.values for case in CASES if "\n" not in case.values[0]]), st.randoms(use_true_random=False)
)
def test_the_way_a_sentence_is_typed_does_not_change_what_it_says(case: tuple[str, str], random) -> None:
    text, expected = case
    single = text.count(".") == text.endswith(".") and ":" not in text
    spaced = "".join(character * random.choice((1, 1, 3)) if character == " " else character for character in text)
    changed = [text.upper(), text.lower(), spaced, f"  {text}  ", f"Chest radiograph.\n\n{text}\n\nEnd of report."]
    if single:
        changed += [text.rstrip("."), text.replace(" ", "\n", 1) if text[:1].islower() else text]
    for typed in changed:
        assert signed(typed) == set(expected.split()), typed
