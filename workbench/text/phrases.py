"""Phrases: the small language in which a prompt names findings and cues, and the search for them.

For whoever edits a prompt::

    pleural effusion        these words, next to each other, in any case; regular plurals come by themselves
                            ("effusion" finds "effusions", "opacity" finds "opacities", "mass" finds "masses")
    heart ... enlarged      a gap: none to six words in between, never across a comma, a full stop, a "but" or a "with"
    calcif*                 a word that begins so: "calcified", "calcification"
    heart/cardiac size      either word: "heart size" or "cardiac size"
    air-space disease       a hyphen: "air-space", "air space" and "airspace" alike
    , mild                  a sign (comma, colon, question mark) counts as a word
    少量 胸腔积液            Chinese characters count as a word each; spaces between them do not matter

Nothing else is special. Typing errors are found when the prompt lists them. A phrase is only ever found inside one
sentence. The search walks one tree of words for all phrases at once; steps are worked out when first needed and kept.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Generic, NamedTuple, TypeVar

from workbench.errors import InputError
from workbench.text.normalise import fold, stem, words

T = TypeVar("T")

GAP = "..."
GAP_WORDS = 6
# What a gap never crosses.
CLAUSE_BREAKS = frozenset(
    {",", ";", ":", ".", "?", "!", "(", ")", "but", "however", "although", "though", "while", "whereas", "except"}
    | {"with", "without"}
)
_MOST_SPELLINGS = 2_000
_MOST_WORDS = 200_000
_MOST_STEPS = 100_000
_SPLIT_GAP = re.compile(r"\s*(?:\.\.\.|…)\s*")


@dataclass(frozen=True, slots=True)
class Phrase(Generic[T]):
    """A phrase as the search reports it.

    ``head`` and ``tail`` are how many words stand before its first and after its last gap; a phrase without a gap has
    all its words in ``tail`` and ``head`` 0.
    """

    text: str
    payload: T
    head: int
    tail: int


class Hit(NamedTuple, Generic[T]):
    """A phrase found at words ``start`` to ``end`` (end not included)."""

    start: int
    end: int
    phrase: Phrase[T]

    @property
    def tail_start(self) -> int:
        """Return the first word after the last gap; ``start`` where there is no gap."""
        return self.end - self.phrase.tail

    @property
    def head_end(self) -> int:
        """Return the word after those before the first gap; ``end`` where there is no gap."""
        return self.start + self.phrase.head if self.phrase.head else self.end


def spellings(text: str) -> list[tuple[str, ...]]:
    """Return every sequence of words a phrase stands for; ``...`` in it is a gap, ``calcif*`` an open ending.

    Raises:
        InputError: the phrase is empty, begins or ends with a gap, or stands for more than 2,000 spellings.
    """
    parts = _SPLIT_GAP.split(text.strip())
    if not all(parts):
        raise InputError(
            f'The phrase "{text}" is empty or begins or ends with a gap: write words on both sides of "...".'
        )
    units: list[list[tuple[str, ...]]] = []
    for number, part in enumerate(parts):
        if number:
            units.append([(GAP,)])
        units.extend(_unit(unit) for unit in part.split())
    count = 1
    for unit in units:
        count *= len(unit)
    if count > _MOST_SPELLINGS:
        raise InputError(f'The phrase "{text}" stands for {count} spellings: split it into simpler phrases.')
    return [tuple(word for piece in choice for word in piece) for choice in product(*units)]


def _unit(unit: str) -> list[tuple[str, ...]]:
    """Return the word sequences that one blank-separated piece of a phrase stands for."""
    found: list[tuple[str, ...]] = []
    for choice in unit.split("/") if unit.strip("/") else [unit]:
        parts = [part for part in choice.split("-") if part] or [choice]
        forms = [parts] if len(parts) == 1 else [parts, ["".join(parts)]]
        for form in forms:
            sequence = tuple(word for part in form for word in _pattern_words(part))
            if sequence and sequence not in found:
                found.append(sequence)
    return found or [(fold(unit),)]


def _pattern_words(part: str) -> list[str]:
    if part.endswith("*") and len(part) > 1:
        *first, last = words(part[:-1])
        return [*map(stem, first), fold(last) + "*"]
    return [stem(word) for word in words(part)]


@dataclass(slots=True, eq=False)
class _Node(Generic[T]):
    """A node of the tree of words."""

    children: dict[str, "_Node[T]"] = field(default_factory=dict)
    gap: "_Node[T] | None" = None
    phrases: list[Phrase[T]] = field(default_factory=list)


class _Step(dict[int, "_Step[T] | None"], Generic[T]):
    """All nodes that can be reached by the words so far; maps the next word's class to the next step."""

    __slots__ = ("finder", "phrases", "places")

    def __init__(self, finder: "PhraseFinder[T]", places: frozenset[tuple[_Node[T], int]]) -> None:
        super().__init__()
        self.finder = finder
        self.places = places  # a node, and how many more words its gap may skip (-1: it has none)
        found = (phrase for node, left in places if left < 0 for phrase in node.phrases)
        # Two phrases that say the same of the same words ("effusion", "effus*") are one here.
        self.phrases = tuple({(p.payload, p.head, p.tail): p for p in found}.values())

    def __missing__(self, word_class: int) -> "_Step[T] | None":
        step = self[word_class] = self.finder.step_from(self.places, word_class)
        return step


class _Classes(dict[str, int], Generic[T]):
    """The class of each written word: words that no phrase can tell apart share one; 0 is a word of no phrase."""

    def __init__(self, finder: "PhraseFinder[T]") -> None:
        super().__init__()
        self.finder = finder

    def __missing__(self, word: str) -> int:
        if len(self) > _MOST_WORDS:
            self.clear()
        found = self[word] = self.finder.class_of(word)
        return found


class PhraseFinder(Generic[T]):
    """Finds many phrases at once in the words of a sentence.

    Args:
        entries: phrases with what each stands for. The same phrase may stand for several things.
    """

    def __init__(self, entries: Iterable[tuple[str, T]]) -> None:
        self._root: _Node[T] = _Node()
        self._prefixes: set[str] = set()
        self._vocabulary: set[str] = set()
        self._keys: list[tuple[frozenset[str], bool]] = [(frozenset(), False)]
        self._class_numbers: dict[tuple[frozenset[str], bool], int] = {self._keys[0]: 0}
        self._steps: dict[frozenset[tuple[_Node[T], int]], _Step[T]] = {}
        for text, payload in entries:
            for spelling in spellings(text):
                self._add(text, spelling, payload)
        self._start = self._step(frozenset({(self._root, -1)}))
        self._classes: _Classes[T] = _Classes(self)

    def _add(self, text: str, spelling: tuple[str, ...], payload: T) -> None:
        node = self._root
        for key in spelling:
            if key == GAP:
                node.gap = node.gap or _Node()
                node = node.gap
                continue
            if key.endswith("*") and len(key) > 1:
                self._prefixes.add(key[:-1])
            else:
                self._vocabulary.add(key)
            node = node.children.setdefault(key, _Node())
        gaps = [at for at, key in enumerate(spelling) if key == GAP]
        head, tail = (gaps[0], len(spelling) - gaps[-1] - 1) if gaps else (0, len(spelling))
        phrase = Phrase(text, payload, head, tail)
        if phrase not in node.phrases:
            node.phrases.append(phrase)

    def class_of(self, word: str) -> int:
        """Return the class number of a written word."""
        folded = fold(word)
        keys = {folded[:n] + "*" for n in range(1, len(folded) + 1) if folded[:n] in self._prefixes}
        if (stemmed := stem(word)) in self._vocabulary:
            keys.add(stemmed)
        identity = (frozenset(keys), folded in CLAUSE_BREAKS)
        number = self._class_numbers.get(identity)
        if number is None:
            number = self._class_numbers[identity] = len(self._keys)
            self._keys.append(identity)
        return number

    def step_from(self, places: frozenset[tuple[_Node[T], int]], word_class: int) -> "_Step[T] | None":
        """Return the step that a word of a class leads to, or None where no phrase goes on."""
        keys, ends_gap = self._keys[word_class]
        reached = [] if ends_gap else [(node, left - 1) for node, left in places if left > 0]
        for key in keys:
            for node, _ in places:
                if (child := node.children.get(key)) is not None:
                    reached.append((child, -1))
                    if child.gap is not None:
                        reached.append((child.gap, GAP_WORDS))
        return self._step(frozenset(reached)) if reached else None

    def _step(self, places: frozenset[tuple[_Node[T], int]]) -> _Step[T]:
        step = self._steps.get(places)
        if step is None:
            if len(self._steps) >= _MOST_STEPS:  # forget them all: they are worked out again when needed
                self._steps.clear()
                self._start.clear()
            step = self._steps[places] = _Step(self, places)
        return step

    def find(self, sentence: Sequence[str]) -> list[Hit[T]]:
        """Return every phrase found in the words of one sentence, by start, then end; overlapping ones included."""
        hits: list[Hit[T]] = []
        classes = list(map(self._classes.__getitem__, sentence))
        count = len(classes)
        first = self._start
        for start, word_class in enumerate(classes):
            if not word_class:
                continue
            step = first[word_class]
            end = start
            while step is not None:
                end += 1
                for phrase in step.phrases:
                    hits.append(Hit(start, end, phrase))  # noqa: PERF401 - a comprehension per step is slower
                if end == count:
                    break
                step = step[classes[end]]
        return hits
