"""Which reports are edited, and in which ways: the rare kinds first, none with more than its share."""

from collections import Counter
from pathlib import Path

import pytest

from workbench.domain.reports import Report
from workbench.formats.alterations import read_alterations
from workbench.text.alteration_words import AlterationWords
from workbench.text.sections import split_sections
from workbench.workflow.trust_pairs import LOOKED_AT, PER_KIND, make_pairs

NORMAL = "FINDINGS: The heart is normal in size. The lungs are clear."
RARE = "FINDINGS: The heart is normal in size. There is a left pneumothorax in the chest."


@pytest.fixture(scope="module")
def words(root: Path) -> AlterationWords:
    return read_alterations(root / "data" / "alterations.yaml")


def reports(texts: list[str]) -> list[Report]:
    return [Report(f"r{i:03}", f"p{i}", text, split_sections(text), "en", "f") for i, text in enumerate(texts)]


def test_reports_with_a_rare_kind_are_chosen_before_all_others(words: AlterationWords) -> None:
    made = make_pairs(reports([NORMAL] * 80 + [RARE] * 2), words, count=10, seed=1)
    assert Counter(pair.kind for pair in made)["critical_missed"] == 2
    assert len({pair.report_id for pair in made}) == 10


def test_no_kind_has_more_than_its_share_of_the_edits(words: AlterationWords) -> None:
    made = make_pairs(reports([RARE] * 40), words, count=10, seed=1)
    counts = Counter(pair.kind for pair in made)
    chosen = len({pair.report_id for pair in made})
    fill = chosen - 10 // PER_KIND  # the first reports serve all kinds; each of the others is there for one edit
    assert chosen == 10
    assert counts["critical_missed"] >= 10 // PER_KIND
    assert sum(counts.values()) == len(counts) * (10 // PER_KIND) + fill
    assert max(counts.values()) - min(counts.values()) <= 1  # what fills the number up is spread


def test_of_very_many_reports_only_so_many_are_read(words: AlterationWords) -> None:
    made = make_pairs(reports([NORMAL] * 39 + [RARE]), words, count=1, seed=1)
    assert LOOKED_AT < 40
    again = [make_pairs(reports([NORMAL] * 39 + [RARE]), words, count=1, seed=seed) for seed in range(20)]
    found = [any(pair.kind == "critical_missed" for pair in one) for one in [made, *again]]
    assert any(found)  # drawn among the first ten by some seeds
    assert not all(found)
