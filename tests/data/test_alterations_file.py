"""The word list that ships says the same as it means to, and is not taken from a prompt."""

from pathlib import Path

import pytest

from workbench.formats.alterations import read_alterations
from workbench.prompting.files import read_prompt
from workbench.text.alteration_words import AlterationWords
from workbench.text.altered_report import ReadReport


@pytest.fixture(scope="module")
def shipped(root: Path) -> AlterationWords:
    return read_alterations(root / "data" / "alterations.yaml")


def test_what_is_invented_states_its_finding_and_no_other(shipped: AlterationWords) -> None:
    for at, finding in enumerate(shipped.findings):
        sentences = ReadReport(finding.invented, shipped).sentences
        assert len(sentences) == 1
        named = {"mediastinal widening", "aortic change"}  # said by a verb, which no list of nouns holds
        assert sentences[0].findings == {at} or finding.name in named, finding.invented


def test_a_worse_degree_is_none_of_the_milder_ones(shipped: AlterationWords) -> None:
    assert not set(shipped.severity) & set(shipped.severity.values())


def test_an_abbreviation_or_short_form_is_shorter(shipped: AlterationWords) -> None:
    for table in (shipped.abbreviations, shipped.openings, shipped.endings, shipped.predicates):
        assert all(len(short) < len(long) for long, short in table.items())


def test_no_prompt_has_these_words_for_its_own(shipped: AlterationWords, root: Path) -> None:
    # Independent lists agree on the common words. A list made from a prompt would have all of them.
    prompts = sorted((root / "prompts").glob("*/*.md"))
    assert prompts
    ours = set(shipped.finding_of)
    for path in prompts:
        guidance = read_prompt(path).guidance
        theirs = {word.lower() for finding in guidance.findings.values() for word in finding.synonyms}
        assert ours - theirs
        assert theirs - ours
