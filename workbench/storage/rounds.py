"""Rounds of rating and what happened to them; adjudications of what a vote left open. All of it is only added to."""

import sqlite3
from datetime import datetime

from workbench.domain.findings import Policies, State
from workbench.domain.references import Outcome, VoteRule
from workbench.domain.rounds import Adjudication, Round, RoundAction, RoundEvent
from workbench.errors import ConflictError
from workbench.storage.encoding import from_json, instant, instant_text, json_text

_LAST = "(SELECT action FROM round_events WHERE round_hash = r.hash ORDER BY id DESC LIMIT 1)"


def add(conn: sqlite3.Connection, made: Round) -> None:
    """Keep a round.

    Raises:
        ConflictError: its name is taken, or a round that fixes the very same is kept already.
    """
    if conn.execute("SELECT 1 FROM rounds WHERE name = ? OR hash = ?", (made.name, made.hash)).fetchone():
        raise ConflictError(f"There is already a round {made.name}, or one that fixes the same; re-open that one.")
    conn.execute(
        "INSERT INTO rounds (hash, name, cohort_hash, label_set_hash, k, n, tie, vote_policies, states, raters, seed, "
        "twice, opened_at, author) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            made.hash,
            made.name,
            made.cohort_hash,
            made.label_set_hash,
            made.rule.k,
            made.rule.n,
            made.rule.tie.value,
            json_text(made.vote_policies.as_json()),
            json_text([state.value for state in made.states]),
            json_text(list(made.raters)),
            made.seed,
            made.twice,
            instant_text(made.opened_at),
            made.author,
        ),
    )


def of_cohort(conn: sqlite3.Connection, cohort_hash: str, *, withdrawn: bool = False) -> list[Round]:
    """Return the rounds on a cohort that stand, or those that were withdrawn, in the order of their last opening."""
    rows = conn.execute(
        f"SELECT * FROM rounds AS r WHERE cohort_hash = ? AND ({_LAST} = ?) = ? "  # noqa: S608 - a text of our own
        "ORDER BY (SELECT MAX(id) FROM round_events WHERE round_hash = r.hash AND action = ?)",
        (cohort_hash, RoundAction.WITHDRAWN.value, withdrawn, RoundAction.OPENED.value),
    )
    return [_round(row) for row in rows]


def names(conn: sqlite3.Connection) -> set[str]:
    """Return the names of all rounds, withdrawn ones included."""
    return {row["name"] for row in conn.execute("SELECT name FROM rounds")}


def open_rounds(conn: sqlite3.Connection) -> list[Round]:
    """Return the rounds that take labels, oldest first."""
    rows = conn.execute(
        f"SELECT * FROM rounds AS r WHERE {_LAST} NOT IN (?, ?) ORDER BY position",  # noqa: S608 - a text of our own
        (RoundAction.CLOSED.value, RoundAction.WITHDRAWN.value),
    )
    return [_round(row) for row in rows]


def add_event(conn: sqlite3.Connection, event: RoundEvent) -> None:
    """Keep what happened to a round."""
    conn.execute(
        "INSERT INTO round_events (round_hash, action, actor, at, reason) VALUES (?, ?, ?, ?, ?)",
        (event.round_hash, event.action.value, event.actor, instant_text(event.at), event.reason),
    )


def events(conn: sqlite3.Connection, round_hash: str) -> list[RoundEvent]:
    """Return what happened to a round, oldest first."""
    rows = conn.execute("SELECT * FROM round_events WHERE round_hash = ? ORDER BY id", (round_hash,))
    return [
        RoundEvent(row["round_hash"], RoundAction(row["action"]), row["actor"], instant(row["at"]), row["reason"])
        for row in rows
    ]


def add_adjudication(conn: sqlite3.Connection, made: Adjudication) -> None:
    """Keep a decision on an item of a reference; earlier ones on the same item stay."""
    conn.execute(
        "INSERT INTO adjudications (reference_hash, report_id, finding_id, present, actor, at, reason) "
        "VALUES (?, ?, ?, ?, ?, ?, ?)",
        (
            made.reference_hash,
            made.report_id,
            made.finding_id,
            int(made.present),
            made.actor,
            instant_text(made.at),
            made.reason,
        ),
    )


def adjudications(conn: sqlite3.Connection, reference_hash: str) -> list[Adjudication]:
    """Return the decisions on a reference's items, oldest first, superseded ones included."""
    rows = conn.execute("SELECT * FROM adjudications WHERE reference_hash = ? ORDER BY id", (reference_hash,))
    return [adjudication_of(row) for row in rows]


def adjudication_of(row: sqlite3.Row) -> Adjudication:
    """Return the decision that a row holds, of whichever table."""
    return Adjudication(
        row["reference_hash"],
        row["report_id"],
        row["finding_id"],
        bool(row["present"]),
        row["actor"],
        instant(row["at"]),
        row["reason"],
    )


def add_view(conn: sqlite3.Connection, reference_hash: str, actor: str, at: datetime) -> None:
    """Keep that somebody saw a reference's counts and agreement, which ends its adjudication; the first one counts."""
    conn.execute(
        "INSERT INTO reference_views (reference_hash, actor, at) VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
        (reference_hash, actor, instant_text(at)),
    )


def viewed(conn: sqlite3.Connection, reference_hash: str) -> tuple[str, datetime] | None:
    """Return who first saw a reference's counts and agreement and when, None while nobody has."""
    row = conn.execute("SELECT actor, at FROM reference_views WHERE reference_hash = ?", (reference_hash,)).fetchone()
    return (row["actor"], instant(row["at"])) if row else None


def _round(row: sqlite3.Row) -> Round:
    return Round(
        name=row["name"],
        cohort_hash=row["cohort_hash"],
        label_set_hash=row["label_set_hash"],
        rule=VoteRule(row["k"], row["n"], Outcome(row["tie"])),
        vote_policies=Policies.from_json(from_json(row["vote_policies"])),
        states=tuple(State(state) for state in from_json(row["states"])),
        raters=tuple(from_json(row["raters"])),
        seed=row["seed"],
        twice=row["twice"],
        opened_at=instant(row["opened_at"]),
        author=row["author"],
    )
