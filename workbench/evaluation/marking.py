"""How far reviewers agree on what is wrong in a generated report, finding by finding and fault by fault.

Whether a reviewer marks a fault is a yes or no said of every text that they rated, so the coefficients are those of
``agreement``: never pooled over findings, and positive agreement beside alpha and AC1, since most faults are rare.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
import numpy.typing as npt

from workbench.domain.findings import MISSING
from workbench.domain.reviews import OTHER, Fault
from workbench.evaluation import agreement as coefficients
from workbench.evaluation.agreement import Coefficients, agreement
from workbench.evaluation.intervals import SEED
from workbench.evaluation.numbers import Figure, undefined
from workbench.evaluation.reviewing import NO_PAIR, REVIEW_RESAMPLES

# What the figures are called wherever they are shown, in the order in which they are.
COEFFICIENTS: Final[Mapping[str, str]] = {
    "positive": "positive specific agreement",
    "alpha": "Krippendorff's alpha (nominal)",
    "ac1": "Gwet's AC1",
    "percent": "percent agreement",
}
NOT_MARKED = "nobody marked one that two rated"
ALWAYS_MARKED = "every rating marks it"
NO_FINDING = "defined for no finding that was marked"


@dataclass(frozen=True, slots=True)
class MarkAgreement:
    """The agreement on one fault of one finding; on any fault of it where ``fault`` is None.

    ``texts`` were rated by two or more, and ``marked`` of all ``ratings`` bear the mark. ``positive`` is, of the marks
    on these texts, the share that a fellow reviewer set too (its n is how many marks); ``percent`` the share of pairs
    of ratings of one text that both mark or both do not; ``alpha`` and ``ac1`` are corrected for chance, about 0 for
    reviewers who guess. Where nothing varies alpha is undefined; where nothing is marked, positive agreement.
    """

    finding_id: str
    fault: Fault | None
    texts: int
    marked: int
    ratings: int
    positive: Figure
    alpha: Figure
    ac1: Figure
    percent: Figure

    def figures(self) -> dict[str, Figure]:
        """Return the figures by name, in the order of ``COEFFICIENTS``."""
        return {name: getattr(self, name) for name in COEFFICIENTS}


@dataclass(frozen=True, slots=True)
class MarksAgreement:
    """The agreement on every fault that somebody marked.

    ``rows`` has each marked finding with any fault first, then fault by fault, in the order of the findings.
    ``overall`` is the mean over the ``marked`` findings with a mark, by any fault, ``n`` being over how many it is
    defined; "anything else" is no finding and not in it. ``findings`` could have been marked. Findings without a mark
    are left out, since agreement that nothing is wrong with them would be all there is in the mean.
    """

    rows: tuple[MarkAgreement, ...]
    overall: Mapping[str, Figure]
    marked: int
    findings: int

    @property
    def ground(self) -> str:
        """Return in a sentence's beginning over which findings ``overall`` is."""
        return f"Mean over the {self.marked} of {self.findings} findings in which somebody marked a fault"

    def as_json(self) -> dict[str, object]:
        """Return the JSON form; ``coefficients`` says what each figure is."""
        return {
            "coefficients": dict(COEFFICIENTS),
            "findings": self.findings,
            "findings_marked": self.marked,
            "overall": {name: value.as_json() for name, value in self.overall.items()},
            "rows": [
                {
                    "finding": row.finding_id,
                    "fault": row.fault.value if row.fault else None,
                    "texts": row.texts,
                    "marked": row.marked,
                    "ratings": row.ratings,
                    **{name: value.as_json() for name, value in row.figures().items()},
                }
                for row in self.rows
            ],
        }


def marks_agreement(
    finding_ids: Sequence[str],
    marks: npt.ArrayLike,
    patients: Sequence[str],
    *,
    resamples: int = REVIEW_RESAMPLES,
    seed: int = SEED,
) -> MarksAgreement:
    """Return how far reviewers agree on faults, with bootstrap intervals over patients.

    Args:
        finding_ids: what can be marked; ``OTHER`` may be among them.
        marks: [text, finding, fault, reviewer], faults in the order of ``Fault``: 1 marked, 0 not, NaN where the
            reviewer did not rate the text.
        patients: the patient of each text.
        resamples: bootstrap draws.
        seed: of the bootstrap.

    Raises:
        ValueError: shapes do not fit, or a mark is none of 1, 0 and NaN.
    """
    said = np.asarray(marks, dtype=np.float64)
    if said.ndim != 4 or said.shape[:3] != (len(patients), len(finding_ids), len(Fault)):
        raise ValueError(f"marks {said.shape} are not [{len(patients)}, {len(finding_ids)}, {len(Fault)}, reviewer]")
    if not np.isin(said[~np.isnan(said)], (0, 1)).all():
        raise ValueError("a mark is set (1) or not (0)")
    every = np.concatenate([said.max(axis=2, keepdims=True), said], axis=2)  # any fault first
    there = np.argwhere(np.nansum(every, axis=(0, 3)) > 0).tolist()
    whole = [i for i, fault in there if fault == 0 and finding_ids[i] != OTHER]
    kinds: list[Fault | None] = [None, *Fault]
    codes = np.where(np.isnan(every), MISSING, every).astype(np.int8)
    blank = np.full((*codes.shape[:3], 2), MISSING, dtype=np.int8)  # raters who rate nothing change nothing
    codes = np.concatenate([codes, blank], axis=3)

    def found(keys: Sequence[Sequence[int]]) -> tuple[tuple[Coefficients, ...], Coefficients]:
        asked = codes[:, [i for i, _ in keys], [fault for _, fault in keys]]
        names = [f"{finding_ids[i]} {fault}" for i, fault in keys]
        result = agreement(names, asked, patients=patients, resamples=resamples, seed=seed)
        return result.findings, result.overall

    rows = [
        _row(finding_ids[i], kinds[fault], codes[:, i, fault], of)
        for (i, fault), of in zip(there, found(there)[0] if there else (), strict=True)
    ]
    overall = _mean(found([(i, 0) for i in whole])[1]) if whole else dict.fromkeys(COEFFICIENTS, undefined(NO_FINDING))
    return MarksAgreement(tuple(rows), overall, len(whole), sum(f != OTHER for f in finding_ids))


def _row(finding_id: str, fault: Fault | None, codes: npt.NDArray[np.int8], of: Coefficients) -> MarkAgreement:
    given = codes != MISSING
    paired = codes[given.sum(axis=1) >= 2]
    figures = dict(_told(of, ALWAYS_MARKED if (paired == 1).any() else NOT_MARKED))
    return MarkAgreement(finding_id, fault, of.items, int((codes == 1).sum()), int(given.sum()), **figures)


def _mean(of: Coefficients) -> dict[str, Figure]:
    return dict(_told(of, NOT_MARKED))


def _told(of: Coefficients, unvaried: str) -> Iterator[tuple[str, Figure]]:
    """Yield the figures that are shown, their reasons in the words of a review."""
    reasons = {
        coefficients.NO_PAIR: NO_PAIR,
        coefficients.NEVER_PRESENT: NOT_MARKED,
        coefficients.NO_VARIATION: unvaried,
        coefficients.NOWHERE: NO_FINDING,
    }
    shown = of.figures()
    for name in COEFFICIENTS:
        figure = shown[name]
        yield name, replace(figure, reason=reasons.get(figure.reason, figure.reason))
