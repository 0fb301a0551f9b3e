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
from workbench.workflow.reference import votes_of
from workbench.workflow.run import extractions
from workbench.workflow.score import Score, arrays
from workbench.workflow.study import Study
from workbench.workflow.votes import Votes


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
    """Return the wrong cells of a score, costliest first; of one finding when it is named.

    Raises:
        RightsError: the person may not see who said what, which each mistake tells.
    """
    actor.require(Role.LEAD, Role.ADMIN, Role.ADJUDICATOR, to="see where a run errs")
    votes = votes_of(study, actor, score.reference)
    labels = extractions(study, actor, score.prepared)
    row_of = {report: row for row, report in enumerate(votes.report_ids)}
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
                _votes_on(votes, row_of[report], wrong.finding),
            )
        )
    return found


def _votes_on(votes: Votes, report: int, finding: int) -> dict[str, State]:
    """Return who said what of one cell, raters who did not submit left out."""
    row: Sequence[int] = votes.codes[report, finding].tolist()
    return {r: STATE_OF_CODE[code] for r, code in zip(votes.raters, row, strict=True) if code in STATE_OF_CODE}
