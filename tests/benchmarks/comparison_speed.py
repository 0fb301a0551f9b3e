"""How long comparing two runs takes: 21 pairs of exact tests, Holm and 2,000 paired resamples of patients.

Run it with `uv run python tests/benchmarks/comparison_speed.py`. Once with a report a patient (exact McNemar) and once
with some patients having several (permutation over patients); beside each is the plain loop over scikit-learn's
macro-F1 of both runs, timed on 20 draws and multiplied. Each time is the median of the rounds. It fails where 300
reports take 0.3 s or longer, or 5,000 take 3 s.
"""

import statistics
import sys
import time
from collections.abc import Callable

import numpy as np
from sklearn.metrics import f1_score

from workbench.domain.findings import Policy
from workbench.evaluation.comparisons import compare

FINDINGS, RESAMPLES, LOOPED = 21, 2000, 20
LIMITS = {300: 0.3, 5000: 3.0}  # seconds by reports


def median_seconds(work: Callable[[], object], rounds: int) -> float:
    times = []
    for _ in range(rounds):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def timed(reports: int, patients: int) -> tuple[float, float]:
    """Return seconds of ours and of the plain loop."""
    rng = np.random.default_rng(1)
    truth = (rng.random((reports, FINDINGS)) < rng.uniform(0.02, 0.4, FINDINGS)).astype(np.int8)
    runs = [np.where(rng.random(truth.shape) < wrong, 1 - truth, truth) for wrong in (0.1, 0.07)]
    patient = np.concatenate([np.arange(patients), rng.integers(0, patients, reports - patients)])
    names = [f"p{i:05}" for i in patient]
    ids = [f"f{i}" for i in range(FINDINGS)]
    reports_of = [np.flatnonzero(patient == i) for i in range(patients)]

    def ours() -> object:
        return compare(ids, truth, *runs, [Policy.ABSENT] * FINDINGS, patients=names, resamples=RESAMPLES)

    def plain_loop() -> None:
        draws = np.random.default_rng(1)
        for _ in range(LOOPED):
            rows = np.concatenate([reports_of[i] for i in draws.integers(0, patients, patients)])
            for run in runs:
                f1_score(truth[rows], run[rows], average="macro", zero_division=0)

    ours()
    return median_seconds(ours, 5), median_seconds(plain_loop, 1) * RESAMPLES / LOOPED


def main() -> int:
    late = False
    for reports, limit in LIMITS.items():
        for patients in (reports, reports * 5 // 6):
            seconds, loop = timed(reports, patients)
            late = late or seconds >= limit
            print(
                f"{reports:,} reports of {patients:,} patients: {seconds:.3f} s (at most {limit} s); "
                f"plain loop {loop:.1f} s, {loop / seconds:.0f} times as long"
            )
    return int(late)


if __name__ == "__main__":
    sys.exit(main())
