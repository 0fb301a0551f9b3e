"""Mending a prompt: edit one finding, try it before it is saved, save it as a candidate."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from workbench.domain.actors import Actor, Role
from workbench.domain.findings import STATE_OF_CODE, State
from workbench.domain.prompts import FindingGuidance, Guidance, Prompt
from workbench.domain.runs import Extraction, ExtractionStatus
from workbench.errors import InputError
from workbench.evaluation.comparisons import flips
from workbench.evaluation.consensus import per_finding
from workbench.evaluation.numbers import Figure
from workbench.evaluation.scores import evaluate
from workbench.labelers.rules import RulesLabeler
from workbench.workflow.blindness import require_sighted
from workbench.workflow.looks import record_look
from workbench.workflow.run import extractions
from workbench.workflow.score import Score, ScoredArrays, arrays
from workbench.workflow.study import Study


@dataclass(frozen=True, slots=True)
class Flip:
    """One cell that the edit changes from wrong to right or from right to wrong."""

    report_id: str
    finding_id: str
    before: State | None
    after: State | None
    fixed: bool


@dataclass(frozen=True, slots=True)
class Trial:
    """What a prompt that is not saved yet would change on a scored cohort, against the scored prompt."""

    flips: tuple[Flip, ...]
    before: Figure  # macro-F1 of the scored prompt
    after: Figure  # macro-F1 of the edited one
    by_finding: Mapping[str, tuple[Figure, Figure]]  # F1 before and after, of findings whose labels changed
    looks: int

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


def try_prompt(study: Study, actor: Actor, prompt: Prompt, score: Score) -> Trial:
    """Label the scored cohort with an unsaved prompt and compare cell by cell; nothing but the look is recorded.

    Raises:
        RightsError: the person is no lead or admin, or rates in an open round.
        InputError: the score is of a language model, which has to be run to be tried.
    """
    actor.require(Role.LEAD, Role.ADMIN, to="try a prompt")
    require_sighted(study, actor, "try a prompt")
    if score.prepared.run.labeler.kind != "rules":
        raise InputError(
            f"The prompt can be tried at once with the rules labeler only; save it as a candidate and run it with "
            f"{score.prepared.run.labeler.name}."
        )
    labeler = RulesLabeler(prompt, study.label_set)
    after = {
        report: Extraction(ExtractionStatus.OK, labeler.label_text(text))
        if text
        else Extraction(ExtractionStatus.BLANK)
        for report, text in score.prepared.texts
    }
    before = arrays(study, score.prepared, score.reference, extractions(study, actor, score.prepared))
    mended = arrays(study, score.prepared, score.reference, after)
    changes = _flips(study, score, before, mended)
    result = evaluate(
        study.label_set.ids,
        mended.truth,
        mended.predictions,
        per_finding(score.prediction_policies, study.label_set.ids),
        mended.patients,
        weights=mended.weights,
    )
    looks = record_look(study, actor, score.prepared.cohort, "try", prompt.hash)
    changed = {flip.finding_id for flip in changes}
    pairs = zip(score.evaluation.findings, result.findings, strict=True)
    return Trial(
        tuple(changes),
        score.evaluation.macro_f1,
        result.macro_f1,
        {old.finding_id: (old.f1, new.f1) for old, new in pairs if old.finding_id in changed},
        looks,
    )


def _flips(study: Study, score: Score, before: ScoredArrays, after: ScoredArrays) -> list[Flip]:
    """Return the changed cells, what breaks before what is mended."""
    policies = per_finding(score.prediction_policies, study.label_set.ids)
    found = []
    changes = flips(before.truth, before.predictions, after.predictions, policies)
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
