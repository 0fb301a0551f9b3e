"""How far two metrics, or a metric and radiologists' ratings, put the same reports in the same order.

Kendall's tau-b and Spearman's rho, both in -1..1: 1 the same order, -1 the reverse, 0 neither. Ties are taken into
account by both. Where one of the two never varies there is no order to compare, and they are undefined.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import numpy.typing as npt

from workbench.evaluation.concordance import concordance, ranks
from workbench.evaluation.correlation_draws import AsDrawn, FirstOrder, drawn_of
from workbench.evaluation.intervals import (
    NO_BOOTSTRAP,
    SEED,
    Numbers,
    percentile_interval,
    with_interval,
)
from workbench.evaluation.numbers import Figure, undefined

RESAMPLES = 1000
NO_VARIATION = "one of the two never varies, so there is no order to compare"
TOO_FEW = "fewer than two reports have both"

Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class Correlation:
    """Two scores of the same reports; the figures' n is how many reports have both."""

    first: str
    second: str
    kendall: Figure
    spearman: Figure


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

    (concordant - discordant pairs) / sqrt(pairs untied in the one x pairs untied in the other), counted in n log n.
    Source: M. G. Kendall, Biometrika 1945;33:239-251.
    """
    return _tau_b(concordance(one, other), _untied(one), _untied(other))


def correlation(
    first: str,
    second: str,
    scores: Mapping[str, npt.ArrayLike],
    patients: Sequence[str],
    *,
    resamples: int = RESAMPLES,
    seed: int = SEED,
) -> Correlation:
    """Return both correlations of two of some scores; see ``correlations``."""
    return correlations({name: scores[name] for name in (first, second)}, patients, resamples=resamples, seed=seed)[0]


def correlations(
    scores: Mapping[str, npt.ArrayLike],
    patients: Sequence[str],
    *,
    resamples: int = RESAMPLES,
    seed: int = SEED,
    on_progress: Progress = lambda *_: None,
) -> tuple[Correlation, ...]:
    """Return both correlations of each pair of scores, in their order, with percentile intervals over patients.

    Of a pair, reports that have only one of the two are left out. Draws in which one of the two never varies are left
    out of the interval. How draws of many reports are worked out is told in ``correlation_draws``.

    Args:
        scores: values per report by name, NaN where a report has none. A score of which lower is better is taken as it
            is, so that its correlation with the others comes out negative.
        patients: the patient id of each report.
        resamples: bootstrap draws; 0 leaves the intervals out.
        seed: of the draws.
        on_progress: is told how many pairs are done, of how many.

    Raises:
        ValueError: a score has not one value per report.
    """
    values = {name: np.asarray(of, dtype=np.float64) for name, of in scores.items()}
    if any(len(of) != len(patients) for of in values.values()):
        raise ValueError(f"{[len(of) for of in values.values()]} values do not go with {len(patients)} patients")
    pairs = list(combinations(values, 2))
    on_ground: dict[bytes, list[tuple[str, str]]] = {}
    for one, other in pairs:
        both = ~(np.isnan(values[one]) | np.isnan(values[other]))
        on_ground.setdefault(both.tobytes(), []).append((one, other))
    found: dict[tuple[str, str], Correlation] = {}
    everybody = np.asarray(patients, dtype=str)
    for kept, of_ground in on_ground.items():
        rows = np.frombuffer(kept, dtype=np.bool_)
        names = dict.fromkeys(name for pair in of_ground for name in pair)
        ground = _Ground({name: values[name][rows] for name in names}, everybody[rows].tolist(), resamples, seed)
        for done in ground.correlations(of_ground):
            found[done.first, done.second] = done
            on_progress(len(found), len(pairs))
    return tuple(found[pair] for pair in pairs)


class _Ground:
    """Scores of the same reports, none without a value."""

    def __init__(self, values: Mapping[str, Numbers], patients: Sequence[str], resamples: int, seed: int) -> None:
        self.values, self.n = values, len(patients)
        self.drawn = drawn_of(patients, resamples, seed)
        self.at = {name: i for i, name in enumerate(values)}

    def correlations(self, pairs: Iterable[tuple[str, str]]) -> Iterable[Correlation]:
        """Yield the correlations of pairs of the scores."""
        if self.n < 2:
            yield from (Correlation(*pair, undefined(TOO_FEW, self.n), undefined(TOO_FEW, self.n)) for pair in pairs)
            return
        whole = {name: _untied(of) for name, of in self.values.items()}
        drawn = (AsDrawn if self.drawn.few else FirstOrder)(list(self.values.values()), self.drawn)
        for first, second in pairs:
            one, other = self.values[first], self.values[second]
            per_report = concordance(one, other)
            values = np.array([_tau_b(per_report, whole[first], whole[second]), spearman(one, other)])
            samples = drawn.samples(self.at[first], self.at[second], per_report)
            yield Correlation(first, second, *_figures(values, samples, self.n))


def _untied(values: npt.ArrayLike) -> int:
    """Return how many pairs have different values, each pair both ways round."""
    counts = np.unique(np.asarray(values), return_counts=True)[1]
    return int(counts.sum()) ** 2 - int((counts * counts).sum())


def _tau_b(per_report: Numbers, first: int, second: int) -> float:
    scale = float(np.sqrt(float(first) * float(second)))
    return float(per_report.sum()) / scale if scale else float("nan")


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
