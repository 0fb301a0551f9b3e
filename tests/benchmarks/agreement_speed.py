"""How long agreement with bootstrap intervals takes, beside the plain loop measured in the same run.

Run it with `OPENBLAS_NUM_THREADS=1 uv run python tests/benchmarks/agreement_speed.py` for one core. The round is 300
reports of 250 patients, 21 findings and 6 raters with some votes missing; 1,000 draws of patients. The plain loop draws
the same patients, gathers their reports and calls the coefficients finding by finding; it is timed on 20 draws and
multiplied, and so is the same loop over the krippendorff package's alpha alone. The loop's numbers must be those that
the vectorised way has for the same draws, to 1e-12, for every coefficient, finding and draw. Times are medians of the
rounds. What to watch are the ratios, which do not depend on the machine.
"""

import statistics
import time
from collections.abc import Callable, Sequence

import krippendorff
import numpy as np

from workbench.domain.findings import MISSING
from workbench.evaluation.agreement import COLLAPSED, FOUR_STATES, agreement, agreement_as_it_arrives, coefficients
from workbench.evaluation.agreement_sums import NAMES, item_statistics, values
from workbench.evaluation.intervals import SEED, resample_patients

REPORTS, FINDINGS, RATERS, PATIENTS, RESAMPLES = 300, 21, 6, 250, 1000
LOOPED = 20  # draws of the plain loop that are timed and compared


def median_seconds(work: Callable[[], object], rounds: int) -> float:
    times = []
    for _ in range(rounds):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def votes(rng: np.random.Generator, categories: Sequence[int]) -> np.ndarray:
    """Raters who mostly see the truth, findings from rare to common, one vote in twenty missing."""
    truth = rng.random((REPORTS, FINDINGS)) < np.geomspace(0.003, 0.4, FINDINGS)
    seen = np.where(
        truth[..., None], rng.random((*truth.shape, RATERS)) < 0.8, rng.random((*truth.shape, RATERS)) < 0.02
    )
    given = np.where(seen, 1, rng.choice([c for c in categories if c != 1], size=seen.shape))
    return np.where(rng.random(given.shape) < 0.05, MISSING, given)


def measure(title: str, categories: Sequence[int], rng: np.random.Generator) -> None:
    ratings = votes(rng, categories)
    patient = rng.integers(0, PATIENTS, REPORTS)
    patient[:PATIENTS] = np.arange(PATIENTS)
    names = [f"p{i:03}" for i in patient]
    ids = [f"f{i}" for i in range(FINDINGS)]
    reports_of = [np.flatnonzero(patient == i) for i in range(PATIENTS)]
    counts = np.stack([(ratings == category).sum(axis=2) for category in categories], axis=2)
    present = list(categories).index(1)

    def ours() -> object:
        return agreement(ids, ratings, categories=categories, patients=names)

    def first_finding() -> object:
        return next(agreement_as_it_arrives(ids, ratings, categories=categories, patients=names))

    def plain_loop() -> np.ndarray:
        out = np.full((LOOPED, FINDINGS, len(NAMES)), np.nan)
        draws = np.random.default_rng(SEED).integers(0, PATIENTS, size=(RESAMPLES, PATIENTS))[:LOOPED]
        for i, draw in enumerate(draws):
            rows = np.concatenate([reports_of[p] for p in draw])
            for j in range(FINDINGS):
                found = coefficients(counts[rows, j], present).figures().values()
                out[i, j] = [np.nan if figure.value is None else figure.value for figure in found]
        return out

    def alpha_loop() -> None:
        generator = np.random.default_rng(SEED)
        for _ in range(LOOPED):
            rows = np.concatenate([reports_of[p] for p in generator.integers(0, PATIENTS, PATIENTS)])
            for j in range(FINDINGS):
                if np.count_nonzero(counts[rows, j].sum(axis=0)) > 1:
                    krippendorff.alpha(value_counts=counts[rows, j], level_of_measurement="nominal")

    ours_by_draw = values(resample_patients(item_statistics(counts, present), names, RESAMPLES, SEED))[:LOOPED]
    looped = plain_loop()
    same_gaps = bool((np.isnan(looped) == np.isnan(ours_by_draw)).all())
    apart = float(np.nanmax(np.abs(looped - ours_by_draw)))

    seconds, first = median_seconds(ours, 7), median_seconds(first_finding, 7)
    loop = median_seconds(plain_loop, 3) * RESAMPLES / LOOPED
    alone = median_seconds(alpha_loop, 3) * RESAMPLES / LOOPED
    print(f"{title}: {REPORTS} reports x {FINDINGS} findings x {RATERS} raters x {RESAMPLES} draws")
    print(f"  agreement with intervals {seconds * 1000:.0f} ms; the first finding is there after {first * 1000:.0f} ms")
    print(f"  plain loop {loop:.1f} s (from {LOOPED} draws); ours is {loop / seconds:.0f} times faster")
    print(
        f"  the package's alpha alone in a loop {alone:.1f} s; ours, all seven, is {alone / seconds:.0f} times faster"
    )
    print(f"  numbers: undefined in the same places {'yes' if same_gaps else 'NO'}, at most {apart:.1e} apart")
    good = seconds < 3 and loop / seconds >= 20 and same_gaps and apart < 1e-12
    print(f"  under 3 s, 20 times faster, the same to 1e-12: {'yes' if good else 'NO'}")


def main() -> None:
    rng = np.random.default_rng(1)
    measure("two states", COLLAPSED, rng)
    measure("four states", FOUR_STATES, rng)


if __name__ == "__main__":
    main()
