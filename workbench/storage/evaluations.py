"""Evaluations: a run scored against a reference under stated policies. Each one is a look, and looks are counted."""

import sqlite3
from dataclasses import dataclass
from datetime import datetime

from workbench.storage.encoding import instant, instant_text


@dataclass(frozen=True, slots=True)
class EvaluationRecord:
    """A stored evaluation; ``policies`` and ``result`` are the JSON texts that were given."""

    hash: str
    run_hash: str
    reference_hash: str
    policies: str
    result: str
    actor: str
    at: datetime


def add(
    conn: sqlite3.Connection,
    evaluation_hash: str,
    *,
    run_hash: str,
    reference_hash: str,
    policies_json: str,
    result_json: str,
    actor: str,
    at: datetime,
) -> bool:
    """Keep an evaluation and return whether it is new; one that is already there stays as it is."""
    cursor = conn.execute(
        "INSERT INTO evaluations (hash, run_hash, reference_hash, policies, result, actor, at) "
        "VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (hash) DO NOTHING",
        (evaluation_hash, run_hash, reference_hash, policies_json, result_json, actor, instant_text(at)),
    )
    return cursor.rowcount == 1


def get(conn: sqlite3.Connection, evaluation_hash: str) -> EvaluationRecord | None:
    """Return an evaluation by its hash, or None."""
    row = conn.execute("SELECT * FROM evaluations WHERE hash = ?", (evaluation_hash,)).fetchone()
    return _record(row) if row else None


def list_all(conn: sqlite3.Connection, run_hash: str | None = None) -> list[EvaluationRecord]:
    """Return every evaluation, or those of one run, oldest first."""
    rows = conn.execute(
        "SELECT * FROM evaluations WHERE ? IS NULL OR run_hash = ? ORDER BY position", (run_hash, run_hash)
    )
    return [_record(row) for row in rows]


def scored_references(conn: sqlite3.Connection) -> set[str]:
    """Return the hashes of the references on which a run was scored."""
    return {str(row[0]) for row in conn.execute("SELECT DISTINCT reference_hash FROM evaluations")}


def add_look(
    conn: sqlite3.Connection, cohort_hash: str, *, kind: str, prompt_hash: str, actor: str, at: datetime
) -> None:
    """Keep that somebody looked at how a prompt that is not saved does on a cohort; the same look twice is one."""
    conn.execute(
        "INSERT INTO looks (cohort_hash, kind, prompt_hash, actor, at) SELECT ?1, ?2, ?3, ?4, ?5 WHERE NOT EXISTS "
        "(SELECT 1 FROM looks WHERE cohort_hash = ?1 AND kind = ?2 AND prompt_hash = ?3)",
        (cohort_hash, kind, prompt_hash, actor, instant_text(at)),
    )


def looks(conn: sqlite3.Connection, cohort_hash: str) -> int:
    """Return how often a cohort was looked at (method 17): distinct evaluations plus what ``add_look`` kept."""
    row = conn.execute(
        """SELECT
            (SELECT COUNT(*) FROM evaluations AS e JOIN runs AS r ON r.hash = e.run_hash WHERE r.cohort_hash = ?1)
            + (SELECT COUNT(*) FROM looks WHERE cohort_hash = ?1)""",
        (cohort_hash,),
    ).fetchone()
    return int(row[0])


def _record(row: sqlite3.Row) -> EvaluationRecord:
    return EvaluationRecord(
        hash=row["hash"],
        run_hash=row["run_hash"],
        reference_hash=row["reference_hash"],
        policies=row["policies"],
        result=row["result"],
        actor=row["actor"],
        at=instant(row["at"]),
    )
