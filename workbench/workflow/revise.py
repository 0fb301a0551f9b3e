"""Mending a prompt: edit one finding, try it before it is saved, save it as a candidate."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from workbench.domain.actors import Actor, Role
from workbench.domain.findings import Policy, State
from workbench.domain.prompts import FindingGuidance, Guidance, Prompt
from workbench.domain.references import Reference
from workbench.errors import InputError
from workbench.evaluation.numbers import Figure
from workbench.evaluation.scores import evaluate
from workbench.labelers.rules import RulesLabeler
from workbench.workflow.errors import kind_of
from workbench.workflow.looks import record_look
from workbench.workflow.run import extractions
from workbench.workflow.score import Score, arrays
from workbench.workflow.study import Study
from workbench.domain.runs import Extraction, ExtractionStatus


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
        InputError: the score is of a language model, which has to be run to be tried.
    """
    actor.require(Role.LEAD, Role.ADMIN, to="try a prompt")
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
    before = extractions(study, score.prepared)
    flips = _flips(study, score, before, after)
    data = arrays(study, score.prepared, score.reference, after)
    policies = _policies(study, score)
    mended = evaluate(study.label_set.ids, data.truth, data.predictions, policies, data.patients, weights=data.weights)
    looks = record_look(study, actor, score.prepared.cohort, "try", prompt.hash)
    changed = {flip.finding_id for flip in flips}
    pairs = zip(score.evaluation.findings, mended.findings, strict=True)
    return Trial(
        tuple(flips),
        score.evaluation.macro_f1,
        mended.macro_f1,
        {old.finding_id: (old.f1, new.f1) for old, new in pairs if old.finding_id in changed},
        looks,
    )


def _policies(study: Study, score: Score) -> list[Policy]:
    return [score.prediction_policies.of(finding) for finding in study.label_set.ids]


def _flips(
    study: Study, score: Score, before: Mapping[str, Extraction], after: Mapping[str, Extraction]
) -> list[Flip]:
    reference: Reference = score.reference
    flips = []
    for finding in study.label_set.ids:
        policy = score.prediction_policies.of(finding)
        for report in score.prepared.cohort.members:
            if report in score.left_out:
                continue
            outcome = reference.items[report, finding].outcome
            old, new = before[report].state(finding), after[report].state(finding)
            was_wrong = kind_of(outcome, old, policy) is not None
            is_wrong = kind_of(outcome, new, policy) is not None
            if was_wrong != is_wrong:
                flips.append(Flip(report, finding, old, new, fixed=was_wrong))
    return sorted(flips, key=lambda flip: (flip.fixed, flip.finding_id, flip.report_id))
