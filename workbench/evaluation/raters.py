"""Who over-calls: each rater's rate of "present" per finding beside that of the other raters."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from workbench.domain.findings import MISSING, STATE_OF_CODE, State
from workbench.evaluation import agreement_json as stored
from workbench.evaluation.agreement import AGREEMENT_RESAMPLES, NOWHERE
from workbench.evaluation.intervals import SEED, Numbers, proportion, resample_patients, with_bootstrap
from workbench.evaluation.numbers import Figure, mean_of_defined, ratio, undefined

RATED_NOTHING = "the rater rated no report"
NO_OTHER = "no other rater rated these reports"


@dataclass(frozen=True, slots=True)
class Rate:
    """How often one rater says "present" on one finding.

    ``rate`` is the share of all reports that the rater rated, with a Wilson interval. The other two are about the
    reports that the rater and at least one other rated, so that raters who saw different reports compare fairly:
    ``others`` is the mean over these reports of the share of the other raters who said present, and ``deviation`` the
    rater's own rate there less ``others``: above 0 the rater says present more often (over-calls), below 0 less often,
    -1 to 1. Its interval is a percentile bootstrap over patients.
    """

    rate: Figure
    others: Figure
    deviation: Figure

    def as_json(self) -> dict[str, object]:
        """Return the JSON form."""
        return {
            "rate": self.rate.as_json(),
            "others": self.others.as_json(),
            "deviation": self.deviation.as_json(),
        }

    @classmethod
    def from_json(cls, value: Mapping[str, object]) -> "Rate":
        """Read what ``as_json`` wrote."""
        return cls(*(stored.figure(value[name]) for name in ("rate", "others", "deviation")))


@dataclass(frozen=True, slots=True)
class RaterRates:
    """One rater's rates per finding, and ``overall`` their means over findings where defined (n says how many)."""

    rater: str
    findings: tuple[Rate, ...]
    overall: Rate

    def as_json(self) -> dict[str, object]:
        """Return the JSON form."""
        return {
            "rater": self.rater,
            "findings": [rate.as_json() for rate in self.findings],
            "overall": self.overall.as_json(),
        }

    @classmethod
    def from_json(cls, value: Mapping[str, object]) -> "RaterRates":
        """Read what ``as_json`` wrote."""
        findings = tuple(Rate.from_json(row) for row in stored.rows(value["findings"]))
        return cls(str(value["rater"]), findings, Rate.from_json(stored.mapping(value["overall"])))


@dataclass(frozen=True, slots=True)
class Rates:
    """Every rater's rates, findings and raters in the order in which they were given."""

    finding_ids: tuple[str, ...]
    raters: tuple[RaterRates, ...]

    def of(self, rater: str) -> RaterRates:
        """Return one rater's rates. Raises KeyError for an unknown one."""
        for row in self.raters:
            if row.rater == rater:
                return row
        raise KeyError(rater)

    def as_json(self) -> dict[str, object]:
        """Return the JSON form; ``from_json`` makes an equal one of it."""
        return {"finding_ids": list(self.finding_ids), "raters": [row.as_json() for row in self.raters]}

    @classmethod
    def from_json(cls, value: Mapping[str, object]) -> "Rates":
        """Read what ``as_json`` wrote."""
        raters = tuple(RaterRates.from_json(row) for row in stored.rows(value["raters"]))
        return cls(stored.texts(value["finding_ids"]), raters)


def present_rates(
    finding_ids: Sequence[str],
    raters: Sequence[str],
    ratings: npt.ArrayLike,
    *,
    patients: Sequence[str] | None = None,
    resamples: int = AGREEMENT_RESAMPLES,
    seed: int = SEED,
) -> Rates:
    """Return how often each rater says "present", and how that differs from the others.

    How far each rater is right by the others' vote (sensitivity, precision) is in ``benchmark``.

    Args:
        finding_ids: the columns' findings.
        raters: the raters' names, in the order of the last axis.
        ratings: [report, finding, rater]: collapsed votes (primary; an uncertain vote is then present, absent or
            missing by policy) or four-state codes (then only "present" itself counts); MISSING where not given.
        patients: the patient id of each report; without it the deviations have no interval.
        resamples: bootstrap draws of patients.
        seed: of the bootstrap.

    Returns:
        Rates; of a single rater, or of one who rated nothing, what cannot be compared is undefined.

    Raises:
        ValueError: a code is unknown or shapes do not fit.
    """
    array = np.asarray(ratings)
    if array.ndim != 3 or array.shape[1:] != (len(finding_ids), len(raters)):
        raise ValueError(f"ratings {array.shape} are not [report, {len(finding_ids)} findings, {len(raters)} raters]")
    strange = np.setdiff1d(array, (*STATE_OF_CODE, MISSING))
    if strange.size:
        raise ValueError(f"ratings {strange.tolist()} are no states")
    given, said = array != MISSING, array == State.PRESENT.code
    by_report = _shared(given, said)
    sums = by_report.sum(axis=0)
    samples = None if patients is None else _deviations(resample_patients(by_report, patients, resamples, seed))
    rows = []
    for j, rater in enumerate(raters):
        counts = given[:, :, j].sum(axis=0).tolist(), said[:, :, j].sum(axis=0).tolist()
        own = [proportion(said_n, given_n, RATED_NOTHING) for given_n, said_n in zip(*counts, strict=True)]
        of_rater = None if samples is None else samples[:, :, j]
        rows.append(_rater(rater, own, sums[:, j], of_rater))
    return Rates(tuple(finding_ids), tuple(rows))


def _shared(given: npt.NDArray[np.bool_], said: npt.NDArray[np.bool_]) -> Numbers:
    """Return, of reports that another rater rated too, [report, finding, rater, (own, others' share, 1)]."""
    others = given.sum(axis=2, keepdims=True) - given
    both = given & (others > 0)
    others_said = said.sum(axis=2, keepdims=True) - said
    share = np.divide(others_said, others, out=np.zeros(given.shape), where=both)
    return np.stack([said & both, share, both], axis=-1).astype(np.float64)


def _deviations(sums: Numbers) -> Numbers:
    own, others, n = np.moveaxis(sums, -1, 0)
    out: Numbers = np.full(n.shape, np.nan)
    np.divide(own - others, n, out=out, where=n > 0)
    return out


def _rater(rater: str, own: Sequence[Figure], sums: Numbers, samples: Numbers | None) -> RaterRates:
    """Put one rater's figures together; ``sums`` [finding, 3] of ``_shared``, ``samples`` [resample, finding]."""
    why = [NO_OTHER if figure.defined else RATED_NOTHING for figure in own]
    others = [ratio(share, n, int(n), reason) for (_, share, n), reason in zip(sums.tolist(), why, strict=True)]
    deviations = [
        undefined(reason) if np.isnan(value) else Figure(value, int(n))
        for value, n, reason in zip(_deviations(sums).tolist(), sums[:, 2], why, strict=True)
    ]
    mean = mean_of_defined(deviations, NOWHERE)
    if samples is not None:
        deviations = list(with_bootstrap(deviations, samples))
        defined = np.count_nonzero(~np.isnan(samples), axis=1)
        means: Numbers = np.full(defined.shape, np.nan)
        np.divide(np.nansum(samples, axis=1), defined, out=means, where=defined > 0)
        [mean] = with_bootstrap([mean], means[:, None])
    overall = Rate(mean_of_defined(own, NOWHERE), mean_of_defined(others, NOWHERE), mean)
    return RaterRates(rater, tuple(Rate(*row) for row in zip(own, others, deviations, strict=True)), overall)
