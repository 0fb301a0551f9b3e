"""What the agreement coefficients are made of: sums over reports, so that a bootstrap is one matrix product."""

from typing import Final

import numpy as np

from workbench.evaluation.consensus import Counts
from workbench.evaluation.intervals import Numbers

NAMES: Final = ("prevalence", "percent", "positive", "alpha", "fleiss", "ac1", "brennan_prediger")
SCALARS = 8  # columns before the two blocks of one column per category


def item_statistics(counts: Counts, present: int) -> Numbers:
    """Return per report the numbers whose sums decide every coefficient.

    With r_k ratings k of a report and r = sum_k r_k, a report is *pairable* where r >= 2 and *rated* where r >= 1; what
    is said of pairable reports is 0 on the others. The columns are: pairable; rated; r_1 (present); r; of pairable
    ones the share of pairs of ratings apart, sum_k r_k (r - r_k) / (r (r - 1)); r_1 (r_1 - 1); r_1 (r - 1); and
    sum_k r_k (r - r_k) / (r - 1), the coincidences apart; then r_k / r of rated ones per category; then r_k of
    pairable ones per category.

    Args:
        counts: [..., category], how many raters gave each answer; one leading axis is the report.
        present: the category that means present.

    Returns:
        [..., 8 + 2 x categories].
    """
    table = counts.astype(np.float64)
    ratings = table.sum(axis=-1)
    pairable, rated = ratings >= 2, ratings >= 1
    said = table[..., present]
    mates = np.where(pairable, ratings - 1, 1.0)
    apart = np.where(pairable, (table * (ratings[..., None] - table)).sum(axis=-1) / mates, 0.0)
    some = np.where(rated, ratings, 1.0)
    scalars = (
        pairable,
        rated,
        said,
        ratings,
        apart / some,
        pairable * said * (said - 1),
        pairable * said * (ratings - 1),
        apart,
    )
    return np.concatenate([np.stack(scalars, axis=-1), table / some[..., None], table * pairable[..., None]], axis=-1)


def values(sums: Numbers) -> Numbers:
    """Return the coefficients from sums over reports of ``item_statistics``, NaN where undefined.

    The formulas are those in ``workbench.evaluation.agreement.coefficients``, written with the disagreement
    1 - pa and with 1 - sum_k pi_k^2 = sum_k pi_k (1 - pi_k), which lose no digits where nearly all agree. Whether
    anything varied is read from whole numbers, so it does not depend on rounding.

    Args:
        sums: [..., 8 + 2 x categories]; a row is the cohort or one bootstrap draw, in which a report drawn twice
            counts as two reports.

    Returns:
        [..., 7] in the order of ``NAMES``.
    """
    items, rated, said, ratings, pairs_apart, together, possible, apart = np.moveaxis(sums[..., :SCALARS], -1, 0)
    shares, pairable = np.split(sums[..., SCALARS:], 2, axis=-1)
    categories = shares.shape[-1]
    disagreement = _divide(pairs_apart, items)
    pi = _divide(shares, rated[..., None])
    varied_pi = (pi * (1 - pi)).sum(axis=-1)
    paired = pairable.sum(axis=-1)
    unlike = (pairable * (paired[..., None] - pairable)).sum(axis=-1)  # 0 exactly where nothing varied
    columns = (
        _divide(said, ratings),
        1 - disagreement,
        _divide(together, possible),
        1 - _divide((paired - 1) * apart, unlike),
        1 - _divide(disagreement, np.where(unlike > 0, varied_pi, 0.0)),
        1 - disagreement / (1 - varied_pi / (categories - 1)),
        1 - disagreement / (1 - 1 / categories),
    )
    return np.stack(columns, axis=-1)


def _divide(numerator: Numbers, denominator: Numbers) -> Numbers:
    shape = np.broadcast_shapes(numerator.shape, denominator.shape)
    out: Numbers = np.full(shape, np.nan)
    np.divide(numerator, denominator, out=out, where=denominator > 0)
    return out
