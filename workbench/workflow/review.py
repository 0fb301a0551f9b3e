"""The lead's part of a review of generated reports: it is opened with all of it fixed, followed, and closed.

Reviewers read one report at a time beside its reference and cannot know which system wrote it (``reviewing``).
"""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import count
from sqlite3 import Connection
from typing import Final

from workbench.domain.actors import Actor, Role
from workbench.domain.hashing import content_hash
from workbench.domain.people import name_key
from workbench.domain.reviews import Review, ReviewAction, ReviewEvent
from workbench.errors import ConflictError, InputError, NotFoundError
from workbench.formats.systems import select
from workbench.storage import leaderboard as system_store
from workbench.storage import reviews as store
from workbench.storage.leaderboard import DataSetRecord, SubmissionRecord
from workbench.workflow.blindness import require_no_review, require_sighted
from workbench.workflow.review_texts import reviewed_texts
from workbench.workflow.study import Study

STUDIES: Final = 50  # of a data set, where nobody says how many


@dataclass(frozen=True, slots=True)
class ReviewView:
    """A review with what happened to it. Whoever takes part must not be shown ``review.submissions``."""

    review: Review
    events: tuple[ReviewEvent, ...]

    @property
    def open(self) -> bool:
        """Return whether it takes ratings."""
        return self.events[-1].action is not ReviewAction.CLOSED


@dataclass(frozen=True, slots=True)
class Progress:
    """How far the reviewers of an open review are: of ``items`` reports to read so many are rated by each."""

    view: ReviewView
    data_set: DataSetRecord
    items: int
    rated: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Offer:
    """A data set of which a review can be opened: per system the studies with a reference for which it has a report."""

    data_set: DataSetRecord
    studies: Mapping[str, frozenset[str]]

    def common(self, systems: Sequence[str]) -> int:
        """Return how many studies some of its systems share, 0 where none is named."""
        named = [self.studies[name] for name in systems]
        return len(frozenset.intersection(*named)) if named else 0


def offers(study: Study, actor: Actor) -> list[Offer]:
    """Return the data sets of which a review can be opened, newest first: systems have submitted, and none is open.

    Raises:
        RightsError: the person is no lead, rates in an open round, or takes part in an open review.
    """
    actor.require(Role.LEAD, to="open a review")
    require_sighted(study, actor, "choose whose reports are reviewed")
    require_no_review(study, actor, "choose whose reports are reviewed")
    with study.database.snapshot() as conn:
        held = {review.data_set_hash for review in store.open_reviews(conn)}
        found = []
        for data_set in reversed(system_store.data_sets(conn)):
            every = () if data_set.hash in held else system_store.submissions(conn, data_set.hash)
            if every:
                told = {one.system: frozenset(_common(conn, data_set, [one])) for one in every}
                found.append(Offer(data_set, told))
    return found


def open_review(
    study: Study,
    actor: Actor,
    data_set: DataSetRecord,
    *,
    reviewers: Sequence[str],
    studies: int | None = None,
    seed: int = 0,
    systems: Sequence[str] | None = None,
) -> ReviewView:
    """Open a review of what systems wrote for a data set; data set, systems, studies and reviewers are fixed with it.

    Args:
        study: the study.
        actor: a lead.
        data_set: whose reports.
        reviewers: who takes part; raters or adjudicators of the study.
        studies: how many, the same ones for every system, drawn from those with a reference for which each system has
            a report; ``STUDIES``, or all of fewer, when None.
        seed: draws the studies and each reviewer's order.
        systems: which ones; all when None. What each submitted last is reviewed.

    Raises:
        InputError: a reviewer is named twice or is nobody who may review; a system is unknown; too few studies.
        ConflictError: a review of the data set is open.
    """
    actor.require(Role.LEAD, to="open a review")
    _check_reviewers(study, reviewers)
    now = datetime.now(UTC)
    with study.writing(actor) as conn:
        _check_none_open(conn, data_set)
        chosen = _chosen(conn, data_set, systems)
        drawn = _drawn(_common(conn, data_set, chosen), studies, content_hash("review-studies", [seed, data_set.hash]))
        taken = {review.name for review in store.list_all(conn)}
        made = Review(
            name=next(name for i in count(1) if (name := f"review-{i}") not in taken),
            data_set_hash=data_set.hash,
            submissions=tuple((submission.system, submission.id) for submission in chosen),
            study_ids=tuple(sorted(drawn)),
            reviewers=tuple(reviewers),
            seed=seed,
            opened_at=now,
            author=actor.name,
        )
        store.add(conn, made)
        store.add_event(conn, ReviewEvent(made.hash, ReviewAction.OPENED, actor.name, now, ""))
        return view_of(conn, made)


def close_review(study: Study, actor: Actor, data_set: DataSetRecord, *, reason: str = "") -> ReviewView:
    """Close the open review of a data set for good: ratings are seen from then on. Raises NotFoundError without one."""
    actor.require(Role.LEAD, to="close a review")
    with study.writing(actor) as conn:
        held = [review for review in store.open_reviews(conn) if review.data_set_hash == data_set.hash]
        if not held:
            raise NotFoundError(f"No review of {data_set.name} is open.")
        event = ReviewEvent(held[0].hash, ReviewAction.CLOSED, actor.name, datetime.now(UTC), reason.strip())
        store.add_event(conn, event)
        return view_of(conn, held[0])


def view_of(conn: Connection, review: Review) -> ReviewView:
    """Return a review with what happened to it."""
    return ReviewView(review, tuple(store.events(conn, review.hash)))


def progress(study: Study, actor: Actor) -> list[Progress]:
    """Return how far the reviewers of each open review are, and nothing of what they said.

    Raises:
        RightsError: the person is no lead or admin.
    """
    actor.require(Role.LEAD, Role.ADMIN, to="see how far reviewers are")
    with study.database.snapshot() as conn:
        sets = {each.hash: each for each in system_store.data_sets(conn)}
        found = []
        for review in store.open_reviews(conn):
            rated = dict.fromkeys(review.reviewers, 0)
            for said in store.latest(conn, [review.hash]):
                rated[said.reviewer] += said.judgement.rating is not None
            data_set = sets[review.data_set_hash]
            items = len(reviewed_texts(conn, review, data_set.task))
            found.append(Progress(view_of(conn, review), data_set, items, rated))
    return found


def _check_reviewers(study: Study, reviewers: Sequence[str]) -> None:
    if not reviewers:
        raise InputError("Name the reviewers who take part.")
    again = sorted({name for name in reviewers if [name_key(r) for r in reviewers].count(name_key(name)) > 1})
    if again:
        raise InputError(f"{again[0]} is named twice among the reviewers.")
    people = study.roster.people
    for name in reviewers:
        if name not in people:
            raise InputError(
                f"{name} is not one of the study's people; correct the name, or add them with `workbench user add`."
            )
        if not people[name] & {Role.RATER, Role.ADJUDICATOR}:
            raise InputError(f"{name} is neither rater nor adjudicator, and reviewers are; give them that role first.")


def _check_none_open(conn: Connection, data_set: DataSetRecord) -> None:
    for review in store.open_reviews(conn):
        if review.data_set_hash == data_set.hash:
            raise ConflictError(f"{review.name} of {data_set.name} is open; close it first.")


def _chosen(conn: Connection, data_set: DataSetRecord, systems: Sequence[str] | None) -> list[SubmissionRecord]:
    every = system_store.submissions(conn, data_set.hash)
    if not every:
        raise InputError(f"No system has submitted anything for {data_set.name} yet.")
    known = [submission.system for submission in every]
    if unknown := next((name for name in systems or () if name not in known), None):
        raise InputError(f"{data_set.name} has no system called {unknown}; it has {', '.join(known)}.")
    return [submission for submission in every if systems is None or submission.system in systems]


def _common(conn: Connection, data_set: DataSetRecord, chosen: Sequence[SubmissionRecord]) -> list[str]:
    """Return the studies with a reference for which every system has a report, be it a blank one."""
    common = {s.id for s in system_store.studies(conn, data_set.hash) if select(s.reference or "", data_set.task)}
    for submission in chosen:
        common &= {i for i, text in system_store.texts(conn, submission.id).items() if text is not None}
    return sorted(common)


def _drawn(common: Sequence[str], studies: int | None, seed: str) -> list[str]:
    wanted = min(STUDIES, len(common)) if studies is None else studies
    if not 1 <= wanted <= len(common):
        raise InputError(
            f"{wanted} studies cannot be drawn: {len(common)} have a reference and a report of every system."
            if common
            else "No study has a reference and a report of every system; name fewer systems."
        )
    return random.Random(seed).sample(common, wanted)  # noqa: S311 - repeatable, not a secret
