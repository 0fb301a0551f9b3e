"""The word list by which reports are edited."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache

SIDES = {"left": "right", "right": "left"}

_SPACE = re.compile(r"\s+")


@dataclass(frozen=True, slots=True)
class AlteredFinding:
    """A finding: all ways to say it, the sentence that invents it, and how much it matters.

    ``traces`` are words that give it away without naming it. Findings of the same ``group`` may be one and the same
    thing under two names. A ``critical`` finding is dangerous to miss, a ``minor`` one hardly matters. It is said by a
    verb, too, where there are ``subjects`` and ``adjectives``: "the heart is mildly enlarged". ``regions`` are those
    that are not normal where it is there.
    """

    name: str
    words: tuple[str, ...]
    invented: str
    critical: bool = False
    minor: bool = False
    group: str = ""
    traces: tuple[str, ...] = ()
    subjects: tuple[str, ...] = ()
    adjectives: tuple[str, ...] = ()
    regions: tuple[str, ...] = ()


@dataclass(frozen=True)
class AlterationWords:
    """A word list, in lower case; see ``data/alterations.yaml`` for what each part is for."""

    language: str
    marks: frozenset[str]
    findings: tuple[AlteredFinding, ...]
    unsure: tuple[str, ...]
    slight: tuple[str, ...]
    hedges: tuple[str, ...]
    stale: tuple[str, ...]
    company: tuple[str, ...]
    elsewhere: tuple[str, ...]
    degrees: frozenset[str]
    places: frozenset[str]
    severity: Mapping[str, str]
    never_swapped: tuple[str, ...]
    glued: tuple[str, ...]
    followers: tuple[str, ...]
    synonyms: tuple[tuple[str, str], ...]
    abbreviations: Mapping[str, str]
    openings: Mapping[str, str]
    endings: Mapping[str, str]
    predicates: Mapping[str, str]
    fillers: tuple[str, ...]
    blockers: tuple[str, ...]
    regions: Mapping[str, tuple[str, ...]]
    well: tuple[str, ...]
    general: tuple[str, ...]
    disease: tuple[str, ...]

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
    def kin(self) -> tuple[frozenset[int], ...]:
        """Return, for each finding, the numbers of those of its group, itself among them."""
        return tuple(
            frozenset(
                at
                for at, other in enumerate(self.findings)
                if other is finding or (finding.group and other.group == finding.group)
            )
            for finding in self.findings
        )

    @cached_property
    def predicates_of(self) -> tuple[tuple[int, "re.Pattern[str]"], ...]:
        """Return the findings that are said by a verb, each with its pattern: groups are subject, verb, degrees."""
        degrees = "|".join(sorted(map(re.escape, self.degrees)))
        return tuple(
            (
                at,
                re.compile(
                    rf"((?:{_any(finding.subjects)}))\s+(is|are|appears?|remains?)((?:\s+(?:{degrees}),?)*)"
                    rf"\s+(?:{_any(finding.adjectives)})(?![\w-])",
                    re.IGNORECASE,
                ),
            )
            for at, finding in enumerate(self.findings)
            if finding.subjects and finding.adjectives
        )

    @cached_property
    def exchanged(self) -> Mapping[str, str]:
        """Return each synonym with the one that takes its place."""
        return dict(self.synonyms) | {other: one for one, other in self.synonyms}


@lru_cache(maxsize=256)
def pattern(phrases: tuple[str, ...]) -> "re.Pattern[str]":
    """Return a pattern that finds any of the phrases as whole words, in any case, the longest first."""
    return re.compile(_any(phrases), re.IGNORECASE)


def _any(phrases: tuple[str, ...]) -> str:
    longest_first = sorted(phrases, key=lambda phrase: (-len(phrase), phrase))
    inner = [(phrase, r"\s+".join(map(re.escape, phrase.split()))) for phrase in longest_first]
    words = [said for phrase, said in inner if phrase[0].isalnum() and phrase[-1].isalnum()]
    # Whole words in one bracket, so that only beginnings of words are tried.
    parts = [rf"(?<![\w-])(?:{'|'.join(words)})(?![\w-])"] if words else []
    parts += [_whole(phrase, said) for phrase, said in inner if not (phrase[0].isalnum() and phrase[-1].isalnum())]
    return "|".join(parts) or r"(?!)"


def _whole(phrase: str, said: str) -> str:
    return (r"(?<![\w-])" if phrase[0].isalnum() else "") + said + (r"(?![\w-])" if phrase[-1].isalnum() else "")


def plain(words: str) -> str:
    """Return words in lower case with single blanks, as the word list has them."""
    return _SPACE.sub(" ", words).strip().lower()
