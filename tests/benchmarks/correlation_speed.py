"""How long correlating 7 metrics on 16 systems x 2,347 studies takes: 21 pairs of metrics on 37,552 pairs of reports.

Run it with `uv run python tests/benchmarks/correlation_speed.py`. 1,000 resamples of patients, so intervals for all.
Beside it stands scipy's Kendall tau-b and Spearman's rho in a plain loop over the draws, timed on two draws of one pair
of metrics and multiplied. It fails at 10 s.
"""

import sys
import time

import numpy as np
from scipy.stats import kendalltau, spearmanr

from workbench.evaluation.correlation import RESAMPLES, correlations

SYSTEMS, STUDIES, METRICS, LOOPED = 16, 2347, 7, 2
LIMIT = 10.0  # seconds


def main() -> int:
    """Print the times; return 1 where it took too long."""
    rng = np.random.default_rng(0)
    skill = np.tile(rng.normal(size=STUDIES), SYSTEMS)
    scores = {f"metric {i}": np.round(skill + rng.normal(size=len(skill)), 1 + 5 * (i > 0)) for i in range(METRICS)}
    patients = [f"p{i % STUDIES:04}" for i in range(len(skill))]
    times, cpu = [], []
    for _ in range(3):
        start, cpu_start = time.perf_counter(), time.process_time()
        found = correlations(scores, patients)
        times.append(time.perf_counter() - start)
        cpu.append(time.process_time() - cpu_start)
    one, other = list(scores.values())[:2]
    start = time.perf_counter()
    for _ in range(LOOPED):
        drawn = (rng.integers(0, STUDIES, STUDIES)[:, None] + STUDIES * np.arange(SYSTEMS)).reshape(-1)
        kendalltau(one[drawn], other[drawn])
        spearmanr(one[drawn], other[drawn])
    loop = (time.perf_counter() - start) / LOOPED * RESAMPLES * len(found)
    print(f"{len(found)} pairs of metrics on {len(patients):,} pairs of reports, {RESAMPLES:,} resamples")
    print(f"  ours        {min(times):6.2f} s, {min(cpu):.2f} s of processor time")
    print(f"  each has an interval: {all(c.kendall.low is not None for c in found)}")
    print(f"  scipy loop  {loop:6.0f} s")
    return 0 if min(times) < LIMIT else 1


if __name__ == "__main__":
    sys.exit(main())
