"""The record of one scoring: every count and figure, to and from JSON without loss."""

from collections.abc import Mapping
from dataclasses import dataclass, fields

import numpy as np

from workbench.domain.findings import Policy
from workbench.evaluation.consensus import Counts
from workbench.evaluation.numbers import Figure


@dataclass(frozen=True, slots=True)
class FindingScores:
    """The scores of one finding.

    ``fn`` are all reference positives that were not found, those of failed replies (``failed_positive``) among them;
    ``failed_negative`` is neither ``fp`` nor ``tn``. So tp + fn + fp + tn + failed_negative = ``n`` scored reports.
    ``excluded`` reports had an uncertain prediction under the policy exclude (``excluded_positive`` of them are
    reference-positive); in ``short`` ones the vote fell short. ``support`` counts the reference positives, excluded
    ones included.

    Figures: ``accuracy`` (tp + tn) / n, ``precision`` tp / (tp + fp), ``recall`` tp / (tp + fn), ``specificity``
    tn / (tn + fp + failed_negative), each with a Wilson interval and its denominator as n; ``f1`` = 2 tp /
    (2 tp + fp + fn) with a bootstrap interval over patients and n scored reports, undefined without a positive.
    ``dropped`` resamples had no positive and were left out of that interval. ``f1_reweighted`` is there for enriched
    cohorts. ``always_absent_accuracy`` is the share of decided reports that are negative: what answering "absent"
    every time would reach. ``too_few`` says that the scored positives are under the threshold.
    """

    finding_id: str
    tp: int
    fp: int
    fn: int
    tn: int
    failed_positive: int
    failed_negative: int
    excluded: int
    excluded_positive: int
    short: int
    support: int
    n: int
    accuracy: Figure
    precision: Figure
    recall: Figure
    specificity: Figure
    f1: Figure
    f1_reweighted: Figure | None
    always_absent_accuracy: Figure
    too_few: bool
    dropped: int

    @property
    def failed(self) -> int:
        """Return how many scored reports had a failed reply."""
        return self.failed_positive + self.failed_negative

    @property
    def table(self) -> Counts:
        """Return the counts [2, 3]: rows true (absent, present), columns predicted (absent, present, failed)."""
        return np.array(
            [[self.tn, self.fp, self.failed_negative], [self.fn - self.failed_positive, self.tp, self.failed_positive]],
            dtype=np.int64,
        )

    def as_json(self) -> dict[str, object]:
        """Return the JSON form."""
        return _as_json(self)

    @classmethod
    def from_json(cls, value: Mapping[str, object]) -> "FindingScores":
        """Read what ``as_json`` wrote."""
        return cls(**_read(value))  # type: ignore[arg-type]


@dataclass(frozen=True, slots=True)
class Evaluation:
    """The scores of one set of predictions on one reference.

    ``macro_f1`` is the mean F1 over the findings with a scored reference positive, its n being how many; ``supported``
    names the findings with support, a set fixed by the reference. ``micro_f1`` sums the counts over **all** findings
    (n = scored cells), so it also pays for false positives on findings without support. ``*_answered`` leave failed
    replies out and stand beside the others, never instead. ``*_reweighted`` are there for enriched cohorts. Bootstrap
    intervals resample patients; ``resamples_short`` of the ``resamples`` left at least one finding out of the macro-F1.
    ``macro_precision`` and ``macro_recall`` are means over supported findings where defined, ``macro_specificity`` and
    ``macro_accuracy`` over all findings where defined; n says how many. ``n_failed`` reports had a failed reply.
    ``policies`` (of the predictions), ``few``, ``resamples`` and ``seed`` are what the scoring was done with.
    """

    findings: tuple[FindingScores, ...]
    macro_f1: Figure
    micro_f1: Figure
    macro_f1_answered: Figure
    micro_f1_answered: Figure
    macro_f1_reweighted: Figure | None
    micro_f1_reweighted: Figure | None
    macro_precision: Figure
    macro_recall: Figure
    macro_specificity: Figure
    macro_accuracy: Figure
    n_reports: int
    n_failed: int
    n_patients: int
    policies: tuple[Policy, ...]
    few: int
    resamples: int
    resamples_short: int
    seed: int

    @property
    def finding_ids(self) -> tuple[str, ...]:
        """Return the findings in their order."""
        return tuple(finding.finding_id for finding in self.findings)

    @property
    def supported(self) -> tuple[str, ...]:
        """Return the findings with at least one positive in the reference: those that macro-F1 is about."""
        return tuple(finding.finding_id for finding in self.findings if finding.support)

    @property
    def unsupported(self) -> tuple[FindingScores, ...]:
        """Return the findings without support; their ``fp`` is what a labeler invented there (method 10)."""
        return tuple(finding for finding in self.findings if not finding.support)

    def of(self, finding_id: str) -> FindingScores:
        """Return the scores of one finding. Raises KeyError for an unknown one."""
        for finding in self.findings:
            if finding.finding_id == finding_id:
                return finding
        raise KeyError(finding_id)

    def as_json(self) -> dict[str, object]:
        """Return the JSON form; ``from_json`` makes an equal evaluation of it."""
        return _as_json(self)

    @classmethod
    def from_json(cls, value: Mapping[str, object]) -> "Evaluation":
        """Read what ``as_json`` wrote."""
        return cls(**_read(value))  # type: ignore[arg-type]


def _as_json(record: FindingScores | Evaluation) -> dict[str, object]:
    return {field.name: _plain(getattr(record, field.name)) for field in fields(record)}


def _plain(value: object) -> object:
    if isinstance(value, Figure | FindingScores):
        return value.as_json()
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    return value.value if isinstance(value, Policy) else value


def _read(value: Mapping[str, object]) -> dict[str, object]:
    """Give each field its type back: mappings are figures, the two lists are findings and policies."""
    out: dict[str, object] = {}
    for name, item in value.items():
        if isinstance(item, Mapping):
            out[name] = Figure.from_json(item)
        elif isinstance(item, list):
            make = FindingScores.from_json if name == "findings" else Policy
            out[name] = tuple(make(part) for part in item)
        else:
            out[name] = item
    return out
