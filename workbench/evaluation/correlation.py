"""How far two metrics, or a metric and radiologists' ratings, put the same reports in the same order.

Kendall's tau-b and Spearman's rho, both in -1..1: 1 the same order, -1 the reverse, 0 neither. Ties are taken into
account by both. Where one of the two never varies there is no order to compare, and they are undefined.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import numpy.typing as npt

from workbench.evaluation.drawing import times_drawn
from workbench.evaluation.intervals import (
    NO_BOOTSTRAP,
    SEED,
    Numbers,
    percentile_interval,
    with_interval,
)
from workbench.evaluation.numbers import Figure, undefined

RESAMPLES = 1000
BLOCK = 1000  # reports compared with all others at once
NO_VARIATION = "one of the two never varies, so there is no order to compare"
TOO_FEW = "fewer than two reports have both"


@dataclass(frozen=True, slots=True)
class Correlation:
    """Two scores of the same reports; the figures' n is how many reports have both."""

    first: str
    second: str
    kendall: Figure
    spearman: Figure


def ranks(values: npt.ArrayLike) -> Numbers:
    """Return the ranks of values, 1 for the smallest; equal values share their mean rank."""
    array = np.asarray(values, dtype=np.float64)
    _, inverse, counts = np.unique(array, return_inverse=True, return_counts=True)
    ends = np.cumsum(counts)
    middle: Numbers = (ends - (counts - 1) / 2)[inverse]
    return middle


def spearman(one: npt.ArrayLike, other: npt.ArrayLike) -> float:
    """Return Spearman's rho, the Pearson correlation of the ranks; NaN where one of the two never varies.

    Source: C. Spearman, Am J Psychol 1904;15:72-101.
    """
    first, second = ranks(one), ranks(other)
    first, second = first - first.mean(), second - second.mean()
    scale = float(np.sqrt((first @ first) * (second @ second)))
    return float(np.clip(first @ second / scale, -1, 1)) if scale else float("nan")


def kendall(one: npt.ArrayLike, other: npt.ArrayLike) -> float:
    """Return Kendall's tau-b; NaN where one of the two never varies.

    (concordant - discordant pairs) / sqrt(pairs untied in the one x pairs untied in the other). Discordant pairs are
    counted by merging sorted halves, in n log n. Source: M. G. Kendall, Biometrika 1945;33:239-251; W. R. Knight, JASA
    1966;61:436-439.
    """
    first = np.unique(np.asarray(one, dtype=np.float64), return_inverse=True)[1]
    second = np.unique(np.asarray(other, dtype=np.float64), return_inverse=True)[1]
    n = len(first)
    order = np.lexsort((second, first))
    both = _tied(first * (int(second.max(initial=0)) + 1) + second)
    tied_first, tied_second, pairs = _tied(first), _tied(second), n * (n - 1) // 2
    discordant = _inversions(second[order])
    concordant = pairs - tied_first - tied_second + both - discordant
    scale = float(np.sqrt(float(pairs - tied_first) * float(pairs - tied_second)))
    return (concordant - discordant) / scale if scale else float("nan")


def _tied(values: npt.NDArray[np.int64]) -> int:
    """Return how many pairs have the same value."""
    counts = np.unique(values, return_counts=True)[1]
    return int((counts * (counts - 1) // 2).sum())


def _inversions(values: npt.NDArray[np.int64]) -> int:
    """Return how many pairs stand in falling order, by merging blocks that double, each round in one go."""
    n, found, width = len(values), 0, 1
    values, span = values.copy(), int(values.max(initial=0)) + 1
    places = np.arange(n)
    while width < n:
        # Sorted within each pair of blocks at once; a stable sort moves an element of the right block over exactly
        # those of the left one that are greater.
        block = places // (2 * width)
        order = np.argsort(block * span + values, kind="stable")
        right = (order // width) % 2 == 1
        found += int((order - places)[right].sum())
        values, width = values[order], 2 * width
    return found


def correlation(
    first: str,
    second: str,
    scores: Mapping[str, npt.ArrayLike],
    patients: Sequence[str],
    *,
    resamples: int = RESAMPLES,
    seed: int = SEED,
) -> Correlation:
    """Return both correlations of two scores with percentile intervals over bootstrap draws of patients.

    Reports that have only one of the two are left out. Draws in which one of the two never varies are left out of the
    interval.

    Args:
        first: name of the one.
        second: name of the other.
        scores: values per report by name, NaN where a report has none. A score of which lower is better is taken as it
            is, so that its correlation with the others comes out negative.
        patients: the patient id of each report.
        resamples: bootstrap draws; 0 leaves the intervals out.
        seed: of the draws.

    Raises:
        ValueError: a score has not one value per report.
    """
    one, other = (np.asarray(scores[name], dtype=np.float64) for name in (first, second))
    if not len(one) == len(other) == len(patients):
        raise ValueError(f"{len(one)} and {len(other)} values do not go with {len(patients)} patients")
    kept = ~(np.isnan(one) | np.isnan(other))
    one, other = one[kept], other[kept]
    n = len(one)
    if n < 2:
        return Correlation(first, second, undefined(TOO_FEW, n), undefined(TOO_FEW, n))
    values = np.array([kendall(one, other), spearman(one, other)])
    times = times_drawn(np.asarray(patients, dtype=str)[kept].tolist(), resamples, seed)
    samples = np.column_stack([_kendalls(one, other, times), _spearmans(one, other, times)])
    return Correlation(first, second, *_figures(values, samples, n))


def correlations(
    scores: Mapping[str, npt.ArrayLike], patients: Sequence[str], *, resamples: int = RESAMPLES, seed: int = SEED
) -> tuple[Correlation, ...]:
    """Return the correlation of each pair of scores, in the order in which they stand; see ``correlation``."""
    return tuple(
        correlation(one, other, scores, patients, resamples=resamples, seed=seed)
        for one, other in combinations(scores, 2)
    )


class _Groups:
    """Equal values of a score as groups in rising order, and how heavy each is in each draw."""

    def __init__(self, values: Numbers, times: Numbers) -> None:
        _, self.of_report, counts = np.unique(values, return_inverse=True, return_counts=True)
        starts = np.cumsum(counts) - counts
        self.weights: Numbers = np.add.reduceat(times[:, np.argsort(values, kind="stable")], starts, axis=1)

    def untied(self) -> Numbers:
        """Return how many pairs of each draw have different values, [draw]."""
        total: Numbers = self.weights.sum(axis=1)
        untied: Numbers = (total * total - (self.weights * self.weights).sum(axis=1)) / 2
        return untied

    def ranks(self) -> Numbers:
        """Return each report's rank within each draw, [draw, report]."""
        middles: Numbers = np.cumsum(self.weights, axis=1) - (self.weights - 1) / 2
        placed: Numbers = middles[:, self.of_report]
        return placed


def _kendalls(one: Numbers, other: Numbers, times: Numbers) -> Numbers:
    """Return tau-b within each draw, [draw]: each pair of reports counts as often as the two are drawn together."""
    total = np.zeros(len(times))
    weights = times.astype(np.float32)  # whole numbers below 2^24, so exact
    for start in range(0, len(one) if len(times) else 0, BLOCK):
        rows = slice(start, start + BLOCK)
        agree = np.sign(one[rows, None] - one) * np.sign(other[rows, None] - other)
        total += ((weights @ agree.T.astype(np.float32)) * times[:, rows]).sum(axis=1)
    scale = np.sqrt(_Groups(one, times).untied() * _Groups(other, times).untied())
    return _ratio(total / 2, scale)


def _spearmans(one: Numbers, other: Numbers, times: Numbers) -> Numbers:
    """Return rho within each draw, [draw]."""
    middle = (times.sum(axis=1, keepdims=True) + 1) / 2
    first, second = (_Groups(values, times).ranks() - middle for values in (one, other))
    scale = np.sqrt((times * first * first).sum(axis=1) * (times * second * second).sum(axis=1))
    return _ratio((times * first * second).sum(axis=1), scale)


def _ratio(above: Numbers, below: Numbers) -> Numbers:
    out: Numbers = np.divide(above, below, out=np.full(len(above), np.nan), where=below > 0)
    return out


def _figures(values: Numbers, samples: Numbers, n: int) -> tuple[Figure, Figure]:
    alone = "" if len(samples) else NO_BOOTSTRAP
    low, high, _ = percentile_interval(samples) if len(samples) else (np.full(2, np.nan),) * 3
    kendalls, spearmans = (
        undefined(NO_VARIATION, n)
        if np.isnan(value)
        else with_interval(Figure(float(value), n, reason=alone), float(low[i]), float(high[i]))
        for i, value in enumerate(values)
    )
    return kendalls, spearmans
