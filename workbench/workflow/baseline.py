"""The rules labeler beside a language model: the same prompt, cohort and reference, to see what was gained."""

from dataclasses import dataclass

from workbench.domain.actors import Actor, Role
from workbench.evaluation.comparisons import compare
from workbench.evaluation.consensus import per_finding
from workbench.evaluation.numbers import Figure
from workbench.labelers.registry import settings_of
from workbench.workflow.blindness import require_sighted
from workbench.workflow.run import execute, extractions, prepare_beside
from workbench.workflow.score import Score, arrays, score_run
from workbench.workflow.study import Study

_RULES = settings_of("rules", kind="rules")


@dataclass(frozen=True, slots=True)
class Beside:
    """A model's score and the rules labeler's. ``change`` is the model's macro-F1 less that of the rules, its interval
    over patients; ``gained`` and ``lost`` are cells that only the model, or only the rules labeler, has right.
    """

    model: Score
    rules: Score
    change: Figure
    gained: int
    lost: int


def rules_beside(study: Study, actor: Actor, score: Score) -> Beside | None:
    """Return how the rules labeler does on what a model's score rests on, running it where it has not been run.

    Returns:
        The two; None where the score is the rules labeler's own.

    Raises:
        RightsError: the person is no lead or admin, rates in an open round, or the cohort is locked.
    """
    actor.require(Role.LEAD, Role.ADMIN, to="hold the rules labeler beside a model")
    require_sighted(study, actor, "hold the rules labeler beside a model")
    if score.prepared.run.labeler.kind == "rules":
        return None
    prepared = prepare_beside(study, actor, score.prepared, _RULES)
    execute(study, prepared)
    rules = score_run(study, actor, prepared.run.hash, score.reference)
    model_data = arrays(study, score.prepared, score.reference, extractions(study, actor, score.prepared))
    rules_data = arrays(study, prepared, score.reference, extractions(study, actor, prepared))
    ids = study.label_set.ids
    found = compare(
        ids,
        model_data.truth,
        rules_data.predictions,
        model_data.predictions,
        per_finding(score.prediction_policies, ids),
        patients=model_data.patients,
    )
    gained, lost = (sum(getattr(row, side) for row in found.findings) for side in ("fixed", "broken"))
    return Beside(score, rules, found.macro_f1_change, gained, lost)
