"""Pairs of systems compared by swapping their reports patient by patient (method 21)."""

from collections.abc import Callable, Sequence

import numpy as np

from workbench.evaluation.intervals import Numbers

EQUAL = 1e-12  # differences below it are rounding
BLOCK = 500  # draws held at once
EXACT_IN_SINGLE = 1 << 24  # sums of whole numbers below it are exact in single precision, which is twice as fast

# A system's sums [..., column] and what all systems share [..., column] -> its value [...], NaN where undefined.
Score = Callable[[Numbers, Numbers], Numbers]


def swap_p_values(
    own: Numbers,
    shared: Numbers,
    score: Score,
    *,
    values: Numbers,
    pairs: Sequence[tuple[int, int]],
    draws: int,
    seed: int,
) -> list[float]:
    """Return the two-sided p-value of each pair: (1 + draws at least as far apart) / (1 + draws), in 0..1 and never 0.

    In a draw each patient's reports are swapped between the two systems with chance 1/2, the same patients for all
    pairs. What is swapped is summed per system, once for all pairs, since a pair exchanges the difference of its sums.

    Args:
        own: [patient, system, column] sums of what a system's value is made of.
        shared: [patient, column] sums of what is the same for all systems.
        score: makes a system's value of both.
        values: [system], as observed.
        pairs: the systems' numbers.
        draws: how many; the smallest p-value is 1 / (1 + draws).
        seed: of the draws, which are others than a bootstrap's with this seed.

    Source: the approximate randomisation test, E. W. Noreen, Computer-intensive methods, 1989; the 1 is added so that
    the test holds its level, Phipson and Smyth, Stat Appl Genet Mol Biol 2010;9:39.
    """
    n_patients, n_systems, n_columns = own.shape
    generator = np.random.default_rng([seed, 1])
    whole, all_shared, far = own.sum(axis=0), shared.sum(axis=0), [0] * len(pairs)
    single = bool((own == np.rint(own)).all() and np.abs(own).sum(axis=0).max(initial=0) < EXACT_IN_SINGLE)
    flat = own.reshape(n_patients, -1).astype(np.float32 if single else np.float64)
    for start in range(0, draws if pairs else 0, BLOCK):
        rows = min(BLOCK, draws - start)
        swaps = generator.integers(0, 2, size=(rows, n_patients), dtype=np.int8)
        summed = np.matmul(swaps.astype(flat.dtype), flat).astype(np.float64)
        swapped = np.ascontiguousarray(summed.reshape(rows, n_systems, n_columns).transpose(1, 0, 2))
        for at, (one, other) in enumerate(pairs):
            exchanged = swapped[one] - swapped[other]
            apart = score(whole[one] - exchanged, all_shared) - score(whole[other] + exchanged, all_shared)
            far[at] += int(np.count_nonzero(np.abs(apart) >= abs(values[one] - values[other]) - EQUAL))
    return [(1 + count) / (1 + draws) for count in far]
