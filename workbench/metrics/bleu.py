"""BLEU of single reports, order 1 to 4, and BLEU-2 as ReXrank computes it.

BLEU-n = brevity penalty x geometric mean of the clipped precisions of 1- to n-grams (Papineni et al., ACL 2002), per
report; a data set's value is the mean over its reports. Many papers print BLEU of the whole corpus, counts summed
before the division, which is another number.

Two definitions stand side by side:

- **BLEU-1 to BLEU-4**: tokens of mteval-v13a in lower case, no smoothing; as sacrebleu with ``lowercase=True,
  smooth_method="none", max_ngram_order=n``, divided by 100. A report without one matching n-gram of each order has 0.0.
- **BLEU-2 of ReXrank**: lower case, full stops split off, split at blanks; an order above the first without a match
  counts as 0.1 of a match, and an order that a report is too short for has one n-gram (fast_bleu, which is NLTK's
  smoothing 1). A line break splits too, where ReXrank's code would make one word of two. Source:
  rajpurkarlab/CXR-Report-Metric, ``CXRMetric/run_eval.py``.

Edges, in both: blank generated report 0.0; missing one, or a missing or blank reference, NaN. Identical reports have
1.0, but BLEU-n of a report with fewer than n tokens is 0.0 (in ReXrank's BLEU-2 a single right word has sqrt(0.1)).
"""

import html
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain

import numpy as np
import numpy.typing as npt

from workbench.metrics.base import Numbers, Text, fixed_values

Indices = npt.NDArray[np.int64]
ORDERS = (1, 2, 3, 4)
_LARGEST = 1 << 62
SMOOTHED = 0.1  # of a match, where an order has none

# The rules of mteval-v13a for English. A full stop or comma is a token unless a digit is on each side of it; in a row
# of them the rules look at two characters at a time, which only regular expressions in turn do alike.
_SIGNS = '{|}~[\\]^_`!"#$%&()*+:;<=>?@/'
_ROW = re.compile(r"[.,][.,]")
_IN_NUMBER = re.compile(r"(?<=[0-9]) ([.,]) (?=[0-9])")
_STOP_AFTER = re.compile(r"([^0-9])([.,])")
_STOP_BEFORE = re.compile(r"([.,])([^0-9])")
_DASH = re.compile(r"(?<=[0-9])-")


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
    counted = _matched(_references_13a(tuple(references)), _tokens_13a(generated), max(orders))
    # Without a match the logarithm is minus infinity and the product 0; an order without n-grams has no match either.
    with np.errstate(divide="ignore"):
        logs = np.log(counted.matches / np.maximum(counted.totals, 1))
    return _put_together(counted, logs, orders, fixed)


def bleu2_rexrank(references: Sequence[Text], generated: Sequence[Text]) -> Numbers:
    """Return ReXrank's BLEU-2 [pair] in 0..1; NaN where a pair has no value."""
    fixed = fixed_values(references, generated)
    counted = _matched(_references_rexrank(tuple(references)), _tokens_rexrank(generated), 2)
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


@lru_cache(maxsize=1)  # every system of a data set has the same references
def _references_13a(texts: tuple[Text, ...]) -> list[list[str]]:
    return _tokens_13a(texts)


@lru_cache(maxsize=1)
def _references_rexrank(texts: tuple[Text, ...]) -> list[list[str]]:
    return _tokens_rexrank(texts)


def _tokens_13a(texts: Sequence[Text]) -> list[list[str]]:
    said = [(text or "").rstrip().replace("<skipped>", "").replace("-\n", "").lower() for text in texts]
    in_rows = {at for at, text in enumerate(said) if _ROW.search(text)}
    tokens = _tokens(["" if at in in_rows else text for at, text in enumerate(said)], _split_13a)
    for at in in_rows:
        tokens[at] = _tokens([said[at]], _split_13a_with_rows)[0]
    return tokens


def _split_13a(lines: str) -> str:
    lines = _split_signs(lines).replace(".", " . ").replace(",", " , ")
    return _DASH.sub(" - ", _IN_NUMBER.sub(r"\1", lines))


def _split_13a_with_rows(line: str) -> str:
    line = _STOP_AFTER.sub(r"\1 \2 ", _split_signs(line))
    return _DASH.sub(" - ", _STOP_BEFORE.sub(r" \1 \2", line))


def _split_signs(lines: str) -> str:
    if "&" in lines:
        for name in ("&quot;", "&amp;", "&lt;", "&gt;"):
            lines = lines.replace(name, html.unescape(name))
    for sign in _SIGNS:
        if sign in lines:
            lines = lines.replace(sign, f" {sign} ")
    return lines


def _tokens_rexrank(texts: Sequence[Text]) -> list[list[str]]:
    return _tokens([text or "" for text in texts], lambda lines: lines.lower().replace(".", " ."))


def _tokens(texts: Sequence[str], split: Callable[[str], str]) -> list[list[str]]:
    """Return the tokens of each text. All are split in one go, with a line break between; none is left within."""
    lines = " \n ".join(" ".join(text.splitlines()) for text in texts)
    return [line.split() for line in split(f" {lines} ").split("\n")] if texts else []


def _matched(references: list[list[str]], generated: list[list[str]], order: int) -> _Matched:
    """Count the n-grams of all pairs at once, each n-gram a number."""
    numbers = {token: i for i, token in enumerate(dict.fromkeys(chain(*references, *generated)))}
    sides = [_Side(texts, numbers) for texts in (references, generated)]
    grams, distinct, pairs = [side.ids for side in sides], max(len(numbers), 1), len(references)
    matches, totals = np.zeros((pairs, order), np.int64), np.zeros((pairs, order), np.int64)
    for n in range(order):
        if n:
            grams, distinct = _longer(grams, distinct, sides, n=n, n_tokens=max(len(numbers), 1))
        (in_reference, reference_counts), (in_generated, generated_counts) = (
            np.unique(side.text[side.begins(n)] * distinct + gram, return_counts=True)
            for side, gram in zip(sides, grams, strict=True)
        )
        if in_reference.size:
            at = np.minimum(np.searchsorted(in_reference, in_generated), in_reference.size - 1)
            clipped = np.minimum(reference_counts[at], generated_counts) * (in_reference[at] == in_generated)
            matches[:, n] = np.bincount(in_generated // distinct, weights=clipped, minlength=pairs)
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


def _longer(
    grams: list[Indices], distinct: int, sides: list[_Side], *, n: int, n_tokens: int
) -> tuple[list[Indices], int]:
    """Return the (n + 1)-grams of both sides as numbers, each an n-gram and the token after it, and their bound."""
    if distinct * n_tokens * len(sides[0].lengths) > _LARGEST:  # numbered anew before they grow out of 64 bits
        names, numbered = np.unique(np.concatenate(grams), return_inverse=True)
        grams, distinct = [numbered[: len(grams[0])], numbered[len(grams[0]) :]], len(names)
    made = []
    for gram, side in zip(grams, sides, strict=True):
        by_place = np.zeros(len(side.text), np.int64)
        by_place[side.begins(n - 1)] = gram
        begins = side.begins(n)
        made.append(by_place[begins] * n_tokens + side.ids[begins + n])
    return made, distinct * n_tokens
