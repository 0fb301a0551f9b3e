"""Which metric of generated reports can be trusted: tested on reports that were edited in known ways (method 23).

Pairs are made by rule from any reports (``trust_pairs``), or come from people. Every metric compares the edited report
with the original; Ran Score is that of one pair, F1 over the findings that one prompt and labeler read in both texts.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from workbench.domain.actors import Actor, Role
from workbench.domain.findings import FAILED, State
from workbench.domain.hashing import content_hash
from workbench.domain.judged import JudgedBy, by_why
from workbench.domain.pairs import EditedPair
from workbench.domain.runs import Usage
from workbench.errors import InputError
from workbench.evaluation.consensus import per_finding
from workbench.evaluation.intervals import SEED, Numbers
from workbench.evaluation.ran_score import cells_of, report_f1
from workbench.evaluation.trust import RESAMPLES, Trust, drops, trust
from workbench.formats.pairs import PairScores, unedited_id
from workbench.formats.systems import select
from workbench.metrics.registry import METRICS, RAN_SCORE, get, text_scores
from workbench.running.spending import Cap
from workbench.workflow.blindness import require_sighted
from workbench.workflow.extracting import Progress, Reading, ask, codes_of
from workbench.workflow.judging import Bench, Docket, judge_pairs
from workbench.workflow.metrics import COMPUTED, told_direction
from workbench.workflow.ran_score import Codes, reading_of
from workbench.workflow.study import Study
from workbench.workflow.systems import DEFAULT_TASK

DEFAULT_METRICS = (RAN_SCORE, "bleu2_rexrank", "rouge_l")
_BLIND_FROM = 0.5  # share of a kind's edits that a metric does not notice at all


@dataclass(frozen=True, slots=True)
class MetricTrust:
    """One metric: its name and direction, and how far it can be trusted.

    Of a judge also who it is, what its judgements took, what they cost where its labeler has a price, and ``without``:
    by kind of edit and by why (one of ``judging.WHY``), the edits of which there is no judgement, or none of the report
    with itself. They are in no figure.
    """

    id: str
    name: str
    higher_is_better: bool
    trust: Trust
    usage: Usage | None = None
    cost: float | None = None
    currency: str = ""
    judge: JudgedBy | None = None
    without: Mapping[str, Mapping[str, int]] = field(default_factory=dict)

    @property
    def blind_to(self) -> tuple[str, ...]:
        """Return the significant kinds of edit of which the metric does not notice at least half at all."""
        return tuple(
            kind.kind
            for kind in self.trust.kinds
            if kind.significant and kind.right.n and kind.blind >= _BLIND_FROM * kind.right.n
        )


@dataclass(frozen=True, slots=True)
class TrustTable:
    """What was tested on what. ``pairs_hash`` identifies the pairs with their texts; ``by_kind`` counts them."""

    metrics: tuple[MetricTrust, ...]
    reading: Reading
    revision: int
    task: str
    pairs_hash: str
    reports: int
    by_kind: Mapping[str, int]


def measure(
    study: Study,
    actor: Actor,
    pairs: Sequence[EditedPair],
    *,
    metrics: Sequence[str] = DEFAULT_METRICS,
    scores: PairScores | None = None,
    directions: Mapping[str, bool] | None = None,
    judges: Sequence[Bench] = (),
    revision: str | int | None = None,
    labeler: str = "rules",
    task: str = DEFAULT_TASK,
    cap: Cap | None = None,
    resamples: int = RESAMPLES,
    on_progress: Progress = lambda *_: None,
) -> TrustTable:
    """Return how far each metric can be trusted.

    Args:
        study: the study.
        actor: a lead, admin or whoever else is not rating.
        pairs: the edits.
        metrics: those computed here: ``ran_score`` and core metrics.
        scores: of metrics computed elsewhere, the unedited pairs included.
        directions: whether higher is better, for metrics of ``scores`` that are not known here.
        judges: language models that judge each pair; their score is GREEN's.
        revision: of the prompt that Ran Score is computed by; the highest accepted one by default.
        labeler: the one it is computed by.
        task: which sections are read.
        cap: of tokens and cost, where the labeler is a model.
        resamples: bootstrap draws over patients.
        on_progress: told how many texts are labelled, or pairs judged, of how many.

    Raises:
        InputError: there is no such metric, it cannot be computed here, its direction is not known, or the model
            stopped before the end.
        RightsError: the person rates in an open round, or the texts may not be sent to the labeler's server.
    """
    actor.require(*Role, to="test metrics")
    require_sighted(study, actor, "test metrics")
    wanted = list(dict.fromkeys(metrics))
    _require_computable(wanted)
    better = {name: METRICS[name].higher_is_better for name in wanted}
    better |= {name: _direction(name, directions or {}) for name in scores or {}}
    reading, number = reading_of(study, revision=revision, labeler=labeler)
    read = _read(pairs, task)
    values: dict[str, tuple[Numbers, Numbers]] = {}
    if RAN_SCORE in wanted:
        stopped = ask(reading, read.texts, cap=cap, on_progress=on_progress)
        if stopped:
            raise InputError(f"{stopped} The same command goes on.")
        values[RAN_SCORE] = _ran_scores(reading, read)
    computed = [name for name in wanted if name != RAN_SCORE]
    edited = text_scores(read.references, read.generated, computed)
    unedited = text_scores(read.references, read.references, computed)
    values |= {name: (unedited[name], edited[name]) for name in computed}
    values |= {name: _elsewhere(of_pair, pairs) for name, of_pair in (scores or {}).items()}

    def tested(metric: str, values: tuple[Numbers, Numbers], *, higher: bool) -> MetricTrust:
        found = trust(
            [pair.kind for pair in pairs],
            [pair.significant for pair in pairs],
            drops(*values, higher_is_better=higher),
            [pair.patient_id for pair in pairs],
            resamples=resamples,
            seed=SEED,
        )
        return MetricTrust(metric, METRICS[metric].name if metric in METRICS else metric, higher, found)

    tables = [tested(name, values[name], higher=higher) for name, higher in better.items()]
    for bench in judges:
        docket, of_judge, whys = _judged(bench, read, cap, on_progress)
        label = f"{bench.prompt.name}, {bench.labeler.name}"
        price = bench.labeler.price
        tables.append(
            replace(
                tested(label, of_judge, higher=True),
                usage=docket.usage,
                cost=docket.cost,
                currency=price.currency if price else "",
                judge=bench.by,
                without=_by_kind(pairs, whys),
            )
        )
    return TrustTable(
        tuple(tables),
        reading,
        number,
        task,
        content_hash("pairs", [[p.id, p.kind, p.significant, p.reference, p.generated] for p in pairs]),
        len({pair.report_id for pair in pairs}),
        dict(Counter(pair.kind for pair in pairs)),
    )


@dataclass(frozen=True, slots=True)
class _Read:
    """What a task reads of each pair, [pair]."""

    references: list[str]
    generated: list[str]

    @property
    def texts(self) -> list[str]:
        return [*self.references, *self.generated]


def _read(pairs: Sequence[EditedPair], task: str) -> _Read:
    known: dict[str, str] = {}

    def part(text: str) -> str:
        if text not in known:
            known[text] = select(text, task)
        return known[text]

    return _Read([part(pair.reference) for pair in pairs], [part(pair.generated) for pair in pairs])


def _ran_scores(reading: Reading, read: _Read) -> tuple[Numbers, Numbers]:
    """Return Ran Score of each report with itself and with its edited copy; NaN where the report could not be read."""
    label_set = reading.study.label_set
    policies = per_finding(label_set.prediction_policies, label_set.ids)
    nothing = [State.NOT_MENTIONED.code] * len(label_set.ids)
    codes = {"": nothing, **codes_of(reading, (text for text in read.texts if text.strip()))}
    reference = np.array([codes.get(text, nothing) for text in read.references], dtype=np.int8)
    generated = np.array([codes.get(text, nothing) for text in read.generated], dtype=np.int8)
    usable = ~(reference == FAILED).any(axis=1)

    def scored(other: Codes) -> Numbers:
        values = np.full(len(reference), np.nan)
        values[usable] = report_f1(cells_of(reference[usable], other[usable], policies))
        return values

    return scored(reference), scored(generated)


def _judged(
    bench: Bench, read: _Read, cap: Cap | None, on_progress: Progress
) -> tuple[Docket, tuple[Numbers, Numbers], list[str]]:
    """Return what became of the pairs before a judge, its score of each report with itself and with the edit, and why.

    Why an edit has no drop, "" where it has one: because of the edit's own pair where that has no judgement.
    """
    unedited = list(zip(read.references, read.references, strict=True))
    edited = list(zip(read.references, read.generated, strict=True))
    docket = judge_pairs(bench, [*unedited, *edited], cap=cap, on_progress=on_progress)
    if docket.stopped:
        raise InputError(f"{docket.stopped} The same command goes on.")

    def scores(pairs: Sequence[tuple[str, str]]) -> Numbers:
        found = map(docket.score, pairs)
        return np.array([np.nan if score is None else score for score in found])

    whys = [docket.why(edit) or docket.why(itself) for edit, itself in zip(edited, unedited, strict=True)]
    return docket, (scores(unedited), scores(edited)), whys


def _by_kind(pairs: Sequence[EditedPair], whys: Sequence[str]) -> dict[str, dict[str, int]]:
    """Return by kind of edit, and by why, how many have no judgement; kinds without any are left out."""
    found: dict[str, list[dict[str, int]]] = {}
    for pair, why in zip(pairs, whys, strict=True):
        if why:
            found.setdefault(pair.kind, []).append({why: 1})
    return {kind: by_why(counts) for kind, counts in found.items()}


def _elsewhere(of_pair: Mapping[str, float], pairs: Sequence[EditedPair]) -> tuple[Numbers, Numbers]:
    unedited = [of_pair.get(unedited_id(pair.report_id), np.nan) for pair in pairs]
    return np.array(unedited), np.array([of_pair.get(pair.id, np.nan) for pair in pairs])


def _require_computable(wanted: Sequence[str]) -> None:
    for name in wanted:
        if name not in COMPUTED:
            get(name)
            raise InputError(
                f"{name} is not computed here; write the pairs out, score them elsewhere, and bring the scores in."
            )


def _direction(metric: str, told: Mapping[str, bool]) -> bool:
    return METRICS[metric].higher_is_better if metric in METRICS else told_direction(metric, told)
