"""Reference standards, immutable once frozen."""

import sqlite3
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime

from workbench.domain.findings import Policies
from workbench.domain.references import Outcome, Reference, ReferenceItem, VoteRule
from workbench.errors import ConflictError
from workbench.storage.encoding import from_json, instant, instant_text, json_text


@dataclass(frozen=True, slots=True)
class ReferenceHead:
    """A frozen reference without its items, which can be a million."""

    hash: str
    name: str
    cohort_hash: str
    label_set_hash: str
    rule: VoteRule
    raters: tuple[str, ...]
    vote_policies: Policies
    created_at: datetime
    author: str
    simulated: bool
    last_annotation: int | None
    parent_hash: str | None
    adjudicated: tuple[tuple[str, str], ...]
    reason: str


def add(conn: sqlite3.Connection, reference: Reference) -> str:
    """Keep a frozen reference and return the name under which it stands.

    One with the same content is already there under that name when the same votes are frozen twice.

    Raises:
        ConflictError: the name is taken by a reference with other content.
    """
    there = conn.execute("SELECT name FROM reference_standards WHERE hash = ?", (reference.hash,)).fetchone()
    if there is not None:
        return str(there["name"])
    if conn.execute("SELECT 1 FROM reference_standards WHERE name = ?", (reference.name,)).fetchone():
        raise ConflictError(
            f"A reference named {reference.name} is frozen with other votes and cannot change; choose another name."
        )
    _insert(conn, reference)
    return reference.name


def get(conn: sqlite3.Connection, name: str) -> Reference | None:
    """Return a reference by its name, or None."""
    row = conn.execute("SELECT * FROM reference_standards WHERE name = ?", (name,)).fetchone()
    return _reference(conn, row) if row else None


def by_hash(conn: sqlite3.Connection, reference_hash: str) -> Reference | None:
    """Return a reference by its hash, or None."""
    row = conn.execute("SELECT * FROM reference_standards WHERE hash = ?", (reference_hash,)).fetchone()
    return _reference(conn, row) if row else None


def list_all(conn: sqlite3.Connection) -> list[Reference]:
    """Return every reference with its items, oldest first."""
    rows = conn.execute("SELECT * FROM reference_standards ORDER BY position").fetchall()
    return [_reference(conn, row) for row in rows]


def items(conn: sqlite3.Connection, reference_hash: str) -> Mapping[tuple[str, str], ReferenceItem]:
    """Return the outcome of each (report id, finding id) of a reference; empty for an unknown hash."""
    rows = conn.execute(
        "SELECT report_id, finding_id, outcome, present, missing, tie FROM reference_items WHERE reference_hash = ?",
        (reference_hash,),
    )
    outcomes = {outcome.value: outcome for outcome in Outcome}  # Enum look-ups by value are slow over 6,300 rows
    return {
        (report_id, finding_id): ReferenceItem(outcomes[outcome], present, missing, bool(tie))
        for report_id, finding_id, outcome, present, missing, tie in rows
    }


def heads(conn: sqlite3.Connection) -> list[ReferenceHead]:
    """Return every reference without its items, oldest first."""
    return [_head(row) for row in conn.execute("SELECT * FROM reference_standards ORDER BY position")]


def iterate_items(conn: sqlite3.Connection, reference_hash: str) -> Iterator[tuple[str, str, ReferenceItem]]:
    """Yield (report id, finding id, item) of a reference by report id and finding id, without holding them all."""
    rows = conn.execute(
        "SELECT report_id, finding_id, outcome, present, missing, tie FROM reference_items WHERE reference_hash = ? "
        "ORDER BY report_id, finding_id",
        (reference_hash,),
    )
    outcomes = {outcome.value: outcome for outcome in Outcome}
    for report_id, finding_id, outcome, present, missing, tie in rows:
        yield report_id, finding_id, ReferenceItem(outcomes[outcome], present, missing, bool(tie))


def _head(row: sqlite3.Row) -> ReferenceHead:
    return ReferenceHead(
        hash=row["hash"],
        name=row["name"],
        cohort_hash=row["cohort_hash"],
        label_set_hash=row["label_set_hash"],
        rule=VoteRule(row["k"], row["n"], Outcome(row["tie"])),
        raters=tuple(from_json(row["raters"])),
        vote_policies=Policies.from_json(from_json(row["vote_policies"])),
        created_at=instant(row["created_at"]),
        author=row["author"],
        simulated=bool(row["simulated"]),
        last_annotation=row["last_annotation"],
        parent_hash=row["parent_hash"],
        adjudicated=tuple((report, finding) for report, finding in from_json(row["adjudicated"])),
        reason=row["reason"],
    )


def _insert(conn: sqlite3.Connection, reference: Reference) -> None:
    digest = reference.hash  # computed over every item, so once
    # Items first: once the reference's own row stands, the database takes no more of them.
    conn.executemany(
        "INSERT INTO reference_items (reference_hash, report_id, finding_id, outcome, present, missing, tie) "
        "VALUES (?, ?, ?, ?, ?, ?, ?)",
        [
            (digest, report_id, finding_id, item.outcome.value, item.present, item.missing, int(item.tie))
            for (report_id, finding_id), item in reference.items.items()
        ],
    )
    conn.execute(
        "INSERT INTO reference_standards (hash, name, cohort_hash, label_set_hash, k, n, tie, raters, vote_policies, "
        "created_at, author, simulated, last_annotation, parent_hash, adjudicated, reason) "
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            digest,
            reference.name,
            reference.cohort_hash,
            reference.label_set_hash,
            reference.rule.k,
            reference.rule.n,
            reference.rule.tie.value,
            json_text(list(reference.raters)),
            json_text(reference.vote_policies.as_json()),
            instant_text(reference.created_at),
            reference.author,
            int(reference.simulated),
            reference.last_annotation,
            reference.parent_hash,
            json_text([list(item) for item in reference.adjudicated]),
            reference.reason,
        ),
    )


def _reference(conn: sqlite3.Connection, row: sqlite3.Row) -> Reference:
    head = _head(row)
    return without_items(head, items(conn, head.hash))


def without_items(head: ReferenceHead, stand_in: Mapping[tuple[str, str], ReferenceItem]) -> Reference:
    """Return a reference of which only the head was read, with something else in the place of its items."""
    return Reference(
        name=head.name,
        cohort_hash=head.cohort_hash,
        label_set_hash=head.label_set_hash,
        rule=head.rule,
        raters=head.raters,
        vote_policies=head.vote_policies,
        items=stand_in,
        created_at=head.created_at,
        author=head.author,
        simulated=head.simulated,
        last_annotation=head.last_annotation,
        parent_hash=head.parent_hash,
        adjudicated=head.adjudicated,
        reason=head.reason,
    )
