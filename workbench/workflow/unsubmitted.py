"""Who has not submitted what, so that no vote is counted too early without anybody noticing."""

from collections.abc import Sequence
from dataclasses import dataclass
from sqlite3 import Connection

from workbench.domain.actors import Actor, Role
from workbench.domain.cohorts import Cohort
from workbench.storage import annotations as annotation_store
from workbench.workflow.cohorts import get_cohort
from workbench.workflow.rounds import last_round
from workbench.workflow.study import Study


@dataclass(frozen=True, slots=True)
class Unsubmitted:
    """What one rater has left to do in a cohort of ``reports``: progress, and no labels.

    ``missing`` reports were never submitted, and ``drafts`` of these are begun. ``changed`` ones were submitted and
    changed since without submitting again, so that the earlier labels count.
    """

    rater: str
    reports: int
    missing: int
    drafts: int
    changed: int

    @property
    def told(self) -> str:
        """Return it in words, beginning with the rater."""
        parts = []
        if self.missing:
            begun = f" ({self.drafts:,} begun as drafts)" if self.drafts else ""
            parts.append(f"{self.missing:,} of {self.reports:,} reports not submitted{begun}")
        if self.changed:
            parts.append(f"{self.changed:,} changed and not submitted again")
        return f"{self.rater}: {', '.join(parts)}"


def unsubmitted(
    study: Study, actor: Actor, cohort_name: str, raters: Sequence[str] | None = None
) -> tuple[Unsubmitted, ...]:
    """Return what the raters of a cohort have left to do, without those who are done.

    Args:
        study: the study.
        actor: a lead, admin or adjudicator.
        cohort_name: which cohort.
        raters: whom to ask of; by default the raters of its round, and where none was held, whoever submitted any.
    """
    actor.require(Role.LEAD, Role.ADMIN, Role.ADJUDICATOR, to="see how far the raters are")
    cohort = get_cohort(study, cohort_name)
    with study.database.read() as conn:
        return unsubmitted_in(conn, study, cohort, raters)


def unsubmitted_in(
    conn: Connection, study: Study, cohort: Cohort, raters: Sequence[str] | None = None
) -> tuple[Unsubmitted, ...]:
    """Return the same within a transaction, for whoever may ask."""
    members, label_set = sorted(cohort.members), study.label_set.hash
    submitted = {(a.rater, a.report_id) for a in annotation_store.latest(conn, members, label_set)}
    begun = {
        (a.rater, a.report_id)
        for a in annotation_store.latest(conn, members, label_set, submitted_only=False)
        if not a.submitted
    }
    held = last_round(conn, cohort)
    if raters is None:
        in_round = held is not None and held.round.label_set_hash == label_set
        raters = held.round.raters if held and in_round else sorted({rater for rater, _ in submitted})
    found = []
    for rater in raters:
        done = {report for who, report in submitted if who == rater}
        drafts = {report for who, report in begun if who == rater}
        one = Unsubmitted(rater, len(members), len(members) - len(done), len(drafts - done), len(drafts & done))
        if one.missing or one.changed:
            found.append(one)
    return tuple(found)
