"""A report as the edits see it: its sentences, what each states, and how the report is written."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from workbench.domain.reports import Section
from workbench.text.alteration_words import AlterationWords, pattern, plain
from workbench.text.sections import split_sections
from workbench.text.sentences import sentence_spans

READ = ("findings", "impression", "unlabelled")  # sections that are edited
SHARE_OF_LANGUAGE = 0.2  # of a report's words that have to be marks of the word list's language
Change = tuple[int, int, str]  # characters start to end, and what stands there instead

_WORD = re.compile(r"\w+")
_ARTICLE = re.compile(r"\b([Aa])(n?)(\s+)$")
# "No change in the opacity" denies no opacity.
_DENIAL = re.compile(
    r"\b(?:no|without|negative for|clear of|free of|absence of)\b(?!\s+(?:[\w-]+\s+){0,2}"
    r"(?:change|increase|decrease|progression|growth|worsening|enlargement|improvement|difference)\b)",
    re.IGNORECASE,
)
# After one of these a denial no longer holds: "no pneumothorax, small effusion".
_DENIAL_ENDS = re.compile(
    r"[;:]|\b(?:is|are|there|with|but|small|tiny|trace|minimal|mild|mildly|moderate|slight|stable|unchanged|persistent|"
    r"again|increased)\b",
    re.IGNORECASE,
)
# "Cardiomegaly without edema" states the one and denies the other.
DENIED_AFTER = re.compile(r",?\s+(?:and|but)?\s*\b(?:without|with no)\s+|,\s+(?:and\s+|but\s+)?no\s+", re.IGNORECASE)
ENUMERATOR = re.compile(r"\s*(?:\(?\d{1,2}[.)]\s*|[-*•]\s+)?")


@dataclass(frozen=True, slots=True)
class Mention:
    """A finding named in a sentence: characters ``start`` to ``end`` of the sentence."""

    finding: int
    start: int
    end: int


@dataclass(frozen=True)
class Sentence:
    """A sentence of a section that is edited: characters ``start`` to ``end`` of the report.

    ``mentions`` are the findings it names, in order; ``stated`` those that it neither denies nor doubts.
    """

    start: int
    end: int
    text: str
    section: int
    mentions: tuple[Mention, ...]
    stated: frozenset[int]

    @property
    def findings(self) -> frozenset[int]:
        """Return the numbers of the findings it names."""
        return frozenset(mention.finding for mention in self.mentions)

    def of(self, findings: frozenset[int]) -> list[Mention]:
        """Return where it names any of some findings."""
        return [mention for mention in self.mentions if mention.finding in findings]

    def around(self, mentions: Sequence[Mention]) -> str:
        """Return its text with blanks for the mentions."""
        said = self.text
        for mention in mentions:
            said = said[: mention.start] + " " * (mention.end - mention.start) + said[mention.end :]
        return said


@dataclass
class ReadReport:
    """A report's text with its sentences, and how it is written."""

    text: str
    words: AlterationWords
    sections: tuple[Section, ...] = field(init=False)
    sentences: list[Sentence] = field(init=False)
    _spoken: dict[tuple[int, int], bool] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        """Read the sentences of the sections that are edited."""
        self.sections = split_sections(self.text)
        self.sentences = [
            self._sentence(section.start + start, section.start + end, at)
            for at, section in enumerate(self.sections)
            if section.name in READ
            for start, end in sentence_spans(self.text[section.start : section.end])
        ]

    def _sentence(self, start: int, end: int, section: int) -> Sentence:
        text = self.text[start:end]
        mentions = [
            Mention(self.words.finding_of[plain(match.group())], *match.span())
            for match in pattern(tuple(self.words.finding_of)).finditer(text)
        ]
        mentions += [
            Mention(at, *match.span()) for at, said in self.words.predicates_of for match in said.finditer(text)
        ]
        mentions.sort(key=lambda mention: mention.start)
        stated = frozenset(mention.finding for mention in mentions if self._is_stated(text, mention))
        return Sentence(start, end, text, section, tuple(mentions), stated)

    def _is_stated(self, text: str, mention: Mention) -> bool:
        """Return whether nothing before a finding, and nothing between it and the next denial or guess, doubts it."""
        after = text[mention.end :]
        cuts = [match.start() for match in (DENIED_AFTER.search(after), self.hedge(after)) if match]
        sure = f"{text[: mention.start]} ; {after[: min(cuts, default=len(after))]}"
        return not (pattern(self.words.unsure).search(sure) or pattern(self.words.slight).search(text))

    def hedge(self, text: str) -> "re.Match[str] | None":
        """Return where a text begins to guess at what a finding is."""
        return pattern(self.words.hedges).search(text)

    @property
    def is_in_language(self) -> bool:
        """Return whether the report is written in the language of the word list."""
        said = _WORD.findall(self.text.lower())
        known = sum(word in self.words.marks for word in said)
        return bool(said) and known >= SHARE_OF_LANGUAGE * len(said)

    def stated(self, finding: int) -> list[Sentence]:
        """Return the sentences that state a finding."""
        return [sentence for sentence in self.sentences if finding in sentence.stated]

    def speaks_of(self, sentence: Sentence, finding: int) -> bool:
        """Return whether a sentence may speak of a finding, in whatever words, without plainly denying it."""
        asked = sentence.start, finding
        if asked not in self._spoken:
            self._spoken[asked] = self._speaks_of(sentence, finding)
        return self._spoken[asked]

    def _speaks_of(self, sentence: Sentence, finding: int) -> bool:
        kin = self.words.kin[finding]
        named = [match.start() for match in pattern(self.words.about[finding]).finditer(sentence.text)]
        named += [mention.start for mention in sentence.mentions if mention.finding in kin]
        if not named:
            return False
        turned = pattern(self.words.blockers).search(sentence.text) is not None
        return turned or not all(is_denied(sentence.text, at) for at in named)

    def written(self, said: str) -> str:
        """Return words as this report writes: in lower or upper case where it is, full stops apart where they are."""
        letters = [letter for letter in self.text if letter.isalpha()]
        if not any(letter.isupper() for letter in letters):
            said = said.lower()
        elif not any(letter.islower() for letter in letters):
            said = said.upper()
        return said.replace(".", " .") if " ." in self.text and not re.search(r"\w\.(\s|$)", self.text) else said

    def changed(self, changes: Iterable[Change]) -> str:
        """Return the text with stretches replaced; "a" and "an" before them follow, and so does a capital."""
        pieces, at = [], 0
        for start, end, said in sorted(changes):
            before = self.text[at:start]
            pieces += [_with_article(before, said), self._with_case(start, said)]
            at = end
        return "".join([*pieces, self.text[at:]])

    def _with_case(self, start: int, said: str) -> str:
        first = self.text[start : start + 1]
        said = self.written(said) if said.upper() != self.text.upper() else said
        return said[:1].upper() + said[1:] if first.isupper() else said


def is_denied(text: str, at: int) -> bool:
    """Return whether what is named at a character is plainly denied: by a denial before it that still holds."""
    denials = list(_DENIAL.finditer(text, 0, at))
    return bool(denials) and _DENIAL_ENDS.search(text, denials[-1].end(), at) is None


def _with_article(before: str, said: str) -> str:
    article = _ARTICLE.search(before)
    if article is None or not said[:1].isalpha():
        return before
    n = "n" if said[0].lower() in "aeiou" else ""
    return before[: article.start()] + article[1] + n + article[3]


def shown(sentences: Sequence[str]) -> str:
    """Return sentences in quotation marks, as ``done`` names them."""
    return " ".join(f"\u201c{' '.join(sentence.split())}\u201d" for sentence in sentences)
