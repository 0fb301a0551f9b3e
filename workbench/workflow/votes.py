"""The raters' labels of a cohort as one array."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np

from workbench.domain.annotations import Annotation
from workbench.domain.cohorts import Cohort
from workbench.domain.findings import MISSING, State
from workbench.evaluation.consensus import Codes
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
