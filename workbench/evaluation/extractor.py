"""How far a system's score could move because the extractor errs (method 22).

Ran Score compares labels that an extractor read in two texts, and it reads both with errors, perhaps other errors in a
machine's text than in a radiologist's. Where raters have labelled texts of both kinds, its sensitivity and specificity
are known per finding and kind of text, up to chance. In each draw they are taken from their Jeffreys posterior,
Beta(right + 1/2, wrong + 1/2), and the table [reference, generated] of a finding that must then have stood behind the
extracted one is worked out, the errors on both sides being independent of each other given what the texts say:

    extracted = R x true x G',   so   true = R^-1 x extracted x G'^-1

with R and G = [[specificity, 1 - sensitivity], [1 - specificity, sensitivity]] of the two kinds of text. Where that
would leave a cell with less than nothing, the cell is emptied and the table scaled to the same total; how often is
told, since many such draws mean that too few texts were labelled for a correction to be of use. F1 and macro-F1 of
these tables are what the systems would have scored without the extractor's errors.

The correction of one side is that of Rogan and Gladen, Am J Epidemiol 1978;107:71-76; of a table, Barron, Biometrics
1977;33:414-418; the prior, Brown, Cai and DasGupta, Stat Sci 2001;16:101-133. Only the extractor's error is in these
intervals; chance in the choice of patients is in those of ``scores`` and ``ranking``.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import numpy.typing as npt

from workbench.domain.findings import FAILED
from workbench.evaluation.confusion import Confusion, check_truth, sort_cells
from workbench.evaluation.consensus import Flags
from workbench.evaluation.intervals import SEED, Numbers, percentile_interval
from workbench.evaluation.numbers import Figure, undefined

DRAWS = 2000
SETTLED = 0.975  # share of draws with the same better system from which the order counts as settled
ROUNDING = 1e-9
LEAST_SKILL = 0.05  # sensitivity + specificity - 1 under which labels say too little to be corrected
NO_POSITIVE = "no positive in the extracted reference"
NO_SKILL = "the extractor's labels say too little about what the texts say"


@dataclass(frozen=True, slots=True)
class ExtractorFinding:
    """How well the extractor reads one finding in one kind of text: rates with their 95 % Jeffreys intervals.

    n is how many labelled texts have the finding (sensitivity) or have it not (specificity). With none the rate is
    undefined and anything between 0 and 1 is drawn for it.
    """

    finding_id: str
    source: str  # "human" or "machine"
    sensitivity: Figure
    specificity: Figure


@dataclass(frozen=True, slots=True)
class SystemSpread:
    """A system's macro-F1 as extracted, and as it might be without the extractor's errors: median and 95 % of draws.

    ``emptied`` is the share of the drawn tables in which a cell had to be emptied, in 0..1; NaN without a table.
    """

    system: str
    extracted: Figure
    corrected: Figure
    emptied: float


@dataclass(frozen=True, slots=True)
class OrderOfTwo:
    """``share`` is the share of draws in which the first is better, ties half; None where no draw has both."""

    first: str
    second: str
    share: float | None

    @property
    def settled(self) -> bool:
        """Return whether the extractor's error leaves no doubt which of the two is better."""
        return self.share is not None and max(self.share, 1 - self.share) >= SETTLED


@dataclass(frozen=True, slots=True)
class ExtractorSpread:
    """The extractor's error per finding and kind of text, and what it does to each system and each pair.

    ``machine_assumed`` says that no machine-written text was labelled, so that the rates on human ones stand for both;
    each is then drawn once for both. Pairs have the system that is better as extracted first.
    """

    findings: tuple[ExtractorFinding, ...]
    systems: tuple[SystemSpread, ...]
    pairs: tuple[OrderOfTwo, ...]
    n_findings: int
    machine_assumed: bool
    draws: int
    seed: int

    @property
    def unsettled(self) -> tuple[tuple[str, str], ...]:
        """Return the pairs of systems whose order the extractor's error leaves open."""
        return tuple((pair.first, pair.second) for pair in self.pairs if not pair.settled)


@dataclass(frozen=True, slots=True)
class _Rates:
    """Drawn rates, [draw, finding]."""

    sensitivity: Numbers
    specificity: Numbers


def extractor_spread(
    finding_ids: Sequence[str],
    systems: Sequence[str],
    truth: npt.ArrayLike,
    predictions: npt.ArrayLike,
    *,
    human: Confusion,
    machine: Confusion | None = None,
    draws: int = DRAWS,
    seed: int = SEED,
) -> ExtractorSpread:
    """Carry the extractor's error into each system's macro-F1.

    Args:
        finding_ids: the columns' findings.
        systems: the systems' names.
        truth: the extracted labels of the reference reports, [study, finding] of 1, 0, MISSING.
        predictions: those of the generated reports, [system, study, finding] of 1, 0, FAILED, MISSING. A failed one
            is a miss on a reference positive (method 12) and is not corrected.
        human: the extractor against the raters' reference on human-written reports (``confusion.confusion``).
        machine: the same on generated reports; None where none were labelled.
        draws: of the rates.
        seed: of the draws, which all systems share.

    Raises:
        ValueError: shapes or codes do not fit.
    """
    true, given = check_truth(truth), np.asarray(predictions)
    if given.shape != (len(systems), *true.shape) or true.shape[1] != len(finding_ids):
        raise ValueError(f"predictions {given.shape} do not go with {len(systems)} systems and truth {true.shape}")
    supported = (true == 1).any(axis=0)
    generator = np.random.default_rng(seed)
    reference = _drawn(human, draws, generator)
    generated = reference if machine is None else _drawn(machine, draws, generator)
    tables = np.stack([_tables(true, one) for one in given]) if systems else np.empty((0, len(supported), 2, 2))
    failed = [(np.asarray(one) == FAILED) & (true == 1) for one in given]
    missed = np.array([one.sum(axis=0) for one in failed], dtype=np.float64).reshape(len(systems), -1)
    observed = _macro(_f1(tables, missed)[:, supported])
    samples, emptied = np.empty((draws, len(systems))), []
    for i, (table, lost) in enumerate(zip(tables, missed, strict=True)):
        corrected, had_to = _corrected(table, reference, generated)
        samples[:, i] = _macro(_f1(corrected, lost)[:, supported])
        emptied.append(float(had_to[:, supported].mean()) if supported.any() else float("nan"))
    n_findings = int(supported.sum())
    sources = [("human", human, reference)] + ([] if machine is None else [("machine", machine, generated)])
    return ExtractorSpread(
        findings=tuple(
            finding for source, counts, rates in sources for finding in _findings(finding_ids, source, counts, rates)
        ),
        systems=tuple(
            SystemSpread(
                system, _figure(float(observed[i]), n_findings), _median(samples[:, i], n_findings), emptied[i]
            )
            for i, system in enumerate(systems)
        ),
        pairs=_orders(systems, observed, samples),
        n_findings=n_findings,
        machine_assumed=machine is None,
        draws=draws,
        seed=seed,
    )


def _drawn(counts: Confusion, draws: int, generator: np.random.Generator) -> _Rates:
    """Draw both rates from their Jeffreys posteriors. A failed extraction is a wrong one (method 12)."""
    found, lost = counts.tp + 0.5, counts.fn + 0.5
    clear, invented = counts.tn + 0.5, counts.fp + counts.failed_negative + 0.5
    shape = (draws, len(found))
    return _Rates(generator.beta(found, lost, size=shape), generator.beta(clear, invented, size=shape))


def _tables(true: npt.NDArray[np.int8], given: npt.NDArray[np.int8]) -> Numbers:
    """Return per finding the extracted counts [reference, generated], absent first, failed and left out ones apart."""
    cells = sort_cells(true, given)
    counts = [[cells.tn, cells.fp], [cells.fn, cells.tp]]
    return np.array([[flags.sum(axis=0) for flags in row] for row in counts], dtype=np.float64).transpose(2, 0, 1)


def _corrected(table: Numbers, reference: _Rates, generated: _Rates) -> tuple[Numbers, Flags]:
    """Return the tables behind the extracted ones [draw, finding, 2, 2] and where a cell was emptied [draw, finding].

    A table is NaN where the labels say too little.
    """
    true = _undo(reference) @ table @ _undo(generated).transpose(0, 1, 3, 2)
    emptied: Flags = np.asarray((true < -ROUNDING).any(axis=(2, 3)))
    true = np.maximum(true, 0.0)
    total = true.sum(axis=(2, 3), keepdims=True)
    scale = np.divide(table.sum(axis=(1, 2))[None, :, None, None], total, out=np.zeros_like(total), where=total > 0)
    scaled: Numbers = true * scale
    return scaled, emptied


def _undo(rates: _Rates) -> Numbers:
    """Return the inverse of [[specificity, 1 - sensitivity], [1 - specificity, sensitivity]], [draw, finding, 2, 2]."""
    se, sp = rates.sensitivity, rates.specificity
    skill = se + sp - 1
    skill = np.where(skill < LEAST_SKILL, np.nan, skill)
    return np.stack([np.stack([se, se - 1], -1), np.stack([sp - 1, sp], -1)], -2) / skill[..., None, None]


def _f1(tables: Numbers, missed: Numbers) -> Numbers:
    """Return F1 of tables [..., finding, 2, 2] with further misses; NaN without a positive in the reference."""
    tp, wrong = tables[..., 1, 1], tables[..., 0, 1] + tables[..., 1, 0] + missed
    positives = tp + tables[..., 1, 0] + missed
    out: Numbers = np.divide(2 * tp, 2 * tp + wrong, out=np.full(tp.shape, np.nan), where=positives > 0)
    return out


def _macro(scores: Numbers) -> Numbers:
    """Return the mean over the defined findings, [...]; NaN where none is."""
    defined = ~np.isnan(scores)
    how_many = defined.sum(axis=-1)
    total = np.where(defined, scores, 0.0).sum(axis=-1)
    out: Numbers = np.divide(total, how_many, out=np.full(total.shape, np.nan), where=how_many > 0)
    return out


def _figure(value: float, n: int) -> Figure:
    return undefined(NO_POSITIVE) if np.isnan(value) else Figure(value, n)


def _median(samples: Numbers, n: int) -> Figure:
    defined = samples[~np.isnan(samples)]
    if not n or not len(defined):
        return undefined(NO_SKILL if n else NO_POSITIVE)
    low, high, _ = percentile_interval(defined[:, None])
    return Figure(float(np.median(defined)), n, float(low[0]), float(high[0]))


def _findings(
    finding_ids: Sequence[str], source: str, counts: Confusion, rates: _Rates
) -> tuple[ExtractorFinding, ...]:
    def figures(right: npt.NDArray[np.int64], n: npt.NDArray[np.int64], drawn: Numbers, none: str) -> list[Figure]:
        low, high, _ = percentile_interval(drawn)
        return [
            Figure(int(right[i]) / int(n[i]), int(n[i]), float(low[i]), float(high[i])) if n[i] else undefined(none)
            for i in range(len(n))
        ]

    sensitivity = figures(counts.tp, counts.positives, rates.sensitivity, "no labelled text has it")
    specificity = figures(counts.tn, counts.negatives, rates.specificity, "every labelled text has it")
    return tuple(
        ExtractorFinding(finding_id, source, *both)
        for finding_id, *both in zip(finding_ids, sensitivity, specificity, strict=True)
    )


def _orders(systems: Sequence[str], observed: Numbers, samples: Numbers) -> tuple[OrderOfTwo, ...]:
    best_first = sorted(range(len(systems)), key=lambda i: (-observed[i], systems[i]))
    orders = []
    for one, other in combinations(best_first, 2):
        apart = samples[:, one] - samples[:, other]
        apart = apart[~np.isnan(apart)]
        share = float(((apart > 0) + 0.5 * (apart == 0)).mean()) if len(apart) else None
        orders.append(OrderOfTwo(systems[one], systems[other], share))
    return tuple(orders)
