"""The training round: practice reports outside every cohort, with feedback, that count for nothing."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from statistics import median

from workbench.domain.actors import Actor, Role
from workbench.domain.annotations import Annotation
from workbench.domain.findings import State
from workbench.domain.practice import PracticeAnswer, PracticeReport, PracticeSet
from workbench.errors import ConflictError, InputError, NotFoundError
from workbench.formats.practice import read_practice
from workbench.storage import annotations as annotation_store
from workbench.storage import practice as store
from workbench.storage import reports as report_store
from workbench.workflow.annotate import Act, Entry, Queue, RatingTask, require_unchanged
from workbench.workflow.study import Study

_TO = "practise rating"
POSITIVE = frozenset({State.PRESENT, State.UNCERTAIN})


class Kind(StrEnum):
    """How a rater's state of one finding stands to the key."""

    AGREED = "agreed"
    MISSED = "missed"  # the key is positive, the rater is not
    OVER_CALLED = "over-called"  # the rater is positive, the key is not
    CERTAINTY = "certainty"  # present and uncertain taken for each other
    NEGATIVE = "negative"  # absent and not mentioned taken for each other; neither is a vote


@dataclass(frozen=True, slots=True)
class Point:
    """One finding of a practice report: what the rater said, what the key says, and why where that is told."""

    finding: str
    said: State
    key: State
    why: str

    @property
    def kind(self) -> Kind:
        """Return how the two stand to each other."""
        if self.said is self.key:
            return Kind.AGREED
        mine, keyed = self.said in POSITIVE, self.key in POSITIVE
        if mine and keyed:
            return Kind.CERTAINTY
        if keyed:
            return Kind.MISSED
        return Kind.OVER_CALLED if mine else Kind.NEGATIVE


@dataclass(frozen=True, slots=True)
class Feedback:
    """A submitted practice report held against its key, a point for every finding in label-set order."""

    points: tuple[Point, ...]

    @property
    def differing(self) -> tuple[Point, ...]:
        """Return the points where rater and key differ, the missed ones first."""
        rank = [Kind.MISSED, Kind.OVER_CALLED, Kind.CERTAINTY, Kind.NEGATIVE]
        return tuple(sorted((p for p in self.points if p.kind is not Kind.AGREED), key=lambda p: rank.index(p.kind)))


@dataclass(frozen=True, slots=True)
class Result:
    """How far a rater is with the practice reports, and how the submitted ones compare with the key.

    ``cells`` counts findings times submitted reports; ``positives`` are those of them that the key calls present or
    uncertain. ``differed`` lists findings by how often they differed, most often first.
    """

    total: int
    submitted: int
    cells: int
    agreed: int
    positives: int
    kinds: Mapping[Kind, int]
    differed: tuple[tuple[str, int], ...]

    @property
    def found(self) -> int:
        """Return how many of the positives the rater called present or uncertain."""
        return self.positives - self.kinds.get(Kind.MISSED, 0)


def practice_file(study: Study) -> Path:
    """Return where a study's practice reports are looked for."""
    return study.folder / "data" / "practice" / f"{study.label_set.id}.yaml"


def load(study: Study) -> PracticeSet | None:
    """Return the study's practice reports, None where it has none.

    Raises:
        InputError: the file cannot be used; the sentence names file, report and finding.
    """
    path = practice_file(study)
    try:
        stat = path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return None
    key = (path, stat.st_mtime_ns, stat.st_size, study.label_set.hash)
    if key not in _READ:
        _READ[key] = read_practice(path, study.label_set)
    return _READ[key]


# Reading the file costs more than a click may take, and each click needs it.
_READ: dict[tuple[Path, int, int, str], PracticeSet] = {}


def check(study: Study) -> PracticeSet:
    """Return the study's practice reports after making sure that none is in the study: it is outside all cohorts.

    Raises:
        NotFoundError: the study has none.
        InputError: as ``load``, or the study holds a report of the same id or text.
    """
    made = _need(study)
    with study.database.read() as conn:
        known = report_store.text_hashes(conn)
    by_text = {digest: report_id for report_id, digest in known.items()}
    for report in (p.report for p in made.reports):
        twin = report.id if report.id in known else by_text.get(report.hash)
        if twin is not None:
            raise InputError(
                f"{practice_file(study)}, report {report.id}: the study holds it as report {twin}, and practice would "
                "give its labels away; take another one."
            )
    return made


def _need(study: Study) -> PracticeSet:
    made = load(study)
    if made is None:
        raise NotFoundError(
            f"This study has no practice reports; they would stand in data/practice/{study.label_set.id}.yaml."
        )
    return made


# ---- what a rater does


def queue(study: Study, actor: Actor) -> Queue:
    """Return the rater's way through the practice reports, the same order for everybody.

    Raises:
        NotFoundError: the study has none.
        InputError: before the first answer, as ``check``.
    """
    actor.require(Role.RATER, to=_TO)
    made = _need(study)
    own = _own(study, actor, made)
    if not own:
        check(study)
    order = tuple(Entry(p.report.id) for p in made.reports)
    spent = [a.seconds for a in own.values() if a.submitted and a.seconds is not None]
    return Queue(
        order,
        frozenset(entry for entry in order if (a := own.get(entry.report_id)) and a.submitted),
        frozenset(entry for entry in order if (a := own.get(entry.report_id)) and not a.submitted),
        frozenset(),
        "",
        median(spent) if spent else None,
    )


def open_report(study: Study, actor: Actor, entry: Entry) -> RatingTask:
    """Return a practice report for rating with the rater's own labels, and never with its key.

    Raises:
        NotFoundError: there is no such practice report.
    """
    actor.require(Role.RATER, to=_TO)
    made = _need(study)
    report = _report(made, entry).report
    answer = _own(study, actor, made).get(entry.report_id)
    own = _annotation(answer, study.label_set.hash) if answer else None
    return RatingTask(report, entry, study.settings.rater_states, own, own if own and own.submitted else None)


def save(
    study: Study,
    actor: Actor,
    entry: Entry,
    states: Mapping[str, State],
    *,
    submitted: bool,
    none_of_these: bool = False,
    evidence: Mapping[str, str] | None = None,
    seconds: float | None = None,
    act: Act | None = None,
    read: RatingTask | None = None,
) -> None:
    """Keep the rater's answer to a practice report, as a draft or submitted.

    An act that was saved already adds nothing.

    Raises:
        InputError: a finding or state is not asked for, or nothing is marked and ``none_of_these`` does not say so.
        ConflictError: it is submitted already, and its key has been shown.
        ChangedMeanwhileError: ``read`` is no longer what was saved last.
        NotFoundError: there is no such practice report.
    """
    actor.require(Role.RATER, to=_TO)
    made = _need(study)
    _report(made, entry)
    for finding, state in states.items():
        if finding not in study.label_set.ids or state not in study.settings.rater_states:
            raise InputError(f"Report {entry.report_id}: {finding} = {state} is not a label that raters give here.")
    positive = bool(POSITIVE.intersection(states.values()))
    if submitted and positive is none_of_these:
        said = "findings are marked, so it cannot be none" if positive else "nothing is marked; say none"
        raise InputError(f"Report {entry.report_id}: {said} of these{'' if positive else ' if that is so'}.")
    with study.writing(actor) as conn:
        if act and not annotation_store.take(conn, actor.name, act.tab, act.number):
            return
        kept = store.latest(conn, made.hash, rater=actor.name)
        before = next((answer for answer in kept if answer.report_id == entry.report_id), None)
        if before and before.submitted:
            raise ConflictError(f"You have submitted {entry.report_id} and seen its key; go on to the next one.")
        require_unchanged(read, _annotation(before, study.label_set.hash) if before else None)
        answer = PracticeAnswer(
            rater=actor.name,
            practice_hash=made.hash,
            report_id=entry.report_id,
            states=dict(states),
            submitted=submitted,
            at=datetime.now(UTC),
            evidence=dict(evidence or {}),
            seconds=seconds,
        )
        store.append(conn, answer)


def feedback(study: Study, actor: Actor, entry: Entry) -> Feedback:
    """Return how the rater's answer to a practice report stands to its key.

    Raises:
        ConflictError: it is not submitted yet.
    """
    actor.require(Role.RATER, to=_TO)
    made = _need(study)
    report = _report(made, entry)
    answer = _own(study, actor, made).get(entry.report_id)
    if answer is None or not answer.submitted:
        raise ConflictError(f"The key of {entry.report_id} is shown once you have submitted it.")
    return _feedback(study, report, answer)


def result(study: Study, actor: Actor) -> Result:
    """Return how the rater's own practice went so far."""
    actor.require(Role.RATER, to=_TO)
    made = _need(study)
    return _result(study, made, list(_own(study, actor, made).values()))


# ---- what the lead sees


def progress(study: Study, actor: Actor) -> dict[str, Result]:
    """Return by rater how far practice is and how it went, for everybody who began; raters never see each other's.

    Raises:
        NotFoundError: the study has no practice reports.
    """
    actor.require(Role.LEAD, Role.ADMIN, to="see how practice went")
    made = _need(study)
    with study.database.read() as conn:
        answers = store.latest(conn, made.hash)
    names = sorted({answer.rater for answer in answers})
    return {name: _result(study, made, [a for a in answers if a.rater == name]) for name in names}


def _own(study: Study, actor: Actor, made: PracticeSet) -> dict[str, PracticeAnswer]:
    with study.database.read() as conn:
        return {answer.report_id: answer for answer in store.latest(conn, made.hash, rater=actor.name)}


def _report(made: PracticeSet, entry: Entry) -> PracticeReport:
    found = made.get(entry.report_id) if entry.reading == 1 else None
    if found is None:
        raise NotFoundError(f"There is no practice report {entry.report_id}.")
    return found


def _annotation(answer: PracticeAnswer, label_set_hash: str) -> Annotation:
    return Annotation(
        report_id=answer.report_id,
        rater=answer.rater,
        states=answer.states,
        submitted=answer.submitted,
        at=answer.at,
        label_set_hash=label_set_hash,
        evidence=answer.evidence,
        seconds=answer.seconds,
        source="practice",
    )


def _feedback(study: Study, report: PracticeReport, answer: PracticeAnswer) -> Feedback:
    def asked(state: State) -> State:
        return state if state in study.settings.rater_states else _NEAREST[state]

    return Feedback(
        tuple(
            Point(
                finding,
                answer.states.get(finding, State.NOT_MENTIONED),
                asked(report.key.get(finding, State.NOT_MENTIONED)),
                report.why.get(finding, ""),
            )
            for finding in study.label_set.ids
        )
    )


# What a key means in a study that does not ask for the state.
_NEAREST = {State.ABSENT: State.NOT_MENTIONED, State.UNCERTAIN: State.PRESENT}


def _result(study: Study, made: PracticeSet, answers: Sequence[PracticeAnswer]) -> Result:
    given = {answer.report_id: answer for answer in answers if answer.submitted}
    told = [_feedback(study, p, given[p.report.id]) for p in made.reports if p.report.id in given]
    points = [point for each in told for point in each.points]
    kinds = Counter(point.kind for point in points)
    differed = Counter(point.finding for point in points if point.kind is not Kind.AGREED)
    return Result(
        total=len(made.reports),
        submitted=len(told),
        cells=len(points),
        agreed=kinds[Kind.AGREED],
        positives=sum(point.key in POSITIVE for point in points),
        kinds=dict(kinds),
        differed=tuple(differed.most_common()),
    )
