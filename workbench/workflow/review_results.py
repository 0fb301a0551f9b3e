"""What radiologists' review of generated reports found, once it is closed (``review_pairs`` says which ratings stand).

For the agreement of the reviewers, and for that of the metrics with them, what two systems wrote alike counts once.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from workbench.domain.actors import Actor
from workbench.domain.reviews import OTHER, SCALE_SIZE, Fault, Judgement
from workbench.errors import NotFoundError, WorkbenchError
from workbench.evaluation.correlation import Correlation, correlation
from workbench.evaluation.intervals import Numbers
from workbench.evaluation.marking import MarksAgreement, marks_agreement
from workbench.evaluation.numbers import Figure
from workbench.evaluation.reviewing import ReviewerAgreement, reviewer_agreement, system_means
from workbench.metrics.base import Metric
from workbench.storage import leaderboard as system_store
from workbench.storage import reviews as store
from workbench.storage.leaderboard import DataSetRecord, StudyText
from workbench.storage.reviews import Place
from workbench.workflow.blindness import require_no_review, require_sighted
from workbench.workflow.leaderboard import leaderboard
from workbench.workflow.review import ReviewView, view_of
from workbench.workflow.review_pairs import IMPORTED, RatedPair, check_closed, rated_pairs
from workbench.workflow.study import Study

RATING = "rating"


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
    marks: MarksAgreement
    metrics: tuple[MetricAgreement, ...]
    no_metrics: str
    imported: int
    outdated: int
    patients_known: bool


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
        check_closed(conn, data_set)
        every = rated_pairs(conn, data_set)
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
        _marks(pairs, (*study.label_set.ids, OTHER)),
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


def _by_text(pairs: Sequence[RatedPair]) -> dict[Place, dict[str, Judgement]]:
    """Return what was said of each rated text by reviewer; the same text of two systems is one."""
    found: dict[Place, dict[str, Judgement]] = {}
    for p in pairs:
        if p.judgement.rating is not None:
            found.setdefault(p.place, {}).setdefault(p.reviewer, p.judgement)
    return found


def _agreement(pairs: Sequence[RatedPair]) -> ReviewerAgreement:
    reviewers, by_text = _names(p.reviewer for p in pairs), _by_text(pairs)
    ratings = np.full((len(by_text), len(reviewers)), np.nan)
    for i, said in enumerate(by_text.values()):
        for name, judgement in said.items():
            ratings[i, reviewers.index(name)] = judgement.rating
    return reviewer_agreement(ratings, _patients(pairs, by_text))


def _marks(pairs: Sequence[RatedPair], finding_ids: Sequence[str]) -> MarksAgreement:
    reviewers, by_text = _names(p.reviewer for p in pairs), _by_text(pairs)
    marks = np.full((len(by_text), len(finding_ids), len(Fault), len(reviewers)), np.nan)
    for i, said in enumerate(by_text.values()):
        for name, judgement in said.items():
            marks[i, ..., reviewers.index(name)] = [
                [fault in judgement.marks.get(finding, ()) for fault in Fault] for finding in finding_ids
            ]
    return marks_agreement(finding_ids, marks, _patients(pairs, by_text))


def _patients(pairs: Sequence[RatedPair], places: Iterable[Place]) -> list[str]:
    of = {p.place: p.patient_id for p in pairs}
    return [of[place] for place in places]


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
    means: Numbers = np.array(
        [np.mean([said.rating or np.nan for said in by_text[place].values()]) for place in places], dtype=np.float64
    )
    at = [(row[scored[place].system], column[place[0]]) for place in places]
    found = []
    for each in board.columns:
        values = np.array([each.values[i, j] for i, j in at], dtype=np.float64)
        scores = {each.metric.id: values, RATING: means}
        found.append(MetricAgreement(each.metric, correlation(each.metric.id, RATING, scores, patients)))
    return tuple(found), ""
