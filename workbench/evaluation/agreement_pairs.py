"""Two readings of the same reports: by two raters (Cohen's kappa matrix), or by one rater twice (method 7 and 8)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Final

import numpy as np
import numpy.typing as npt

from workbench.domain.findings import MISSING, State
from workbench.errors import InputError
from workbench.evaluation import agreement_json as stored
from workbench.evaluation.agreement import AGREEMENT_RESAMPLES, COLLAPSED, NO_VARIATION, NOWHERE
from workbench.evaluation.intervals import SEED, Numbers, proportion, resample_patients, with_bootstrap
from workbench.evaluation.numbers import Figure, mean_of_defined, undefined

NAMES: Final = ("percent", "positive", "kappa")
NOT_BOTH = "no report was rated by both"
NOT_TWICE = "no report was rated twice"
NEITHER_PRESENT = "neither reading called it present"
SAME_RATER = "the same rater"


@dataclass(frozen=True, slots=True)
class Concordance:
    """How far two readings agree on one finding, or the mean over findings (then each n says over how many).

    ``reports`` have both readings (of the mean: the most of any finding), and on ``differ`` of them the readings differ
    (of the mean: added up over findings). ``percent`` is the share alike, with a Wilson interval on one finding;
    ``positive`` the positive specific agreement 2 a / (2 a + b + c), with a both present and b, c present once;
    ``kappa`` Cohen's, undefined where both readings gave one and the same answer throughout. All are at most 1; kappa
    is about 0 for chance, also where one reading never varied and the other did.

    Intervals of ``positive``, ``kappa`` and the means are percentile bootstraps over patients. ``left_out`` says in
    how many resamples each was undefined (of the mean: at least one finding's was); empty without resamples.
    """

    reports: int
    differ: int
    percent: Figure
    positive: Figure
    kappa: Figure
    left_out: Mapping[str, int] = field(default_factory=dict)

    def figures(self) -> dict[str, Figure]:
        """Return the figures by name, in the order in which they are shown."""
        return {name: getattr(self, name) for name in NAMES}

    def as_json(self) -> dict[str, object]:
        """Return the JSON form."""
        shown = {name: figure.as_json() for name, figure in self.figures().items()}
        return {"reports": self.reports, "differ": self.differ, **shown, "left_out": dict(self.left_out)}

    @classmethod
    def from_json(cls, value: Mapping[str, object]) -> "Concordance":
        """Read what ``as_json`` wrote."""
        return cls(
            reports=stored.whole(value["reports"]),
            differ=stored.whole(value["differ"]),
            percent=stored.figure(value["percent"]),
            positive=stored.figure(value["positive"]),
            kappa=stored.figure(value["kappa"]),
            left_out={name: stored.whole(times) for name, times in stored.mapping(value["left_out"]).items()},
        )


@dataclass(frozen=True, slots=True)
class Pair:
    """Two different raters, or one rater's first and second reading (then both names are the same)."""

    first: str
    second: str
    findings: tuple[Concordance, ...]
    overall: Concordance

    def as_json(self) -> dict[str, object]:
        """Return the JSON form."""
        return {
            "first": self.first,
            "second": self.second,
            "findings": [row.as_json() for row in self.findings],
            "overall": self.overall.as_json(),
        }

    @classmethod
    def from_json(cls, value: Mapping[str, object]) -> "Pair":
        """Read what ``as_json`` wrote."""
        return cls(
            first=str(value["first"]),
            second=str(value["second"]),
            findings=tuple(Concordance.from_json(row) for row in stored.rows(value["findings"])),
            overall=Concordance.from_json(stored.mapping(value["overall"])),
        )


@dataclass(frozen=True, slots=True)
class PairAgreement:
    """Every pair of raters (``pairwise``), or every rater with himself or herself (``intra_rater``)."""

    finding_ids: tuple[str, ...]
    raters: tuple[str, ...]
    pairs: tuple[Pair, ...]

    def of(self, first: str, second: str | None = None) -> Pair:
        """Return the pair of two raters in either order, or of one rater's two readings. Raises KeyError without."""
        wanted = {first, first if second is None else second}
        for pair in self.pairs:
            if {pair.first, pair.second} == wanted:
                return pair
        raise KeyError((first, second))

    def matrix(self, name: str = "kappa", finding_id: str | None = None) -> tuple[tuple[Figure, ...], ...]:
        """Return one figure per pair, [rater][rater] in the order of ``raters``, symmetric.

        Args:
            name: ``kappa``, ``percent`` or ``positive``.
            finding_id: of one finding; the mean over findings without. A cell without a pair (the diagonal of
                ``pairwise``) is undefined.

        Raises:
            ValueError: the finding is unknown.
        """
        at = None if finding_id is None else self.finding_ids.index(finding_id)
        cells = {
            frozenset((pair.first, pair.second)): (pair.overall if at is None else pair.findings[at]).figures()[name]
            for pair in self.pairs
        }
        return tuple(
            tuple(cells.get(frozenset((row, column)), undefined(SAME_RATER)) for column in self.raters)
            for row in self.raters
        )

    def as_json(self) -> dict[str, object]:
        """Return the JSON form; ``from_json`` makes an equal one of it."""
        return {
            "finding_ids": list(self.finding_ids),
            "raters": list(self.raters),
            "pairs": [pair.as_json() for pair in self.pairs],
        }

    @classmethod
    def from_json(cls, value: Mapping[str, object]) -> "PairAgreement":
        """Read what ``as_json`` wrote."""
        pairs = tuple(Pair.from_json(row) for row in stored.rows(value["pairs"]))
        return cls(stored.texts(value["finding_ids"]), stored.texts(value["raters"]), pairs)


def pairwise(
    finding_ids: Sequence[str],
    raters: Sequence[str],
    ratings: npt.ArrayLike,
    *,
    categories: Sequence[int] = COLLAPSED,
    patients: Sequence[str] | None = None,
    resamples: int = AGREEMENT_RESAMPLES,
    seed: int = SEED,
) -> PairAgreement:
    """Return the agreement of each two raters on each finding and over findings.

    A pair is compared on the reports that both rated; what only one of them rated is left out of that pair alone.

    Args:
        finding_ids: the columns' findings.
        raters: the raters' names, in the order of the last axis.
        ratings: [report, finding, rater]: collapsed votes (primary) or four-state codes; MISSING where not given.
        categories: the answers that raters could choose from.
        patients: the patient id of each report; without it only percent has an interval.
        resamples: bootstrap draws of patients, of those with a report that both rated.
        seed: of the bootstrap.

    Raises:
        InputError: there are fewer than two raters.
        ValueError: a rating is none of the categories, a rater is named twice, or shapes do not fit.
    """
    array = np.asarray(ratings)
    if array.ndim != 3 or array.shape[1:] != (len(finding_ids), len(raters)) or len(set(raters)) != len(raters):
        raise ValueError(f"ratings {array.shape} are not [report, {len(finding_ids)} findings, {len(raters)} raters]")
    if len(raters) < 2:
        raise InputError("Agreement needs at least two raters and there is only one; import another rater's labels.")
    pairs = []
    for a, b in combinations(range(len(raters)), 2):
        findings, overall = _compare(
            array[:, :, a],
            array[:, :, b],
            categories,
            patients=patients,
            resamples=resamples,
            seed=seed,
            no_report=NOT_BOTH,
        )
        pairs.append(Pair(raters[a], raters[b], findings, overall))
    return PairAgreement(tuple(finding_ids), tuple(raters), tuple(pairs))


def intra_rater(
    finding_ids: Sequence[str],
    readings: Mapping[str, tuple[npt.ArrayLike, npt.ArrayLike]],
    *,
    categories: Sequence[int] = COLLAPSED,
    patients: Mapping[str, Sequence[str]] | None = None,
    resamples: int = AGREEMENT_RESAMPLES,
    seed: int = SEED,
) -> PairAgreement:
    """Return how far each rater agrees with himself or herself on reports that came twice.

    Args:
        finding_ids: the columns' findings.
        readings: per rater the first and the second reading of the same reports in the same order, each
            [report, finding] as in ``pairwise``; raters may have read different reports again, or none. What is
            MISSING in either reading is left out.
        categories: the answers that raters could choose from.
        patients: per rater the patient id of each of these reports; without it only percent has an interval.
        resamples: bootstrap draws of patients.
        seed: of the bootstrap.

    Returns:
        One pair per rater, with n: ``result.of(rater).overall.kappa``. With few reports again (15) kappa and positive
        agreement of rare findings are mostly undefined; the mean says over how many findings it is.

    Raises:
        ValueError: a rating is none of the categories, or shapes do not fit.
    """
    pairs = []
    for rater, (first, second) in readings.items():
        one, two = np.asarray(first), np.asarray(second)
        if one.ndim != 2 or one.shape != two.shape or one.shape[1] != len(finding_ids):
            raise ValueError(f"readings of {rater} {one.shape}, {two.shape} are not [report, {len(finding_ids)}] twice")
        whose = None if patients is None else patients[rater]
        findings, overall = _compare(
            one, two, categories, patients=whose, resamples=resamples, seed=seed, no_report=NOT_TWICE
        )
        pairs.append(Pair(rater, rater, findings, overall))
    return PairAgreement(tuple(finding_ids), tuple(readings), tuple(pairs))


def _compare(
    first: npt.NDArray[np.integer],
    second: npt.NDArray[np.integer],
    categories: Sequence[int],
    *,
    patients: Sequence[str] | None,
    resamples: int,
    seed: int,
    no_report: str,
) -> tuple[tuple[Concordance, ...], Concordance]:
    """Compare two readings [report, finding]; return the findings' agreement and its mean."""
    strange = np.setdiff1d([first, second], (*categories, MISSING))
    if strange.size:
        raise ValueError(f"ratings {strange.tolist()} are none of the categories {list(categories)}")
    answers = np.asarray(categories)
    one, two = first[..., None] == answers, second[..., None] == answers
    cells = (one[..., :, None] & two[..., None, :]).astype(np.float64)  # [report, finding, category, category]
    present = list(categories).index(State.PRESENT.code)
    tables = cells.sum(axis=0)
    samples = None
    if patients is not None:
        if len(patients) != len(cells):
            raise ValueError(f"{len(patients)} patients do not go with {len(cells)} reports")
        both = np.flatnonzero(cells.any(axis=(1, 2, 3))).tolist()
        draws = resample_patients(cells[both], [patients[i] for i in both], resamples, seed)
        samples = cohen(draws, present)
    findings = tuple(
        _concordance(table, present, None if samples is None else samples[:, i], no_report)
        for i, table in enumerate(tables)
    )
    return findings, _mean(findings, samples)


def cohen(tables: Numbers, present: int) -> Numbers:
    """Return percent agreement, positive specific agreement and Cohen's kappa of tables of counts; NaN where undefined.

    With n reports, d of them on the diagonal, and row and column sums r_k and c_k: kappa = (po - pe) / (1 - pe) with
    po = d / n and pe = sum_k r_k c_k / n^2, here written 1 - n (n - d) / (n^2 - sum_k r_k c_k), which on counts is
    exact up to the last division (J. Cohen, Educ Psychol Meas 1960;20:37-46). Undefined where n is 0, or pe is 1.

    Args:
        tables: [..., category of the first reading, category of the second].
        present: the category that means present.

    Returns:
        [..., 3].
    """
    rows, columns = tables.sum(axis=-1), tables.sum(axis=-2)
    n, alike = rows.sum(axis=-1), np.trace(tables, axis1=-2, axis2=-1)
    out: Numbers = np.full((*n.shape, len(NAMES)), np.nan)
    said = rows[..., present] + columns[..., present]
    unlike = n * n - (rows * columns).sum(axis=-1)
    np.divide(alike, n, out=out[..., 0], where=n > 0)
    np.divide(2 * tables[..., present, present], said, out=out[..., 1], where=said > 0)
    np.divide(n * (n - alike), unlike, out=out[..., 2], where=unlike > 0)
    out[..., 2] = 1 - out[..., 2]
    return out


def _concordance(table: Numbers, present: int, samples: Numbers | None, no_report: str) -> Concordance:
    n, alike = int(table.sum()), int(np.trace(table))
    _, positive, kappa = (
        undefined(reason if n else no_report, n) if np.isnan(value) else Figure(value, n)
        for value, reason in zip(cohen(table, present).tolist(), ("", NEITHER_PRESENT, NO_VARIATION), strict=True)
    )
    percent = proportion(alike, n, no_report)
    if samples is None:
        return Concordance(n, n - alike, percent, positive, kappa)
    positive, kappa = with_bootstrap([positive, kappa], samples[:, 1:])
    missed = np.isnan(samples).sum(axis=0).tolist()
    figures = {"positive": (positive, missed[1]), "kappa": (kappa, missed[2])}
    left_out = {name: times for name, (figure, times) in figures.items() if figure.defined and len(samples)}
    return Concordance(n, n - alike, percent, positive, kappa, left_out)


def _mean(findings: Sequence[Concordance], samples: Numbers | None) -> Concordance:
    reports, differ = max((f.reports for f in findings), default=0), sum(f.differ for f in findings)
    figures = [mean_of_defined([f.figures()[name] for f in findings], NOWHERE) for name in NAMES]
    percent, positive, kappa = figures
    if samples is None:
        return Concordance(reports, differ, percent, positive, kappa)
    defined = np.count_nonzero(~np.isnan(samples), axis=1)  # [resample, figure]: how many findings
    means: Numbers = np.full(defined.shape, np.nan)
    np.divide(np.nansum(samples, axis=1), defined, out=means, where=defined > 0)
    left_out = {
        name: int(np.count_nonzero(defined[:, i] < figures[i].n))
        for i, name in enumerate(NAMES)
        if figures[i].defined and len(samples)
    }
    percent, positive, kappa = with_bootstrap(figures, means)
    return Concordance(reports, differ, percent, positive, kappa, left_out)
