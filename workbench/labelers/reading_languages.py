"""What the rules labeler can read by a prompt's phrases: a text in letters that none is in holds nothing for it.

Called "not mentioned" throughout, such a text would give a wrong number without a word. It is told by the text and the
prompt alone, since an extraction is known by these: what a report says of its language plays no part.
"""

from collections import Counter

from workbench.domain.prompts import Guidance
from workbench.text.languages import (
    CHINESE,
    JAPANESE,
    LATIN,
    also_in,
    in_words,
    languages_in,
    letters_of,
    letters_of_language,
)

_SHARE = 0.5  # of the findings with phrases that need one in letters the prompt does not name as its own


class ReadingLanguages:
    """The letters that a prompt's phrases are in.

    A prompt reads letters that a phrase is in where its ``language`` names a language written in them ("en", or
    "en, zh" for two), and any others that at least half of its findings have a phrase in. One abbreviation or one
    phrase that was added lately makes no prompt a reader of a language. A prompt without phrases reads what it names.

    Args:
        guidance: the prompt's.
    """

    def __init__(self, guidance: Guidance) -> None:
        named: dict[str, list[str]] = {}  # languages by letters
        for language in languages_in(guidance.language):
            named.setdefault(letters_of_language(language), []).append(in_words(language))
        found: Counter[str] = Counter()  # findings with a phrase in them
        findings = 0
        for finding in guidance.findings.values():
            phrases = [letters_of(phrase) for phrase in (*finding.synonyms, *finding.normal)]
            if JAPANESE in named:  # many of its words are written without kana
                phrases = [JAPANESE if letters == CHINESE and CHINESE not in named else letters for letters in phrases]
            found.update(set(filter(None, phrases)))
            findings += bool(phrases)
        reads = {letters for letters, n in found.items() if letters in named or n >= _SHARE * findings}
        self._reads = frozenset(reads if findings else named)
        self._latin = LATIN in self._reads
        listed = [each for each in named if each in self._reads] + sorted(self._reads - named.keys())
        self._in_words = _list([name for letters in listed for name in named.get(letters, [letters])])

    @property
    def in_words(self) -> str:
        """Return what the phrases are in, as people say it: "English", "English and Chinese"."""
        return self._in_words

    def unread(self, text: str) -> str:
        """Return the letters of a text that cannot be read ("Chinese"); "" of one that can, or has no letters."""
        if self._latin and text.isascii():
            return ""
        letters = letters_of(text)
        return "" if letters in self._reads else letters

    def unread_in_part(self, text: str) -> tuple[str, ...]:
        """Return the letters in which at least a quarter of a text is that can be read otherwise, and that cannot."""
        if self.unread(text):
            return ()
        return tuple(letters for letters in also_in(text) if letters not in self._reads)

    def why_not(self, text: str) -> str:
        """Return in a sentence why a text cannot be read; "" of one that can."""
        letters = self.unread(text)
        if not letters:
            return ""
        return f"The report is in {letters}; the prompt's phrases are in {self.in_words}, so the rules cannot read it."


def _list(names: list[str]) -> str:
    *first, last = names or ["no language"]
    return f"{', '.join(first)} and {last}" if first else last
