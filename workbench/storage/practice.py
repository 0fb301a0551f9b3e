"""Raters' answers to practice reports: added, never edited, and apart from everything that votes."""

import sqlite3

from workbench.domain.findings import State
from workbench.domain.practice import PracticeAnswer
from workbench.storage.encoding import from_json, instant, instant_text, json_text


def append(conn: sqlite3.Connection, answer: PracticeAnswer) -> None:
    """Add one rater's answer to one practice report after all earlier ones, which stay."""
    conn.execute(
        "INSERT INTO practice_answers (rater, practice_hash, report_id, submitted, at, states, evidence, seconds) "
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        (
            answer.rater,
            answer.practice_hash,
            answer.report_id,
            int(answer.submitted),
            instant_text(answer.at),
            json_text({finding: state.value for finding, state in answer.states.items()}),
            json_text(dict(answer.evidence)),
            answer.seconds,
        ),
    )


def latest(conn: sqlite3.Connection, practice_hash: str, *, rater: str | None = None) -> list[PracticeAnswer]:
    """Return the last answer of each rater to each report of a practice set, by rater and report id.

    ``rater`` limits the answer to one person, which is what a rater's own page reads.
    """
    # With MAX the other columns are those of the row that has the maximum (sqlite.org/lang_select.html#bareagg).
    rows = conn.execute(
        "SELECT MAX(id), * FROM practice_answers WHERE practice_hash = ? AND (? IS NULL OR rater = ?) "
        "GROUP BY rater, report_id ORDER BY rater, report_id",
        (practice_hash, rater, rater),
    )
    return [_answer(row) for row in rows]


def _answer(row: sqlite3.Row) -> PracticeAnswer:
    return PracticeAnswer(
        rater=row["rater"],
        practice_hash=row["practice_hash"],
        report_id=row["report_id"],
        states={finding: State(state) for finding, state in from_json(row["states"]).items()},
        submitted=bool(row["submitted"]),
        at=instant(row["at"]),
        evidence=from_json(row["evidence"]),
        seconds=row["seconds"],
    )
