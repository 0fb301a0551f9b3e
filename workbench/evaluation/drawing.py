"""Bootstrap draws of patients as how often each row is drawn, for figures that are no function of sums."""

from collections.abc import Sequence

import numpy as np

from workbench.evaluation.intervals import Numbers, patient_index


def times_drawn(patients: Sequence[str], resamples: int, seed: int) -> Numbers:
    """Return how often each row is in each draw of patients with replacement, [draw, row], whole numbers.

    The rows of a patient are drawn together. There is no draw where there are fewer than two patients.

    Args:
        patients: the patient id of each row.
        resamples: how many draws.
        seed: the same seed and number of patients give the same draws.
    """
    index, n_patients = patient_index(patients)
    if n_patients < 2:
        return np.empty((0, len(patients)))
    drawn = np.random.default_rng(seed).integers(0, n_patients, size=(resamples, n_patients))
    times = [np.bincount(draw, minlength=n_patients)[index] for draw in drawn]
    return np.array(times, dtype=np.float64).reshape(-1, len(patients))
