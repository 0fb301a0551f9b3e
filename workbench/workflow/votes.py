"""The raters' labels of a cohort: as one array, and one after the other."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from sqlite3 import Connection

import numpy as np

from workbench.domain.annotations import Annotation
from workbench.domain.cohorts import Cohort
from workbench.domain.findings import MISSING, State
from workbench.domain.references import Outcome, ReferenceItem
from workbench.evaluation.consensus import Codes, Tally
from workbench.formats.votes import Vote
from workbench.storage import annotations as annotation_store
from workbench.workflow.study import Study


@dataclass(frozen=True, slots=True)
class Votes:
    """The raters' labels of a cohort as codes ``[report, finding, rater]``; MISSING where a rater did not submit."""

    report_ids: tuple[str, ...]
    raters: tuple[str, ...]
    codes: Codes
    simulated: bool

    def only(self, raters: Sequence[str]) -> "Votes":
        """Return the votes of some of the raters, in the order they are named in."""
        at = [self.raters.index(rater) for rater in raters]
        return Votes(self.report_ids, tuple(raters), self.codes[:, :, at], self.simulated)


def read_votes(
    study: Study,
    cohort: Cohort,
    raters: Sequence[str] | None,
    *,
    label_set_hash: str,
    until: int | None = None,
    only: Collection[str] | None = None,
) -> Votes:
    """Return the submitted labels of a cohort's reports, for whoever may see them.

    Args:
        study: the study.
        cohort: whose reports.
        raters: whose labels; None takes everybody who submitted any.
        label_set_hash: the guideline the labels were given under.
        until: the number of the last label to count; what came later is left out. None takes all.
        only: of which of the reports; all of the cohort's when None.
    """
    report_ids = tuple(sorted(cohort.members if only is None else only))
    with study.database.read() as conn:
        rows = annotation_store.latest(conn, list(report_ids), label_set_hash, submitted_only=True, until=until)
    names = tuple(sorted({row.rater for row in rows} if raters is None else set(raters)))
    return Votes(
        report_ids,
        names,
        _codes(rows, report_ids, study.label_set.ids, names),
        any(row.simulated for row in rows if row.rater in names),
    )


def _codes(
    rows: Sequence[Annotation], report_ids: Sequence[str], finding_ids: Sequence[str], raters: Sequence[str]
) -> Codes:
    codes = np.full((len(report_ids), len(finding_ids), len(raters)), MISSING, dtype=np.int8)
    report_at = {report: i for i, report in enumerate(report_ids)}
    rater_at = {rater: i for i, rater in enumerate(raters)}
    for row in rows:
        if row.rater in rater_at:
            codes[report_at[row.report_id], :, rater_at[row.rater]] = [
                row.states.get(finding, State.NOT_MENTIONED).code for finding in finding_ids
            ]
    return codes


def items_of(
    report_ids: Sequence[str], finding_ids: Sequence[str], counted: Tally
) -> dict[tuple[str, str], ReferenceItem]:
    """Return what votes came to as a reference keeps it, by (report, finding)."""
    outcome_of = {outcome.code: outcome for outcome in Outcome}
    return {
        (report, finding): ReferenceItem(
            outcome_of[int(counted.outcome[i, j])],
            int(counted.present[i, j]),
            int(counted.missing[i, j]),
            bool(counted.tie[i, j]),
        )
        for i, report in enumerate(report_ids)
        for j, finding in enumerate(finding_ids)
    }


def in_order(
    conn: Connection, cohort: Cohort, raters: Sequence[str], *, label_set_hash: str, until: int | None = None
) -> Iterator[Vote]:
    """Yield each report of a cohort and rater, in order, with what the rater submitted of it at the first reading.

    ``label_set_hash`` and ``until`` are as in ``read_votes``; nothing is held but one report's labels.
    """
    given = annotation_store.iterate_submitted(conn, cohort.name, label_set_hash, until=until)
    by_report = groupby(given, key=lambda annotation: annotation.report_id)
    coming = next(by_report, None)
    for report_id in sorted(cohort.members):
        submitted: dict[str, Annotation] = {}
        if coming is not None and coming[0] == report_id:
            submitted = {annotation.rater: annotation for annotation in coming[1]}
            coming = next(by_report, None)
        for rater in raters:
            yield report_id, rater, submitted.get(rater)


def with_second_readings(
    conn: Connection, cohort: Cohort, votes: Iterator[Vote], *, label_set_hash: str, until: int | None = None
) -> Iterator[Vote]:
    """Yield votes, each followed by what its rater submitted when the same report came a second time."""
    again = annotation_store.latest(conn, list(cohort.members), label_set_hash, until=until, reading=2)
    second = {(annotation.report_id, annotation.rater): annotation for annotation in again}
    for report_id, rater, given in votes:
        yield report_id, rater, given
        if (report_id, rater) in second:
            yield report_id, rater, second[report_id, rater]
