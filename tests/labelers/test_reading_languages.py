"""Which languages a prompt's phrases let the rules labeler read."""

import pytest

from workbench.domain.prompts import FindingGuidance, Guidance
from workbench.labelers.reading_languages import ReadingLanguages

ENGLISH, CHINESE = "Small effusion on the right.", "右侧胸腔少量积液。"


def reader(language: str, *phrases: tuple[str, ...]) -> ReadingLanguages:
    """What reads by a prompt with so many findings, each with its phrases."""
    findings = {f"f{i}": FindingGuidance(synonyms=each) for i, each in enumerate(phrases)}
    return ReadingLanguages(Guidance("tiny", language, "", "", findings))


@pytest.mark.parametrize(
    ("language", "phrases", "english", "chinese", "in_words"),
    [
        ("en", [("effusion",), ("edema",), ("node",)], True, False, "English"),
        ("en", [("effusion", "积液"), ("edema",), ("node",)], True, False, "English"),  # one of three: not Chinese yet
        ("en", [("effusion", "积液"), ("edema", "水肿"), ("node",)], True, True, "English and Chinese"),
        ("en, zh", [("effusion", "积液"), ("edema",), ("node",)], True, True, "English and Chinese"),
        ("en, zh", [("effusion",), ("edema",), ("node",)], True, False, "English"),  # it names what it has no word of
        ("zh", [("积液",), ("水肿",), ("COPD", "肺气肿")], False, True, "Chinese"),  # an abbreviation is no English
        ("en", [("积液",), ("水肿",)], False, True, "Chinese"),  # what the phrases are counts, not the name
        ("es", [("derrame",), ("edema",)], True, False, "Spanish"),  # letters do not tell English from Spanish
        ("en", [(), ()], True, False, "English"),
        ("zh", [], False, True, "Chinese"),
    ],
)
def test_what_a_prompt_reads(
    language: str, phrases: list[tuple[str, ...]], english: bool, chinese: bool, in_words: str
) -> None:
    languages = reader(language, *phrases)
    assert (not languages.unread(ENGLISH), not languages.unread(CHINESE)) == (english, chinese)
    assert languages.in_words == in_words


def test_findings_without_phrases_do_not_count_for_the_half() -> None:
    assert reader("en", ("积液",), (), (), ()).unread(CHINESE) == ""


def test_exclusions_and_cues_alone_read_nothing() -> None:
    findings = {"f": FindingGuidance(synonyms=("effusion",), exclusions=("心包积液",))}
    assert ReadingLanguages(Guidance("tiny", "en, zh", "", "", findings)).unread(CHINESE) == "Chinese"


def test_a_japanese_prompt_reads_japanese_though_some_of_its_words_have_no_kana() -> None:
    languages = reader("ja", ("胸水",), ("浮腫",))
    assert languages.unread("右側に少量の胸水を認める。") == ""
    assert languages.unread("Small effusion.") == "Latin letters"


def test_a_text_with_nothing_to_tell_by_can_be_read() -> None:
    languages = reader("en", ("effusion",))
    assert [languages.unread(text) for text in ("", "___ 12", "Signed: 王小明, radiologist")] == ["", "", ""]


def test_a_part_that_cannot_be_read_is_told_and_why_a_text_cannot() -> None:
    languages = reader("en", ("effusion",))
    mixed = "Small effusion on the right, unchanged. 右侧胸腔积液。"  # 32 letters, 6 characters: 18 of 50
    assert (languages.unread(mixed), languages.unread_in_part(mixed)) == ("", ("Chinese",))
    assert languages.unread_in_part(CHINESE) == languages.unread_in_part(ENGLISH) == ()
    assert languages.why_not(ENGLISH) == ""
    assert languages.why_not(CHINESE) == (
        "The report is in Chinese; the prompt's phrases are in English, so the rules cannot read it."
    )


@pytest.mark.parametrize(
    ("text", "letters"),
    [
        ("ﺍﻟﻘﻠﺐ ﻃﺒﻴﻌﻲ", "Arabic letters"),  # as it comes out of a PDF file
        ("ｷｮｳｽｲ ｱﾘ", "Japanese"),
        ("Ｓｍａｌｌ　ｅｆｆｕｓｉｏｎ．", "full-width letters"),  # in which no English phrase is found
    ],
)
def test_a_text_in_other_forms_of_letters_is_not_taken_for_one_that_says_nothing(text: str, letters: str) -> None:
    assert reader("en", ("effusion",)).unread(text) == letters


@pytest.mark.parametrize("sign", ["µ", "°", "é", "Ω", "Å", "½", "ª", "ﬁ", "α", "王", "ＰＡ", "ʼ", "Ж"])
def test_a_sign_in_an_english_report_makes_it_no_other_language(sign: str) -> None:
    assert reader("en", ("effusion",)).unread(f"Small effusion {sign} on the right.") == ""
