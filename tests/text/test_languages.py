"""In which letters a text is, told by hand: Chinese characters count three, everything that is no letter nothing."""

import pytest

from workbench.text.languages import (
    CHINESE,
    JAPANESE,
    KOREAN,
    LATIN,
    also_in,
    in_words,
    language_of,
    languages_in,
    letters_of,
    letters_of_language,
    same_language,
    shares,
)


@pytest.mark.parametrize(
    ("text", "letters"),
    [
        ("", ""),
        (" \n ", ""),
        ("12.5 ___ 3/4", ""),
        ("XXXX", LATIN),  # blanks of Open-i are words like any other
        ("No effusion.", LATIN),
        ("No effusion or pneumothorax. Signed by 王小明, 协和医院.", LATIN),  # 32 letters, 7 characters: 21 of 53
        ("Derrame pleural pequeño; corazón de tamaño normal.", LATIN),
        ("右侧胸腔少量积液。", CHINESE),
        ("COPD 患者，右上肺 PICC 管。", CHINESE),  # 8 letters, 6 characters
        ("心影增大，考虑 cardiomegaly with bilateral pleural effusions and edema", LATIN),  # 49 letters, 6 characters
        ("ＰＡ", "full-width letters"),
        ("ﺍﻟﻘﻠﺐ ﻃﺒﻴﻌﻲ", "Arabic letters"),  # as PDF files have it: each letter in the form it is joined in
        ("ｷｮｳｽｲ ｱﾘ ﾊﾟ", JAPANESE),  # kana at half its width
        ("コントロール", JAPANESE),  # the long vowel's sign is in hiragana and katakana
        ("ﬁbrosis", LATIN),
        ("37 °C, 2 Å, 5 kΩ, T₂, 3 cm²", LATIN),
        ("ʼ", ""),
        ("右側に少量の胸水を認める。", JAPANESE),
        ("우측 흉수.", KOREAN),
        ("Небольшой выпот справа.", "Cyrillic letters"),
        ("Μικρή συλλογή.", "Greek"),
        ("5 µm", LATIN),  # the sign of micro is no Greek
        ("5 µ", ""),
    ],
)
def test_the_letters_of_a_text(text: str, letters: str) -> None:
    assert letters_of(text) == letters


def test_the_shares_of_a_mixed_text() -> None:
    assert shares("コントロールﾊﾟ々") == {JAPANESE: 1.0}
    # Nine letters of English, and three Chinese characters that count three each.
    assert shares("Effusions 王小明 123") == {LATIN: 0.5, CHINESE: 0.5}
    assert shares("12 ___") == {}
    assert list(shares("ab 王小明")) == [CHINESE, LATIN]


def test_a_text_is_also_in_what_a_quarter_of_it_is_in() -> None:
    assert also_in("abcdefghi 王") == (CHINESE,)  # 3 of 12
    assert also_in("abcdefghij 王") == ()  # 3 of 13
    assert also_in("No effusion.") == ()
    assert also_in("积液。") == ()


@pytest.mark.parametrize(
    ("text", "declared", "language"),
    [
        ("No effusion.", "en", "en"),
        ("Sin derrame.", "es", "es"),
        ("右侧积液。", "en", "zh"),
        ("右侧积液。", "zh-CN", "zh-CN"),
        ("", "zh", "zh"),
        ("No effusion.", "zh", "und"),
        ("Выпот.", "en", "und"),
        ("Выпот.", "bg", "bg"),
    ],
)
def test_what_a_report_says_of_its_language_counts_where_its_letters_can_be_that(
    text: str, declared: str, language: str
) -> None:
    assert language_of(text, declared) == language


def test_languages_as_people_write_them() -> None:
    assert [letters_of_language(each) for each in ("en", "zh", "zh_TW", "Chinese", "de-AT", "")] == [
        LATIN,
        CHINESE,
        CHINESE,
        CHINESE,
        LATIN,
        "",
    ]
    assert languages_in("en, zh") == languages_in("en and zh") == languages_in(" en/zh ") == ("en", "zh")
    assert languages_in("") == ()
    assert [in_words(each) for each in ("en-GB", "zh", "Chinese", "xx")] == ["English", "Chinese", "Chinese", "xx"]
    assert same_language("en", "en-GB")
    assert not same_language("en", "es")
