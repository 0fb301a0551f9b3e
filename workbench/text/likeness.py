"""Texts that are nearly the same, and the sentence of a report that tells most of what it was missed for."""

import math
import zlib
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from workbench.text.normalise import stem, words

ALIKE = 0.5  # cosine from which two texts are said to be nearly the same
_GRAMS = (3, 4, 5)
_BUCKETS = 4096


def groups(texts: Sequence[str]) -> list[tuple[int, ...]]:
    """Return groups of nearly identical texts as their places, largest group first; each text is in one.

    Texts are compared by the cosine of their TF-IDF weighted sequences of 3 to 5 letters, figures counted as one. The
    text that most others are like leads the first group, and so on with what is left.
    """
    if not texts:
        return []
    rows = _weighted([_evened(text) for text in texts])
    left = np.arange(len(texts))
    alike = [np.flatnonzero(rows @ row >= ALIKE) for row in rows]
    found: list[tuple[int, ...]] = []
    free = np.ones(len(texts), dtype=bool)
    while len(left):
        sizes = [int(free[alike[at]].sum()) for at in left]
        leader = int(left[int(np.argmax(sizes))])
        members = [leader, *(int(at) for at in alike[leader] if free[at] and at != leader)]
        free[members] = False
        found.append(tuple(members))
        left = left[free[left]]
    return sorted(found, key=lambda group: -len(group))


def _evened(text: str) -> str:
    return " ".join("0" if word[0].isdigit() else word for word in text.lower().split())


def _weighted(texts: Sequence[str]) -> NDArray[np.float32]:
    """Return rows of length 1: TF-IDF weights of letter sequences, hashed into buckets. A blank text is a row of 0."""
    rows = np.zeros((len(texts), _BUCKETS), dtype=np.float32)
    for row, text in zip(rows, texts, strict=True):
        padded = f" {text} "
        grams = Counter(padded[i : i + n] for n in _GRAMS for i in range(len(padded) - n + 1))
        for gram, count in grams.items():
            row[zlib.crc32(gram.encode()) % _BUCKETS] += 1 + math.log(count)
    held = np.count_nonzero(rows, axis=0)
    rows *= np.log((1 + len(texts)) / (1 + held)) + 1
    length = np.linalg.norm(rows, axis=1, keepdims=True)
    np.divide(rows, length, out=rows, where=length > 0)
    return rows


def telling(
    candidates: Mapping[str, Sequence[str]], texts: Mapping[str, str], holding: Collection[str]
) -> dict[str, str]:
    """Return for each report the candidate sentence whose words stand most in reports that hold a finding.

    Args:
        candidates: sentences to choose from, by report; one without any gets "".
        texts: all reports of the cohort.
        holding: those of them that hold the finding.
    """
    held: Counter[str] = Counter()
    others: Counter[str] = Counter()
    for report, text in texts.items():
        (held if report in holding else others).update(_word_set(text))
    n_held, n_others = len(holding), len(texts) - len(holding)

    def lift(word: str) -> float:
        return math.log((held[word] + 0.5) / (n_held + 1)) - math.log((others[word] + 0.5) / (n_others + 1))

    def score(sentence: str) -> float:
        best = sorted((lift(word) for word in _word_set(sentence)), reverse=True)[:3]
        return sum(best) / 3 if best else -math.inf

    return {report: max(sentences, key=score, default="") for report, sentences in candidates.items()}


@lru_cache(maxsize=1 << 14)  # reports are looked at for one finding after another
def _word_set(text: str) -> frozenset[str]:
    return frozenset(stem(word) for word in _letters(words(text)))


def _letters(split: Iterable[str]) -> list[str]:
    return [word for word in split if len(word) > 2 and word.isalpha()]
