"""Words of a report and the form in which two spellings of a word are compared.

A word keeps its place in the text, so that everything found can be shown where it stands. Nothing is ever put in the
place of a de-identification blank: ``XXXX`` and ``___`` are words like any other.
"""

import re
from dataclasses import dataclass

CJK = "\u3400-\u9fff\uf900-\ufaff"

# In this order: letters, "n't" apart from its verb, letters with an inner apostrophe, numbers (decimals whole), one
# character of Chinese, a run of underscores, a free-standing dash, any other single sign. A hyphen within is no word:
# "air-space" is two words, and so is "isn't".
_LETTER = rf"[^\W\d_{CJK}]"
_WORD = re.compile(
    rf"{_LETTER}++(?!['’])"
    rf"|{_LETTER}+?(?=[nN]['’][tT]\b)|[nN]['’][tT]\b"
    rf"|{_LETTER}+(?:['’]{_LETTER}+)*"
    r"|\d+(?:\.\d+)?"
    rf"|[{CJK}]"
    r"|_+"
    r"|(?<=\s)[-–—]+(?=\s)|--+|—"
    r"|[^\w\s\-–—]"
)

# Full-width punctuation is read as its plain sibling.
_PLAIN = str.maketrans(
    {"，": ",", "。": ".", "；": ";", "：": ":", "、": ",", "（": "(", "）": ")", "？": "?", "’": "'"}
)

# Ending and what the stem has in its place; the first that fits counts.
_PLURALS = (
    ("sses", "ss"),
    ("shes", "sh"),
    ("ches", "ch"),
    ("xes", "x"),
    ("sis", "se"),  # as "-ses" becomes "-se": diagnosis, diagnoses
    ("ies", "y"),
    ("ae", "a"),
    ("ss", "ss"),
    ("us", "us"),
    ("is", "is"),
    ("s", ""),
)


@dataclass(frozen=True, slots=True)
class Word:
    """A word and where it stands: characters ``start`` to ``end`` (end not included) of the text."""

    text: str
    start: int
    end: int


def words(text: str) -> list[str]:
    """Return the words and signs of a text in order, as they are written."""
    return _WORD.findall(text)


def placed_words(text: str) -> list[Word]:
    """Return the same words as ``words`` with their places in the text."""
    return [Word(m.group(), m.start(), m.end()) for m in _WORD.finditer(text)]


def fold(word: str) -> str:
    """Return a word in lower case with plain signs, "n't" as "not": the form in which endings are compared."""
    folded = word.translate(_PLAIN).lower()
    return "not" if folded == "n't" else folded


def stem(word: str) -> str:
    """Return the form that a word shares with its regular plural: opacity and opacities, mass and masses.

    Only regular plurals are undone (-s, -es, -ies, and the Greek and Latin -sis/-ses and -a/-ae); what is irregular or
    a different form of a verb is for the prompt to list, or to write with ``*``.
    """
    word = fold(word)
    if len(word) < 4 or not word.isascii():
        return word
    for ending, singular in _PLURALS:
        if word.endswith(ending):
            return word[: len(word) - len(ending)] + singular
    return word
