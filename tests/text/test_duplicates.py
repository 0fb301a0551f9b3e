"""Near-duplicate texts are found and others are not."""

from workbench.domain.reports import Report, Section
from workbench.text.duplicates import near_duplicate_groups, shingles

LONG = "The heart is normal in size and the lungs are clear without effusion or pneumothorax seen on either side today "


def report(name: str, text: str) -> Report:
    return Report(name, name, text, (Section("unlabelled", 0, len(text)),))


def test_shingles_leave_out_case_digits_and_signs() -> None:
    assert shingles("No acute, disease 3.") == shingles("no ACUTE disease")
    assert shingles("Normal.") == {"normal"}


def test_chinese_text_is_compared_character_by_character() -> None:
    assert shingles("心影正常") == {"心 影 正", "影 正 常"}


def test_texts_that_differ_in_a_date_are_one_group() -> None:
    one, two = report("a", LONG * 3 + "on 1/2/2020"), report("b", LONG * 3 + "on 3/4/2021")
    other = report("c", "Large right pleural effusion with collapse of the lower lobe and a chest tube in place")
    assert near_duplicate_groups([one, other, two]) == [frozenset({"a", "b"})]


def test_texts_that_differ_in_what_matters_are_apart() -> None:
    one = report("a", "Small left pleural effusion. No pneumothorax. Heart size is normal.")
    two = report("b", "Large right pneumothorax. No pleural effusion. The heart is enlarged.")
    assert near_duplicate_groups([one, two]) == []
