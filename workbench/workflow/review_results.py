"""What radiologists' review of generated reports found, once it is closed; ratings made elsewhere come in here.

A rating goes with the text that was read. Where a system has submitted another text for the study since, its rating is
kept and counted apart, and enters no number; where two systems wrote the same, it counts for both, and once for the
agreement of the reviewers and for that of the metrics with them.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from sqlite3 import Connection

import numpy as np

from workbench.domain.actors import Actor, Role
from workbench.domain.reviews import OTHER, SCALE_SIZE, Fault, Judgement
from workbench.errors import ConflictError, InputError, NotFoundError, WorkbenchError
from workbench.evaluation.correlation import Correlation, correlation
from workbench.evaluation.intervals import Numbers
from workbench.evaluation.numbers import Figure
from workbench.evaluation.reviewing import ReviewerAgreement, reviewer_agreement, system_means
from workbench.formats.exports import form_of, write_table
from workbench.formats.ratings import columns, faults_text, read_ratings
from workbench.metrics.base import Metric
from workbench.storage import leaderboard as system_store
from workbench.storage import reviews as store
from workbench.storage.leaderboard import DataSetRecord, StudyText
from workbench.storage.reviews import Place, RatedElsewhere
from workbench.workflow.blindness import require_no_review, require_sighted
from workbench.workflow.export import refuse_own_file
from workbench.workflow.leaderboard import leaderboard
from workbench.workflow.review import ReviewView, shown, text_hash, view_of
from workbench.workflow.study import Study

IMPORTED = "imported"
RATING = "rating"


@dataclass(frozen=True, slots=True)
class RatedPair:
    """What one reviewer said of what one system wrote for one study. ``source`` is the review's name or "imported"."""

    study_id: str
    patient_id: str
    system: str
    reviewer: str
    judgement: Judgement
    source: str
    place: Place
    current: bool


@dataclass(frozen=True, slots=True)
class SystemReview:
    """One system: its mean rating, its faults per report, how often each rating and each fault was given.

    Both figures are means over studies of the mean over reviewers, with intervals over patients. ``given`` counts the
    ratings 1 to 5; ``faults`` how many of the ratings mark that fault of that finding.
    """

    system: str
    rating: Figure
    per_report: Figure
    given: tuple[int, ...]
    faults: Mapping[tuple[str, Fault], int]

    @property
    def ratings(self) -> int:
        """Return how many ratings the system got."""
        return sum(self.given)


@dataclass(frozen=True, slots=True)
class MetricAgreement:
    """How far a metric puts the rated reports in the order in which the reviewers put them (their mean rating).

    A metric of which lower is better agrees where its correlation is negative.
    """

    metric: Metric
    correlation: Correlation


@dataclass(frozen=True, slots=True)
class Outcome:
    """All that the reviewers of a data set said, best system first.

    ``no_metrics`` says why there is no agreement with metrics, empty where there is. ``outdated`` ratings are of texts
    that their systems have replaced since. ``patients_known`` is False where one patient per study is assumed.
    """

    data_set: DataSetRecord
    reviews: tuple[ReviewView, ...]
    systems: tuple[SystemReview, ...]
    reviewers: Mapping[str, int]
    agreement: ReviewerAgreement
    metrics: tuple[MetricAgreement, ...]
    no_metrics: str
    imported: int
    outdated: int
    patients_known: bool


@dataclass(frozen=True, slots=True)
class Imported:
    """What an import of ratings brought."""

    data_set: DataSetRecord
    ratings: int
    systems: tuple[str, ...]
    reviewers: tuple[str, ...]


def results(
    study: Study,
    actor: Actor,
    data_set: DataSetRecord,
    *,
    revision: str | int | None = None,
    labeler: str = "rules",
) -> Outcome:
    """Return what the reviewers of a data set said, of its closed reviews and of imports.

    Args:
        study: the study.
        actor: anybody with a role who need not stay blind.
        data_set: whose reports.
        revision: of the prompt by which the metrics of findings read both sides, the accepted one when None.
        labeler: that reads them.

    Raises:
        NotFoundError: nothing was rated.
        ConflictError: a review of the data set is open.
        RightsError: the person has no role, rates in an open round, or takes part in an open review.
    """
    require_sighted(study, actor, "see what reviewers said")
    require_no_review(study, actor, "see what reviewers said")
    with study.database.snapshot() as conn:
        _check_closed(conn, data_set)
        every = _rated_pairs(conn, data_set)
        studies = system_store.studies(conn, data_set.hash)
        reviews = tuple(view_of(conn, review) for review in store.list_all(conn, data_set.hash))
    pairs = [pair for pair in every if pair.current]
    if not pairs:
        raise NotFoundError(
            f"No generated report of {data_set.name} was rated"
            + ("; what was rated has been replaced since." if every else " yet; open a review with `workbench review`.")
        )
    agree, why = _with_metrics(study, actor, data_set, pairs, revision=revision, labeler=labeler)
    return Outcome(
        data_set,
        reviews,
        _systems(pairs, studies),
        {name: sum(p.reviewer == name for p in pairs) for name in _names(p.reviewer for p in pairs)},
        _agreement(pairs),
        agree,
        why,
        sum(pair.source == IMPORTED for pair in pairs),
        len(every) - len(pairs),
        any(s.patient_id != s.id for s in studies),
    )


def rated_data_sets(study: Study, data_sets: Sequence[DataSetRecord]) -> list[DataSetRecord]:
    """Return those of some data sets that were rated and whose review is not open, and nothing of what was said."""
    with study.database.snapshot() as conn:
        still_open = {review.data_set_hash for review in store.open_reviews(conn)}
        return [
            each
            for each in data_sets
            if each.hash not in still_open
            and (
                store.imported(conn, each.hash)
                or store.latest(conn, [review.hash for review in store.list_all(conn, each.hash)])
            )
        ]


def export_ratings(study: Study, actor: Actor, data_set: DataSetRecord, path: Path, *, form: str | None = None) -> int:
    """Write every rating of a data set, one row per study, system and reviewer, and return how many rows.

    Also those whose text was replaced since; ``current`` tells them apart.

    Raises:
        ConflictError: a review of the data set is open.
        RightsError: as ``results``, or the person is no lead or admin.
    """
    actor.require(Role.LEAD, Role.ADMIN, to="export ratings")
    require_sighted(study, actor, "export ratings")
    require_no_review(study, actor, "export ratings")
    written = form_of(path, form)
    refuse_own_file(study, path)
    with study.database.snapshot() as conn:
        _check_closed(conn, data_set)
        pairs = _rated_pairs(conn, data_set)
    findings = (*study.label_set.ids, OTHER)
    rows = (
        (
            pair.study_id,
            pair.system,
            pair.reviewer,
            pair.judgement.rating,
            *(faults_text(pair.judgement.marks, finding) for finding in findings),
            pair.judgement.comment or None,
            pair.patient_id,
            pair.judgement.seconds,
            pair.judgement.at,
            pair.source,
            int(pair.current),
        )
        for pair in pairs
    )
    return write_table(path, columns(study.label_set), rows, written)


def import_ratings(
    study: Study, actor: Actor, data_set: DataSetRecord, path: Path, *, encoding: str = "utf-8"
) -> Imported:
    """Take in ratings that were made elsewhere, all of a file or none; they are marked as imported.

    A later rating of the same study, system and reviewer takes the place of an earlier one; what was rated here stands
    before what is imported.

    Raises:
        InputError: the file cannot be read as said, or names a system, or a study of it, that is not here.
        RightsError: the person is no lead or admin.
    """
    actor.require(Role.LEAD, Role.ADMIN, to="import ratings")
    read = read_ratings(path, study.label_set, encoding=encoding)
    with study.writing(actor) as conn:
        last = {s.system: s.id for s in system_store.submissions(conn, data_set.hash)}
        texts = {system: system_store.texts(conn, number) for system, number in last.items()}
        for rating in read:
            if rating.system not in last:
                raise InputError(
                    f"{path}: {data_set.name} has no system called {rating.system}; it has {', '.join(last)}."
                )
            if texts[rating.system].get(rating.study_id) is None:
                raise InputError(
                    f"{path}: {rating.system} has no report of study {rating.study_id} in {data_set.name}, so there is "
                    "none that can have been rated."
                )
        store.add_imported(
            conn,
            data_set.hash,
            [RatedElsewhere(last[rating.system], rating) for rating in read],
            file=path.name,
            actor=actor.name,
            at=datetime.now(UTC),
        )
    return Imported(data_set, len(read), _names(r.system for r in read), _names(r.reviewer for r in read))


def _rated_pairs(conn: Connection, data_set: DataSetRecord) -> list[RatedPair]:
    """Return the last rating of each study, system and reviewer, by system, study and reviewer."""
    patients = {s.id: s.patient_id for s in system_store.studies(conn, data_set.hash)}
    read = _Reader(conn, data_set)
    found: dict[tuple[str, str, str], RatedPair] = {}

    def keep(of: tuple[str, int], study_id: str, reviewer: str, judgement: Judgement, source: str) -> None:
        (system, submission), place = of, read.place(of[1], study_id)
        last = read.last.get(system, submission)
        pair = RatedPair(
            study_id,
            patients[study_id],
            system,
            reviewer,
            judgement,
            source,
            place,
            current=last == submission or read.place(last, study_id) == place,
        )
        key = system, study_id, reviewer
        if pair.current or key not in found or not found[key].current:
            found[key] = pair

    for one in store.imported(conn, data_set.hash):
        rating = one.rating
        keep((rating.system, one.submission_id), rating.study_id, rating.reviewer, rating.judgement, IMPORTED)
    reviews = {review.hash: review for review in store.list_all(conn, data_set.hash)}
    for said in store.latest(conn, list(reviews)):
        review = reviews[said.review_hash]
        for of in review.submissions if said.judgement.rating else ():
            if read.place(of[1], said.place[0]) == said.place:
                keep(of, said.place[0], said.reviewer, said.judgement, review.name)
    return [found[key] for key in sorted(found)]


class _Reader:
    """What the submissions of a data set say, each read from the database once."""

    def __init__(self, conn: Connection, data_set: DataSetRecord) -> None:
        self.last = {s.system: s.id for s in system_store.submissions(conn, data_set.hash)}
        self._conn, self._task = conn, data_set.task
        self._texts: dict[int, dict[str, str | None]] = {}

    def place(self, submission: int, study_id: str) -> Place:
        """Return the study and the hash of what is shown of it; a hash of its own where there is no report."""
        if submission not in self._texts:
            self._texts[submission] = system_store.texts(self._conn, submission)
        text = self._texts[submission].get(study_id)
        return study_id, "" if text is None else text_hash(shown(text, self._task))


def _check_closed(conn: Connection, data_set: DataSetRecord) -> None:
    for review in store.open_reviews(conn):
        if review.data_set_hash == data_set.hash:
            raise ConflictError(
                f"{review.name} of {data_set.name} is open: nobody sees ratings before it is closed "
                f"(`workbench review close {data_set.name}`)."
            )


def _names(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted(set(names)))


def _systems(pairs: Sequence[RatedPair], studies: Sequence[StudyText]) -> tuple[SystemReview, ...]:
    systems, reviewers = _names(p.system for p in pairs), _names(p.reviewer for p in pairs)
    rated = {p.study_id for p in pairs}
    rows = [s for s in studies if s.id in rated]
    place = {s.id: i for i, s in enumerate(rows)}
    ratings = np.full((len(systems), len(rows), len(reviewers)), np.nan)
    marked = ratings.copy()
    for p in pairs:
        at = systems.index(p.system), place[p.study_id], reviewers.index(p.reviewer)
        ratings[at] = p.judgement.rating or np.nan
        marked[at] = sum(len(faults) for faults in p.judgement.marks.values())
    patients = [s.patient_id for s in rows]
    means, per_report = system_means(ratings, patients), system_means(marked, patients)
    found = []
    for i, system in enumerate(systems):
        own = [p.judgement for p in pairs if p.system == system]
        faults: dict[tuple[str, Fault], int] = {}
        for said in own:
            for finding, kinds in said.marks.items():
                for kind in kinds:
                    faults[finding, kind] = faults.get((finding, kind), 0) + 1
        given = tuple(sum(said.rating == step for said in own) for step in range(1, SCALE_SIZE + 1))
        found.append(SystemReview(system, means[i], per_report[i], given, faults))
    return tuple(sorted(found, key=lambda one: (-(one.rating.value or 0.0), one.system)))


def _by_text(pairs: Sequence[RatedPair]) -> dict[Place, dict[str, int]]:
    """Return the ratings of each text by reviewer; the same text of two systems is one."""
    found: dict[Place, dict[str, int]] = {}
    for p in pairs:
        if p.judgement.rating is not None:
            found.setdefault(p.place, {}).setdefault(p.reviewer, p.judgement.rating)
    return found


def _agreement(pairs: Sequence[RatedPair]) -> ReviewerAgreement:
    reviewers = _names(p.reviewer for p in pairs)
    patients = {p.place: p.patient_id for p in pairs}
    by_text = _by_text(pairs)
    ratings = [[said.get(reviewer, np.nan) for reviewer in reviewers] for said in by_text.values()]
    return reviewer_agreement(ratings, [patients[place] for place in by_text])


def _with_metrics(
    study: Study,
    actor: Actor,
    data_set: DataSetRecord,
    pairs: Sequence[RatedPair],
    *,
    revision: str | int | None,
    labeler: str,
) -> tuple[tuple[MetricAgreement, ...], str]:
    systems = _names(p.system for p in pairs)
    try:
        board = leaderboard(study, actor, data_set, revision=revision, labeler=labeler, systems=systems)
    except WorkbenchError as error:  # the ratings stand without it
        return (), str(error)
    row = {system.name: i for i, system in enumerate(board.scoring.systems)}
    column = {study_id: j for j, study_id in enumerate(board.scoring.study_ids)}
    by_text = _by_text(pairs)
    scored = {p.place: p for p in reversed(pairs) if p.study_id in column}
    places = [place for place in by_text if place in scored]
    patients = [scored[place].patient_id for place in places]
    means: Numbers = np.array([np.mean(list(by_text[place].values())) for place in places], dtype=np.float64)
    at = [(row[scored[place].system], column[place[0]]) for place in places]
    found = []
    for each in board.columns:
        values = np.array([each.values[i, j] for i, j in at], dtype=np.float64)
        scores = {each.metric.id: values, RATING: means}
        found.append(MetricAgreement(each.metric, correlation(each.metric.id, RATING, scores, patients)))
    return tuple(found), ""
