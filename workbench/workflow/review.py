"""Reviewing generated reports: one at a time beside its reference, by people who cannot know which system wrote it.

A reviewer is shown what the data set's task reads of a report, under headings of our own, so that neither a heading nor
a section beside the task tells the systems apart. Two systems that wrote the same are read once.
"""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from itertools import count
from sqlite3 import Connection
from statistics import median
from typing import Final

from workbench.domain.actors import Actor, Role
from workbench.domain.hashing import content_hash
from workbench.domain.people import name_key
from workbench.domain.reviews import (
    OTHER,
    RATINGS,
    Fault,
    Judgement,
    Review,
    ReviewAction,
    ReviewEvent,
    marks_as_json,
)
from workbench.errors import ConflictError, InputError, NotFoundError, RightsError
from workbench.formats.systems import TASKS, select
from workbench.storage import leaderboard as system_store
from workbench.storage import reviews as store
from workbench.storage.leaderboard import DataSetRecord, SubmissionRecord
from workbench.storage.reviews import Place
from workbench.text.sections import split_sections
from workbench.workflow.study import Study

STUDIES: Final = 50  # of a data set, where nobody says how many
LONGEST_COMMENT = 2000
Shown = tuple[tuple[str, str], ...]  # (heading, text) of each section; empty for a report that says nothing


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


@dataclass(frozen=True, slots=True)
class Progress:
    """How far the reviewers of an open review are: of ``items`` reports to read so many are rated by each."""

    view: ReviewView
    data_set: DataSetRecord
    items: int
    rated: Mapping[str, int]


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
            items = len(_texts(conn, review, data_set.task))
            found.append(Progress(view_of(conn, review), data_set, items, rated))
    return found


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
        task = _task_of(conn, review)
        texts = _texts(conn, review, task)
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
        place = _place(review, reviewer, _texts(conn, review, _task_of(conn, review)), at)
        _check_said(study, said)
        before = _said(conn, review, reviewer, place)
        now = Judgement(said.rating, said.marks, said.comment.strip(), said.seconds)
        if _told(before) != _told(now):
            store.append(conn, review.hash, reviewer, place, said=now, at=datetime.now(UTC))


def shown(text: str, task: str) -> Shown:
    """Return what a task reads of a report as a reviewer sees it: headings of our own, white space at the ends gone."""
    return _shown(text, task)


@lru_cache(maxsize=20_000)
def _shown(text: str, task: str) -> Shown:
    if not select(text, task):
        return ()
    names = TASKS[task]
    parts = [(s.name, text[s.start : s.end].strip()) for s in split_sections(text) if s.name in names]
    # A word for nothing in place of a section is no section, as ``select`` has it.
    kept = [(name, part) for name, part in parts if part and select(part, task)]
    return tuple(("" if name == "unlabelled" or "impression" not in names else name, part) for name, part in kept)


def text_hash(text: Shown) -> str:
    """Return the identity of what is shown of a report; spacing does not tell two apart."""
    return _text_hash(text)


@lru_cache(maxsize=20_000)
def _text_hash(text: Shown) -> str:
    return content_hash("review-text", [[heading, " ".join(part.split())] for heading, part in text])


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


def _task_of(conn: Connection, review: Review) -> str:
    return next(each.task for each in system_store.data_sets(conn) if each.hash == review.data_set_hash)


def _texts(conn: Connection, review: Review, task: str) -> dict[Place, Shown]:
    """Return each text that is reviewed once, by study and hash, in an order that tells nothing of the systems."""
    found = store.texts(conn, [number for _, number in review.submissions], review.study_ids)
    places = {}
    for (_, study_id), text in found.items():
        read = shown(text or "", task)
        places[study_id, text_hash(read)] = read
    return dict(sorted(places.items()))


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
    task = _task_of(conn, review)
    own = [one for one in store.latest(conn, [review.hash], reviewer) if one.judgement.rating is not None]
    rated, spent = {one.place for one in own}, [s for one in own if (s := one.judgement.seconds) is not None]
    order = _order(review, reviewer, _texts(conn, review, task))
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
