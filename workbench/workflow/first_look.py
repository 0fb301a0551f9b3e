"""The first look at what a reference came to: on record, and until then sealed.

An adjudicator must not know any count (method 3). So a reference is handed out without its items until somebody has
looked at counts, agreement or a score on it; whatever shows those records the look first, then opens the seal.
"""

from dataclasses import replace
from datetime import UTC, datetime
from sqlite3 import Connection

from workbench.domain.actors import Actor, Role
from workbench.domain.references import Outcome, Reference, SealedItems
from workbench.storage import evaluations as evaluation_store
from workbench.storage import references as reference_store
from workbench.storage import rounds as round_store
from workbench.storage.references import ReferenceHead
from workbench.workflow.study import Study


def seal(reference: Reference) -> Reference:
    """Return a reference without its outcomes and counts."""
    if isinstance(reference.items, SealedItems):
        return reference
    return replace(reference, items=SealedItems(reference.name, reference.hash))


def unsealed(study: Study, head: ReferenceHead) -> Reference:
    """Return a reference, sealed while no look at these votes is on record."""
    with study.database.read() as conn:
        if first_look_in(conn, head):
            found = reference_store.by_hash(conn, head.hash)
            assert found is not None  # noqa: S101 - references are never removed
            return found
    return reference_store.without_items(head, SealedItems(head.name, head.hash))


def whole(study: Study, reference: Reference) -> Reference:
    """Return a reference with its outcomes and counts; rights and the record of the look are the caller's."""
    if not isinstance(reference.items, SealedItems):
        return reference
    with study.database.read() as conn:
        found = reference_store.by_hash(conn, reference.hash)
    assert found is not None  # noqa: S101 - a sealed one was read from the study
    return found


def _require_first_look(study: Study, actor: Actor, reference: Reference) -> None:
    """Raise RightsError where this look would end an adjudication that is not this person's to end."""
    items = whole(study, reference).items
    if reference.adjudicated or not any(i.tie or i.outcome is Outcome.SHORT for i in items.values()):
        return
    with study.database.read() as conn:
        seen = first_look_in(conn, reference)
        finished = any(head.parent_hash == reference.hash and head.adjudicated for head in reference_store.heads(conn))
    if not (seen or finished):
        actor.require(
            Role.LEAD,
            Role.ADMIN,
            Role.ADJUDICATOR,
            to=f"be the first to look at {reference.name}, since that ends its adjudication",
        )


def first_look_in(conn: Connection, reference: Reference | ReferenceHead) -> str:
    """Return who or what has shown counts of these votes, in a sentence; empty while nobody has seen any.

    A look at any reference that was frozen on the same cohort under the same guideline shows them: at an earlier
    version, or at one by another rule.
    """
    of_cohort = (reference.cohort_hash, reference.label_set_hash)
    others = [head for head in reference_store.heads(conn) if (head.cohort_hash, head.label_set_hash) == of_cohort]
    scored = evaluation_store.scored_references(conn)
    for head in sorted(others, key=lambda head: head.hash != reference.hash):
        seen = round_store.viewed(conn, head.hash)
        if seen is not None:
            return f"{seen[0]} looked at the counts of {head.name} on {seen[1]:%Y-%m-%d %H:%M} UTC"
        if head.hash in scored:
            return f"A run was scored on {head.name}"
    return ""


def record_view(study: Study, actor: Actor, reference: Reference) -> None:
    """Record the first look at a reference's counts, agreement or a score on it; later ones change nothing.

    Raises:
        RightsError: it would end an adjudication, and the person is no lead, admin or adjudicator.
    """
    with study.database.read() as conn:
        scored = reference.hash in evaluation_store.scored_references(conn)
        if scored or round_store.viewed(conn, reference.hash) is not None:
            return
    _require_first_look(study, actor, reference)
    with study.writing(actor) as conn:
        round_store.add_view(conn, reference.hash, actor.name, datetime.now(UTC))
