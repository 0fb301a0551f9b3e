"""From a figure about raters to the reports behind it: who said what, and on which words."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from workbench.domain.actors import Actor
from workbench.domain.annotations import Annotation
from workbench.domain.findings import MISSING, State
from workbench.domain.references import Outcome, Reference
from workbench.domain.reports import Report
from workbench.errors import InputError
from workbench.evaluation.agreement_splits import differing_reports, split_reports
from workbench.evaluation.benchmark import vote_of_others
from workbench.evaluation.consensus import Codes, per_finding
from workbench.storage import annotations as annotation_store
from workbench.storage import reports as report_store
from workbench.workflow.agreed import View, seen_as
from workbench.workflow.first_look import whole
from workbench.workflow.reference import votes_of
from workbench.workflow.study import Study
from workbench.workflow.votes import Votes


@dataclass(frozen=True, slots=True)
class Word:
    """What one rater said of one finding in one report: None where they submitted nothing of the report."""

    state: State | None
    evidence: str = ""
    comment: str = ""


@dataclass(frozen=True, slots=True)
class Split:
    """One finding of one report on which readings differ: what each rater said, and what the vote came to.

    ``again`` is a rater's second reading where that is what is compared.
    """

    report_id: str
    finding_id: str
    said: Mapping[str, Word]
    outcome: Outcome
    again: Word | None = None

    @property
    def evidence(self) -> tuple[str, ...]:
        """Return the passages that raters marked, each once."""
        words = [*self.said.values(), *([self.again] if self.again else [])]
        return tuple(dict.fromkeys(word.evidence for word in words if word.evidence))


def split_among_all(
    study: Study, actor: Actor, reference: Reference, finding_ids: Sequence[str], *, view: View = View.TWO_STATES
) -> list[Split]:
    """Return the reports on which any raters differ about each of the findings, the most split first.

    This and its neighbours take one finding or several, in the order in which they are to be listed.

    Raises:
        RightsError: the person may not see who said what, or a round on the cohort is open.
        InputError: a finding or a rater is unknown.
    """
    votes = _votes(study, actor, reference, finding_ids)
    ratings = _seen(study, reference, votes, view)
    at = study.label_set.ids.index
    places = [(row, finding) for finding in finding_ids for row in split_reports(ratings[:, at(finding), :])]
    return _told(study, reference, votes, places)


def split_between(
    study: Study,
    actor: Actor,
    reference: Reference,
    finding_ids: Sequence[str],
    pair: tuple[str, str],
    *,
    view: View = View.TWO_STATES,
) -> list[Split]:
    """Return the reports on which two raters differ about each of the findings: those behind their kappa."""
    votes = _votes(study, actor, reference, finding_ids, pair)
    ratings = _seen(study, reference, votes, view)
    one, two = (ratings[:, :, votes.raters.index(rater)] for rater in pair)
    return _told(study, reference, votes, _differing(study, finding_ids, one, two))


def split_from_others(
    study: Study, actor: Actor, reference: Reference, finding_ids: Sequence[str], rater: str
) -> list[Split]:
    """Return the reports on which a rater differs from the vote of the others: those behind the rater's macro-F1."""
    votes = _votes(study, actor, reference, finding_ids, (rater,))
    policies = per_finding(reference.vote_policies, study.label_set.ids)
    own, others = vote_of_others(votes.raters, votes.codes, policies, rater)
    return _told(study, reference, votes, _differing(study, finding_ids, own, others))


def split_from_themselves(
    study: Study,
    actor: Actor,
    reference: Reference,
    finding_ids: Sequence[str],
    rater: str,
    *,
    view: View = View.TWO_STATES,
) -> list[Split]:
    """Return the reports that a rater read twice and said something else of the second time."""
    votes = _votes(study, actor, reference, finding_ids, (rater,))
    with study.database.read() as conn:
        rows = annotation_store.latest(conn, list(votes.report_ids), reference.label_set_hash, rater=rater, reading=2)
    again = {row.report_id: row for row in rows}
    second = np.full(votes.codes.shape[:2], MISSING, dtype=np.int8)
    for i, report in enumerate(votes.report_ids):
        if report in again:
            states = again[report].states
            second[i] = [states.get(finding, State.NOT_MENTIONED).code for finding in study.label_set.ids]
    first = votes.codes[:, :, votes.raters.index(rater)]
    ids, policies = study.label_set.ids, reference.vote_policies
    pair = seen_as(view, first, ids, policies), seen_as(view, second, ids, policies)
    return _told(study, reference, votes, _differing(study, finding_ids, *pair), again=again)


def reports_of(study: Study, splits: Iterable[Split]) -> dict[str, Report]:
    """Return the reports of splits by id. The rights were checked where the splits came from."""
    ids = sorted({split.report_id for split in splits})
    with study.database.read() as conn:
        return {report.id: report for report in report_store.by_ids(conn, ids)}


def _votes(
    study: Study, actor: Actor, reference: Reference, finding_ids: Sequence[str], raters: Sequence[str] = ()
) -> Votes:
    for finding in finding_ids:
        if finding not in study.label_set.ids:
            raise InputError(f"There is no finding {finding}; the label set has {', '.join(study.label_set.ids)}.")
    for rater in raters:
        if rater not in reference.raters:
            names = ", ".join(reference.raters)
            raise InputError(f"{rater} is no rater of the reference {reference.name}; they are {names}.")
    return votes_of(study, actor, reference)


def _seen(study: Study, reference: Reference, votes: Votes, view: View) -> Codes:
    return seen_as(view, votes.codes, study.label_set.ids, reference.vote_policies)


def _differing(study: Study, finding_ids: Sequence[str], one: Codes, two: Codes) -> list[tuple[int, str]]:
    at = study.label_set.ids.index
    return [
        (row, finding) for finding in finding_ids for row in differing_reports(one[:, at(finding)], two[:, at(finding)])
    ]


def _told(
    study: Study,
    reference: Reference,
    votes: Votes,
    places: Sequence[tuple[int, str]],
    *,
    again: Mapping[str, Annotation] | None = None,
) -> list[Split]:
    """Return what every rater said at each (row of the votes, finding)."""
    ids = sorted({votes.report_ids[row] for row, _ in places})
    with study.database.read() as conn:
        rows = annotation_store.latest(conn, ids, reference.label_set_hash, until=reference.last_annotation)
    given = {(row.report_id, row.rater): row for row in rows}
    items = whole(study, reference).items
    found = []
    for row, finding in places:
        report = votes.report_ids[row]
        said = {rater: _word(given.get((report, rater)), finding) for rater in votes.raters}
        second = None if again is None else _word(again.get(report), finding)
        found.append(Split(report, finding, said, items[report, finding].outcome, second))
    return found


def _word(annotation: Annotation | None, finding: str) -> Word:
    if annotation is None:
        return Word(None)
    state = annotation.states.get(finding, State.NOT_MENTIONED)
    return Word(state, annotation.evidence.get(finding, ""), annotation.comment)
