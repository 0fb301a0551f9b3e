"""How many reports two scores put in the same order as a given one, counted in n log n.

With it Kendall's tau-b and its bootstrap need no table of all pairs of reports: 37,552 reports have 705 million pairs.
"""

import numpy as np
import numpy.typing as npt

from workbench.evaluation.intervals import Indices, Numbers


def ranks(values: npt.ArrayLike) -> Numbers:
    """Return the ranks of values, 1 for the smallest; equal values share their mean rank."""
    _, inverse, counts = np.unique(np.asarray(values, dtype=np.float64), return_inverse=True, return_counts=True)
    middle: Numbers = (np.cumsum(counts) - (counts - 1) / 2)[inverse]
    return middle


def concordance(one: npt.ArrayLike, other: npt.ArrayLike) -> Numbers:
    """Return per report how many others both scores put on the same side of it, less those put on opposite sides.

    A report that ties with it in either score counts for nothing. The sum over reports, over the square root of the
    pairs untied in the one times those untied in the other (each pair both ways round), is Kendall's tau-b.

    Args:
        one: [report], without NaN.
        other: the same of the other score.
    """
    first, second = (np.unique(np.asarray(values), return_inverse=True)[1].reshape(-1) for values in (one, other))
    n = len(first)
    together = first * (int(second.max(initial=0)) + 1) + second
    _, same, counts = np.unique(together, return_inverse=True, return_counts=True)
    # Below in both, half of those below in the one and tied in the other, a quarter of those tied in both: where this
    # is known together with the two ranks, so is how many there are above in both, and on opposite sides.
    below = (_below(first, second) + _below(second, first)) / 2 + counts[same.reshape(-1)] / 4
    found: Numbers = 4 * below + n + 2 - 2 * ranks(first) - 2 * ranks(second)
    return found


def _below(one: Indices, other: Indices) -> Indices:
    """Return per report how many are below it in ``other`` and not above it in ``one``; both are whole, from 0.

    In the order of ``one`` those are the smaller ones that stand before it. They are counted bit by bit, the highest
    first: among numbers whose higher bits are the same, a 0 is smaller than a 1.
    """
    places = np.lexsort((other, one))
    # In few bits, since numpy sorts numbers of up to 16 by counting.
    values = other[places].astype(np.min_scalar_type(int(other.max(initial=0))))
    found = np.zeros(len(one), dtype=np.int64)
    for bit in reversed(range(int(other.max(initial=0)).bit_length())):
        shifted = values >> bit
        ones = (shifted & 1).astype(np.bool_)
        zeros_so_far = np.cumsum(~ones)
        starts = np.flatnonzero(np.diff((shifted >> 1).astype(np.int64), prepend=-1))
        before: Indices = zeros_so_far[starts] - ~ones[starts]
        smaller: Indices = zeros_so_far - np.repeat(before, np.diff(starts, append=len(values)))
        found[places[ones]] += smaller[ones]
        order = np.argsort(shifted, kind="stable")  # in place within equal higher bits, as they stood
        values, places = values[order], places[order]
    return found
