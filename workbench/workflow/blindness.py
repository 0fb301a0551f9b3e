"""Whoever rates sees nobody else's labels, no agreement, no reference and nothing a labeler said (method 6).

That holds for the whole study and not only for the cohort being rated: what others and a labeler say of one report
primes a rater for the next.
"""

from workbench.domain.actors import Actor, Role
from workbench.domain.people import name_key
from workbench.errors import RightsError
from workbench.storage import reviews as review_store
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


def reviewing(study: Study, actor: Actor) -> str:
    """Return the open review of generated reports in which a person takes part, empty without one."""
    with study.database.read() as conn:
        held = review_store.open_reviews(conn)
    own = (each.name for each in held if name_key(actor.name) in map(name_key, each.reviewers))
    return next(own, "")


def reviews_ever(study: Study, actor: Actor) -> bool:
    """Return whether a person takes part, or took part, in a review of generated reports."""
    with study.database.read() as conn:
        held = review_store.list_all(conn)
    return any(name_key(actor.name) in map(name_key, each.reviewers) for each in held)


def require_no_review(study: Study, actor: Actor, to: str) -> None:
    """Raise RightsError for somebody who reviews generated reports and must not know systems, scores or metrics.

    That holds for every data set: the same system's reports, or the same studies for another task, may stand in others.
    """
    held = reviewing(study, actor)
    if held:
        raise RightsError(
            f"{actor.name} may not {to} before {held} is closed: until then nobody who reviews generated reports sees "
            "which system wrote them, others' ratings, or any score."
        )
