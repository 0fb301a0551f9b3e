"""Which metric can be trusted: it drops for an error that matters, not for other words for the same (method 23).

A report is edited, and each metric compares the edited report with the original. Its **drop** is what it loses against
the original compared with itself, in the direction in which the metric gets worse; below 0 where an edit raises it.

- **Probability**: that the drop for a clinically significant edit exceeds the drop for a harmless one, equal drops
  counting half; over all pairs of one and the other. 1 is a metric that always tells them apart, 0.5 one that is of no
  use, below it one that punishes wording more than errors. It is the area under the ROC curve.
- **Discrimination and robustness**: the share of significant edits with a drop above a threshold, and of harmless ones
  with a drop not above it, at the threshold that is best for this metric (the sum of the two is greatest; of equal ones
  the highest threshold). So no metric is blamed for its scale. The threshold is chosen on the same pairs, which
  flatters every metric a little.

By kind of edit the same: a significant kind against all harmless edits, a harmless kind against all significant ones.
Intervals are percentiles over bootstrap draws of patients, all edits of a patient's reports together, at the threshold
of the whole. After "Beyond Scalar Scores" and ReEvalMed.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from workbench.evaluation.consensus import Flags
from workbench.evaluation.drawing import times_drawn
from workbench.evaluation.intervals import NO_BOOTSTRAP, SEED, Numbers, percentile_interval, with_interval
from workbench.evaluation.numbers import Figure, undefined

RESAMPLES = 1000
EQUAL = 1e-9  # drops nearer than this are rounding, and equal
ONE_SIDED = "there is no edit of the other sort to compare with"
NONE_OF_KIND = "no edit of this sort has a value"


@dataclass(frozen=True, slots=True)
class KindTrust:
    """One kind of edit; every figure's n is how many of its edits have a value.

    ``right`` is the share that falls on the right side of the threshold: discrimination of a significant kind,
    robustness of a harmless one. ``blind`` edits are significant ones that the metric did not notice at all (no drop).
    """

    kind: str
    significant: bool
    probability: Figure
    right: Figure
    mean_drop: Figure
    blind: int


@dataclass(frozen=True, slots=True)
class Trust:
    """How far a metric can be trusted. ``threshold`` is None where edits of one of the two sorts are missing.

    ``left_out`` are edits without a value of this metric.
    """

    probability: Figure
    threshold: float | None
    discrimination: Figure
    robustness: Figure
    kinds: tuple[KindTrust, ...]
    n_significant: int
    n_harmless: int
    left_out: int
    n_patients: int
    resamples: int
    seed: int

    def of(self, kind: str) -> KindTrust:
        """Return one kind. Raises KeyError for one without an edit."""
        found = next((one for one in self.kinds if one.kind == kind), None)
        if found is None:
            raise KeyError(kind)
        return found


def drops(unedited: npt.ArrayLike, edited: npt.ArrayLike, *, higher_is_better: bool) -> Numbers:
    """Return what a metric loses by each edit, [edit]; above 0 where it gets worse, whatever its direction.

    Args:
        unedited: the metric of the original compared with itself.
        edited: of the edited report compared with the original.
        higher_is_better: the metric's direction.
    """
    lost = np.asarray(unedited, dtype=np.float64) - np.asarray(edited, dtype=np.float64)
    return lost if higher_is_better else -lost


def trust(
    kinds: Sequence[str],
    significant: Sequence[bool],
    dropped: npt.ArrayLike,
    patients: Sequence[str],
    *,
    resamples: int = RESAMPLES,
    seed: int = SEED,
) -> Trust:
    """Return how far a metric can be trusted, over all edits and by kind; kinds in the order of their first edit.

    Args:
        kinds: the kind of each edit.
        significant: whether each edit is clinically significant; the same for all of a kind.
        dropped: the metric's drop for each edit (``drops``), NaN where it has none.
        patients: the patient id of the report that each edit was made of.
        resamples: bootstrap draws; 0 leaves the intervals out.
        seed: of the draws.

    Raises:
        ValueError: lengths do not fit, or a kind is both significant and harmless.
    """
    values = np.asarray(dropped, dtype=np.float64)
    if not len(kinds) == len(significant) == len(values) == len(patients):
        raise ValueError(f"{len(kinds)} kinds, {len(values)} drops and {len(patients)} patients do not go together")
    of_kind = dict(zip(kinds, significant, strict=True))
    if any(of_kind[kind] != matters for kind, matters in zip(kinds, significant, strict=True)):
        raise ValueError("a kind of edit is either significant or harmless")
    kept = ~np.isnan(values)
    names, matters = np.asarray(kinds, dtype=str)[kept], np.asarray(significant, dtype=np.bool_)[kept]
    values = np.round(values[kept] / EQUAL) * EQUAL  # so that equal drops are equal
    who = np.asarray(patients, dtype=str)[kept].tolist()
    judged = _Judged(values, matters, times_drawn(who, resamples, seed))
    return Trust(
        probability=judged.probability(matters, ~matters),
        threshold=judged.threshold,
        discrimination=judged.right(matters),
        robustness=judged.right(~matters),
        kinds=tuple(_kind(judged, kind, names == kind, of_kind[kind]) for kind in dict.fromkeys(kinds)),
        n_significant=int(matters.sum()),
        n_harmless=int((~matters).sum()),
        left_out=int((~kept).sum()),
        n_patients=len(set(who)),
        resamples=len(judged.times),
        seed=seed,
    )


def _kind(judged: "_Judged", kind: str, of_kind: Flags, significant: bool) -> KindTrust:
    both = (of_kind, ~judged.significant) if significant else (judged.significant, of_kind)
    return KindTrust(
        kind=kind,
        significant=significant,
        probability=judged.probability(*both, n=int(of_kind.sum())),
        right=judged.right(of_kind),
        mean_drop=judged.mean(of_kind),
        blind=int((of_kind & judged.significant & (judged.dropped <= 0)).sum()),
    )


class _Judged:
    """The edits that have a value, with the metric's threshold and the bootstrap draws [draw, edit]."""

    def __init__(self, dropped: Numbers, significant: Flags, times: Numbers) -> None:
        self.dropped = dropped
        self.significant = significant
        self.times = times
        self.threshold = _best_threshold(dropped[significant], dropped[~significant])

    def probability(self, one: Flags, other: Flags, n: int | None = None) -> Figure:
        """Return the probability that a drop of the one exceeds one of the other, n edits unless told otherwise."""
        whole = _exceeds(self.dropped, one, other, np.ones((1, len(one))))
        samples = _exceeds(self.dropped, one, other, self.times)
        return _figure(float(whole[0]), samples, int((one | other).sum()) if n is None else n, ONE_SIDED)

    def right(self, of: Flags) -> Figure:
        """Return the share of edits, all significant or all harmless, on their side of the threshold."""
        if self.threshold is None:
            return undefined(ONE_SIDED if of.any() else NONE_OF_KIND, int(of.sum()))
        return self._mean((self.dropped > self.threshold) == self.significant, of)

    def mean(self, of: Flags) -> Figure:
        """Return the mean drop."""
        return self._mean(self.dropped, of)

    def _mean(self, values: npt.NDArray[np.float64] | Flags, of: Flags) -> Figure:
        n = int(of.sum())
        if not n:
            return undefined(NONE_OF_KIND)
        chosen, times = values[of].astype(np.float64), self.times[:, of]
        return _figure(float(chosen.mean()), _ratio(times @ chosen, times.sum(axis=1)), n, NONE_OF_KIND)


def _best_threshold(significant: Numbers, harmless: Numbers) -> float | None:
    """Return the drop above which an edit is best taken for significant: Youden's J is greatest.

    Halfway between two drops that occur, so that it does not hang on rounding. Source: W. J. Youden, Cancer
    1950;3:32-35.
    """
    if not len(significant) or not len(harmless):
        return None
    candidates = np.unique(np.concatenate([significant, harmless]))
    above = 1 - np.searchsorted(np.sort(significant), candidates, side="right") / len(significant)
    not_above = np.searchsorted(np.sort(harmless), candidates, side="right") / len(harmless)
    gain = above + not_above
    best = int(np.flatnonzero(gain >= gain.max() - EQUAL)[-1])
    following = candidates[min(best + 1, len(candidates) - 1)]
    return float((candidates[best] + following) / 2)


def _exceeds(dropped: Numbers, one: Flags, other: Flags, times: Numbers) -> Numbers:
    """Return per row of ``times`` the probability that a drop of the one exceeds one of the other, ties half, [row].

    Each edit counts as often as the row says; NaN where a row has none of the one or of the other.
    """
    if not one.any() or not other.any() or not len(times):
        return np.full(len(times), np.nan)
    kept = np.flatnonzero(one | other)
    order = kept[np.argsort(dropped[kept], kind="stable")]
    starts = np.flatnonzero(np.diff(dropped[order], prepend=-math.inf))
    ones, others = (np.add.reduceat(times[:, order] * of[order], starts, axis=1) for of in (one, other))
    below = np.cumsum(others, axis=1) - others / 2
    return _ratio((ones * below).sum(axis=1), ones.sum(axis=1) * others.sum(axis=1))


def _ratio(above: Numbers, below: Numbers) -> Numbers:
    out: Numbers = np.divide(above, below, out=np.full(len(above), np.nan), where=below > 0)
    return out


def _figure(value: float, samples: Numbers, n: int, reason: str) -> Figure:
    if math.isnan(value):
        return undefined(reason, n)
    if not len(samples):
        return Figure(value, n, reason=NO_BOOTSTRAP)
    low, high, _ = percentile_interval(samples[:, None])
    return with_interval(Figure(value, n), float(low[0]), float(high[0]))
