"""The chain of prompt revisions and the decisions on them. The database owns both; files are copies."""

import sqlite3
from datetime import datetime

from workbench.domain.hashing import short
from workbench.domain.prompts import Decision, Prompt, Revision, RevisionStatus, Signature
from workbench.errors import ConflictError, NotFoundError
from workbench.storage.encoding import from_json, instant, instant_text, json_text

_HASH_AT_LEAST = 4  # digits of a hash that can stand for it

# The status of a revision is its latest decision; without any it is a candidate.
_SELECT = """SELECT r.number, r.prompt_hash, r.parent_hash, r.author, r.created_at, r.message, (
        SELECT d.status FROM decisions AS d WHERE d.prompt_hash = r.prompt_hash ORDER BY d.id DESC LIMIT 1
    ) AS status
    FROM revisions AS r"""


def add_revision(
    conn: sqlite3.Connection,
    prompt: Prompt,
    file_text: str,
    *,
    parent_hash: str | None,
    author: str,
    at: datetime,
    message: str,
    number: int | None = None,
) -> Revision:
    """Add a prompt to the chain and return its record; a prompt that is already in it gives the record it has.

    The number is one above the highest unless given.

    Raises:
        ConflictError: the number given belongs to another prompt.
        NotFoundError: the parent is not in the chain.
    """
    known = _one(conn, "WHERE r.prompt_hash = ?", prompt.hash)
    if known is not None:
        return known
    if parent_hash is not None and _one(conn, "WHERE r.prompt_hash = ?", parent_hash) is None:
        raise NotFoundError(f"The parent revision {short(parent_hash)} is not in this study; import it first.")
    if number is None:
        number = int(conn.execute("SELECT COALESCE(MAX(number), 0) + 1 FROM revisions").fetchone()[0])
    elif (there := _one(conn, "WHERE r.number = ?", number)) is not None:
        raise ConflictError(
            f"Revision {number} is another prompt ({short(there.prompt_hash)}) and is never overwritten; "
            "give this one a number of its own."
        )
    conn.execute(
        "INSERT INTO revisions (number, prompt_hash, parent_hash, file_text, author, created_at, message) "
        "VALUES (?, ?, ?, ?, ?, ?, ?)",
        (number, prompt.hash, parent_hash, file_text, author, instant_text(at), message),
    )
    return Revision(number, prompt.hash, parent_hash, author, at, message, RevisionStatus.CANDIDATE)


def prompt_text(conn: sqlite3.Connection, prompt_hash: str) -> str:
    """Return the prompt file of a revision as it was added.

    Raises:
        NotFoundError: no revision has that hash.
    """
    row = conn.execute("SELECT file_text FROM revisions WHERE prompt_hash = ?", (prompt_hash,)).fetchone()
    if row is None:
        raise NotFoundError(f"There is no prompt {short(prompt_hash)} in this study.")
    return str(row["file_text"])


def revisions(conn: sqlite3.Connection) -> list[Revision]:
    """Return every revision by number, each with its present status."""
    return [_revision(row) for row in conn.execute(f"{_SELECT} ORDER BY r.number")]


def last_accepted(conn: sqlite3.Connection) -> Revision | None:
    """Return the accepted revision of the highest number; None where none is accepted."""
    return next((r for r in reversed(revisions(conn)) if r.status is RevisionStatus.ACCEPTED), None)


def revision(conn: sqlite3.Connection, which: int | str) -> Revision:
    """Return the revision of a number ("3" is one too), or of a hash or its first four or more digits.

    Raises:
        NotFoundError: there is none.
        ConflictError: several hashes begin like that.
    """
    text = str(which)
    if text.isascii() and text.isdigit() and len(text) < 10:
        found = _one(conn, "WHERE r.number = ?", int(text))
        if found is not None:
            return found
    rows: list[sqlite3.Row] = []
    if len(text) >= _HASH_AT_LEAST:
        rows = conn.execute(
            f"{_SELECT} WHERE substr(r.prompt_hash, 1, ?) = ? ORDER BY r.number", (len(text), text.lower())
        ).fetchall()
    if not rows:
        numbers = ", ".join(str(known.number) for known in revisions(conn)) or "none"
        raise NotFoundError(f"There is no revision {text}; the study has: {numbers}.")
    if len(rows) > 1:
        numbers = ", ".join(str(row["number"]) for row in rows)
        raise ConflictError(f"The hash {text} could be any of the revisions {numbers}; give more of its digits.")
    return _revision(rows[0])


def decide(conn: sqlite3.Connection, decision: Decision) -> None:
    """Append a decision on a revision; earlier ones stay on record.

    Raises:
        NotFoundError: the revision is not in the study.
    """
    if _one(conn, "WHERE r.prompt_hash = ?", decision.prompt_hash) is None:
        raise NotFoundError(f"There is no revision {short(decision.prompt_hash)} in this study.")
    conn.execute(
        "INSERT INTO decisions (prompt_hash, status, actor, at, reason, evaluation_hash, signed, override) "
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        (
            decision.prompt_hash,
            decision.status.value,
            decision.actor,
            instant_text(decision.at),
            decision.reason,
            decision.evaluation_hash,
            json_text(list(decision.signed)),
            decision.override,
        ),
    )


def sign(conn: sqlite3.Connection, signature: Signature) -> None:
    """Append a second person's signature."""
    conn.execute(
        "INSERT INTO signatures (prompt_hash, evaluation_hash, actor, at, comment) VALUES (?, ?, ?, ?, ?)",
        (
            signature.prompt_hash,
            signature.evaluation_hash,
            signature.actor,
            instant_text(signature.at),
            signature.comment,
        ),
    )


def signatures(conn: sqlite3.Connection, evaluation_hash: str) -> list[Signature]:
    """Return every signature under a score, oldest first."""
    rows = conn.execute("SELECT * FROM signatures WHERE evaluation_hash = ? ORDER BY id", (evaluation_hash,))
    return [
        Signature(row["prompt_hash"], row["evaluation_hash"], row["actor"], instant(row["at"]), row["comment"])
        for row in rows
    ]


def decisions(conn: sqlite3.Connection, prompt_hash: str) -> list[Decision]:
    """Return every decision on a revision, oldest first."""
    rows = conn.execute("SELECT * FROM decisions WHERE prompt_hash = ? ORDER BY id", (prompt_hash,))
    return [
        Decision(
            prompt_hash=row["prompt_hash"],
            status=RevisionStatus(row["status"]),
            actor=row["actor"],
            at=instant(row["at"]),
            reason=row["reason"],
            evaluation_hash=row["evaluation_hash"],
            signed=tuple(from_json(row["signed"])),
            override=row["override"],
        )
        for row in rows
    ]


def _one(conn: sqlite3.Connection, where: str, value: object) -> Revision | None:
    row = conn.execute(f"{_SELECT} {where}", (value,)).fetchone()
    return _revision(row) if row else None


def _revision(row: sqlite3.Row) -> Revision:
    return Revision(
        number=row["number"],
        prompt_hash=row["prompt_hash"],
        parent_hash=row["parent_hash"],
        author=row["author"],
        created_at=instant(row["created_at"]),
        message=row["message"],
        status=RevisionStatus(row["status"]) if row["status"] else RevisionStatus.CANDIDATE,
    )
