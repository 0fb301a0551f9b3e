"""How far raters agree, finding by finding and never pooled over findings (method 7 and 8)."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import krippendorff
import numpy as np
import numpy.typing as npt

from workbench.domain.findings import MISSING, State
from workbench.errors import InputError
from workbench.evaluation import agreement_json as stored
from workbench.evaluation.agreement_sums import NAMES, item_statistics, values
from workbench.evaluation.consensus import Counts
from workbench.evaluation.intervals import SEED, Numbers, patient_index, resample_patients, with_bootstrap
from workbench.evaluation.numbers import Figure, mean_of_defined, undefined

COLLAPSED = (0, 1)
FOUR_STATES = tuple(state.code for state in State)
AGREEMENT_RESAMPLES = 1000
NOT_RATED = "no report was rated"
NO_PAIR = "no report was rated by two raters"
NO_VARIATION = "no variation"
NEVER_PRESENT = "no rater called it present"
NOWHERE = "defined for no finding"


@dataclass(frozen=True, slots=True)
class Coefficients:
    """The agreement on one finding, or the mean over findings (then each n says over how many it is defined).

    ``items`` reports have two or more ratings (of the mean: the most of any finding). ``percent`` is the pairwise
    agreement, averaged over items; ``positive`` the positive specific agreement: of the ratings "present", the share
    of fellow raters who said so too. ``alpha`` (Krippendorff, nominal) and ``fleiss`` are undefined without variation;
    ``ac1`` (Gwet) and ``brennan_prediger`` are 1 there, which means little: nobody had anything to disagree on.
    ``prevalence`` is the share of ratings "present". For rare findings ac1 flatters and alpha punishes: show both
    beside ``positive``. All lie at or under 1; the chance-corrected ones are about 0 for raters who guess, and below 0
    where raters differ more than that.

    Intervals are percentile bootstraps over patients. ``left_out`` says of each defined coefficient in how many
    resamples it was undefined (of the mean: at least one finding's was) and so left out; it is empty without resamples.
    """

    items: int
    prevalence: Figure
    percent: Figure
    positive: Figure
    alpha: Figure
    fleiss: Figure
    ac1: Figure
    brennan_prediger: Figure
    left_out: Mapping[str, int] = field(default_factory=dict)

    def figures(self) -> dict[str, Figure]:
        """Return the figures by name, in the order in which they are shown."""
        return {name: getattr(self, name) for name in NAMES}

    def as_json(self) -> dict[str, object]:
        """Return the JSON form."""
        shown = {name: figure.as_json() for name, figure in self.figures().items()}
        return {"items": self.items, **shown, "left_out": dict(self.left_out)}

    @classmethod
    def from_json(cls, value: Mapping[str, object]) -> "Coefficients":
        """Read what ``as_json`` wrote."""
        left_out = {name: stored.whole(times) for name, times in stored.mapping(value["left_out"]).items()}
        return cls(
            stored.whole(value["items"]), **{name: stored.figure(value[name]) for name in NAMES}, left_out=left_out
        )


@dataclass(frozen=True, slots=True)
class Agreement:
    """The agreement per finding, and over findings as the plain mean of those where a coefficient is defined.

    ``categories`` are the answers that raters could choose from. ``resamples`` bootstrap draws of ``patients``
    patients with ``seed`` made the intervals; 0 resamples where there are none.
    """

    finding_ids: tuple[str, ...]
    findings: tuple[Coefficients, ...]
    overall: Coefficients
    categories: tuple[int, ...] = COLLAPSED
    resamples: int = 0
    patients: int = 0
    seed: int = SEED

    def of(self, finding_id: str) -> Coefficients:
        """Return the agreement on one finding. Raises KeyError for an unknown one."""
        if finding_id not in self.finding_ids:
            raise KeyError(finding_id)
        return self.findings[self.finding_ids.index(finding_id)]

    def as_json(self) -> dict[str, object]:
        """Return the JSON form; ``from_json`` makes an equal agreement of it."""
        by_id = zip(self.finding_ids, self.findings, strict=True)
        return {
            "finding_ids": list(self.finding_ids),  # the order, which an object need not keep
            "findings": {name: row.as_json() for name, row in by_id},
            "overall": self.overall.as_json(),
            "categories": list(self.categories),
            "resamples": self.resamples,
            "patients": self.patients,
            "seed": self.seed,
        }

    @classmethod
    def from_json(cls, value: Mapping[str, object]) -> "Agreement":
        """Read what ``as_json`` wrote."""
        ids, by_id = stored.texts(value["finding_ids"]), stored.mapping(value["findings"])
        return cls(
            finding_ids=ids,
            findings=tuple(Coefficients.from_json(stored.mapping(by_id[name])) for name in ids),
            overall=Coefficients.from_json(stored.mapping(value["overall"])),
            categories=tuple(stored.whole(code) for code in stored.items(value["categories"])),
            resamples=stored.whole(value["resamples"]),
            patients=stored.whole(value["patients"]),
            seed=stored.whole(value["seed"]),
        )


def agreement(
    finding_ids: Sequence[str],
    ratings: npt.ArrayLike,
    *,
    categories: Sequence[int] = COLLAPSED,
    patients: Sequence[str] | None = None,
    resamples: int = AGREEMENT_RESAMPLES,
    seed: int = SEED,
) -> Agreement:
    """Return the agreement among raters on each finding and over findings.

    A missing rating drops nobody else's. What counts of a report depends on how many ratings it has: ``prevalence``
    takes every rating; ``percent``, ``positive`` and ``alpha`` take the reports with two or more; ``fleiss``, ``ac1``
    and ``brennan_prediger`` take their agreement from the reports with two or more, and fleiss and ac1 their chance
    term from all reports with a rating, as irrCAC does. A rater who rated nothing changes nothing.

    Args:
        finding_ids: the columns' findings.
        ratings: [report, finding, rater]: collapsed votes (primary) or four-state codes; MISSING where not given. On
            collapsed votes an uncertain vote under the policy exclude is missing too.
        categories: the answers that raters could choose from, chosen or not: ``COLLAPSED``, ``FOUR_STATES``, or the
            states that the study asks for. AC1 and Brennan-Prediger depend on how many there are.
        patients: the patient id of each report; without it there are no intervals.
        resamples: bootstrap draws of patients. The draws depend on the seed and on how many patients there are, so one
            finding alone gets the interval that it has among others.
        seed: of the bootstrap.

    Raises:
        InputError: there are fewer than two raters.
        ValueError: a rating is none of the categories, there are fewer than two, or shapes do not fit.
    """
    result = Agreement(tuple(finding_ids), (), _Means().coefficients([]), tuple(categories))
    for result in agreement_as_it_arrives(  # noqa: B007 - the last is the whole
        finding_ids, ratings, categories=categories, patients=patients, resamples=resamples, seed=seed
    ):
        pass
    return result


def agreement_as_it_arrives(
    finding_ids: Sequence[str],
    ratings: npt.ArrayLike,
    *,
    categories: Sequence[int] = COLLAPSED,
    patients: Sequence[str] | None = None,
    resamples: int = AGREEMENT_RESAMPLES,
    seed: int = SEED,
) -> Iterator[Agreement]:
    """Return an iterator over growing results: the first finding, the first two, and so on.

    So that a page can draw each finding when it is ready. ``overall`` is over the findings so far, and its n say how
    many; the last result is that of ``agreement``, whose arguments and errors are the same (errors come at once).
    """
    counts = _counts(finding_ids, ratings, categories)
    present = list(categories).index(State.PRESENT.code)
    draws = np.empty((0, len(finding_ids), 0))
    n_patients = 0
    if patients is not None:
        draws = resample_patients(item_statistics(counts, present), patients, resamples, seed)
        n_patients = patient_index(patients)[1]

    def grow() -> Iterator[Agreement]:
        rows: list[Coefficients] = []
        means = _Means()
        for i in range(len(finding_ids)):
            samples = None if patients is None else values(draws[:, i])
            rows.append(coefficients(counts[:, i], present, samples))
            means.add(samples)
            yield Agreement(
                finding_ids=tuple(finding_ids[: i + 1]),
                findings=tuple(rows),
                overall=means.coefficients(rows),
                categories=tuple(categories),
                resamples=len(draws),
                patients=n_patients,
                seed=seed,
            )

    return grow()


def _counts(finding_ids: Sequence[str], ratings: npt.ArrayLike, categories: Sequence[int]) -> Counts:
    """Return how many raters gave each answer, [report, finding, category]."""
    array = np.asarray(ratings)
    if array.ndim != 3 or array.shape[1] != len(finding_ids):
        raise ValueError(f"ratings of shape {array.shape} are not [report, {len(finding_ids)} findings, rater]")
    if array.shape[2] < 2:
        raise InputError("Agreement needs at least two raters and there is only one; import another rater's labels.")
    if len(set(categories)) < 2 or len(set(categories)) != len(categories):
        raise ValueError(f"raters choose among two or more different categories, not {list(categories)}")
    strange = np.setdiff1d(array, (*categories, MISSING))
    if strange.size:
        raise ValueError(f"ratings {strange.tolist()} are none of the categories {list(categories)}")
    return np.stack([np.count_nonzero(array == category, axis=2) for category in categories], axis=2)


def coefficients(counts: npt.ArrayLike, present: int, samples: Numbers | None = None) -> Coefficients:
    """Return the coefficients of one finding from how many raters gave each report each answer.

    With r_ik raters who gave item i the answer k, r_i = sum over k, q categories, n items with a rating, n2 items
    with two or more, and pi_k = mean over the n items of r_ik / r_i:

    - pa = mean over the n2 items of sum_k r_ik (r_ik - 1) / (r_i (r_i - 1)): ``percent``;
    - Fleiss: pe = sum_k pi_k^2; AC1: pe = sum_k pi_k (1 - pi_k) / (q - 1); Brennan-Prediger: pe = 1 / q; each is
      (pa - pe) / (1 - pe), with missing ratings as in irrCAC (Gwet, Handbook of Inter-Rater Reliability, 4th ed.);
    - positive specific agreement = sum_i r_i1 (r_i1 - 1) / sum_i r_i1 (r_i - 1) over the n2 items (Uebersax; Cicchetti
      and Feinstein);
    - alpha by the package krippendorff, nominal: 1 - Do / De over the n2 items, with n_k = sum_i r_ik and
      N = sum_k n_k, Do = sum_i sum_k r_ik (r_i - r_ik) / (r_i - 1) / N and De = sum_k n_k (N - n_k) / (N (N - 1)).

    Args:
        counts: [item, category] with all categories that could be chosen.
        present: the column that means present.
        samples: the coefficients of each bootstrap draw, [resample, 7] of ``agreement_sums.values``, for intervals.
    """
    table = np.asarray(counts, dtype=np.int64)
    per_item = table.sum(axis=1)
    pairable = table[per_item >= 2]
    items, ratings = len(pairable), int(table.sum())
    ns = dict.fromkeys(NAMES, items) | {"prevalence": ratings, "positive": int(pairable[:, present].sum())}
    if items:
        reasons = dict.fromkeys(NAMES, NO_VARIATION) | {"positive": NEVER_PRESENT}
    else:
        reasons = dict.fromkeys(NAMES, NO_PAIR) | {"prevalence": NOT_RATED}
    found = dict(zip(NAMES, values(item_statistics(table, present).sum(axis=0)).tolist(), strict=True))
    if not np.isnan(found["alpha"]):
        found["alpha"] = _alpha(table)
    figures = [
        undefined(reasons[name], ns[name]) if np.isnan(value) else Figure(value, ns[name])
        for name, value in found.items()
    ]
    return _with_intervals(items, figures, samples, None)


def _alpha(counts: Counts) -> float:
    # The package's default is the interval level, which would treat the codes as numbers.
    return float(krippendorff.alpha(value_counts=counts, level_of_measurement="nominal"))


def _with_intervals(
    items: int, figures: Sequence[Figure], samples: Numbers | None, complete: npt.NDArray[np.int64] | None
) -> Coefficients:
    """Put figures and their bootstrap samples [resample, 7] together; without samples there are no intervals.

    ``complete`` says per coefficient how many resamples left nothing out; by default those that are defined.
    """
    shown, left_out = tuple(figures), {}
    if samples is not None:
        shown = with_bootstrap(figures, samples)
        whole_ones = np.count_nonzero(~np.isnan(samples), axis=0) if complete is None else complete
        left_out = {
            name: len(samples) - int(whole_ones[i]) for i, name in enumerate(NAMES) if shown[i].defined and len(samples)
        }
    return Coefficients(items, **dict(zip(NAMES, shown, strict=True)), left_out=left_out)


class _Means:
    """The mean over findings in each resample, added up as findings arrive."""

    def __init__(self) -> None:
        self.sums: Numbers | None = None
        self.defined = np.zeros((0, len(NAMES)), dtype=np.int64)

    def add(self, samples: Numbers | None) -> None:
        """Take in a finding's coefficients per resample, [resample, 7], NaN where undefined."""
        if samples is None:
            return
        there = ~np.isnan(samples)
        if self.sums is None:
            self.sums, self.defined = np.zeros(samples.shape), np.zeros(samples.shape, dtype=np.int64)
        self.sums += np.where(there, samples, 0.0)
        self.defined += there

    def coefficients(self, findings: Sequence[Coefficients]) -> Coefficients:
        """Average each coefficient over the findings where it is defined.

        A coefficient that the cohort leaves undefined is undefined in each resample, so the findings of the mean are
        fixed before any resampling, but for those that a resample leaves out.
        """
        figures = [mean_of_defined([finding.figures()[name] for finding in findings], NOWHERE) for name in NAMES]
        items = max((finding.items for finding in findings), default=0)
        if self.sums is None:
            return _with_intervals(items, figures, None, None)
        samples = np.full(self.sums.shape, np.nan)
        np.divide(self.sums, self.defined, out=samples, where=self.defined > 0)
        complete = np.count_nonzero(self.defined == [figure.n for figure in figures], axis=0)
        return _with_intervals(items, figures, samples, complete)
