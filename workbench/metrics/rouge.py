"""ROUGE-L: how much of two reports is the same words in the same order.

F (beta 1) of precision and recall of the longest common subsequence of words (Lin, ACL workshop 2004), with the tokens
of Google's ``rouge-score`` without stemming: lower case, runs of a-z and 0-9.

Edges: a blank generated report has 0.0; a missing one, and a missing or blank reference, NaN. A text without a single
a-z or 0-9, such as a Chinese one, has no tokens: NaN as reference, 0.0 as generated report.
"""

import re
from collections.abc import Sequence

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
    for pair in np.flatnonzero(np.isinf(values)).tolist():
        values[pair] = _f(_TOKEN.findall(str(references[pair]).lower()), _TOKEN.findall(str(generated[pair]).lower()))
    return values


def _f(reference: list[str], generated: list[str]) -> float:
    # 2 P R / (P + R) with P = common / generated and R = common / reference.
    if not reference:
        return float("nan")
    return 2 * _common(reference, generated) / (len(reference) + len(generated))


def _common(one: list[str], other: list[str]) -> int:
    """Return the length of the longest common subsequence.

    A row of the usual table is one whole number, a bit per word of ``one``, and a column of it is done in a few
    operations. Source: H. Hyyrö, Bit-parallel LCS-length computation revisited, AWOCA 2004.
    """
    places: dict[str, int] = {}
    for at, word in enumerate(one):
        places[word] = places.get(word, 0) | 1 << at
    full = (1 << len(one)) - 1
    row = full
    for word in other:
        hits = row & places.get(word, 0)
        row = (row + hits) | (row - hits)
    return len(one) - (row & full).bit_count()
