"""Kendall's tau-b and Spearman's rho of scores in bootstrap draws of patients, for any number of reports.

With few reports or few patients both are worked out in each draw as it is. With many of both that would take minutes,
so they are taken to first order: with w_i how often report i's patient is drawn, all that the two are made of is

    sum_ij w_i w_j s_ij t_ij          concordant less discordant pairs, s and t the signs of the two scores' differences
    sum_ijk w_i w_j w_k s_ij t_ik     four times the covariance of the ranks within the draw

and each is written as its value with all w = 1 plus its derivative, so that a draw is one sum over patients. What is
left out is of the order of one over the number of patients; its mean, in the first sum, is added. Where both were
worked out, of 250 to 600 patients, the ends of an interval moved by .0024 at most. Source: the first-order term of a
U-statistic in the bootstrap, P. J. Bickel and D. A. Freedman, Ann Stat 1981;9:1196-1217.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from workbench.evaluation.concordance import ranks
from workbench.evaluation.consensus import Flags
from workbench.evaluation.drawing import times_drawn
from workbench.evaluation.intervals import Indices, Numbers, patient_index

FEW_REPORTS = 2000  # up to so many, all pairs of reports are compared
FEW_PATIENTS = 200  # under so many patients too, however many reports
BLOCK = 1_000_000  # numbers held at once: 8 MB
ROWS = 500  # reports compared with all others at once


@dataclass(frozen=True, slots=True)
class Drawn:
    """The bootstrap draws of some reports: how often each patient is in each, and which patient a report is of."""

    times: Numbers  # [draw, patient]
    index: Indices  # [report]

    @property
    def n_patients(self) -> int:
        """Return how many patients there are."""
        return int(self.times.shape[1])

    @property
    def few(self) -> bool:
        """Return whether all pairs of reports are compared."""
        return len(self.index) <= FEW_REPORTS or self.n_patients < FEW_PATIENTS


def drawn_of(patients: Sequence[str], resamples: int, seed: int) -> Drawn:
    """Return the draws of the patients of some reports; none where there are fewer than two patients."""
    index, n_patients = patient_index(patients)
    return Drawn(times_drawn([f"{i:09}" for i in range(n_patients)], resamples, seed), index)


class AsDrawn:
    """Tau-b and rho worked out in each draw.

    Args:
        scores: [score][report], none without a value.
        drawn: the draws.
    """

    def __init__(self, scores: Sequence[Numbers], drawn: Drawn) -> None:
        self.scores, self.drawn = scores, drawn
        n_draws, n_scores = len(drawn.times), len(scores)
        groups = [_Groups(values) for values in scores]
        self.rho, self.untied = np.empty((n_draws, n_scores, n_scores)), np.empty((n_draws, n_scores))
        for block in _blocks(n_draws, n_scores * len(drawn.index)):
            weights = drawn.times[block][:, drawn.index]
            middle, root = (weights.sum(axis=1, keepdims=True) + 1) / 2, np.sqrt(weights)
            centred = np.empty((len(weights), n_scores, weights.shape[1]))
            for at, group in enumerate(groups):
                placed, self.untied[block, at] = group.drawn(weights)
                np.multiply(placed - middle, root, out=centred[:, at])
            together = centred @ centred.transpose(0, 2, 1)
            own = np.diagonal(together, axis1=1, axis2=2)
            self.rho[block] = _ratio(together, np.sqrt(own[:, :, None] * own[:, None, :]))

    def samples(self, first: int, second: int, concordance: Numbers) -> Numbers:  # noqa: ARG002 - as ``FirstOrder``
        """Return tau-b and rho of two scores [draw, 2], NaN where one of the two does not vary in the draw."""
        times = self.drawn.times.astype(np.float32)  # sums of whole numbers below 2^24, so exact
        together = times @ _by_patients(self.scores[first], self.scores[second], self.drawn)
        pairs = (together * self.drawn.times).sum(axis=1)
        tau = _ratio(pairs, np.sqrt(self.untied[:, first] * self.untied[:, second]))
        return np.column_stack([tau, self.rho[:, first, second]])


class FirstOrder:
    """Tau-b and rho taken to first order; see the module.

    Args:
        scores: [score][report], none without a value.
        drawn: the draws.
    """

    def __init__(self, scores: Sequence[Numbers], drawn: Drawn) -> None:
        self.scores, self.drawn, n = scores, drawn, len(drawn.index)
        self.groups = [np.unique(values, return_inverse=True)[1].reshape(-1) for values in scores]
        # How many stand below a report less how many above: twice its rank from the middle.
        self.sides = [2 * ranks(values) - n - 1 for values in scores]
        untied = [n - np.bincount(group)[group].astype(np.float64) for group in self.groups]
        self.varied = [self._varied(group) for group in self.groups]
        self.untied = [self._pairs(one, one, of) for one, of in zip(scores, untied, strict=True)]
        self.spread = [self._covariance(at, at) for at in range(len(scores))]

    def samples(self, first: int, second: int, concordance: Numbers) -> Numbers:
        """Return tau-b and rho of two scores [draw, 2], NaN where one of the two does not vary in the draw.

        Args:
            first: the number of the one.
            second: that of the other.
            concordance: of their reports, as ``concordance.concordance`` gives it.
        """
        pairs = self._pairs(self.scores[first], self.scores[second], concordance)
        tau = _ratio(pairs, np.sqrt(np.maximum(self.untied[first] * self.untied[second], 0)))
        spread = np.sqrt(np.maximum(self.spread[first] * self.spread[second], 0))
        both: Numbers = np.clip(np.column_stack([tau, _ratio(self._covariance(first, second), spread)]), -1, 1)
        both[~(self.varied[first] & self.varied[second])] = np.nan
        return both

    def _varied(self, group: Indices) -> Flags:
        """Return in which draws a score varies [draw]: some report is in them without its most frequent value.

        To first order a score that one report alone makes vary seems to vary a little in the draws without it. That its
        most frequent value is in no draw of this many patients is not to be expected.
        """
        others = group != np.bincount(group).argmax()
        by_patient = np.bincount(self.drawn.index, weights=others, minlength=self.drawn.n_patients)
        varied: Flags = self.drawn.times @ by_patient > 0
        return varied

    def _pairs(self, one: Numbers, other: Numbers, concordance: Numbers) -> Numbers:
        """Return concordant less discordant pairs of each draw [draw], each pair both ways round."""
        mean_left_out = _within(one, other, self.drawn.index) - concordance.sum() / self.drawn.n_patients
        found: Numbers = self._to_first_order(2 * concordance, 2) + mean_left_out
        return found

    def _covariance(self, first: int, second: int) -> Numbers:
        """Return four times the covariance of the ranks, summed over reports, of each draw [draw]."""
        one, other = self.sides[first], self.sides[second]
        around = _above_less_below(self.groups[first], other) + _above_less_below(self.groups[second], one)
        return self._to_first_order(one * other + around, 3)

    def _to_first_order(self, derivative: Numbers, degree: int) -> Numbers:
        """Return in each draw what has this derivative [report] and is a sum of products of so many weights."""
        by_patient = np.bincount(self.drawn.index, weights=derivative, minlength=self.drawn.n_patients)
        found: Numbers = self.drawn.times @ by_patient - (degree - 1) / degree * derivative.sum()
        return found


class _Groups:
    """Equal values of a score as groups in rising order, and how heavy each is in some draws."""

    def __init__(self, values: Numbers) -> None:
        _, self.of_report, counts = np.unique(values, return_inverse=True, return_counts=True)
        self.order = np.argsort(values, kind="stable")
        self.starts = np.cumsum(counts) - counts

    def drawn(self, weights: Numbers) -> tuple[Numbers, Numbers]:
        """Return each report's rank within each draw [draw, report], and twice the untied pairs of each draw."""
        heavy = np.add.reduceat(weights[:, self.order], self.starts, axis=1)
        up_to = np.cumsum(heavy, axis=1)
        total = up_to[:, -1]
        middles = up_to - (heavy - 1) / 2
        return middles[:, self.of_report], total * total - (heavy * heavy).sum(axis=1)


def _above_less_below(groups: Indices, values: Numbers) -> Numbers:
    """Return per report the sum of the values of those in higher groups less that of those in lower ones."""
    sums = np.bincount(groups, weights=values)
    up_to = np.cumsum(sums)
    found: Numbers = (up_to[-1] + sums - 2 * up_to)[groups]
    return found


def _by_patients(one: Numbers, other: Numbers, drawn: Drawn) -> np.ndarray[tuple[int, int], np.dtype[np.float32]]:
    """Return concordant less discordant pairs of reports of each two patients, [patient, patient]."""
    order = np.argsort(drawn.index, kind="stable")
    one, other, index = one[order], other[order], drawn.index[order]
    starts = np.searchsorted(index, np.arange(drawn.n_patients))
    found = np.zeros((drawn.n_patients, drawn.n_patients), dtype=np.float32)
    for start in range(0, len(one), ROWS):
        rows = slice(start, start + ROWS)
        agree = np.sign(one[rows, None] - one) * np.sign(other[rows, None] - other)
        np.add.at(found, index[rows], np.add.reduceat(agree, starts, axis=1))
    return found


def _within(one: Numbers, other: Numbers, index: Indices) -> float:
    """Return concordant less discordant pairs of reports of the same patient, each pair both ways round."""
    order = np.argsort(index, kind="stable")
    one, other, index = one[order], other[order], index[order]
    found = 0.0
    for apart in range(1, int(np.bincount(index).max())):
        same = index[apart:] == index[:-apart]
        found += float((np.sign(one[apart:] - one[:-apart]) * np.sign(other[apart:] - other[:-apart]))[same].sum())
    return 2 * found


def _blocks(n_draws: int, per_draw: int) -> Iterator[slice]:
    step = max(1, BLOCK // max(per_draw, 1))
    for start in range(0, n_draws, step):
        yield slice(start, start + step)


def _ratio(above: Numbers, below: Numbers) -> Numbers:
    out: Numbers = np.divide(above, below, out=np.full(above.shape, np.nan), where=below > 0)
    return out
