"""Single-radiologist benchmarks, kept with the references whose votes they are of."""

import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from workbench.storage.encoding import from_json, json_text


@dataclass(frozen=True, slots=True)
class BenchmarkRecord:
    """A stored benchmark: of which reference, the hash of everything it was computed from, and its JSON form."""

    reference_hash: str
    inputs_hash: str
    result: Mapping[str, Any]


def add(conn: sqlite3.Connection, reference_hash: str, inputs_hash: str, result: Mapping[str, object]) -> bool:
    """Keep the benchmark of a reference and return whether it is new; the same inputs give the same one.

    One from other inputs (a later version of the program draws other resamples, say) is kept beside it.
    """
    cursor = conn.execute(
        "INSERT INTO benchmarks (reference_hash, inputs_hash, result) VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
        (reference_hash, inputs_hash, json_text(result)),
    )
    return cursor.rowcount == 1


def get(conn: sqlite3.Connection, reference_hash: str, inputs_hash: str) -> BenchmarkRecord | None:
    """Return the benchmark of a reference from these inputs, or None."""
    row = conn.execute(
        "SELECT * FROM benchmarks WHERE reference_hash = ? AND inputs_hash = ?", (reference_hash, inputs_hash)
    ).fetchone()
    return BenchmarkRecord(row["reference_hash"], row["inputs_hash"], from_json(row["result"])) if row else None
