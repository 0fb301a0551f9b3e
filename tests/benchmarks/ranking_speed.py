"""How long ranking 16 systems on 2,347 studies and 21 findings takes: 120 permutation tests and rank intervals.

Run it with `uv run python tests/benchmarks/ranking_speed.py`. 1,000 resamples of patients, and 4,800 permutations,
since 120 pairs need so many. Beside it stands the plain loop over scikit-learn's macro-F1 of each system in each draw,
timed on two draws and multiplied. Each time is the median of three rounds. It fails at 5 s.
"""

import statistics
import sys
import time

import numpy as np
from sklearn.metrics import f1_score

from workbench.evaluation.ranking import rank_macro_f1, rank_systems

SYSTEMS, STUDIES, FINDINGS, RESAMPLES, LOOPED = 16, 2347, 21, 1000, 2
LIMIT = 5.0  # seconds


def main() -> int:
    rng = np.random.default_rng(0)
    truth = (rng.random((STUDIES, FINDINGS)) < rng.uniform(0.01, 0.4, FINDINGS)).astype(np.int8)
    wrong = np.linspace(0.05, 0.12, SYSTEMS)
    predictions = np.stack([np.where(rng.random(truth.shape) < w, 1 - truth, truth) for w in wrong]).astype(np.int8)
    names, patients = [f"s{i:02}" for i in range(SYSTEMS)], [f"p{i:04}" for i in range(STUDIES)]
    times, mean_times = [], []
    for _ in range(3):
        start = time.perf_counter()
        ranking = rank_macro_f1(names, truth, predictions, patients, resamples=RESAMPLES)
        times.append(time.perf_counter() - start)
        start = time.perf_counter()
        rank_systems(names, rng.random((SYSTEMS, STUDIES)), patients, resamples=RESAMPLES)
        mean_times.append(time.perf_counter() - start)
    start = time.perf_counter()
    for _ in range(LOOPED):
        draw = rng.integers(0, STUDIES, STUDIES)
        for given in predictions:
            f1_score(truth[draw], given[draw], average="macro", zero_division=0)
    loop = (time.perf_counter() - start) / LOOPED * RESAMPLES
    seconds = statistics.median(times)
    print(f"{SYSTEMS} systems x {STUDIES} studies x {FINDINGS} findings, {RESAMPLES} resamples")
    print(f"  by macro-F1       {seconds:6.2f} s, {ranking.permutations} permutations of {len(ranking.pairs)} pairs")
    print(f"  by a metric       {statistics.median(mean_times):6.2f} s")
    print(f"  plain loop        {loop:6.0f} s for the resamples alone")
    return 0 if seconds < LIMIT else 1


if __name__ == "__main__":
    sys.exit(main())
