"""How stable a labeler is: what it says of the same report when it is asked again."""

import numpy as np

from workbench.domain.actors import Actor
from workbench.errors import InputError
from workbench.evaluation import stability as counting
from workbench.evaluation.consensus import per_finding
from workbench.evaluation.stability import Stability
from workbench.workflow.blindness import require_sighted
from workbench.workflow.run import PreparedRun, extractions
from workbench.workflow.score import prediction_codes
from workbench.workflow.study import Study


def run_stability(study: Study, actor: Actor, prepared: PreparedRun) -> Stability:
    """Return on how many reports the repeats of a run agree, per finding, over the reports that all repeats reached.

    Raises:
        InputError: the run asks each report once.
        RightsError: the person rates in an open round, or the cohort is locked.
    """
    require_sighted(study, actor, "see how stable a labeler is")
    repeats = prepared.run.repeats
    if repeats < 2:
        raise InputError("This run asks each report once; run it with --repeats 3 to see how stable the labeler is.")
    labels = [extractions(study, actor, prepared, repeat=repeat) for repeat in range(1, repeats + 1)]
    reached = [report.id for report in prepared.reports if all(report.id in repeat for repeat in labels)]
    findings = study.label_set.ids
    codes = np.stack([prediction_codes([repeat[report] for report in reached], findings) for repeat in labels])
    return counting.stability(findings, codes, per_finding(study.label_set.prediction_policies, findings))
