"""How far raters agree, finding by finding and never pooled over findings (method 7 and 8)."""

from collections.abc import Sequence
from dataclasses import dataclass, fields

import krippendorff
import numpy as np
import numpy.typing as npt

from workbench.domain.findings import MISSING, State
from workbench.errors import InputError
from workbench.evaluation.consensus import Counts
from workbench.evaluation.numbers import Figure, mean_of_defined, ratio, undefined

COLLAPSED = (0, 1)
FOUR_STATES = tuple(state.code for state in State)
NO_PAIR = "no report was rated by two raters"
NO_VARIATION = "no variation"
NEVER_PRESENT = "no rater called it present"


@dataclass(frozen=True, slots=True)
class Coefficients:
    """The agreement on one finding, or the mean over findings (then each n says over how many it is defined).

    ``items`` reports have two or more ratings. ``percent`` is the pairwise agreement, averaged over items;
    ``positive`` the positive specific agreement: of the ratings "present", the share of fellow raters who said so too.
    ``alpha`` (Krippendorff, nominal) and ``fleiss`` are undefined without variation; ``ac1`` (Gwet) and
    ``brennan_prediger`` are 1 there, which means little: nobody had anything to disagree on. ``prevalence`` is the
    share of ratings "present". For rare findings ac1 flatters and alpha punishes: show both beside ``positive``.
    """

    items: int
    prevalence: Figure
    percent: Figure
    positive: Figure
    alpha: Figure
    fleiss: Figure
    ac1: Figure
    brennan_prediger: Figure

    def figures(self) -> dict[str, Figure]:
        """Return the figures by name, in the order in which they are shown."""
        return {field.name: getattr(self, field.name) for field in fields(self) if field.name != "items"}

    def as_json(self) -> dict[str, object]:
        """Return the JSON form."""
        return {"items": self.items, **{name: figure.as_json() for name, figure in self.figures().items()}}


@dataclass(frozen=True, slots=True)
class Agreement:
    """The agreement per finding, and over findings as the plain mean of those where a coefficient is defined."""

    finding_ids: tuple[str, ...]
    findings: tuple[Coefficients, ...]
    overall: Coefficients

    def as_json(self) -> dict[str, object]:
        """Return the JSON form."""
        rows = zip(self.finding_ids, self.findings, strict=True)
        return {"findings": {name: row.as_json() for name, row in rows}, "overall": self.overall.as_json()}


def agreement(
    finding_ids: Sequence[str], ratings: npt.ArrayLike, *, categories: Sequence[int] = COLLAPSED
) -> Agreement:
    """Return the agreement among raters on each finding and over findings.

    Args:
        finding_ids: the columns' findings.
        ratings: [report, finding, rater]: collapsed votes (primary) or four-state codes; MISSING where not given.
        categories: the answers that raters could choose from, chosen or not: ``COLLAPSED``, ``FOUR_STATES``, or the
            states that the study asks for. AC1 and Brennan-Prediger depend on how many there are.

    Raises:
        InputError: there are fewer than two raters.
        ValueError: a rating is none of the categories, or shapes do not fit.
    """
    array = np.asarray(ratings)
    if array.ndim != 3 or array.shape[1] != len(finding_ids):
        raise ValueError(f"ratings of shape {array.shape} are not [report, {len(finding_ids)} findings, rater]")
    if array.shape[2] < 2:
        raise InputError("Agreement needs at least two raters and there is only one; import another rater's labels.")
    strange = np.setdiff1d(array, (*categories, MISSING))
    if strange.size:
        raise ValueError(f"ratings {strange.tolist()} are none of the categories {list(categories)}")
    chosen = [np.count_nonzero(array == category, axis=2) for category in categories]
    counts = np.stack(chosen, axis=2)  # [report, finding, category]
    present = list(categories).index(State.PRESENT.code)
    findings = tuple(coefficients(counts[:, i], present) for i in range(len(finding_ids)))
    return Agreement(tuple(finding_ids), findings, _overall(findings))


def coefficients(counts: npt.ArrayLike, present: int) -> Coefficients:
    """Return the coefficients of one finding from how many raters gave each report each answer.

    With r_ik raters who gave item i the answer k, r_i = sum over k, q categories, n items with a rating, n2 items
    with two or more, and pi_k = mean over the n items of r_ik / r_i:

    - pa = mean over the n2 items of sum_k r_ik (r_ik - 1) / (r_i (r_i - 1)): ``percent``;
    - Fleiss: pe = sum_k pi_k^2; AC1: pe = sum_k pi_k (1 - pi_k) / (q - 1); Brennan-Prediger: pe = 1 / q; each is
      (pa - pe) / (1 - pe), with missing ratings as in irrCAC (Gwet, Handbook of Inter-Rater Reliability, 4th ed.);
    - positive specific agreement = sum_i r_i1 (r_i1 - 1) / sum_i r_i1 (r_i - 1) (Uebersax; Cicchetti and Feinstein);
    - alpha by the package krippendorff, nominal.

    Args:
        counts: [item, category] with all categories that could be chosen.
        present: the column that means present.
    """
    table = np.asarray(counts, dtype=np.int64)
    per_item = table.sum(axis=1)
    prevalence = ratio(int(table[:, present].sum()), int(table.sum()), int(table.sum()), "no report was rated")
    pairable = table[per_item >= 2]
    items = len(pairable)
    if not items:
        none = undefined(NO_PAIR)
        return Coefficients(0, prevalence, none, none, none, none, none, none)
    raters = pairable.sum(axis=1)
    percent = float(np.mean((pairable * (pairable - 1)).sum(axis=1) / (raters * (raters - 1))))
    rated = per_item >= 1
    shares = (table[rated] / per_item[rated, None]).mean(axis=0)
    categories = table.shape[1]
    same = np.count_nonzero(pairable.sum(axis=0)) == 1

    def beyond_chance(expected: float) -> Figure:
        return Figure((percent - expected) / (1 - expected), items)

    return Coefficients(
        items=items,
        prevalence=prevalence,
        percent=Figure(percent, items),
        positive=_positive(pairable[:, present], raters),
        alpha=undefined(NO_VARIATION, items) if same else Figure(_alpha(table), items),
        fleiss=undefined(NO_VARIATION, items) if same else beyond_chance(float((shares**2).sum())),
        ac1=beyond_chance(float((shares * (1 - shares)).sum()) / (categories - 1)),
        brennan_prediger=beyond_chance(1 / categories),
    )


def _positive(said_present: Counts, raters: Counts) -> Figure:
    agreeing = int((said_present * (said_present - 1)).sum())
    possible = int((said_present * (raters - 1)).sum())
    return ratio(agreeing, possible, int(said_present.sum()), NEVER_PRESENT)


def _alpha(counts: Counts) -> float:
    # The package's default is the interval level, which would treat the codes as numbers.
    return float(krippendorff.alpha(value_counts=counts, level_of_measurement="nominal"))


def _overall(findings: Sequence[Coefficients]) -> Coefficients:
    """Average each coefficient over the findings where it is defined."""
    means = {
        name: mean_of_defined([finding.figures()[name] for finding in findings], "defined for no finding")
        for name in (field.name for field in fields(Coefficients) if field.name != "items")
    }
    return Coefficients(items=max((finding.items for finding in findings), default=0), **means)
