"""Two runs on one reference: which labels flipped, what each finding gained or lost, and whether chance explains it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from workbench.domain.actors import Actor
from workbench.domain.findings import FAILED, STATE_OF_CODE, State
from workbench.domain.references import Reference
from workbench.domain.runs import Extraction
from workbench.errors import InputError, NotFoundError
from workbench.evaluation import comparisons as counting
from workbench.evaluation.comparisons import Comparison, FindingComparison
from workbench.evaluation.consensus import Flags, per_finding
from workbench.evaluation.evaluations import Evaluation, FindingScores
from workbench.evaluation.numbers import Figure, ratio, undefined
from workbench.evaluation.scores import evaluate
from workbench.workflow.blindness import require_sighted
from workbench.workflow.prompts import find_revision
from workbench.workflow.reference import cohort_of
from workbench.workflow.run import extractions, list_records, load
from workbench.workflow.score import Score, ScoredArrays, arrays, find_score, prediction_codes
from workbench.workflow.study import Study

_NOTHING_ANSWERED = "no report was answered in both"


@dataclass(frozen=True, slots=True)
class Flip:
    """One label that was wrong and is right (``fixed``), or was right and is wrong.

    ``present`` is what the reference says; ``before`` and ``after`` are what the labeler said, None where the reply
    failed; ``words_before`` and ``words_after`` are those of the report it said it on. ``unsteady``: one of the runs
    said otherwise of it when it asked again, so the flip may be no change.
    """

    report_id: str
    finding_id: str
    present: bool
    before: State | None
    after: State | None
    fixed: bool
    unsteady: bool
    words_before: str = ""
    words_after: str = ""


@dataclass(frozen=True, slots=True)
class FindingChange:
    """One finding before and after, on the reports that both runs are scored on."""

    before: FindingScores
    after: FindingScores
    change: FindingComparison

    @property
    def finding_id(self) -> str:
        """Return the finding."""
        return self.change.finding_id

    @property
    def worse(self) -> bool:
        """Return whether it got worse: F1 fell or, without an F1, more labels broke than were fixed."""
        fell = self.change.f1_change.value
        return fell < 0 if fell is not None else self.change.broken > self.change.fixed

    @property
    def same(self) -> bool:
        """Return whether no label of it became right or wrong."""
        return not self.change.fixed and not self.change.broken


@dataclass(frozen=True, slots=True)
class Compared:
    """Two scored runs on one reference (method 15).

    ``old`` and ``new`` are their scores on the reports that neither prompt quotes in its worked examples; ``left_out``
    names the quoted ones. Failed replies are wrong in all of it; ``answered`` is the change of macro-F1 over the
    reports that both answered, beside it and never instead. ``findings`` has the one that got worst first, ``flips``
    is in the same order, broken ones before fixed ones. ``differing`` counts labels that the two runs give otherwise,
    right or wrong; ``wobble_before`` and ``wobble_after`` are the share of labels that a run gives otherwise when it
    asks again, undefined for a run that asks once, and ``moved`` is the share that differs between the two.
    """

    before: Score
    after: Score
    old: Evaluation
    new: Evaluation
    change: Comparison
    answered: Figure
    findings: tuple[FindingChange, ...]
    flips: tuple[Flip, ...]
    left_out: tuple[str, ...]
    differing: int
    moved: Figure
    wobble_before: Figure
    wobble_after: Figure

    @property
    def worse(self) -> tuple[FindingChange, ...]:
        """Return the findings that got worse, the worst first."""
        return tuple(finding for finding in self.findings if finding.worse)

    @property
    def unchanged(self) -> bool:
        """Return whether the two runs say the very same."""
        return not self.differing


def point(study: Study, actor: Actor, name: str, reference: Reference, *, labeler: str = "rules") -> Score:
    """Return the score that somebody means by a revision (its number or hash) or by a run (the beginning of its hash).

    A revision means its run with ``labeler``; where several runs of it are scored, the one over the sections that the
    study reads.

    Raises:
        NotFoundError: there is no such revision or run.
        InputError: it has no score on this reference.
        RightsError: the person rates in an open round.
    """
    require_sighted(study, actor, "see a score")
    records = list_records(study)
    if len(name) >= 6 and any(record.run.hash.startswith(name) for record in records):
        prepared = load(study, name)
        score = find_score(study, actor, prepared, reference)
        if score is None:
            raise InputError(f"The run {name} has no score on {reference.name}; score it with `workbench evaluate`.")
        return score
    try:
        revision = find_revision(study, name).revision
    except NotFoundError as error:
        raise NotFoundError(f"{error} A run is named by the first six or more characters of its hash.") from None
    wanted, cohort = study.labeler(labeler).hash, cohort_of(study, reference)
    runs = [
        record.run
        for record in records
        if record.run.prompt_hash == revision.prompt_hash
        and record.run.cohort_hash == cohort.hash
        and record.run.labeler.hash == wanted
    ]
    for run in sorted(runs, key=lambda run: run.sections != study.settings.sections):
        score = find_score(study, actor, load(study, run.hash), reference)
        if score is not None:
            return score
    raise InputError(
        f"Revision {revision.number} has no score on {reference.name} with {labeler} yet; run and score it with "
        f"`workbench run --prompt {revision.number} --cohort {cohort.name} --labeler {labeler}`."
    )


def compare(study: Study, actor: Actor, before: Score, after: Score) -> Compared:
    """Compare two scored runs on one reference. Both are scored already, so this is no further look.

    Raises:
        InputError: the two stand on different references, or no report is scored in both.
        RightsError: the person rates in an open round, or the cohort is locked.
    """
    require_sighted(study, actor, "compare two runs")
    if before.reference.hash != after.reference.hash:
        raise InputError(
            f"The two runs stand on different references, {before.reference.name} and {after.reference.name}; "
            "compare runs on one."
        )
    then, now = _Side.read(study, actor, before), _Side.read(study, actor, after)
    shared = set(now.data.report_ids)
    common = [report for report in then.data.report_ids if report in shared]
    old, new = then.data.only(common), now.data.only(common)
    ids = study.label_set.ids
    policies = per_finding(after.prediction_policies, ids)
    change = counting.compare(ids, old.truth, old.predictions, new.predictions, policies, patients=old.patients)
    first, second = (evaluate(ids, d.truth, d.predictions, policies, d.patients, resamples=0) for d in (old, new))
    findings = _worst_first(first, second, change)
    differs = old.predictions != new.predictions
    return Compared(
        before,
        after,
        first,
        second,
        change,
        _answered(ids, old, new, after, whole=change.macro_f1_change),
        findings,
        _flips(findings, old, new, (then, now), after),
        tuple(sorted({*before.left_out, *after.left_out})),
        int(differs.sum()),
        ratio(int(differs.sum()), differs.size, differs.size, "no label was compared"),
        then.wobble(common, ids),
        now.wobble(common, ids),
    )


@dataclass(frozen=True, slots=True)
class _Side:
    """One of the two: what it is scored on, its labels, and what it said when it asked again."""

    data: ScoredArrays
    labels: Mapping[str, Extraction]
    again: tuple[Mapping[str, Extraction], ...]

    @classmethod
    def read(cls, study: Study, actor: Actor, score: Score) -> "_Side":
        prepared = score.prepared
        labels = extractions(study, actor, prepared)
        again = tuple(
            extractions(study, actor, prepared, repeat=repeat) for repeat in range(2, prepared.run.repeats + 1)
        )
        return cls(arrays(study, prepared, score.reference, labels), labels, again)

    def wobbling(self, reports: Sequence[str], finding_ids: Sequence[str]) -> Flags:
        """Return [report, finding] whether a repeat said otherwise; a report it has not reached is steady."""
        first = prediction_codes([self.labels[report] for report in reports], finding_ids)
        out = np.zeros(first.shape, dtype=np.bool_)
        for repeat in self.again:
            reached = [row for row, report in enumerate(reports) if report in repeat]
            codes = prediction_codes([repeat[reports[row]] for row in reached], finding_ids)
            out[reached] |= codes != first[reached]
        return out

    def words(self, report: str, finding_id: str) -> str:
        mention = self.labels[report].mentions.get(finding_id)
        return mention.evidence if mention else ""

    def wobble(self, reports: Sequence[str], finding_ids: Sequence[str]) -> Figure:
        if not self.again:
            return undefined("it asks each report once")
        found = self.wobbling(reports, finding_ids)
        return ratio(int(found.sum()), found.size, found.size, "no label was compared")


def _worst_first(old: Evaluation, new: Evaluation, change: Comparison) -> tuple[FindingChange, ...]:
    rows = [FindingChange(*three) for three in zip(old.findings, new.findings, change.findings, strict=True)]

    def order(row: FindingChange) -> tuple[float, int]:
        fell = row.change.f1_change.value
        return (0.0 if fell is None else fell, row.change.fixed - row.change.broken)

    return tuple(sorted(rows, key=order))  # equal ones stay in the label set's order


def _answered(ids: Sequence[str], old: ScoredArrays, new: ScoredArrays, score: Score, *, whole: Figure) -> Figure:
    """Return the change of macro-F1 over the reports that both runs answered."""
    answered = ~((old.predictions == FAILED) | (new.predictions == FAILED)).any(axis=1)
    if answered.all():
        return whole
    if not answered.any():
        return undefined(_NOTHING_ANSWERED)
    kept = [report for report, both in zip(old.report_ids, answered.tolist(), strict=True) if both]
    then, now = old.only(kept), new.only(kept)
    policies = per_finding(score.prediction_policies, ids)
    found = counting.compare(ids, then.truth, then.predictions, now.predictions, policies, patients=then.patients)
    return found.macro_f1_change


def _flips(
    findings: Sequence[FindingChange], old: ScoredArrays, new: ScoredArrays, sides: tuple[_Side, _Side], score: Score
) -> tuple[Flip, ...]:
    ids = [f.finding_id for f in score.evaluation.findings]
    unsteady = sides[0].wobbling(old.report_ids, ids) | sides[1].wobbling(old.report_ids, ids)
    flipped = counting.flips(old.truth, old.predictions, new.predictions, per_finding(score.prediction_policies, ids))
    out = []
    for column in (ids.index(finding.finding_id) for finding in findings):
        for fixed, rows in ((False, flipped[column].broken), (True, flipped[column].fixed)):
            out += [
                Flip(
                    old.report_ids[row],
                    ids[column],
                    bool(old.truth[row, column] == 1),
                    STATE_OF_CODE.get(int(old.predictions[row, column])),
                    STATE_OF_CODE.get(int(new.predictions[row, column])),
                    fixed,
                    bool(unsteady[row, column]),
                    *(side.words(old.report_ids[row], ids[column]) for side in sides),
                )
                for row in rows
            ]
    return tuple(out)
