"""ROUGE-L: how much of two reports is the same words in the same order.

F (beta 1) of precision and recall of the longest common subsequence of words (Lin, ACL workshop 2004), with the tokens
of Google's ``rouge-score`` without stemming: lower case, runs of a-z and 0-9.

Edges: a blank generated report has 0.0; a missing one, and a missing or blank reference, NaN. A text without a single
a-z or 0-9, such as a Chinese one, has no tokens: NaN as reference, 0.0 as generated report.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from workbench.metrics.base import Numbers, Text, fixed_values

_TOKEN = re.compile(r"[a-z0-9]+")


def rouge_l(reference: Text, generated: Text) -> float:
    """Return ROUGE-L of one report in 0..1, NaN where it is undefined; see the module for its edges."""
    return float(rouge_l_all([reference], [generated])[0])


def rouge_l_all(references: Sequence[Text], generated: Sequence[Text]) -> Numbers:
    """Return ROUGE-L [pair] in 0..1; NaN where a pair has no value.

    Raises:
        ValueError: there is not one generated report per reference.
    """
    values = fixed_values(references, generated)
    read = _read(tuple(references))
    for pair in np.flatnonzero(np.isinf(values)).tolist():
        values[pair] = _f(read[pair], _TOKEN.findall(str(generated[pair]).lower()))
    return values


@dataclass(frozen=True, slots=True)
class _Words:
    """The words of a reference: how many, and where each stands, a bit per place."""

    n: int
    places: Mapping[str, int]


@lru_cache(maxsize=1)  # every system of a data set has the same references
def _read(references: tuple[Text, ...]) -> list[_Words]:
    return [_words(_TOKEN.findall((text or "").lower())) for text in references]


def _words(words: Sequence[str]) -> _Words:
    places: dict[str, int] = {}
    for at, word in enumerate(words):
        places[word] = places.get(word, 0) | 1 << at
    return _Words(len(words), places)


def _f(reference: _Words, generated: Sequence[str]) -> float:
    # 2 P R / (P + R) with P = common / generated and R = common / reference.
    if not reference.n:
        return float("nan")
    return 2 * _common(reference, generated) / (reference.n + len(generated))


def _common(reference: _Words, generated: Sequence[str]) -> int:
    """Return the length of the longest common subsequence.

    A row of the usual table is one whole number, a bit per word of the reference, and a column of it is done in a few
    operations. Source: H. Hyyrö, Bit-parallel LCS-length computation revisited, AWOCA 2004.
    """
    full = (1 << reference.n) - 1
    row, places = full, reference.places
    for word in generated:
        if hits := row & places.get(word, 0):  # a word that the reference has not, or no more, leaves the row as it is
            row = (row + hits) | (row - hits)
    return reference.n - (row & full).bit_count()
