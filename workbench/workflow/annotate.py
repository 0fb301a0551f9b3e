"""Rating reports: one's own labels only, kept on the server, while the round is open."""

import math
import random
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import lru_cache
from sqlite3 import Connection
from statistics import median

from workbench.domain.actors import Actor, Role
from workbench.domain.annotations import IN_THE_BROWSER, Annotation, Mark
from workbench.domain.cohorts import Cohort, Purpose
from workbench.domain.findings import State
from workbench.domain.hashing import content_hash
from workbench.domain.reports import Report
from workbench.domain.rounds import Round
from workbench.errors import ConflictError, InputError, NotFoundError, RightsError
from workbench.storage import annotations as annotation_store
from workbench.storage import cohorts as cohort_store
from workbench.storage import reports as report_store
from workbench.workflow.cohorts import get_cohort, locked_report_ids
from workbench.workflow.rounds import last_round
from workbench.workflow.study import Study

_LASTING = frozenset(Mark) - {Mark.NONE_OF_THESE, Mark.TOO_FAST}  # marks that a save takes over from the one before
FASTEST = 600  # words a minute; whoever submits faster than that has not read the report


@dataclass(frozen=True, slots=True, order=True)
class Entry:
    """One place in a rater's queue: a report, for the first or for the second time."""

    report_id: str
    reading: int = 1


@dataclass(frozen=True, slots=True)
class Act:
    """What a rater did, numbered from 1 by the tab of the browser: sent again, it is not done again."""

    tab: str
    number: int


@dataclass(frozen=True, slots=True)
class Queue:
    """One rater's way through a cohort, in an order of their own. ``closed`` says why it takes no labels, if so.

    Labels that were submitted stay so until others are submitted in their place: a report that is being changed is in
    ``submitted`` and in ``drafts``.
    """

    order: tuple[Entry, ...]
    submitted: frozenset[Entry]
    drafts: frozenset[Entry]
    flagged: frozenset[Entry]  # drafts to come back to
    closed: str
    seconds: float | None = None  # the median of the rater's own submitted reports, None before the first
    last: Entry | None = None  # of the unfinished drafts the one that was saved last
    round_name: str = ""  # the round whose order it is

    @property
    def changing(self) -> frozenset[Entry]:
        """Return the submitted reports whose labels are being changed."""
        return self.submitted & self.drafts

    @property
    def next(self) -> Entry | None:
        """Return what to open: unfinished drafts, then untouched reports, then flagged ones; None when all is done."""
        untouched = frozenset(self.order) - self.submitted - self.drafts
        for wanted in (self.drafts - self.flagged, untouched, self.flagged):
            for entry in self.order:
                if entry in wanted:
                    return entry
        return None


@dataclass(frozen=True, slots=True)
class RatingTask:
    """One report for rating: the rater's last labels of this reading (None before the first touch), and the last that
    were submitted.
    """

    report: Report
    entry: Entry
    states: tuple[State, ...]
    own: Annotation | None
    submitted: Annotation | None


class ChangedMeanwhileError(ConflictError):
    """Other labels of the rater's own, from another tab, were saved since those that are to be changed were read."""


def ratable_cohorts(study: Study) -> list[str]:
    """Return the names of the cohorts that raters label."""
    with study.database.read() as conn:
        return [c.name for c in cohort_store.list_all(conn) if c.purpose is not Purpose.EVALUATION]


def queue(study: Study, actor: Actor, cohort_name: str) -> Queue:
    """Return the rater's queue of a cohort, in an order that never changes during a round."""
    actor.require(Role.RATER, to="rate reports")
    cohort = get_cohort(study, cohort_name)
    with study.database.read() as conn:
        view = last_round(conn, cohort)
        closed = _why_closed(conn, study, actor, cohort)
        if view is None or actor.name not in view.round.raters:
            return Queue((), frozenset(), frozenset(), frozenset(), closed)
        members = sorted(cohort.members)
        own = {
            Entry(each.report_id, each.reading): each
            for each in annotation_store.standing(conn, members, view.round.label_set_hash, actor.name)
        }
    order = order_of(view.round, cohort, actor.name)
    drafts = frozenset(entry for entry, each in own.items() if not each.submitted)
    spent = [a.seconds for a in own.values() if a.submitted and a.seconds is not None]
    flagged = frozenset(entry for entry in drafts if Mark.COME_BACK in own[entry].marks)
    return Queue(
        order,
        frozenset(entry for entry, each in own.items() if each.ever_submitted),
        drafts,
        flagged,
        closed,
        median(spent) if spent else None,
        max(drafts - flagged, key=lambda entry: own[entry].at, default=None),
        view.round.name,
    )


def order_of(held: Round, cohort: Cohort, rater: str) -> tuple[Entry, ...]:
    """Return a rater's order of a round: all reports shuffled, and in its second half some of the first half again."""
    return _order(held.seed, held.twice, cohort.hash, rater, tuple(sorted(cohort.members)))


@lru_cache(maxsize=64)
def _order(seed: int, twice: int, cohort_hash: str, rater: str, members: tuple[str, ...]) -> tuple[Entry, ...]:
    reports = list(members)
    generator = random.Random(content_hash("rating-order", [seed, cohort_hash, rater]))  # noqa: S311 - no secret
    generator.shuffle(reports)
    half = (len(reports) + 1) // 2
    order = [Entry(report) for report in reports]
    for report in generator.sample(reports[:half], min(twice, half)):
        order.insert(generator.randint(half, len(order)), Entry(report, 2))
    return tuple(order)


@contextmanager
def own_report(study: Study, actor: Actor, cohort_name: str, entry: Entry) -> Iterator[tuple[Connection, Round]]:
    """Yield the round in which a rater reads a report, and a connection to read their own labels of it.

    Raises:
        NotFoundError: it is not in the rater's queue.
        RightsError: it is in a locked validation cohort and this rater edits prompts too (method 18).
    """
    actor.require(Role.RATER, to="rate reports")
    _check_not_locked_from(study, actor, entry.report_id)
    cohort = get_cohort(study, cohort_name)
    with study.database.read() as conn:
        yield conn, _check_in_queue(conn, cohort, actor, entry)


def open_report(study: Study, actor: Actor, cohort_name: str, entry: Entry) -> RatingTask:
    """Return a report for rating with the rater's own labels and nobody else's.

    Raises:
        NotFoundError: it is not in the rater's queue.
        RightsError: as ``own_report``.
    """
    with own_report(study, actor, cohort_name, entry) as (conn, held):
        report = report_store.get(conn, entry.report_id)
        own, submitted = (_last(conn, held, actor, entry, submitted_only=only) for only in (False, True))
    if report is None:
        raise NotFoundError(f"There is no report {entry.report_id} in this study.")
    return RatingTask(report, entry, held.states, own, submitted)


def save(
    study: Study,
    actor: Actor,
    cohort_name: str,
    entry: Entry,
    states: Mapping[str, State],
    *,
    submitted: bool,
    marks: frozenset[Mark] = frozenset(),
    evidence: Mapping[str, str] | None = None,
    comment: str = "",
    seconds: float | None = None,
    reason: str = "",
    act: Act | None = None,
    read: RatingTask | None = None,
) -> None:
    """Append the rater's labels of a report, as a draft or submitted. What was saved before stays in the history.

    An act that was saved already, and what says the same as was saved last, add nothing.

    Args:
        study: the study.
        actor: a rater of the round.
        cohort_name: the cohort that is rated.
        entry: which report, and for which time.
        states: the labels; findings left out are not mentioned.
        submitted: False for a draft, which never votes.
        marks: ``NONE_OF_THESE`` is needed to submit without a positive finding; ``TOO_FAST`` is found out here.
        evidence: per finding the words it rests on.
        comment: of the rater.
        seconds: spent on the report so far, idle time left out.
        reason: why submitted labels change; needed when they do.
        act: what this saves, where the browser numbered it.
        read: what the labels were made of; where something else was saved since, nothing is.

    Raises:
        InputError: a finding or state is not the round's, nothing is marked, a reason is missing, the seconds are no
            length of time, or a text holds what no file can.
        ChangedMeanwhileError: what was read is no longer what was saved last.
        ConflictError: the round takes no labels.
        NotFoundError: the report is not in the rater's queue.
    """
    actor.require(Role.RATER, to="rate reports")
    _check_not_locked_from(study, actor, entry.report_id)
    _check_storable(entry, seconds, [comment, reason, *(evidence or {}).values()])
    cohort = get_cohort(study, cohort_name)
    with study.writing(actor) as conn:
        if why := _why_closed(conn, study, actor, cohort):
            raise ConflictError(why)
        held = _check_in_queue(conn, cohort, actor, entry)
        _check_states(held, study, entry, states)
        if act and not annotation_store.take(conn, actor.name, act.tab, act.number):
            return
        before = _last(conn, held, actor, entry, submitted_only=True)
        own = _last(conn, held, actor, entry, submitted_only=False)
        require_unchanged(read, own)
        if _repeats(own, _Said(submitted, said(states), dict(evidence or {}), comment.strip(), marks & _LASTING)):
            return
        if submitted:
            _check_said(entry, states, marks)
            _check_reason(entry, before, states, reason)
        report = report_store.get(conn, entry.report_id)
        words = len(report.select(study.settings.sections).split()) if report else 0
        annotation_store.append(
            conn,
            Annotation(
                report_id=entry.report_id,
                rater=actor.name,
                states=dict(states),
                submitted=submitted,
                at=datetime.now(UTC),
                label_set_hash=held.label_set_hash,
                evidence=dict(evidence or {}),
                comment=comment.strip(),
                seconds=seconds,
                source=IN_THE_BROWSER,
                reading=entry.reading,
                marks=marks | _speed(submitted=submitted, words=words, seconds=seconds),
                reason=reason.strip(),
            ),
        )


def heard(study: Study, actor: Actor, tab: str) -> int:
    """Return the number of the last act of the rater's browser tab that was saved, 0 before the first."""
    actor.require(Role.RATER, to="rate reports")
    with study.database.read() as conn:
        return annotation_store.taken(conn, actor.name, tab)


@dataclass(frozen=True, slots=True)
class _Said:
    submitted: bool
    states: Mapping[str, State]
    evidence: Mapping[str, str]
    comment: str
    marks: frozenset[Mark]


def _repeats(own: Annotation | None, now: _Said) -> bool:
    """Return whether a save adds nothing: a browser sends some things twice, and a draft must not undo a submission."""
    if own is None:
        return now == _Said(False, {}, {}, "", frozenset())
    before = _Said(own.submitted, said(own.states), dict(own.evidence), own.comment, own.marks & _LASTING)
    return now in (before, replace(before, submitted=False))


def _speed(*, submitted: bool, words: int, seconds: float | None) -> frozenset[Mark]:
    fast = submitted and seconds is not None and words > FASTEST / 60 * seconds
    return frozenset({Mark.TOO_FAST}) if fast else frozenset()


def _last(conn: Connection, held: Round, actor: Actor, entry: Entry, *, submitted_only: bool) -> Annotation | None:
    found = annotation_store.latest(
        conn,
        [entry.report_id],
        held.label_set_hash,
        rater=actor.name,
        submitted_only=submitted_only,
        reading=entry.reading,
    )
    return found[0] if found else None


def _check_not_locked_from(study: Study, actor: Actor, report_id: str) -> None:
    if actor.roles.intersection({Role.LEAD, Role.ADMIN}) and report_id in locked_report_ids(study):
        raise RightsError(
            f"Report {report_id} is in a locked validation cohort and {actor.name} edits prompts too, so somebody "
            "else must rate it."
        )


def _why_closed(conn: Connection, study: Study, actor: Actor, cohort: Cohort) -> str:
    view = last_round(conn, cohort)
    if view is None:
        return f"No round is open on the cohort {cohort.name} yet; the study lead opens it."
    if actor.name not in view.round.raters:
        return f"{actor.name} takes no part in the round {view.round.name}; its raters were named when it was opened."
    if view.round.label_set_hash != study.label_set.hash:
        return f"The guideline has changed since the round {view.round.name} was opened; the lead opens a new round."
    if not view.open:
        return f"The round {view.round.name} is closed, so it takes no more labels."
    return ""


def _check_in_queue(conn: Connection, cohort: Cohort, actor: Actor, entry: Entry) -> Round:
    view = last_round(conn, cohort)
    if view is None or entry not in order_of(view.round, cohort, actor.name):
        raise NotFoundError(f"Report {entry.report_id} is not in your queue of the cohort {cohort.name}.")
    if actor.name not in view.round.raters:
        raise RightsError(f"{actor.name} takes no part in the round {view.round.name}.")
    return view.round


def require_unchanged(read: RatingTask | None, own: Annotation | None) -> None:
    """Raise ChangedMeanwhileError where labels are to be changed that are not those that were saved last."""
    if read is not None and own != read.own:
        raise ChangedMeanwhileError(f"Report {read.entry.report_id} was changed in another tab; look at it again.")


def _check_storable(entry: Entry, seconds: float | None, texts: Sequence[str]) -> None:
    if seconds is not None and not 0 <= seconds < math.inf:
        raise InputError(f"Report {entry.report_id}: {seconds} seconds are no length of time.")
    if any("\0" in text or text != text.encode("utf-8", "replace").decode("utf-8") for text in texts):
        raise InputError(f"Report {entry.report_id}: a text holds a character that cannot be kept; take it out.")


def _check_states(held: Round, study: Study, entry: Entry, states: Mapping[str, State]) -> None:
    for finding, state in states.items():
        if finding not in study.label_set.ids or state not in held.states:
            raise InputError(
                f"Report {entry.report_id}: {finding} = {state} is not a label that raters of this round give."
            )


def _check_said(entry: Entry, states: Mapping[str, State], marks: frozenset[Mark]) -> None:
    positive = {State.PRESENT, State.UNCERTAIN}.intersection(states.values())
    if positive and Mark.NONE_OF_THESE in marks:
        raise InputError(f"Report {entry.report_id}: findings are marked, so it cannot be none of these.")
    if not positive and Mark.NONE_OF_THESE not in marks:
        raise InputError(f"Report {entry.report_id}: nothing is marked; say none of these if that is so.")


def _check_reason(entry: Entry, before: Annotation | None, states: Mapping[str, State], reason: str) -> None:
    if before is not None and said(before.states) != said(states) and not reason.strip():
        raise InputError(f"Report {entry.report_id} was submitted with other labels: say why they change.")


def said(states: Mapping[str, State]) -> dict[str, State]:
    """Return the labels without those that say "not mentioned", which is what leaving a finding out says as well."""
    return {finding: state for finding, state in states.items() if state is not State.NOT_MENTIONED}
