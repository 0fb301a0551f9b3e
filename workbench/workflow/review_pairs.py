"""Which ratings of a data set's generated reports stand, and of which system each tells, once their review is closed.

A rating goes with the text that was read. Where a system has submitted another text for the study since, its rating is
kept and counted apart, and enters no number; where two systems wrote the same, it counts for both.
"""

from dataclasses import dataclass
from sqlite3 import Connection

from workbench.domain.reviews import Judgement
from workbench.errors import ConflictError
from workbench.storage import leaderboard as system_store
from workbench.storage import reviews as store
from workbench.storage.leaderboard import DataSetRecord
from workbench.storage.reviews import Place
from workbench.workflow.review_texts import shown, text_hash

IMPORTED = "imported"


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


def check_closed(conn: Connection, data_set: DataSetRecord) -> None:
    """Raise ConflictError while a review of the data set is open."""
    for review in store.open_reviews(conn):
        if review.data_set_hash == data_set.hash:
            raise ConflictError(
                f"{review.name} of {data_set.name} is open: nobody sees ratings before it is closed "
                f"(`workbench review close {data_set.name}`)."
            )


def rated_pairs(conn: Connection, data_set: DataSetRecord) -> list[RatedPair]:
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
