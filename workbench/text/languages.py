"""In which letters a text is written, and so in which language as far as letters tell.

Letters tell Chinese from English, never English from Spanish: those two are both "Latin letters" here, and only what a
report says of itself (``Report.language``) tells them apart.
"""

import re
import unicodedata
from collections import Counter
from functools import lru_cache

LATIN, CHINESE, JAPANESE, KOREAN = "Latin letters", "Chinese", "Japanese", "Korean"

# The first word of a character's Unicode name, where the letters' name is another. Kana marks a text as Japanese. Latin
# letters as wide as Chinese ones are letters of their own: no phrase is found in a text that is written in them.
_LETTERS = {
    "LATIN": LATIN,
    "FULLWIDTH": "full-width letters",
    "CJK": CHINESE,
    "IDEOGRAPHIC": CHINESE,  # the sign that repeats a character
    "HIRAGANA": JAPANESE,
    "KATAKANA": JAPANESE,
    "KATAKANA-HIRAGANA": JAPANESE,  # the sign that makes a vowel long
    "HANGUL": KOREAN,
    "GREEK": "Greek",
    "HEBREW": "Hebrew",
    "THAI": "Thai",
}
_NO_LETTERS = frozenset(
    {"", "MODIFIER", "COMBINING"}
)  # such first words have marks that sit on letters, or stand apart
_WEIGHT = 3  # a character of Chinese, Japanese or Korean says about as much as three letters of English
_HEAVY = frozenset({CHINESE, JAPANESE, KOREAN})
_KANA = 0.1  # of a text's characters, from which on it is Japanese; all of them are then
_PARTLY = 0.25  # of a text, from which on it is partly in another language

# Primary subtags of BCP 47 and what people write in their place; every other language is taken to use Latin letters.
_LETTERS_OF = {
    **dict.fromkeys(("zh", "cn", "yue", "cmn", "zho", "chi", "chinese", "mandarin", "cantonese", "中文"), CHINESE),
    **dict.fromkeys(("ja", "jp", "jpn", "japanese"), JAPANESE),
    **dict.fromkeys(("ko", "kr", "kor", "korean"), KOREAN),
    **dict.fromkeys(("ru", "uk", "bg", "be", "mk", "kk", "russian", "ukrainian", "bulgarian"), "Cyrillic letters"),
    **dict.fromkeys(("ar", "fa", "ur", "ps", "arabic", "persian", "urdu"), "Arabic letters"),
    **dict.fromkeys(("hi", "mr", "ne", "hindi"), "Devanagari letters"),
    **dict.fromkeys(("el", "greek"), "Greek"),
    **dict.fromkeys(("he", "hebrew"), "Hebrew"),
    **dict.fromkeys(("th", "thai"), "Thai"),
}
_CODE_OF = {CHINESE: "zh", JAPANESE: "ja", KOREAN: "ko", "Greek": "el", "Hebrew": "he", "Thai": "th"}
_NAMES = {
    "en": "English",
    "es": "Spanish",
    "fr": "French",
    "de": "German",
    "it": "Italian",
    "pt": "Portuguese",
    "nl": "Dutch",
    "ru": "Russian",
    "ar": "Arabic",
    **{code: letters for letters, code in _CODE_OF.items()},
}
_BETWEEN = re.compile(r"[\s,;/+&]+|\band\b")


def shares(text: str) -> dict[str, float]:
    """Return which part of a text is in which letters, the largest first; the parts sum to 1, none without a letter.

    Letters alone count, so digits, signs and blanks of de-identification (``___``) do not. A character of Chinese,
    Japanese or Korean counts as three, since it says about as much as three letters of English. A text of which a
    tenth of the Chinese and Japanese characters is kana is Japanese throughout.
    """
    counts: Counter[str] = Counter()
    for character, count in Counter(text).items():
        if letters := _letters(character):
            counts[letters] += count * (_WEIGHT if letters in _HEAVY else 1)
    if counts[JAPANESE] and counts[JAPANESE] >= _KANA * (counts[JAPANESE] + counts[CHINESE]):
        counts[JAPANESE] += counts.pop(CHINESE, 0)
    total = counts.total()
    return {letters: count / total for letters, count in counts.most_common() if count}


def letters_of(text: str) -> str:
    """Return the letters most of a text is in: ``LATIN``, "Chinese", "Cyrillic letters"; "" without any letter.

    A few words in other letters, such as a name, change nothing.
    """
    if text.isascii():
        return LATIN if any(map(str.isalpha, text)) else ""
    return next(iter(shares(text)), "")


def also_in(text: str) -> tuple[str, ...]:
    """Return the letters other than most of the text's in which at least a quarter of it is."""
    if text.isascii():
        return ()
    return tuple(letters for letters, share in shares(text).items() if share >= _PARTLY)[1:]


def letters_of_language(language: str) -> str:
    """Return the letters that a language is written in: of "en" ``LATIN``, of "zh-CN" Chinese; "" of no language."""
    code = _code(language)
    return _LETTERS_OF.get(code, LATIN) if code else ""


def languages_in(declared: str) -> tuple[str, ...]:
    """Return the languages that a prompt says it is in: "en" is one, "en, zh" two, "" none."""
    return tuple(part for part in _BETWEEN.split(declared.strip()) if part)


def language_of(text: str, declared: str = "") -> str:
    """Return the language of a text as a code ("en", "zh").

    What was declared counts as long as the text's letters can be that language's, or the text has none. Where they
    cannot, the letters tell; where several languages are written in them ("Cyrillic letters") it is "und" (BCP 47).
    """
    letters = letters_of(text)
    if not letters or letters_of_language(declared) == letters:
        return declared
    return _CODE_OF.get(letters, "und")


def same_language(one: str, other: str) -> bool:
    """Return whether two codes name one language: "en" and "en-GB" do."""
    return _code(one) == _code(other)


def in_words(language: str) -> str:
    """Return a language as people say it: of "zh-CN" Chinese, of "en" English; the code itself where it is unknown."""
    code = _code(language)
    return _NAMES.get(code) or (_LETTERS_OF.get(code, language) if code else language)


def _code(language: str) -> str:
    return re.split(r"[-_]", language.strip().lower(), maxsplit=1)[0]


@lru_cache(maxsize=1 << 14)
def _letters(character: str) -> str:
    """Return the letters that a character is one of; "" for what is no letter, or one of no language (µ, ª).

    Another form of a letter (of Arabic as it is joined in a PDF file, of kana at half its width) is that letter; a sign
    that only looks like one, as that of micro does, is none.
    """
    if not character.isalpha():
        return ""
    if character.isascii():
        return LATIN
    name, plain = _first_word(character), unicodedata.normalize("NFKC", character)
    if plain != character and name != "FULLWIDTH":
        of = _first_word(plain[0])
        if name not in {of, "HALFWIDTH"}:
            return ""
        name = of
    return _LETTERS.get(name, f"{name.capitalize()} letters") if name not in _NO_LETTERS else ""


def _first_word(character: str) -> str:
    name = unicodedata.name(character, "").split(" ", 1)
    return name[0] if len(name) > 1 else ""
