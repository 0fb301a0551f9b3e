"""Systems in order, and how sure the order is (method 21).

Systems are compared on common ground only: by macro-F1 on the cells [study, finding] that are scored in all of them, by
a metric's mean over the studies that have a value in all of them. So a study that one system left out is out for all.
A system without a value on any study is not compared: it stands last, without a place, and takes nothing from the rest.

- **Each pair** is compared by a permutation test within patients: if the two do not differ, a patient's reports could
  as well have come from the other system, so both are swapped per patient with chance 1/2. The p-value is
  (1 + draws at least as far apart) / (1 + draws), two-sided. Holm's correction is over all pairs.
- **Rank intervals** are percentiles of each system's rank over bootstrap draws of patients.
- **Ties**: two systems that are not separated at 0.05 after Holm are tied. A system's rank is 1 + the number of systems
  that are better and separated from it, so equals share a rank. Being tied is not transitive: the first may be tied
  with the second, the second with the third, and the first yet separated from the third.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations, compress

import numpy as np
import numpy.typing as npt

from workbench.evaluation.comparisons import holm
from workbench.evaluation.confusion import check_truth, sort_cells
from workbench.evaluation.intervals import (
    NO_BOOTSTRAP,
    SEED,
    Numbers,
    patient_index,
    percentile_interval,
    resampled_sums,
    sum_by_patient,
    with_interval,
)
from workbench.evaluation.numbers import Figure, undefined
from workbench.evaluation.swapping import EQUAL, Score, swap_p_values

RESAMPLES = 1000
LEVEL = 0.05  # of the corrected p-value under which two systems are separated
DRAWS_PER_PAIR = 40  # the smallest possible p-value, times the number of pairs, has to stay well below LEVEL
NO_STUDY = "no study has a value in every system"
NO_VALUE = "it has no value on any study"
NO_POSITIVE = "no positive in the reference is scored in every system"


@dataclass(frozen=True, slots=True)
class RankedSystem:
    """A system's place. ``value`` has a bootstrap interval over patients and the n of the ``Ranking``.

    ``rank`` counts the separated better ones, ``position`` the better ones by value alone (equal values share it);
    ``rank_low`` and ``rank_high`` are the 95 % interval of the position, whole numbers. All are None where there is no
    value, the interval also where there are fewer than two patients.
    """

    system: str
    value: Figure
    position: int | None
    rank: int | None
    rank_low: int | None
    rank_high: int | None
    tied_with: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PairOfSystems:
    """Two systems compared: ``difference`` is the first's value less the second's, with a paired bootstrap interval.

    ``p`` is of the permutation within patients, ``p_holm`` adjusted over all pairs; None without a value.
    """

    first: str
    second: str
    difference: Figure
    p: float | None
    p_holm: float | None

    @property
    def separated(self) -> bool:
        """Return whether the two differ by more than chance, all pairs taken into account."""
        return self.p_holm is not None and self.p_holm < LEVEL


@dataclass(frozen=True, slots=True)
class Ranking:
    """All systems, the best first (equal ones by name), and all pairs of those that have a value, the better one first.

    ``n_studies`` and ``n_patients`` are the common ground, ``left_out`` the studies that are not on it for want of one
    system's value. ``n_findings`` are those that macro-F1 is a mean of, None for a mean over studies.
    """

    systems: tuple[RankedSystem, ...]
    pairs: tuple[PairOfSystems, ...]
    higher_is_better: bool
    n_studies: int
    left_out: int
    n_patients: int
    n_findings: int | None
    resamples: int
    permutations: int
    seed: int

    def of(self, system: str) -> RankedSystem:
        """Return one system's place. Raises KeyError for an unknown one."""
        found = next((ranked for ranked in self.systems if ranked.system == system), None)
        if found is None:
            raise KeyError(system)
        return found

    def pair(self, one: str, other: str) -> PairOfSystems:
        """Return the comparison of two systems, in whichever order they are named. Raises KeyError."""
        found = next((pair for pair in self.pairs if {pair.first, pair.second} == {one, other}), None)
        if found is None:
            raise KeyError((one, other))
        return found


@dataclass(frozen=True, slots=True)
class _Common:
    """The common ground, summed by patient: ``own`` [patient, system, column] and ``shared`` [patient, column]."""

    systems: Sequence[str]
    own: Numbers
    shared: Numbers
    score: Score
    higher_is_better: bool
    n_studies: int
    left_out: int
    n_findings: int | None
    nothing: str

    @property
    def n(self) -> int:
        return self.n_studies if self.n_findings is None else self.n_findings

    def better(self, values: Numbers, than: Numbers) -> npt.NDArray[np.bool_]:
        """Return where ``values`` are better, rounding apart; NaN is better than nothing."""
        return (values > than + EQUAL) if self.higher_is_better else (values < than - EQUAL)


def rank_macro_f1(
    systems: Sequence[str],
    truth: npt.ArrayLike,
    predictions: npt.ArrayLike,
    patients: Sequence[str],
    *,
    resamples: int = RESAMPLES,
    seed: int = SEED,
) -> Ranking:
    """Rank systems by macro-F1 over the findings with support on the common ground.

    Where nothing is left out of one system alone, the values are those of ``scores.evaluate``.

    Args:
        systems: their names.
        truth: [study, finding] of 1, 0, MISSING (left out for all).
        predictions: [system, study, finding] of 1, 0, FAILED (wrong, method 12), or MISSING where the policy or the
            system leaves the cell out. Four-state codes are collapsed first, by ``confusion.predicted``.
        patients: the patient id of each study.
        resamples: bootstrap draws; the permutations are as many, or more where there are many pairs.
        seed: of both.

    Raises:
        ValueError: shapes or codes do not fit, or a name stands twice.
    """
    true, given = check_truth(truth), np.asarray(predictions)
    _check(systems, given.shape, (len(systems), *true.shape), patients)
    cells = [sort_cells(true, one) for one in given]
    there = np.array([one.scored.any() for one in cells], dtype=np.bool_)
    if there.any() and not there.all():
        named = list(compress(systems, there))
        among = rank_macro_f1(named, true, given[there], patients, resamples=resamples, seed=seed)
        return _with_unplaced(among, systems, there)
    common = true >= 0
    for one in cells:
        common &= one.scored
    kept = common.any(axis=1)
    positives = common & (true == 1)
    supported = positives.any(axis=0)
    index, n_patients = patient_index(np.asarray(patients, dtype=str)[kept].tolist())

    def by_patient(flags: npt.NDArray[np.bool_]) -> Numbers:
        return sum_by_patient((flags & common)[kept][:, supported], index, n_patients)

    own = [
        np.hstack([2 * hits, 2 * hits + wrong])
        for hits, wrong in ((by_patient(one.tp), by_patient(one.fp | one.missed)) for one in cells)
    ]
    ground = _Common(
        systems=systems,
        own=np.stack(own, axis=1) if own else np.empty((n_patients, 0, 0)),
        shared=by_patient(positives),
        score=_macro_f1,
        higher_is_better=True,
        n_studies=int(kept.sum()),
        left_out=int(((true >= 0).any(axis=1) & ~kept).sum()),
        n_findings=int(supported.sum()),
        nothing=NO_POSITIVE,
    )
    return _rank(ground, resamples, seed)


def rank_systems(
    systems: Sequence[str],
    values: npt.ArrayLike,
    patients: Sequence[str],
    *,
    higher_is_better: bool = True,
    resamples: int = RESAMPLES,
    seed: int = SEED,
) -> Ranking:
    """Rank systems by the mean of a metric over the studies that have a value in every system.

    Args:
        systems: their names.
        values: [system, study], NaN where a system has no value for a study.
        patients: the patient id of each study.
        higher_is_better: the metric's direction.
        resamples: bootstrap draws; the permutations are as many, or more where there are many pairs.
        seed: of both.

    Raises:
        ValueError: shapes do not fit, a value is infinite, or a name stands twice.
    """
    table = np.asarray(values, dtype=np.float64)
    _check(systems, table.shape, (len(systems), len(patients)), patients)
    if np.isinf(table).any():
        raise ValueError("a metric's value is a finite number or NaN")
    there = np.asarray(~np.isnan(table).all(axis=1))
    if there.any() and not there.all():
        named = list(compress(systems, there))
        among = rank_systems(
            named, table[there], patients, higher_is_better=higher_is_better, resamples=resamples, seed=seed
        )
        return _with_unplaced(among, systems, there)
    kept = ~np.isnan(table).any(axis=0)
    index, n_patients = patient_index(np.asarray(patients, dtype=str)[kept].tolist())
    ground = _Common(
        systems=systems,
        own=sum_by_patient(table[:, kept].T, index, n_patients)[:, :, None],
        shared=sum_by_patient(np.ones((int(kept.sum()), 1)), index, n_patients),
        score=lambda own, shared: own[..., 0] / shared[..., 0],
        higher_is_better=higher_is_better,
        n_studies=int(kept.sum()),
        left_out=int((~np.isnan(table).all(axis=0) & ~kept).sum()),
        n_findings=None,
        nothing=NO_STUDY,
    )
    return _rank(ground, resamples, seed)


def _check(systems: Sequence[str], shape: tuple[int, ...], expected: tuple[int, ...], patients: Sequence[str]) -> None:
    if len(set(systems)) != len(systems):
        raise ValueError(f"each system needs its own name: {systems}")
    if shape != expected or len(patients) != expected[1]:
        raise ValueError(f"{shape} and {len(patients)} patients do not go with {expected}")


def _with_unplaced(ranking: Ranking, systems: Sequence[str], there: npt.NDArray[np.bool_]) -> Ranking:
    """Return the ranking with systems that have no value behind the others, by name."""
    last = sorted(compress(systems, ~there))
    places = (RankedSystem(name, undefined(NO_VALUE), None, None, None, None, ()) for name in last)
    return replace(ranking, systems=(*ranking.systems, *places))


def _macro_f1(own: Numbers, shared: Numbers) -> Numbers:
    """Return the mean of 2 tp / (2 tp + fp + fn) over the findings with a positive; NaN where there is none.

    ``own`` holds the numerators, then the denominators; ``shared`` the positives.
    """
    n_findings = shared.shape[-1]
    above, below = own[..., :n_findings], own[..., n_findings:]
    if shared.all():  # always so but in small draws
        return np.asarray((above / below).mean(axis=-1))
    has = np.broadcast_to(shared > 0, above.shape)
    total = np.divide(above, below, out=np.zeros(above.shape), where=has).sum(axis=-1)
    how_many = has.sum(axis=-1)
    return np.asarray(np.divide(total, how_many, out=np.full(total.shape, np.nan), where=how_many > 0))


def _rank(ground: _Common, resamples: int, seed: int) -> Ranking:
    """Put values, intervals, ranks and pairs together."""
    n_systems, n_patients = len(ground.systems), len(ground.shared)
    names = np.asarray(ground.systems, dtype=str)
    if not ground.n:
        values, samples = np.full(n_systems, np.nan), np.empty((0, n_systems))
    else:
        values = ground.score(ground.own.sum(axis=0), ground.shared.sum(axis=0))
        samples = _bootstrap(ground, resamples, seed)
    order = sorted(range(n_systems), key=lambda i: (-values[i] if ground.higher_is_better else values[i], names[i]))
    pairs = list(combinations(order, 2))
    draws = max(resamples, DRAWS_PER_PAIR * len(pairs)) if ground.n else 0
    p_values: list[float | None] = [None] * len(pairs)
    if ground.n:
        p_values = list(
            swap_p_values(ground.own, ground.shared, ground.score, values=values, pairs=pairs, draws=draws, seed=seed)
        )
    compared = _pairs(ground, values, samples, pairs, p_values)
    return Ranking(
        systems=_places(ground, values, samples, order, compared),
        pairs=compared,
        higher_is_better=ground.higher_is_better,
        n_studies=ground.n_studies,
        left_out=ground.left_out,
        n_patients=n_patients,
        n_findings=ground.n_findings,
        resamples=len(samples),
        permutations=draws if pairs else 0,
        seed=seed,
    )


def _bootstrap(ground: _Common, resamples: int, seed: int) -> Numbers:
    """Return the systems' values in each draw of patients, [draw, system]; draws without any value are left out."""
    n_patients, n_systems, n_columns = ground.own.shape
    if n_patients < 2:
        return np.empty((0, n_systems))
    sums = resampled_sums(np.hstack([ground.own.reshape(n_patients, -1), ground.shared]), resamples, seed)
    own = sums[:, : n_systems * n_columns].reshape(-1, n_systems, n_columns)
    samples = ground.score(own, sums[:, None, n_systems * n_columns :])
    return samples[~np.isnan(samples).any(axis=1)]


def _pairs(
    ground: _Common,
    values: Numbers,
    samples: Numbers,
    pairs: Sequence[tuple[int, int]],
    p_values: Sequence[float | None],
) -> tuple[PairOfSystems, ...]:
    firsts, seconds = ([pair[side] for pair in pairs] for side in (0, 1))
    differences = _figures(ground, values[firsts] - values[seconds], samples[:, firsts] - samples[:, seconds])
    rows = zip(pairs, differences, p_values, holm(p_values), strict=True)
    return tuple(
        PairOfSystems(ground.systems[one], ground.systems[other], difference, p, p_holm)
        for (one, other), difference, p, p_holm in rows
    )


def _places(
    ground: _Common, values: Numbers, samples: Numbers, order: Sequence[int], pairs: Sequence[PairOfSystems]
) -> tuple[RankedSystem, ...]:
    figures = _figures(ground, values, samples)
    positions = _positions(ground, values[None])[0]
    low, high = _whole_percentiles(_positions(ground, samples))
    tied, beaten = _ties(ground.systems, pairs)
    places = []
    for i in order:
        system, defined, drawn = ground.systems[i], figures[i].defined, len(samples) > 0
        places.append(
            RankedSystem(
                system=system,
                value=figures[i],
                position=int(positions[i]) if defined else None,
                rank=1 + beaten[system] if defined else None,
                rank_low=int(low[i]) if drawn else None,
                rank_high=int(high[i]) if drawn else None,
                tied_with=tuple(tied[system]) if defined else (),
            )
        )
    return tuple(places)


def _ties(systems: Sequence[str], pairs: Sequence[PairOfSystems]) -> tuple[dict[str, list[str]], dict[str, int]]:
    """Return whom each system is tied with, the best first, and how many separated ones are better."""
    tied: dict[str, list[str]] = {system: [] for system in systems}
    beaten = dict.fromkeys(systems, 0)
    for pair in pairs:
        if pair.separated:
            beaten[pair.second] += 1
        else:
            tied[pair.first].append(pair.second)
            tied[pair.second].append(pair.first)
    return tied, beaten


def _positions(ground: _Common, values: Numbers) -> npt.NDArray[np.int64]:
    """Return 1 + how many are better, per row of values [row, system]."""
    better = ground.better(values[:, None, :], values[:, :, None])
    return np.asarray(1 + better.sum(axis=2), dtype=np.int64)


def _whole_percentiles(positions: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Return the 2.5 and 97.5 percentiles per column, as ranks that occur: [2, column]."""
    if not len(positions):
        return np.zeros((2, positions.shape[1]), dtype=np.int64)
    return np.quantile(positions, (0.025, 0.975), axis=0, method="inverted_cdf").astype(np.int64)


def _figures(ground: _Common, values: Numbers, samples: Numbers) -> list[Figure]:
    alone = "" if len(samples) else NO_BOOTSTRAP
    low, high, _ = percentile_interval(samples) if len(samples) else (np.full_like(values, np.nan),) * 3
    return [
        undefined(ground.nothing)
        if math.isnan(value)
        else with_interval(Figure(value, ground.n, reason=alone), float(low[i]), float(high[i]))
        for i, value in enumerate(values.tolist())
    ]
