"""Which metric can be trusted: it drops for an error that matters, not for other words for the same (method 23).

A report is edited, and each metric compares the edited report with the original. Its **drop** is what it loses against
the original compared with itself, in the direction in which the metric gets worse; below 0 where an edit raises it.

- **Probability**: that the drop for a clinically significant edit exceeds the drop for a harmless one, equal drops
  counting half. 1 is a metric that always tells them apart, 0.5 one that is of no use, below it one that punishes
  wording more than errors. It is the area under the ROC curve.
- **Discrimination and robustness**: the share of significant edits with a drop above a threshold, and of harmless ones
  with a drop not above it, at the threshold that is best for this metric (the sum of the two is greatest; of equal ones
  the highest threshold). So no metric is blamed for its scale. The threshold is chosen on the same pairs, which
  flatters every metric a little.

**Every kind of edit counts the same**, however many edits it has, so that no figure is carried by the kind that is
easiest to make: the probability of the whole is the mean over the significant kinds, each against the mean over the
harmless ones. ``pooled`` is the probability over all pairs of edits alike. By kind of edit the same: a significant kind
against the harmless kinds, a harmless kind against the significant ones. Intervals are percentiles over bootstrap draws
of patients, all edits of a patient's reports together, at the threshold of the whole; a kind that a draw has no edit of
does not count in it. After "Beyond Scalar Scores" and ReEvalMed.
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
BLOCK = 50  # draws held at once, few enough to stay in the processor's cache
EQUAL = 1e-9  # drops nearer than this are rounding, and equal
ONE_SIDED = "edits of the other sort are needed to compare with"
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
    """How far a metric can be trusted, every kind of edit counting the same; ``pooled`` is over all pairs alike.

    ``threshold`` is None where edits of one of the two sorts are missing. ``left_out`` are edits without a value.
    """

    probability: Figure
    pooled: Figure
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
    kept = np.flatnonzero(~np.isnan(values))
    all_kinds = list(of_kind)
    number = np.array([all_kinds.index(kind) for kind in kinds], dtype=np.int64)[kept]
    kept, number = kept[np.argsort(number, kind="stable")], np.sort(number)
    values = np.round(values[kept] / EQUAL) * EQUAL  # so that equal drops are equal
    matters = np.asarray(significant, dtype=np.bool_)[kept]
    who = np.asarray(patients, dtype=str)[kept].tolist()
    counts = np.bincount(number, minlength=len(all_kinds))
    threshold = _best_threshold(values, matters, 1 / counts[number])
    edits = _Edits(values, matters, number, len(all_kinds), threshold)
    times = np.vstack([np.ones(len(values)), times_drawn(who, resamples, seed)])
    blocks = [times[start : start + BLOCK] for start in range(0, len(times), BLOCK)]
    sums = _concatenated([edits.sums(edits.evened(block)) for block in blocks], counts)
    alike = _concatenated([edits.sums(block) for block in blocks], counts)
    sorts = np.array(list(of_kind.values()), dtype=np.bool_)
    both = [sums.of(sorts), sums.of(~sorts)]
    return Trust(
        probability=both[0].probability(against=both[1]),
        pooled=alike.of(sorts).probability(against=alike.of(~sorts)),
        threshold=threshold,
        discrimination=both[0].right_share(threshold),
        robustness=both[1].right_share(threshold),
        kinds=tuple(
            KindTrust(
                kind=kind,
                significant=matter,
                probability=sums.of(np.arange(len(sorts)) == at).probability(against=both[int(matter)]),
                right=sums.of(np.arange(len(sorts)) == at).right_share(threshold),
                mean_drop=sums.of(np.arange(len(sorts)) == at).mean_drop(),
                blind=int((values[(number == at) & matters] <= 0).sum()),
            )
            for at, (kind, matter) in enumerate(of_kind.items())
        ),
        n_significant=int(matters.sum()),
        n_harmless=int((~matters).sum()),
        left_out=len(kinds) - len(kept),
        n_patients=len(set(who)),
        resamples=len(times) - 1,
        seed=seed,
    )


@dataclass(frozen=True, slots=True)
class _Sums:
    """Sums over edits, seen whole (row 0) and in each bootstrap draw: [row, kind], or [row] of several kinds together.

    ``outdone`` weighs the pairs with an edit of the other sort in which the edit lies on the right side, ties half.
    ``counts`` are the edits, [kind] or of several kinds together.
    """

    weight: Numbers
    outdone: Numbers
    right: Numbers
    dropped: Numbers
    counts: npt.NDArray[np.int64]

    def of(self, kinds: Flags) -> "_Sums":
        """Return the sums over some kinds, [row]."""
        weight, outdone, right, dropped = (
            sums[:, kinds].sum(axis=1) for sums in (self.weight, self.outdone, self.right, self.dropped)
        )
        return _Sums(weight, outdone, right, dropped, self.counts[kinds].sum())

    def probability(self, against: "_Sums") -> Figure:
        """Return the share of all pairs with the other sort in which these edits lie on the right side."""
        reason = NONE_OF_KIND if against.weight[0] and not self.weight[0] else ONE_SIDED
        return _figure(self.outdone, self.weight * against.weight, int(self.counts), reason)

    def right_share(self, threshold: float | None) -> Figure:
        """Return the share on the right side of the threshold."""
        if threshold is None:
            return undefined(ONE_SIDED, int(self.counts))
        return _figure(self.right, self.weight, int(self.counts), NONE_OF_KIND)

    def mean_drop(self) -> Figure:
        """Return the mean drop."""
        return _figure(self.dropped, self.weight, int(self.counts), NONE_OF_KIND)


def _concatenated(blocks: "Sequence[tuple[Numbers, ...]]", counts: npt.NDArray[np.int64]) -> _Sums:
    weight, outdone, right, dropped = (np.vstack(parts) for parts in zip(*blocks, strict=True))
    return _Sums(weight, outdone, right, dropped, counts)


class _Edits:
    """The edits that have a value, in the order of their kinds, and what is the same in every draw."""

    def __init__(
        self, dropped: Numbers, significant: Flags, kind: npt.NDArray[np.int64], n_kinds: int, threshold: float | None
    ) -> None:
        self.dropped = dropped
        self.significant = significant
        self.present, self.starts = np.unique(kind, return_index=True)
        self.n_kinds = n_kinds
        limit = math.inf if threshold is None else threshold
        self.right = ((dropped > limit) == significant).astype(np.float64)
        _, self.level, counts = np.unique(dropped, return_inverse=True, return_counts=True)
        self.order, self.level_starts = np.argsort(self.level, kind="stable"), np.cumsum(counts) - counts

    def evened(self, times: Numbers) -> Numbers:
        """Return how much each edit counts where each kind that a row has counts 1 in all; ``times`` is [row, edit]."""
        if not len(self.present):
            return times
        totals = np.add.reduceat(times, self.starts, axis=1)
        sizes = np.diff(np.append(self.starts, times.shape[1]))
        evened: Numbers = times / np.repeat(np.where(totals > 0, totals, 1), sizes, axis=1)
        return evened

    def sums(self, times: Numbers) -> tuple[Numbers, Numbers, Numbers, Numbers]:
        """Return the sums of ``_Sums`` where each edit counts as much as its row says; ``times`` is [row, edit]."""
        outdone = times * self._outdone(times)
        weight, better, right, dropped = map(self._by_kind, (times, outdone, times * self.right, times * self.dropped))
        return weight, better, right, dropped

    def _outdone(self, times: Numbers) -> Numbers:
        """Return how heavy the harmless edits with a smaller drop are, or the significant ones with a greater one."""
        if not len(self.dropped):
            return times
        in_order = times[:, self.order]
        harmless, significant = (
            np.add.reduceat(in_order * sort[self.order], self.level_starts, axis=1)
            for sort in (~self.significant, self.significant)
        )
        below = np.cumsum(harmless, axis=1) - harmless / 2
        above = significant.sum(axis=1, keepdims=True) - np.cumsum(significant, axis=1) + significant / 2
        return np.where(self.significant, below[:, self.level], above[:, self.level])

    def _by_kind(self, values: Numbers) -> Numbers:
        sums = np.zeros((len(values), self.n_kinds))
        if len(self.present):
            sums[:, self.present] = np.add.reduceat(values, self.starts, axis=1)
        return sums


def _best_threshold(dropped: Numbers, significant: Flags, weights: Numbers) -> float | None:
    """Return the drop above which an edit is best taken for significant: Youden's J is greatest.

    Halfway between two drops that occur, so that it does not hang on rounding. Source: W. J. Youden, Cancer
    1950;3:32-35.
    """
    if significant.all() or not significant.any():
        return None
    candidates, level = np.unique(dropped, return_inverse=True)
    up_to = [
        np.cumsum(np.bincount(level, weights * sort, minlength=len(candidates))) / (weights * sort).sum()
        for sort in (significant, ~significant)
    ]
    gain = 1 - up_to[0] + up_to[1]
    best = int(np.flatnonzero(gain >= gain.max() - EQUAL)[-1])
    following = candidates[min(best + 1, len(candidates) - 1)]
    return float((candidates[best] + following) / 2)


def _figure(above: Numbers, below: Numbers, n: int, reason: str) -> Figure:
    """Return the quotient of the whole with its interval over the draws; row 0 is the whole."""
    quotients = np.divide(above, below, out=np.full(len(above), np.nan), where=below > 0)
    if math.isnan(quotients[0]):
        return undefined(reason, n)
    value = float(quotients[0])
    if len(quotients) == 1:
        return Figure(value, n, reason=NO_BOOTSTRAP)
    low, high, _ = percentile_interval(quotients[1:, None])
    return with_interval(Figure(value, n), float(low[0]), float(high[0]))
