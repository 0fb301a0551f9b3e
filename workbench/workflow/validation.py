"""A validation beside the development it is to confirm: the same revision and labeler, overall and by language."""

from dataclasses import dataclass

import numpy as np

from workbench.domain.actors import Actor
from workbench.evaluation.consensus import per_finding
from workbench.evaluation.numbers import Figure, undefined
from workbench.evaluation.scores import evaluate
from workbench.text.languages import language_of
from workbench.workflow.blindness import require_sighted
from workbench.workflow.run import extractions
from workbench.workflow.score import Score, arrays
from workbench.workflow.study import Study


@dataclass(frozen=True, slots=True)
class Beside:
    """Macro-F1 and n on development and on validation; of one language, or of all where ``language`` is empty."""

    language: str
    development: Figure
    validation: Figure
    reports: tuple[int, int]  # on development and on validation


def side_by_side(study: Study, actor: Actor, development: Score, validation: Score) -> tuple[Beside, ...]:
    """Return the macro-F1 of a score on development and one on validation: over all reports, then by language.

    Raises:
        RightsError: the person rates in an open round, or the validation cohort is locked.
    """
    require_sighted(study, actor, "see a validation")
    sides = [_by_language(study, actor, score) for score in (development, validation)]
    whole = Beside(
        "",
        development.evaluation.macro_f1,
        validation.evaluation.macro_f1,
        (development.evaluation.n_reports, validation.evaluation.n_reports),
    )
    none = (undefined("no report in this language"), 0)
    rows = []
    for language in sorted({*sides[0], *sides[1]}):
        then, now = (side.get(language, none) for side in sides)
        rows.append(Beside(language, then[0], now[0], (then[1], now[1])))
    return (whole, *rows)


def _by_language(study: Study, actor: Actor, score: Score) -> dict[str, tuple[Figure, int]]:
    data = arrays(study, score.prepared, score.reference, extractions(study, actor, score.prepared))
    read = score.prepared.run.sections
    said = {report.id: language_of(report.select(read), report.language) for report in score.prepared.reports}
    spoken = np.array([said[report] for report in data.report_ids])
    policies = per_finding(score.prediction_policies, study.label_set.ids)
    found = {}
    for language in sorted(set(spoken.tolist())):
        part = data.only([data.report_ids[row] for row in np.flatnonzero(spoken == language)])
        scores = evaluate(study.label_set.ids, part.truth, part.predictions, policies, part.patients)
        found[language] = (scores.macro_f1, scores.n_reports)
    return found
