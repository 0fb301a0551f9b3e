"""BLEU of single reports, order 1 to 4, and BLEU-2 as ReXrank computes it.

BLEU-n = brevity penalty x geometric mean of the clipped precisions of 1- to n-grams (Papineni et al., ACL 2002), per
report; a data set's value is the mean over its reports. Many papers print BLEU of the whole corpus, counts summed
before the division, which is another number.

Two definitions stand side by side:

- **BLEU-1 to BLEU-4**: tokens of mteval-v13a in lower case, no smoothing; as sacrebleu with ``lowercase=True,
  smooth_method="none", max_ngram_order=n``, divided by 100. A report without one matching n-gram of each order has 0.0.
- **BLEU-2 of ReXrank**: lower case, full stops split off, split at blanks; an order above the first without a match
  counts as 0.1 of a match, and an order that a report is too short for has one n-gram (fast_bleu, which is NLTK's
  smoothing 1). Source: rajpurkarlab/CXR-Report-Metric, ``CXRMetric/run_eval.py``.

Edges, in both: blank generated report 0.0; missing one, or a missing or blank reference, NaN. Identical reports have
1.0, but BLEU-n of a report with fewer than n tokens is 0.0 (in ReXrank's BLEU-2 a single right word has sqrt(0.1)).
"""

import html
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np
import numpy.typing as npt

from workbench.metrics.base import Numbers, Text, fixed_values

Indices = npt.NDArray[np.int64]
ORDERS = (1, 2, 3, 4)
SMOOTHED = 0.1  # of a match, where an order has none

_SPACED = re.compile(r"([{-~\[-` -&(-+:-@/])")
_STOP_AFTER = re.compile(r"([^0-9])([.,])")
_STOP_BEFORE = re.compile(r"([.,])([^0-9])")
_DASH = re.compile(r"([0-9])(-)")


@dataclass(frozen=True, slots=True)
class _Matched:
    """Counts per pair: clipped matches and generated n-grams [pair, order], lengths in tokens [pair]."""

    matches: Indices
    totals: Indices
    reference: Indices
    generated: Indices


def bleu(reference: Text, generated: Text, order: int) -> float:
    """Return BLEU-``order`` of one report in 0..1, NaN where it is undefined; see the module for its edges."""
    return float(bleu_all([reference], [generated], (order,))[0, 0])


def bleu_all(references: Sequence[Text], generated: Sequence[Text], orders: Sequence[int] = ORDERS) -> Numbers:
    """Return BLEU [pair, order] in 0..1 with a column for each of ``orders``; NaN where a pair has no value.

    Raises:
        ValueError: an order is below 1, or there is not one generated report per reference.
    """
    if not orders or min(orders) < 1:
        raise ValueError(f"the orders of BLEU are 1 and above: {orders}")
    fixed = fixed_values(references, generated)
    counted = _matched(_tokens(references, _split_13a), _tokens(generated, _split_13a), max(orders))
    # Without a match the logarithm is minus infinity and the product 0; an order without n-grams has no match either.
    with np.errstate(divide="ignore"):
        logs = np.log(counted.matches / np.maximum(counted.totals, 1))
    return _put_together(counted, logs, orders, fixed)


def bleu2_rexrank(references: Sequence[Text], generated: Sequence[Text]) -> Numbers:
    """Return ReXrank's BLEU-2 [pair] in 0..1; NaN where a pair has no value."""
    fixed = fixed_values(references, generated)
    counted = _matched(_tokens(references, _split_rexrank), _tokens(generated, _split_rexrank), 2)
    matches = np.where((counted.matches == 0) & (np.arange(2) > 0), SMOOTHED, counted.matches)
    with np.errstate(divide="ignore"):
        logs = np.log(matches / np.maximum(counted.totals, 1))
    return _put_together(counted, logs, (2,), fixed)[:, 0]


def _put_together(counted: _Matched, logs: Numbers, orders: Sequence[int], fixed: Numbers) -> Numbers:
    short = 1 - counted.reference / np.maximum(counted.generated, 1)
    penalty = np.minimum(short, 0.0)
    means = np.cumsum(logs, axis=1)[:, [order - 1 for order in orders]] / np.asarray(orders)
    values: Numbers = np.exp(means + penalty[:, None])
    # A text that has only white space left after splitting (signs that split away) still counts as it is fixed.
    return np.where(np.isinf(fixed)[:, None], values, fixed[:, None])


def _split_13a(text: str) -> str:
    """Return lower-cased text with the tokens of mteval-v13a apart; every text has blanks around it."""
    text = text.replace("<skipped>", "")
    if "&" in text:
        for name in ("&quot;", "&amp;", "&lt;", "&gt;"):
            text = text.replace(name, html.unescape(name))
    text = _SPACED.sub(r" \1 ", text.lower())
    text = _STOP_AFTER.sub(r"\1 \2 ", text)
    text = _STOP_BEFORE.sub(r" \1 \2", text)
    return _DASH.sub(r"\1 \2 ", text)


def _split_rexrank(text: str) -> str:
    return text.lower().replace(".", " .")


def _tokens(texts: Sequence[Text], split: Callable[[str], str]) -> list[list[str]]:
    """Return the tokens of each text. All are split in one go, with a line break between; none is left within."""
    lines = " \n ".join(" ".join((text or "").replace("-\n", "").splitlines()) for text in texts)
    return [line.split() for line in split(f" {lines} ").split("\n")] if texts else []


def _matched(references: list[list[str]], generated: list[list[str]], order: int) -> _Matched:
    """Count the n-grams of all pairs at once, each n-gram a number."""
    numbers = {token: i for i, token in enumerate(dict.fromkeys(chain(*references, *generated)))}
    sides = [_Side(texts, numbers) for texts in (references, generated)]
    grams = [side.ids for side in sides]
    pairs = len(references)
    matches, totals = np.zeros((pairs, order), np.int64), np.zeros((pairs, order), np.int64)
    for n in range(order):
        if n:
            grams = _longer(grams, sides, n, len(numbers))
        whole = [side.begins(n) for side in sides]
        distinct = 1 + max((int(gram.max()) for gram in grams if gram.size), default=0)
        counts = [
            np.unique(side.text[begins] * distinct + gram, return_counts=True)
            for side, begins, gram in zip(sides, whole, grams, strict=True)
        ]
        (in_reference, reference_counts), (in_generated, generated_counts) = counts
        _, left, right = np.intersect1d(in_reference, in_generated, assume_unique=True, return_indices=True)
        clipped = np.minimum(reference_counts[left], generated_counts[right])
        matches[:, n] = np.bincount(in_generated[right] // distinct, weights=clipped, minlength=pairs)
        totals[:, n] = np.maximum(sides[1].lengths - n, 0)
    return _Matched(matches, totals, sides[0].lengths, sides[1].lengths)


class _Side:
    """The tokens of all texts of one side in a row, as numbers, with the text that each is from."""

    def __init__(self, texts: list[list[str]], numbers: dict[str, int]) -> None:
        self.lengths: Indices = np.array([len(tokens) for tokens in texts], np.int64)
        total = int(self.lengths.sum())
        self.ids: Indices = np.fromiter(map(numbers.__getitem__, chain(*texts)), np.int64, total)
        self.text: Indices = np.repeat(np.arange(len(texts)), self.lengths)

    def begins(self, n: int) -> Indices:
        """Return where an n-gram of n + 1 tokens begins: n further tokens of the same text follow."""
        last = max(len(self.text) - n, 0)
        found: Indices = np.flatnonzero(self.text[:last] == self.text[n : n + last])
        return found


def _longer(grams: list[Indices], sides: list[_Side], n: int, n_tokens: int) -> list[Indices]:
    """Return the numbers of the (n + 1)-grams, each made of an n-gram and the token after it."""
    made = []
    for gram, side in zip(grams, sides, strict=True):
        by_place = np.zeros(len(side.text), np.int64)
        by_place[side.begins(n - 1)] = gram
        begins = side.begins(n)
        made.append(by_place[begins] * n_tokens + side.ids[begins + n])
    # Renumbered, so that numbers never grow out of 64 bits.
    _, numbered = np.unique(np.concatenate(made), return_inverse=True)
    return [numbered[: len(made[0])], numbered[len(made[0]) :]]
