"""The word list by which reports are edited, and a report as the edits see it."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache

from workbench.text.sections import split_sections
from workbench.text.sentences import sentence_spans

READ = ("findings", "impression", "unlabelled")  # sections that are edited
SHARE_OF_LANGUAGE = 0.2  # of a report's words that have to be marks of the word list's language
SIDES = {"left": "right", "right": "left"}
Change = tuple[int, int, str]  # characters start to end, and what stands there instead

_WORD = re.compile(r"\w+")
_ARTICLE = re.compile(r"\b([Aa])(n?)(\s+)$")
_SPACE = re.compile(r"\s+")
# "No change in the opacity" denies no opacity.
_DENIAL = re.compile(
    r"\b(?:no|without|negative for|clear of|free of|absence of)\b(?!\s+(?:\w+\s+){0,2}change)", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class AlteredFinding:
    """A finding: all ways to say it, the sentence that invents it, and how much it matters.

    ``traces`` are words that give it away without naming it. Findings of the same ``group`` may be one and the same
    thing under two names. A ``critical`` finding is dangerous to miss, a ``minor`` one hardly matters.
    """

    name: str
    words: tuple[str, ...]
    invented: str
    critical: bool = False
    minor: bool = False
    group: str = ""
    traces: tuple[str, ...] = ()


@dataclass(frozen=True)
class AlterationWords:
    """A word list, in lower case; see ``data/alterations.yaml`` for what each part is for."""

    language: str
    marks: frozenset[str]
    findings: tuple[AlteredFinding, ...]
    unsure: tuple[str, ...]
    degrees: frozenset[str]
    places: frozenset[str]
    severity: Mapping[str, str]
    never_swapped: tuple[str, ...]
    glued: tuple[str, ...]
    synonyms: tuple[tuple[str, str], ...]
    abbreviations: Mapping[str, str]
    openings: Mapping[str, str]
    endings: Mapping[str, str]
    predicates: Mapping[str, str]
    fillers: tuple[str, ...]
    blockers: tuple[str, ...]

    @cached_property
    def finding_of(self) -> Mapping[str, int]:
        """Return the number of the finding that each way to say one belongs to."""
        return {word: at for at, finding in enumerate(self.findings) for word in finding.words}

    @cached_property
    def about(self) -> tuple[tuple[str, ...], ...]:
        """Return, for each finding, all words that may speak of it: its own, its traces, and those of its group."""
        return tuple(
            tuple(
                phrase
                for other in self.findings
                if other is finding or (finding.group and other.group == finding.group)
                for phrase in (*other.words, *other.traces)
            )
            for finding in self.findings
        )

    @cached_property
    def exchanged(self) -> Mapping[str, str]:
        """Return each synonym with the one that takes its place."""
        return dict(self.synonyms) | {other: one for one, other in self.synonyms}


@lru_cache(maxsize=256)
def pattern(phrases: tuple[str, ...]) -> "re.Pattern[str]":
    """Return a pattern that finds any of the phrases as whole words, in any case, the longest first."""
    longest_first = sorted(phrases, key=lambda phrase: (-len(phrase), phrase))
    return re.compile("|".join(map(_whole, longest_first)) or r"(?!)", re.IGNORECASE)


def _whole(phrase: str) -> str:
    inner = r"\s+".join(map(re.escape, phrase.split()))
    before = r"(?<![\w-])" if phrase[0].isalnum() else ""
    return before + inner + (r"(?![\w-])" if phrase[-1].isalnum() else "")


def plain(words: str) -> str:
    """Return words in lower case with single blanks, as the word list has them."""
    return _SPACE.sub(" ", words).strip().lower()


@dataclass(frozen=True)
class Sentence:
    """A sentence of a section that is edited: characters ``start`` to ``end`` of the report.

    ``findings`` are the numbers of the findings it names; ``stated`` says that it neither denies nor doubts them.
    """

    start: int
    end: int
    text: str
    section: int
    findings: frozenset[int]
    stated: bool


@dataclass
class ReadReport:
    """A report's text with its sentences, and how it is written."""

    text: str
    words: AlterationWords
    sentences: list[Sentence] = field(init=False)

    def __post_init__(self) -> None:
        """Read the sentences of the sections that are edited."""
        self.sentences = [
            self._sentence(section.start + start, section.start + end, at)
            for at, section in enumerate(split_sections(self.text))
            if section.name in READ
            for start, end in sentence_spans(self.text[section.start : section.end])
        ]

    def _sentence(self, start: int, end: int, section: int) -> Sentence:
        text = self.text[start:end]
        named = pattern(tuple(self.words.finding_of)).finditer(text)
        findings = frozenset(self.words.finding_of[plain(match.group())] for match in named)
        unsure = pattern(self.words.unsure).search(text) is not None
        return Sentence(start, end, text, section, findings, bool(findings) and not unsure)

    @property
    def is_in_language(self) -> bool:
        """Return whether the report is written in the language of the word list."""
        said = _WORD.findall(self.text.lower())
        known = sum(word in self.words.marks for word in said)
        return bool(said) and known >= SHARE_OF_LANGUAGE * len(said)

    def stated(self, finding: int) -> list[Sentence]:
        """Return the sentences that state a finding."""
        return [sentence for sentence in self.sentences if finding in sentence.findings and sentence.stated]

    def only_stated(self) -> list[int]:
        """Return the findings that are stated, and named nowhere else in the edited sections."""
        return [
            finding
            for finding in range(len(self.words.findings))
            if (stated := self.stated(finding))
            and len(stated) == sum(finding in sentence.findings for sentence in self.sentences)
        ]

    def speaks_of(self, sentence: Sentence, finding: int) -> bool:
        """Return whether a sentence may speak of a finding, in whatever words, without plainly denying it."""
        named = pattern(self.words.about[finding]).search(sentence.text)
        if named is None:
            return False
        denial = _DENIAL.search(sentence.text)
        turned = pattern(self.words.blockers).search(sentence.text) is not None
        return denial is None or turned or named.start() < denial.start()

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


def _with_article(before: str, said: str) -> str:
    article = _ARTICLE.search(before)
    if article is None or not said[:1].isalpha():
        return before
    n = "n" if said[0].lower() in "aeiou" else ""
    return before[: article.start()] + article[1] + n + article[3]


def shown(sentences: Sequence[str]) -> str:
    """Return sentences in quotation marks, as ``done`` names them."""
    return " ".join(f"\u201c{' '.join(sentence.split())}\u201d" for sentence in sentences)
