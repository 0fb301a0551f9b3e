"""A benchmark is kept with its reference and never changes."""

import sqlite3
from typing import Any

import pytest

from workbench.storage import benchmarks


def test_a_benchmark_comes_back_as_it_was_kept(study: Any) -> None:
    with study.database.write() as conn:
        assert benchmarks.add(conn, study.reference.hash, "of these votes", {"mean": 0.1 + 0.2, "raters": ["a"]})
    with study.database.read() as conn:
        found = benchmarks.get(conn, study.reference.hash, "of these votes")
        assert benchmarks.get(conn, study.reference.hash, "of others") is None
        assert benchmarks.get(conn, "another reference", "of these votes") is None
    assert found is not None
    assert found.result == {"mean": 0.1 + 0.2, "raters": ["a"]}


def test_the_first_one_from_the_same_inputs_stays(study: Any) -> None:
    with study.database.write() as conn:
        benchmarks.add(conn, study.reference.hash, "inputs", {"mean": 1})
        assert not benchmarks.add(conn, study.reference.hash, "inputs", {"mean": 2})
        assert benchmarks.add(conn, study.reference.hash, "other inputs", {"mean": 3})
        found = benchmarks.get(conn, study.reference.hash, "inputs")
    assert found is not None
    assert found.result == {"mean": 1}


def test_a_benchmark_belongs_to_a_reference_and_cannot_be_changed(study: Any) -> None:
    with pytest.raises(sqlite3.IntegrityError), study.database.write() as conn:
        benchmarks.add(conn, "no such reference", "inputs", {})
    with study.database.write() as conn:
        benchmarks.add(conn, study.reference.hash, "inputs", {})
    with pytest.raises(sqlite3.IntegrityError, match="history"), study.database.write() as conn:
        conn.execute("UPDATE benchmarks SET result = '{}'")
