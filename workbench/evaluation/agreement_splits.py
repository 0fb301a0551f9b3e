"""From a figure of agreement to the reports behind it."""

import numpy as np
import numpy.typing as npt

from workbench.domain.findings import MISSING


def split_reports(ratings: npt.ArrayLike) -> list[int]:
    """Return the numbers of the reports on which raters differ about a finding, the most split first.

    How split a report is, is the share of its ratings outside its commonest answer: 1/2 for 3-3, 1/3 for 4-2, 1/6 for
    5-1. Equally split ones come with more ratings first (3-3 before 1-1), then in their order. Reports that all
    raters who rated them see alike are left out, also those rated once or never.

    Args:
        ratings: one finding's votes [report, rater], collapsed or four-state codes; MISSING where not given.

    Raises:
        ValueError: the array is not two-dimensional.
    """
    array = np.asarray(ratings)
    if array.ndim != 2:
        raise ValueError(f"votes on one finding are [report, rater], not of shape {array.shape}")
    answers = np.setdiff1d(array, [MISSING])
    if not answers.size:
        return []
    counts = (array[..., None] == answers).sum(axis=1)  # [report, answer]
    given, commonest = counts.sum(axis=1), counts.max(axis=1)
    split = np.flatnonzero(given > commonest)
    # Sorted by whole numbers' ratio, which is the same float for 1/2, 2/4 and 3/6; lexsort is stable.
    order = np.lexsort((-given[split], commonest[split] / given[split]))
    return [int(i) for i in split[order]]


def differing_reports(first: npt.ArrayLike, second: npt.ArrayLike) -> list[int]:
    """Return the numbers of the reports on which two readings of a finding differ, in their order.

    Args:
        first: one rater's codes [report], collapsed or four-state; MISSING where not given.
        second: another rater's, or the same rater's second reading. A report MISSING in either is left out.

    Raises:
        ValueError: the two are not of the same length.
    """
    one, two = np.asarray(first), np.asarray(second)
    if one.ndim != 1 or one.shape != two.shape:
        raise ValueError(f"two readings of a finding are [report] twice, not {one.shape} and {two.shape}")
    return [int(i) for i in np.flatnonzero((one != two) & (one != MISSING) & (two != MISSING))]
