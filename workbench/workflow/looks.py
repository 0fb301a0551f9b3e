"""Every look at a cohort counts: scored runs and tries (method 17)."""

from datetime import UTC, datetime

from workbench.domain.actors import Actor, Role
from workbench.domain.cohorts import Cohort
from workbench.storage import evaluations as store
from workbench.workflow.study import Study


def record_look(study: Study, actor: Actor, cohort: Cohort, kind: str, prompt_hash: str) -> int:
    """Record that somebody looked at how a prompt does on a cohort; return the looks so far, this one included.

    ``kind`` says what was looked at and on which part of the cohort: the same kind of one prompt twice is one look,
    any other is another.

    Raises:
        RightsError: the person is no lead or admin.
    """
    actor.require(Role.LEAD, Role.ADMIN, to="look at how a prompt does")
    with study.writing(actor) as conn:
        store.add_look(conn, cohort.hash, kind=kind, prompt_hash=prompt_hash, actor=actor.name, at=datetime.now(UTC))
        return store.looks(conn, cohort.hash)
