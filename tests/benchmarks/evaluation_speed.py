"""How long scoring takes, beside two floors measured in the same run.

Run it with `uv run python tests/benchmarks/evaluation_speed.py`. The cohort is 300 reports of 250 patients, with 21
findings and 2,000 bootstrap draws of patients. One floor is the bare arithmetic: drawing, counting how often each
patient was drawn, one matrix product. The other is the plain loop over scikit-learn's macro-F1, timed on 50 draws and
multiplied. What to watch are the ratios, which do not depend on the machine; each time is the median of the rounds.
"""

import statistics
import time
from collections.abc import Callable

import numpy as np
from sklearn.metrics import f1_score

from workbench.domain.findings import Policy
from workbench.evaluation.scores import evaluate

REPORTS, FINDINGS, PATIENTS, RESAMPLES = 300, 21, 250, 2000
LOOPED = 50  # draws of the plain loop that are timed


def median_seconds(work: Callable[[], object], rounds: int) -> float:
    times = []
    for _ in range(rounds):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def main() -> None:
    rng = np.random.default_rng(1)
    truth = (rng.random((REPORTS, FINDINGS)) < rng.uniform(0.02, 0.4, FINDINGS)).astype(np.int8)
    labels = np.where(rng.random(truth.shape) < 0.08, 1 - truth, truth)
    patient = rng.integers(0, PATIENTS, REPORTS)
    patient[:PATIENTS] = np.arange(PATIENTS)
    names = [f"p{i:03}" for i in patient]
    ids = [f"f{i}" for i in range(FINDINGS)]
    columns = rng.integers(0, 3, size=(PATIENTS, 3 * FINDINGS)).astype(float)
    reports_of = [np.flatnonzero(patient == i) for i in range(PATIENTS)]

    def ours() -> object:
        return evaluate(ids, truth, labels, [Policy.ABSENT] * FINDINGS, names, resamples=RESAMPLES)

    def bare() -> object:
        drawn = np.random.default_rng(1).integers(0, PATIENTS, size=(RESAMPLES, PATIENTS))
        flat = (drawn + np.arange(RESAMPLES)[:, None] * PATIENTS).reshape(-1)
        times = np.bincount(flat, minlength=RESAMPLES * PATIENTS).reshape(RESAMPLES, PATIENTS)
        return times.astype(float) @ columns

    def plain_loop() -> None:
        draws = np.random.default_rng(1)
        for _ in range(LOOPED):
            rows = np.concatenate([reports_of[i] for i in draws.integers(0, PATIENTS, PATIENTS)])
            f1_score(truth[rows], labels[rows], average="macro", zero_division=0)

    ours()  # first call pays for imports and caches
    seconds, floor = median_seconds(ours, 9), median_seconds(bare, 9)
    loop = median_seconds(plain_loop, 3) * RESAMPLES / LOOPED
    print(f"evaluate, {REPORTS} reports x {FINDINGS} findings x {RESAMPLES} draws: {seconds * 1000:.1f} ms")
    print(f"bare arithmetic: {floor * 1000:.1f} ms; ratio {seconds / floor:.2f}")
    print(f"plain scikit-learn loop: {loop:.2f} s; ours is {loop / seconds:.0f} times faster")
    print(f"under 0.5 s: {'yes' if seconds < 0.5 else 'NO'}")


if __name__ == "__main__":
    main()
