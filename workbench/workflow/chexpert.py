"""CheXbert, or chexpert-labeler, beside the study's prompt: both against the study's reference on the same reports."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from workbench.domain.actors import Actor, Role
from workbench.errors import InputError, NotFoundError
from workbench.evaluation.comparisons import Comparison, compare
from workbench.evaluation.consensus import per_finding
from workbench.evaluation.evaluations import Evaluation
from workbench.evaluation.scores import evaluate
from workbench.formats.chexpert import flat, read_chexpert, read_comparable
from workbench.workflow.blindness import require_sighted
from workbench.workflow.run import extractions
from workbench.workflow.score import Score, arrays
from workbench.workflow.study import HOME, Study

MAP = "comparable_chexpert.yaml"


@dataclass(frozen=True, slots=True)
class ChexpertBenchmark:
    """Two labelers on one reference, over the comparable findings and the reports that both have labelled.

    ``observations`` names CheXpert's for each finding. ``difference`` is the prompt's less the other's, F1 per finding
    and macro, with paired intervals over patients. ``not_labelled`` reports of the cohort are not in the file.
    """

    score: Score
    observations: dict[str, str]
    prompt: Evaluation
    other: Evaluation
    difference: Comparison
    not_labelled: int


def chexpert_benchmark(
    study: Study, actor: Actor, score: Score, path: Path, *, id_column: str | None = None, encoding: str = "utf-8"
) -> ChexpertBenchmark:
    """Return how the 14 observations of a file do against the study's reference, beside a scored run of the prompt.

    Uncertain counts for both as the study's prediction policies say. Which observation is which finding stands in
    ``data/comparable_chexpert.yaml``, the study's own where it has one.

    Args:
        study: the study.
        actor: a lead or admin.
        score: the prompt's score; its cohort and reference are taken.
        path: a CSV as CheXbert and chexpert-labeler write it, rows told by id or by the report's text.
        id_column: the column with the report id, where it has an unusual name.
        encoding: of the file.

    Raises:
        InputError: the file cannot be read as said, or labels none of the cohort's reports.
        NotFoundError: there is no map for the study's label set.
        RightsError: the person is no lead or admin, or rates in an open round.
    """
    actor.require(Role.LEAD, Role.ADMIN, to="hold another labeler beside the prompt")
    require_sighted(study, actor, "hold another labeler beside the prompt")
    observations = dict(read_comparable(_map_of(study), study.label_set))
    data = arrays(study, score.prepared, score.reference, extractions(study, actor, score.prepared))
    by_text: dict[str, list[str]] = {}
    for report, (_, selected) in zip(score.prepared.reports, score.prepared.texts, strict=True):
        for text in {flat(report.text), flat(selected)}:
            by_text.setdefault(text, []).append(report.id)
    given = read_chexpert(path, list(observations.values()), id_column=id_column, by_text=by_text, encoding=encoding)
    labelled = [report for report in data.report_ids if report in given]
    if not labelled:
        raise InputError(f"{path} labels no report of the cohort {score.prepared.cohort.name}; are the ids the same?")
    part = data.only(labelled)
    findings = list(observations)
    columns = [study.label_set.ids.index(finding) for finding in findings]
    truth, ours = part.truth[:, columns], part.predictions[:, columns]
    theirs = np.array([given[report] for report in labelled], dtype=np.int8)
    policies = per_finding(score.prediction_policies, findings)
    return ChexpertBenchmark(
        score,
        observations,
        evaluate(findings, truth, ours, policies, part.patients),
        evaluate(findings, truth, theirs, policies, part.patients),
        compare(findings, truth, theirs, ours, policies, patients=part.patients),
        len(data.report_ids) - len(labelled),
    )


def _map_of(study: Study) -> Path:
    own, shipped = study.folder / "data" / MAP, HOME / "data" / MAP
    if own.exists():
        return own
    if not shipped.exists():
        raise NotFoundError(f"There is no {own}, which says which findings are CheXpert's; write one.")
    return shipped
