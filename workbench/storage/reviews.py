"""Reviews of generated reports, what happened to them, and every rating: rows are added and never change."""

import sqlite3
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from workbench.domain.reviews import (
    ImportedRating,
    Judgement,
    Review,
    ReviewAction,
    ReviewEvent,
    marks_as_json,
    marks_from_json,
)
from workbench.storage.encoding import from_json, id_array, instant, instant_text, json_text

Place = tuple[str, str]  # a study, and the hash of the text that was read


@dataclass(frozen=True, slots=True)
class Rated:
    """What one reviewer said last of one text."""

    review_hash: str
    reviewer: str
    place: Place
    judgement: Judgement


@dataclass(frozen=True, slots=True)
class RatedElsewhere:
    """An imported rating with the submission that it is of."""

    submission_id: int
    rating: ImportedRating


def add(conn: sqlite3.Connection, review: Review) -> None:
    """Keep a review that nobody has rated yet."""
    conn.execute(
        "INSERT INTO reviews (hash, name, data_set_hash, submissions, study_ids, reviewers, seed, opened_at, author) "
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            review.hash,
            review.name,
            review.data_set_hash,
            json_text([list(one) for one in review.submissions]),
            json_text(list(review.study_ids)),
            json_text(list(review.reviewers)),
            review.seed,
            instant_text(review.opened_at),
            review.author,
        ),
    )


def list_all(conn: sqlite3.Connection, data_set_hash: str | None = None) -> list[Review]:
    """Return all reviews, or those of one data set, oldest first."""
    rows = conn.execute(
        "SELECT * FROM reviews WHERE ?1 IS NULL OR data_set_hash = ?1 ORDER BY position", (data_set_hash,)
    )
    return [_review(row) for row in rows]


def open_reviews(conn: sqlite3.Connection) -> list[Review]:
    """Return the reviews that take ratings, oldest first."""
    rows = conn.execute(
        "SELECT * FROM reviews AS r WHERE NOT EXISTS (SELECT 1 FROM review_events WHERE review_hash = r.hash "
        "AND action = ?) ORDER BY position",
        (ReviewAction.CLOSED.value,),
    )
    return [_review(row) for row in rows]


def add_event(conn: sqlite3.Connection, event: ReviewEvent) -> None:
    """Keep what happened to a review."""
    conn.execute(
        "INSERT INTO review_events (review_hash, action, actor, at, reason) VALUES (?, ?, ?, ?, ?)",
        (event.review_hash, event.action.value, event.actor, instant_text(event.at), event.reason),
    )


def events(conn: sqlite3.Connection, review_hash: str) -> list[ReviewEvent]:
    """Return what happened to a review, oldest first."""
    rows = conn.execute("SELECT * FROM review_events WHERE review_hash = ? ORDER BY id", (review_hash,))
    return [
        ReviewEvent(row["review_hash"], ReviewAction(row["action"]), row["actor"], instant(row["at"]), row["reason"])
        for row in rows
    ]


def append(
    conn: sqlite3.Connection, review_hash: str, reviewer: str, place: Place, *, said: Judgement, at: datetime
) -> None:
    """Add what a reviewer says of a text after all that they said before, which stays."""
    conn.execute(
        "INSERT INTO review_ratings (review_hash, reviewer, study_id, text_hash, rating, marks, comment, seconds, at) "
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            review_hash,
            reviewer,
            *place,
            said.rating,
            json_text(marks_as_json(said.marks)),
            said.comment,
            said.seconds,
            instant_text(at),
        ),
    )


def latest(conn: sqlite3.Connection, review_hashes: Sequence[str], reviewer: str | None = None) -> list[Rated]:
    """Return what was said last of each text in some reviews, by everybody or by one reviewer, oldest first."""
    # With MAX the other columns are those of the row that has the maximum (sqlite.org/lang_select.html#bareagg).
    rows = conn.execute(
        "SELECT MAX(id) AS last, * FROM review_ratings WHERE review_hash IN (SELECT value FROM json_each(?1)) "
        "AND (?2 IS NULL OR reviewer = ?2) GROUP BY review_hash, reviewer, study_id, text_hash ORDER BY last",
        (id_array(review_hashes), reviewer),
    )
    return [
        Rated(row["review_hash"], row["reviewer"], (row["study_id"], row["text_hash"]), _judgement(row, row["at"]))
        for row in rows
    ]


def add_imported(
    conn: sqlite3.Connection,
    data_set_hash: str,
    ratings: Iterable[RatedElsewhere],
    *,
    file: str,
    actor: str,
    at: datetime,
) -> None:
    """Keep ratings that were made elsewhere."""
    cursor = conn.execute(
        "INSERT INTO rating_imports (data_set_hash, file, actor, at) VALUES (?, ?, ?, ?)",
        (data_set_hash, file, actor, instant_text(at)),
    )
    conn.executemany(
        "INSERT INTO imported_ratings (import_id, submission_id, study_id, reviewer, rating, marks, comment) "
        "VALUES (?, ?, ?, ?, ?, ?, ?)",
        (
            (
                cursor.lastrowid,
                one.submission_id,
                one.rating.study_id,
                one.rating.reviewer,
                one.rating.judgement.rating,
                json_text(marks_as_json(one.rating.judgement.marks)),
                one.rating.judgement.comment,
            )
            for one in ratings
        ),
    )


def imported(conn: sqlite3.Connection, data_set_hash: str) -> list[RatedElsewhere]:
    """Return every imported rating of a data set, oldest first; a later one of the same pair takes its place."""
    rows = conn.execute(
        "SELECT r.*, s.system, i.at FROM imported_ratings AS r JOIN rating_imports AS i ON i.id = r.import_id "
        "JOIN submissions AS s ON s.id = r.submission_id WHERE i.data_set_hash = ? "
        "ORDER BY i.id, s.system, r.study_id, r.reviewer",
        (data_set_hash,),
    )
    return [
        RatedElsewhere(
            row["submission_id"],
            ImportedRating(
                row["study_id"], row["system"], row["reviewer"], _judgement({**dict(row), "seconds": None}, row["at"])
            ),
        )
        for row in rows
    ]


def texts(
    conn: sqlite3.Connection, submission_ids: Sequence[int], study_ids: Sequence[str]
) -> dict[tuple[int, str], str | None]:
    """Return what some submissions say of some studies, by submission and study."""
    rows = conn.execute(
        "SELECT submission_id, study_id, text FROM submission_texts "
        "WHERE submission_id IN (SELECT value FROM json_each(?)) AND study_id IN (SELECT value FROM json_each(?))",
        (json_text(list(submission_ids)), id_array(study_ids)),
    )
    return {(row["submission_id"], row["study_id"]): row["text"] for row in rows}


def _judgement(row: "sqlite3.Row | dict[str, object]", at: str) -> Judgement:
    rating, seconds = row["rating"], row["seconds"]
    return Judgement(
        None if rating is None else int(str(rating)),
        marks_from_json(from_json(str(row["marks"]))),
        str(row["comment"]),
        None if seconds is None else float(str(seconds)),
        instant(at),
    )


def _review(row: sqlite3.Row) -> Review:
    return Review(
        name=row["name"],
        data_set_hash=row["data_set_hash"],
        submissions=tuple((system, int(number)) for system, number in from_json(row["submissions"])),
        study_ids=tuple(from_json(row["study_ids"])),
        reviewers=tuple(from_json(row["reviewers"])),
        seed=row["seed"],
        opened_at=instant(row["opened_at"]),
        author=row["author"],
    )
