"""Intervals: Wilson for proportions, percentile bootstrap over patients for everything else (method 11)."""

import math
from collections.abc import Iterator, Sequence
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from workbench.evaluation.numbers import Figure, undefined

Numbers = npt.NDArray[np.float64]
Indices = npt.NDArray[np.int64]

Z95 = 1.959963984540054  # the 0.975 quantile of the normal distribution
RESAMPLES = 2000
SEED = 2024
NO_BOOTSTRAP = "no interval: a bootstrap over patients needs two patients and a resample"
KEPT = 5_000_000  # draws times patients up to which the draws are kept for the next figure: 10 MB
BLOCK = 2_000_000  # draws held at once: 16 MB, so that a cohort of any size fits into memory


def wilson(successes: int, n: int) -> tuple[float, float]:
    """Return the 95 % Wilson score interval of a proportion, without continuity correction.

    Source: E. B. Wilson, JASA 1927;22:209-212. The lower end is exactly 0 at no success, the upper exactly
    1 when all succeed.

    Raises:
        ValueError: n is not positive or successes are not within 0..n.
    """
    if n <= 0 or not 0 <= successes <= n:
        raise ValueError(f"{successes} successes of {n} is no proportion")
    share, z2 = successes / n, Z95 * Z95
    centre = (share + z2 / (2 * n)) / (1 + z2 / n)
    half = Z95 / (1 + z2 / n) * math.sqrt(share * (1 - share) / n + z2 / (4 * n * n))
    low = 0.0 if successes == 0 else max(0.0, centre - half)
    high = 1.0 if successes == n else min(1.0, centre + half)
    return low, high


def proportion(successes: int, n: int, reason: str) -> Figure:
    """Return successes / n with its Wilson interval; undefined for ``reason`` where n is 0."""
    if n == 0:
        return undefined(reason)
    low, high = wilson(successes, n)
    return Figure(successes / n, n, low, high)


def patient_index(patients: Sequence[str]) -> tuple[Indices, int]:
    """Return the number of each report's patient and how many patients there are.

    Patients are numbered in the order of their ids, so that an interval does not depend on the order of the reports.
    """
    names, index = np.unique(np.asarray(patients, dtype=str), return_inverse=True)
    return index.astype(np.int64).reshape(-1), int(names.size)


def sum_by_patient(values: npt.ArrayLike, index: Indices, n_patients: int) -> Numbers:
    """Return [patient, column] sums of [report, column] values."""
    array = np.asarray(values, dtype=np.float64)
    sums = np.zeros((n_patients, array.shape[1]))
    np.add.at(sums, index, array)
    return sums


def resampled_sums(per_patient: Numbers, resamples: int, seed: int) -> Numbers:
    """Draw patients with replacement and return the sums over each draw.

    A draw is a row of multiplicities (how often each patient was drawn), so all sums are one matrix product
    [resample, patient] x [patient, column]. Sums of counts are whole numbers and exact.

    Args:
        per_patient: [patient, column] sums of whatever a score is made of.
        resamples: how many draws.
        seed: the same seed and number of patients give the same draws, so that two runs over the same patients are
            compared on the same resamples.

    Returns:
        [resample, column].
    """
    n_patients = per_patient.shape[0]
    sums = np.empty((resamples, per_patient.shape[1]))
    blocks = _kept_draws if n_patients * resamples <= KEPT else _draws
    start = 0
    for times in blocks(n_patients, resamples, seed):
        sums[start : start + len(times)] = times.astype(np.float64) @ per_patient
        start += len(times)
    return sums


def _draws(n_patients: int, resamples: int, seed: int) -> Iterator[npt.NDArray[np.int16]]:
    """Yield how often each patient is in each draw, [draw, patient], a block of draws at a time."""
    generator = np.random.default_rng(seed)
    step = max(1, BLOCK // n_patients)
    for start in range(0, resamples, step):
        rows = min(step, resamples - start)
        drawn = generator.integers(0, n_patients, size=(rows, n_patients))
        drawn += np.arange(rows)[:, None] * n_patients
        times = np.bincount(drawn.reshape(-1), minlength=rows * n_patients).reshape(rows, n_patients)
        yield times.astype(np.int16)


@lru_cache(maxsize=2)
def _kept_draws(n_patients: int, resamples: int, seed: int) -> tuple[npt.NDArray[np.int16], ...]:
    """Return ``_draws`` as they were made before: many systems on the same patients are compared on the same draws."""
    return tuple(_draws(n_patients, resamples, seed))


def resample_patients(by_report: Numbers, patients: Sequence[str], resamples: int, seed: int) -> Numbers:
    """Return the sums of [report, ...] values over each bootstrap draw of patients, [resample, ...].

    A patient's reports are drawn together. There is no row where there are fewer than two patients: drawing one
    patient over and over says nothing about others.

    Raises:
        ValueError: there is not one patient per report.
    """
    if len(patients) != by_report.shape[0]:
        raise ValueError(f"{len(patients)} patients do not go with {by_report.shape[0]} reports")
    index, n_patients = patient_index(patients)
    if n_patients < 2 or resamples < 1:
        return np.empty((0, *by_report.shape[1:]))
    flat = by_report.reshape(len(by_report), -1)
    return resampled_sums(sum_by_patient(flat, index, n_patients), resamples, seed).reshape(-1, *by_report.shape[1:])


def percentile_interval(samples: Numbers) -> tuple[Numbers, Numbers, Indices]:
    """Return the 2.5 and 97.5 percentiles of each column and how many samples of it were undefined (NaN).

    Percentiles are linearly interpolated among the defined samples (numpy's default); NaN where none is defined.

    Args:
        samples: [resample, column] with NaN where a resample leaves the column undefined.
    """
    ordered = np.sort(samples, axis=0)  # NaN sorts last
    defined = np.count_nonzero(~np.isnan(samples), axis=0)
    ends = []
    for quantile in (0.025, 0.975):
        position = quantile * np.maximum(defined - 1, 0)
        below = np.floor(position).astype(np.int64)
        above = np.minimum(below + 1, np.maximum(defined - 1, 0))
        columns = np.arange(samples.shape[1])
        lower, upper = ordered[below, columns], ordered[above, columns]
        ends.append(lower + (upper - lower) * (position - below))
    return ends[0], ends[1], (samples.shape[0] - defined).astype(np.int64)


def with_interval(figure: Figure, low: float, high: float) -> Figure:
    """Return the figure with a bootstrap interval; unchanged where it is undefined or no resample defined it."""
    if figure.value is None or math.isnan(low):
        return figure
    return Figure(figure.value, figure.n, float(low), float(high), figure.reason)


def with_bootstrap(figures: Sequence[Figure], samples: Numbers) -> tuple[Figure, ...]:
    """Return the figures with percentile intervals; a defined one without any sample says why it has none.

    Args:
        figures: one per column.
        samples: [resample, column], NaN where a resample leaves the column undefined; may have no row.
    """
    if not samples.shape[0]:
        return tuple(f if f.value is None else Figure(f.value, f.n, reason=NO_BOOTSTRAP) for f in figures)
    low, high, _ = percentile_interval(samples)
    return tuple(with_interval(f, float(low[i]), float(high[i])) for i, f in enumerate(figures))
