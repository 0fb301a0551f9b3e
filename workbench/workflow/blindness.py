"""Whoever rates sees nobody else's labels, no agreement, no reference and nothing a labeler said (method 6).

That holds for the whole study and not only for the cohort being rated: what others and a labeler say of one report
primes a rater for the next.
"""

from workbench.domain.actors import Actor, Role
from workbench.domain.people import name_key
from workbench.errors import RightsError
from workbench.storage import rounds as store
from workbench.workflow.study import Study


def blinding_round(study: Study, actor: Actor) -> str:
    """Return the open round that a person must stay blind for, empty where there is none.

    It is one in which they rate, whatever else they are; and any at all for somebody who does nothing but rate.
    """
    with study.database.read() as conn:
        held = store.open_rounds(conn)
    own = [each.name for each in held if name_key(actor.name) in map(name_key, each.raters)]
    if own or actor.roles != {Role.RATER}:
        return next(iter(own), "")
    return held[0].name if held else ""


def require_sighted(study: Study, actor: Actor, to: str) -> None:
    """Raise RightsError for somebody who must stay blind, or has no role; ``to`` says what was asked for."""
    actor.require(*Role, to=to)
    held = blinding_round(study, actor)
    if held:
        raise RightsError(
            f"{actor.name} may not {to} before the round {held} is closed: until then nobody who rates sees others' "
            "labels, agreement, a reference or anything a labeler said."
        )
