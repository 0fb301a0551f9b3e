"""Mending a prompt: edit one finding, try it before it is saved on some reports or all, save it as a candidate."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from workbench.domain.actors import Actor, Role
from workbench.domain.error_kinds import ErrorKind
from workbench.domain.findings import STATE_OF_CODE, State
from workbench.domain.hashing import content_hash, short
from workbench.domain.prompts import FindingGuidance, Guidance, Prompt
from workbench.domain.runs import Extraction
from workbench.errors import InputError
from workbench.evaluation import mistakes as counting
from workbench.evaluation.comparisons import Flips, flips
from workbench.evaluation.consensus import per_finding
from workbench.evaluation.numbers import Figure, undefined
from workbench.evaluation.scores import evaluate
from workbench.labelers.rules import RulesLabeler
from workbench.workflow.blindness import require_sighted
from workbench.workflow.errors import mistakes
from workbench.workflow.looks import record_look
from workbench.workflow.run import extractions, label_texts
from workbench.workflow.score import Score, ScoredArrays, arrays, prediction_codes
from workbench.workflow.study import Study

_MOST_ASKED = 60  # reports that a language model is asked for while somebody waits


@dataclass(frozen=True, slots=True)
class Flip:
    """One cell that the edit changes from wrong to right or from right to wrong."""

    report_id: str
    finding_id: str
    before: State | None
    after: State | None
    fixed: bool


class Scope(StrEnum):
    """On which reports of a scored cohort an edit is tried."""

    REPORT = "report"  # one
    KIND = "kind"  # those with an error of one kind
    ERRORS = "errors"  # all with an error, and as many without any, drawn by a seed
    COHORT = "cohort"  # all


@dataclass(frozen=True, slots=True)
class Wish:
    """What a trial is to be made on: the scope, and what of the rest it needs. A finding narrows errors to its own."""

    scope: Scope = Scope.COHORT
    finding: str = ""
    report: str = ""
    kind: ErrorKind | None = None
    seed: int = 0


WHOLE = Wish()


@dataclass(frozen=True, slots=True)
class Trial:
    """What a prompt that is not saved yet would change on reports of a scored cohort, against the scored prompt.

    ``still_right`` and ``still_wrong`` count the cells that stay as they were, over all findings. Macro-F1 is of the
    whole cohort and undefined where only some reports were tried: those were picked for their errors.
    """

    flips: tuple[Flip, ...]
    before: Figure  # macro-F1 of the scored prompt
    after: Figure  # macro-F1 of the edited one
    by_finding: Mapping[str, tuple[Figure, Figure]]  # F1 before and after, of findings whose labels changed
    looks: int
    reports: tuple[str, ...] = ()
    still_right: int = 0
    still_wrong: int = 0

    @property
    def fixed(self) -> int:
        """Return how many cells become right."""
        return sum(flip.fixed for flip in self.flips)

    @property
    def broken(self) -> int:
        """Return how many cells become wrong."""
        return len(self.flips) - self.fixed


def with_finding(prompt: Prompt, finding_id: str, guidance: FindingGuidance) -> Prompt:
    """Return the prompt with one finding's guidance replaced, blank and repeated phrases taken out."""
    tidy = FindingGuidance(
        definition=guidance.definition.strip(),
        synonyms=_tidy(guidance.synonyms),
        exclusions=_tidy(guidance.exclusions),
        normal=_tidy(guidance.normal),
    )
    findings = {**prompt.guidance.findings, finding_id: tidy}
    return replace(prompt, guidance=replace(prompt.guidance, findings=findings))


def with_guidance(prompt: Prompt, **changes: object) -> Prompt:
    """Return the prompt with parts of its guidance (instructions, cues, examples, title) replaced."""
    guidance: Guidance = replace(prompt.guidance, **changes)  # type: ignore[arg-type]
    return replace(prompt, guidance=guidance)


def _tidy(phrases: Sequence[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(" ".join(p.split()) for p in phrases if p.strip()))


def try_prompt(study: Study, actor: Actor, prompt: Prompt, score: Score, wish: Wish = WHOLE) -> Trial:
    """Label reports of a scored cohort with an unsaved prompt and compare cell by cell; only the look is recorded.

    A language model is asked for at most 60 reports: more of them are run.

    Raises:
        RightsError: the person is no lead or admin, or rates in an open round.
        InputError: the wish takes no report, or more than a language model is asked for at once; or the prompt's text
            cannot be rendered.
    """
    actor.require(Role.LEAD, Role.ADMIN, to="try a prompt")
    require_sighted(study, actor, "try a prompt")
    recorded = extractions(study, actor, score.prepared)
    before = arrays(study, score.prepared, score.reference, recorded)
    reports = _reports(study, actor, score, before, wish)
    quoted = {example.report_id for example in prompt.guidance.examples}
    reports = [report for report in reports if report not in quoted]
    if not reports:
        raise InputError("No report is left to try the prompt on; choose others.")
    texts = {report: text for report, text in score.prepared.texts if report in set(reports)}
    before = before.only(reports)
    predictions = prediction_codes(_labelled(study, score, prompt, [texts[r] for r in reports]), study.label_set.ids)
    after = replace(before, predictions=predictions)
    changes = flips(
        before.truth, before.predictions, predictions, per_finding(score.prediction_policies, study.label_set.ids)
    )
    before_f1, after_f1, by_finding = _figures(study, score, after, changes, whole=wish.scope is Scope.COHORT)
    return Trial(
        tuple(_flips(study, before, after, changes)),
        before_f1,
        after_f1,
        by_finding,
        record_look(study, actor, score.prepared.cohort, _look(score, wish), prompt.hash),
        tuple(reports),
        sum(len(change.still_right) for change in changes),
        sum(len(change.still_wrong) for change in changes),
    )


def _look(score: Score, wish: Wish) -> str:
    """Return what tells one trial of a prompt from another: the reports it is made on and whose score it is against."""
    on = {
        Scope.COHORT: (),
        Scope.REPORT: (wish.report,),
        Scope.KIND: (wish.finding, wish.kind or ""),
        Scope.ERRORS: (wish.finding, str(wish.seed)),
    }[wish.scope]
    told = ["try"] if wish.scope is Scope.COHORT else ["try", str(wish.scope), *on]
    # The same prompt is another trial where another labeler reads it or another reference judges it.
    return " ".join([*told, "against", short(score.hash)])


def _reports(study: Study, actor: Actor, score: Score, data: ScoredArrays, wish: Wish) -> list[str]:
    """Return the reports that a wish takes, in the cohort's order."""
    if wish.scope is Scope.COHORT:
        return list(data.report_ids)
    if wish.scope is Scope.REPORT:
        return [report for report in data.report_ids if report == wish.report]
    if wish.scope is Scope.KIND:
        found = {
            mistake.report.id
            for mistake in mistakes(study, actor, score, wish.finding or None)
            if mistake.why is wish.kind
        }
        return [report for report in data.report_ids if report in found]
    policies = per_finding(score.prediction_policies, study.label_set.ids)
    wrong = {
        data.report_ids[cell.report]
        for cell in counting.mistakes(data.truth, data.predictions, policies)
        if wish.finding in {"", study.label_set.ids[cell.finding]}
    }
    right = sorted(set(data.report_ids) - wrong, key=lambda report: content_hash("trial", [wish.seed, report]))
    taken = wrong.union(right[: len(wrong)])
    return [report for report in data.report_ids if report in taken]


def _labelled(study: Study, score: Score, prompt: Prompt, texts: Sequence[str]) -> list[Extraction]:
    settings = score.prepared.run.labeler
    if settings.kind != "rules":
        if len(texts) > _MOST_ASKED:
            raise InputError(
                f"{settings.name} is asked for at most {_MOST_ASKED} reports to try a prompt, and these are "
                f"{len(texts)}; choose fewer, or save the prompt as a candidate and run it."
            )
        return label_texts(study, settings, prompt, texts)
    labeler = RulesLabeler(prompt, study.label_set)
    return [labeler.extraction(text) for text in texts]


def _figures(
    study: Study, score: Score, after: ScoredArrays, changes: Sequence[Flips], *, whole: bool
) -> tuple[Figure, Figure, dict[str, tuple[Figure, Figure]]]:
    """Return macro-F1 before and after, and F1 of the findings that changed; undefined on a part of the cohort."""
    if not whole:
        none = undefined("tried on some reports only")
        return none, none, {}
    result = evaluate(
        study.label_set.ids,
        after.truth,
        after.predictions,
        per_finding(score.prediction_policies, study.label_set.ids),
        after.patients,
        weights=after.weights,
    )
    changed = {
        finding for finding, change in zip(study.label_set.ids, changes, strict=True) if change.fixed or change.broken
    }
    pairs = zip(score.evaluation.findings, result.findings, strict=True)
    return (
        score.evaluation.macro_f1,
        result.macro_f1,
        {old.finding_id: (old.f1, new.f1) for old, new in pairs if old.finding_id in changed},
    )


def _flips(study: Study, before: ScoredArrays, after: ScoredArrays, changes: Sequence[Flips]) -> list[Flip]:
    """Return the changed cells, what breaks before what is mended."""
    found = []
    for j, (finding, change) in enumerate(zip(study.label_set.ids, changes, strict=True)):
        for rows, fixed in ((change.broken, False), (change.fixed, True)):
            found += [
                Flip(
                    before.report_ids[i],
                    finding,
                    STATE_OF_CODE.get(int(before.predictions[i, j])),
                    STATE_OF_CODE.get(int(after.predictions[i, j])),
                    fixed,
                )
                for i in rows
            ]
    return sorted(found, key=lambda flip: (flip.fixed, study.label_set.ids.index(flip.finding_id), flip.report_id))
