"""A reviewer at work: one generated report at a time beside its reference, in an order of their own, every word kept.

Reviewers cannot know which system wrote what they read (``review_texts``), and see nobody else's words.
"""

import random
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from sqlite3 import Connection
from statistics import median

from workbench.domain.actors import Actor, Role
from workbench.domain.hashing import content_hash
from workbench.domain.people import name_key
from workbench.domain.reviews import OTHER, RATINGS, Fault, Judgement, Review, marks_as_json
from workbench.errors import ConflictError, InputError, NotFoundError, RightsError
from workbench.storage import leaderboard as system_store
from workbench.storage import reviews as store
from workbench.storage.reviews import Place
from workbench.workflow.review import view_of
from workbench.workflow.review_texts import Shown, reviewed_texts, shown, task_of
from workbench.workflow.study import Study

LONGEST_COMMENT = 2000


@dataclass(frozen=True, slots=True)
class Desk:
    """How far a reviewer is: ``rated`` flags the generated reports in the reviewer's own order.

    ``seconds`` is the median of those that are rated, None before the first.
    """

    name: str
    task: str
    rated: tuple[bool, ...]
    seconds: float | None = None

    @property
    def done(self) -> int:
        """Return how many are rated."""
        return sum(self.rated)

    def after(self, at: int) -> int:
        """Return the next one that is not rated, from the start again where none follows; ``at`` where there is none.

        ``at`` itself comes last, so that going on from a report without rating it leads to another.
        """
        around = [*range(at + 1, len(self.rated)), *range(min(at + 1, len(self.rated)))]
        return next((i for i in around if not self.rated[i]), max(at, 0))


@dataclass(frozen=True, slots=True)
class Task:
    """One generated report for review, beside the reference; ``own`` is what the reviewer said of it last."""

    at: int
    reference: Shown
    generated: Shown
    own: Judgement


def desks(study: Study, actor: Actor) -> list[Desk]:
    """Return the open reviews in which a person takes part, oldest first."""
    actor.require(Role.RATER, Role.ADJUDICATOR, to="review generated reports")
    with study.database.snapshot() as conn:
        return [
            _desk(conn, review, reviewer)
            for review in store.open_reviews(conn)
            if (reviewer := _part(review, actor)) is not None
        ]


def open_item(study: Study, actor: Actor, name: str, at: int) -> Task:
    """Return the report at a place of the reviewer's own order, with the reviewer's own words alone.

    Raises:
        NotFoundError: there is no such review or place.
        ConflictError: the review is closed.
        RightsError: the person takes no part in it.
    """
    with study.database.snapshot() as conn:
        review, reviewer = _own(conn, actor, name)
        task = task_of(conn, review)
        texts = reviewed_texts(conn, review, task)
        place = _place(review, reviewer, texts, at)
        reference = next(s.reference for s in system_store.studies(conn, review.data_set_hash) if s.id == place[0])
        return Task(at, shown(reference or "", task), texts[place], _said(conn, review, reviewer, place))


def rate(
    study: Study,
    actor: Actor,
    name: str,
    at: int,
    said: Judgement,
) -> None:
    """Keep what a reviewer says of a report, all of it; what was said before stays in the history.

    What says the same as was said last adds nothing.

    Raises:
        InputError: the rating is none of 1 to 5, a finding is not one of the study's, or the comment is too long.
        NotFoundError: there is no such review or place.
        ConflictError: the review is closed.
        RightsError: the person takes no part in it.
    """
    with study.writing(actor) as conn:
        review, reviewer = _own(conn, actor, name)
        place = _place(review, reviewer, reviewed_texts(conn, review, task_of(conn, review)), at)
        _check_said(study, said)
        before = _said(conn, review, reviewer, place)
        now = Judgement(said.rating, said.marks, said.comment.strip(), said.seconds)
        if _told(before) != _told(now):
            store.append(conn, review.hash, reviewer, place, said=now, at=datetime.now(UTC))


def _part(review: Review, actor: Actor) -> str | None:
    """Return the name under which a person takes part in a review, None where they do not."""
    return next((name for name in review.reviewers if name_key(name) == name_key(actor.name)), None)


def _own(conn: Connection, actor: Actor, name: str) -> tuple[Review, str]:
    """Return an open review and under which name the person takes part in it."""
    actor.require(Role.RATER, Role.ADJUDICATOR, to="review generated reports")
    review = next((review for review in store.list_all(conn) if review.name == name), None)
    if review is None:
        raise NotFoundError(f"There is no {name}.")
    reviewer = _part(review, actor)
    if reviewer is None:
        raise RightsError(f"{actor.name} takes no part in {name}; its reviewers were named when it was opened.")
    if not view_of(conn, review).open:
        raise ConflictError(f"{name} is closed, so it takes no more ratings.")
    return review, reviewer


def _order(review: Review, reviewer: str, texts: Mapping[Place, Shown]) -> list[Place]:
    order = sorted(texts)
    random.Random(content_hash("review-order", [review.hash, reviewer])).shuffle(order)  # noqa: S311 - no secret
    return order


def _place(review: Review, reviewer: str, texts: Mapping[Place, Shown], at: int) -> Place:
    order = _order(review, reviewer, texts)
    if not 0 <= at < len(order):
        raise NotFoundError(f"{review.name} has {len(order)} reports to read and none at place {at + 1}.")
    return order[at]


def _desk(conn: Connection, review: Review, reviewer: str) -> Desk:
    task = task_of(conn, review)
    own = [one for one in store.latest(conn, [review.hash], reviewer) if one.judgement.rating is not None]
    rated, spent = {one.place for one in own}, [s for one in own if (s := one.judgement.seconds) is not None]
    order = _order(review, reviewer, reviewed_texts(conn, review, task))
    return Desk(review.name, task, tuple(place in rated for place in order), median(spent) if spent else None)


def _said(conn: Connection, review: Review, reviewer: str, place: Place) -> Judgement:
    own = store.latest(conn, [review.hash], reviewer)
    return next((one.judgement for one in own if one.place == place), Judgement())


def _told(said: Judgement) -> tuple[object, ...]:
    return said.rating, marks_as_json(said.marks), said.comment


def _check_said(study: Study, said: Judgement) -> None:
    if said.rating is not None and said.rating not in RATINGS:
        raise InputError(f"A rating is a whole number from 1 to 5, not {said.rating}.")
    for finding, faults in said.marks.items():
        if finding not in {*study.label_set.ids, OTHER} or not faults <= set(Fault):
            raise InputError(f"{finding} is no finding of this study that can be marked.")
    if len(said.comment) > LONGEST_COMMENT:
        raise InputError(f"The comment has {len(said.comment):,} characters; write at most {LONGEST_COMMENT:,}.")
