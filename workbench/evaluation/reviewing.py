"""How radiologists rate generated reports, and how far they agree (on an ordered scale) among each other.

What is rated is a *text*: where two systems wrote the same, it is one item for agreement, since it was read once, and
one of each system's studies for the systems' means.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from workbench.evaluation.intervals import SEED, Numbers, patient_index, resample_patients, with_bootstrap
from workbench.evaluation.numbers import Figure, undefined

SCALE = (1, 2, 3, 4, 5)
REVIEW_RESAMPLES = 1000
NOT_RATED = "no report of it was rated"
NO_PAIR = "no report was rated by two reviewers"
NO_VARIATION = "every rating is the same"


@dataclass(frozen=True, slots=True)
class ReviewerAgreement:
    """How far reviewers agree. ``items`` texts have two or more ratings; each figure's n says so too.

    ``percent`` is the share of pairs of ratings of one text that are equal, ``within_one`` of those at most one step
    apart, both averaged over texts; 1 is full agreement. ``alpha`` is Krippendorff's with the ordinal distance: 1 full
    agreement, about 0 where ratings are given at random, below 0 where reviewers differ more than that; undefined
    where every rating is the same. Intervals are percentile bootstraps over patients.
    """

    items: int
    ratings: int
    percent: Figure
    within_one: Figure
    alpha: Figure

    def as_json(self) -> dict[str, object]:
        """Return the JSON form."""
        figures = {"percent": self.percent, "within_one": self.within_one, "alpha": self.alpha}
        return {"items": self.items, "ratings": self.ratings, **{k: f.as_json() for k, f in figures.items()}}


def reviewer_agreement(
    ratings: npt.ArrayLike, patients: Sequence[str], *, resamples: int = REVIEW_RESAMPLES, seed: int = SEED
) -> ReviewerAgreement:
    """Return the agreement of reviewers on an overall rating.

    With r_ic ratings c of text i, r_i = sum_c r_ic, over the texts with r_i >= 2:

    - percent = mean over texts of sum_c r_ic (r_ic - 1) / (r_i (r_i - 1)); within_one likewise;
    - coincidences o_ck = sum_i r_ic (r_ik - [c = k]) / (r_i - 1), n_c = sum_k o_ck, n = sum_c n_c;
    - ordinal distance d_ck = (sum of n_g for g from c to k, less (n_c + n_k) / 2) squared;
    - alpha = 1 - (n - 1) sum_ck o_ck d_ck / sum_ck n_c n_k d_ck.

    Source: K. Krippendorff, Computing Krippendorff's Alpha-Reliability, 2011. In each bootstrap draw the distances are
    those of the draw's own ratings.

    Args:
        ratings: [text, reviewer] of 1 to 5, NaN where there is none.
        patients: the patient of each text.
        resamples: bootstrap draws.
        seed: of the bootstrap.

    Raises:
        ValueError: a rating is not on the scale, or shapes do not fit.
    """
    given = np.asarray(ratings, dtype=np.float64)
    if given.ndim != 2 or given.shape[0] != len(patients):
        raise ValueError(f"ratings of shape {given.shape} are not [{len(patients)} texts, reviewer]")
    if not np.isin(given[~np.isnan(given)], SCALE).all():
        raise ValueError(f"a rating is none of {SCALE}")
    counts = np.stack([np.count_nonzero(given == step, axis=1) for step in SCALE], axis=1).astype(np.float64)
    per_text = _coincidences(counts)
    paired = counts.sum(axis=1) >= 2
    items, every = int(paired.sum()), int(counts.sum())
    if not items:
        none = undefined(NO_PAIR)
        return ReviewerAgreement(0, every, none, none, none)
    names = np.asarray(patients, dtype=str)[paired].tolist()
    samples = _values(resample_patients(per_text[paired], names, resamples, seed))
    found = _values(per_text.sum(axis=0, keepdims=True))[0]
    figures = [undefined(NO_VARIATION, items) if np.isnan(value) else Figure(float(value), items) for value in found]
    percent, within_one, alpha = with_bootstrap(figures, samples)
    return ReviewerAgreement(items, every, percent, within_one, alpha)


def _coincidences(counts: Numbers) -> Numbers:
    """Return per text the 25 coincidences, then 1, the share of equal pairs and that of pairs at most one step apart.

    All are 0 for a text with fewer than two ratings.
    """
    r = counts.sum(axis=1)
    mates = np.where(r >= 2, r - 1, np.inf)[:, None, None]
    pairs = counts[:, :, None] * counts[:, None, :]
    steps = np.arange(len(SCALE))
    pairs[:, steps, steps] -= counts
    together = pairs / mates
    some = np.where(r >= 2, r, 1.0)[:, None, None]
    near = np.abs(steps[:, None] - steps) <= 1
    shares = together / some
    extra = [r >= 2, shares[:, steps, steps].sum(axis=1), shares[:, near].sum(axis=1)]
    return np.concatenate([together.reshape(len(counts), -1), np.stack(extra, axis=1)], axis=1)


def _values(sums: Numbers) -> Numbers:
    """Return [draw, (percent, within one, alpha)] of sums of ``_coincidences``, NaN where undefined."""
    k = len(SCALE)
    together, texts = sums[:, : k * k].reshape(-1, k, k), sums[:, k * k]
    n = together.sum(axis=2)
    upto = np.cumsum(n, axis=1)
    steps = np.arange(k)
    low, high = np.minimum(steps[:, None], steps), np.maximum(steps[:, None], steps)
    between = upto[:, high] - upto[:, low] + n[:, low]
    distance = (between - (n[:, :, None] + n[:, None, :]) / 2) ** 2
    observed = (together * distance).sum(axis=(1, 2))
    expected = (n[:, :, None] * n[:, None, :] * distance).sum(axis=(1, 2))
    found = np.full((len(sums), 3), np.nan)
    there = texts > 0
    found[there, 0] = sums[there, k * k + 1] / texts[there]
    found[there, 1] = sums[there, k * k + 2] / texts[there]
    varied = expected > 0
    found[varied, 2] = 1 - (n[varied].sum(axis=1) - 1) * observed[varied] / expected[varied]
    return found


def system_means(
    values: npt.ArrayLike, patients: Sequence[str], *, resamples: int = REVIEW_RESAMPLES, seed: int = SEED
) -> tuple[Figure, ...]:
    """Return each system's mean over studies of the mean over its reviewers, with a bootstrap interval over patients.

    So a study that more reviewers rated counts no more than another; n is how many of the system's studies were rated.

    Args:
        values: [system, study, reviewer], NaN where there is none.
        patients: the patient of each study.
        resamples: bootstrap draws; the same patients are drawn for all systems.
        seed: of the bootstrap.
    """
    by_study = mean_over_reviewers(values)
    there = ~np.isnan(by_study)
    sums = np.concatenate([np.where(there, by_study, 0.0), there.astype(np.float64)]).T
    systems = len(by_study)

    def means(of: Numbers) -> Numbers:
        found = np.full((len(of), systems), np.nan)
        np.divide(of[:, :systems], of[:, systems:], out=found, where=of[:, systems:] > 0)
        return found

    total = sums.sum(axis=0)
    figures = [
        undefined(NOT_RATED) if not total[systems + i] else Figure(float(value), int(total[systems + i]))
        for i, value in enumerate(means(total[None, :])[0])
    ]
    # Patients of whom nothing was rated would only make draws without a rating.
    rated = there.sum(axis=0) > 0
    names = [patient for patient, kept in zip(patients, rated, strict=True) if kept]
    if len(patient_index(names)[0]) == 0:
        return tuple(figures)
    return with_bootstrap(figures, means(resample_patients(sums[rated], names, resamples, seed)))


def mean_over_reviewers(values: npt.ArrayLike) -> Numbers:
    """Return [system, study] means of [system, study, reviewer], NaN where nobody rated."""
    given = np.asarray(values, dtype=np.float64)
    there = ~np.isnan(given)
    found = np.full(given.shape[:2], np.nan)
    np.divide(np.where(there, given, 0.0).sum(axis=2), there.sum(axis=2), out=found, where=there.any(axis=2))
    return found
