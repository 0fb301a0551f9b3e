"""Where a run errs: each wrong cell with the text, the votes and the labeler's evidence."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from workbench.domain.actors import Actor, Role
from workbench.domain.findings import STATE_OF_CODE, Policy, State
from workbench.domain.references import Outcome, ReferenceItem
from workbench.domain.reports import Report
from workbench.domain.runs import Extraction
from workbench.workflow.cohorts import require_unlocked
from workbench.workflow.reference import read_votes
from workbench.workflow.run import extractions
from workbench.workflow.score import Score
from workbench.workflow.study import Study


class MistakeKind(StrEnum):
    """Which way a cell is wrong."""

    MISSED = "missed"  # false negative
    INVENTED = "invented"  # false positive
    FAILED = "failed"  # no usable reply, on a finding the reference has


@dataclass(frozen=True, slots=True)
class Mistake:
    """One wrong cell: what the reference says, what the labeler said and on which words."""

    report: Report
    finding_id: str
    kind: MistakeKind
    reference: ReferenceItem
    predicted: State | None
    evidence: str
    votes: Mapping[str, State]  # by rater; raters who did not submit are left out


def mistakes(study: Study, actor: Actor, score: Score, finding_id: str | None = None) -> list[Mistake]:
    """Return the wrong cells of a score, missed before invented, in report order; of one finding when it is named."""
    actor.require(Role.LEAD, Role.ADMIN, Role.ADJUDICATOR, to="see where a run errs")
    require_unlocked(study, score.prepared.cohort, "see its errors")
    labels = extractions(study, score.prepared)
    votes = _votes_by_cell(study, score)
    wanted = [finding_id] if finding_id else list(study.label_set.ids)
    found = [
        mistake
        for finding in wanted
        for mistake in _of_finding(score, labels, votes, finding)
    ]
    order = {kind: i for i, kind in enumerate((MistakeKind.MISSED, MistakeKind.FAILED, MistakeKind.INVENTED))}
    return sorted(found, key=lambda m: (wanted.index(m.finding_id), order[m.kind], m.report.id))


def _of_finding(
    score: Score,
    labels: Mapping[str, Extraction],
    votes: Mapping[tuple[str, str], Mapping[str, State]],
    finding: str,
) -> list[Mistake]:
    policy = score.prediction_policies.of(finding)
    found = []
    for report in score.prepared.reports:
        if report.id in score.left_out:
            continue
        item = score.reference.items[report.id, finding]
        extraction = labels[report.id]
        kind = kind_of(item.outcome, extraction.state(finding), policy)
        if kind is None:
            continue
        mention = extraction.mentions.get(finding)
        found.append(
            Mistake(
                report,
                finding,
                kind,
                item,
                extraction.state(finding),
                mention.evidence if mention else extraction.detail,
                votes.get((report.id, finding), {}),
            )
        )
    return found


def kind_of(outcome: Outcome, predicted: State | None, policy: Policy) -> MistakeKind | None:
    """Return how a cell is wrong, None where it is right or left out of the score."""
    if outcome is Outcome.SHORT:
        return None
    if predicted is None:
        return MistakeKind.FAILED if outcome is Outcome.PRESENT else None
    if predicted is State.UNCERTAIN and policy is Policy.EXCLUDE:
        return None
    positive = predicted is State.PRESENT or (predicted is State.UNCERTAIN and policy is Policy.PRESENT)
    if positive == (outcome is Outcome.PRESENT):
        return None
    return MistakeKind.INVENTED if positive else MistakeKind.MISSED


def _votes_by_cell(study: Study, score: Score) -> dict[tuple[str, str], dict[str, State]]:
    votes = read_votes(study, score.prepared.cohort, score.reference.raters)
    cells: dict[tuple[str, str], dict[str, State]] = {}
    for i, report in enumerate(votes.report_ids):
        for j, finding in enumerate(study.label_set.ids):
            row: Sequence[int] = votes.codes[i, j].tolist()
            cells[report, finding] = {
                rater: STATE_OF_CODE[code] for rater, code in zip(votes.raters, row, strict=True) if code in STATE_OF_CODE
            }
    return cells
