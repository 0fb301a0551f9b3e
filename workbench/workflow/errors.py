"""Where a run errs: each wrong cell with the text, the votes and the labeler's evidence."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from workbench.domain.actors import Actor, Role
from workbench.domain.findings import STATE_OF_CODE, State
from workbench.domain.references import ReferenceItem
from workbench.domain.reports import Report
from workbench.evaluation import mistakes as counting
from workbench.evaluation.consensus import per_finding
from workbench.evaluation.mistakes import MistakeKind
from workbench.workflow.cohorts import require_unlocked
from workbench.workflow.reference import read_votes
from workbench.workflow.run import extractions
from workbench.workflow.score import Score, arrays
from workbench.workflow.study import Study


@dataclass(frozen=True, slots=True)
class Mistake:
    """One wrong cell: what the reference says, what the labeler said and on which words.

    ``predicted`` is None where the reply failed, and ``evidence`` then why. ``cost`` is the macro-F1 that setting this
    cell alone right would gain. ``votes`` leaves out raters who did not submit.
    """

    report: Report
    finding_id: str
    kind: MistakeKind
    cost: float
    reference: ReferenceItem
    predicted: State | None
    evidence: str
    votes: Mapping[str, State]


def mistakes(study: Study, actor: Actor, score: Score, finding_id: str | None = None) -> list[Mistake]:
    """Return the wrong cells of a score, costliest first; of one finding when it is named."""
    actor.require(Role.LEAD, Role.ADMIN, Role.ADJUDICATOR, to="see where a run errs")
    require_unlocked(study, score.prepared.cohort, "see its errors")
    labels = extractions(study, score.prepared)
    votes = _votes_by_cell(study, score)
    data = arrays(study, score.prepared, score.reference, labels)
    reports = {report.id: report for report in score.prepared.reports}
    policies = per_finding(score.prediction_policies, study.label_set.ids)
    found = []
    for wrong in counting.mistakes(data.truth, data.predictions, policies):
        report, finding = data.report_ids[wrong.report], study.label_set.ids[wrong.finding]
        if finding_id not in {None, finding}:
            continue
        extraction = labels[report]
        mention = extraction.mentions.get(finding)
        found.append(
            Mistake(
                reports[report],
                finding,
                wrong.kind,
                wrong.cost,
                score.reference.items[report, finding],
                extraction.state(finding),
                mention.evidence if mention else extraction.detail,
                votes[report, finding],
            )
        )
    return found


def _votes_by_cell(study: Study, score: Score) -> dict[tuple[str, str], dict[str, State]]:
    votes = read_votes(study, score.prepared.cohort, score.reference.raters)
    cells: dict[tuple[str, str], dict[str, State]] = {}
    for i, report in enumerate(votes.report_ids):
        for j, finding in enumerate(study.label_set.ids):
            row: Sequence[int] = votes.codes[i, j].tolist()
            pairs = zip(votes.raters, row, strict=True)
            cells[report, finding] = {rater: STATE_OF_CODE[code] for rater, code in pairs if code in STATE_OF_CODE}
    return cells
