"""A frozen reference is immutable and known by its hash."""

from dataclasses import fields, replace
from typing import Any

import pytest

from workbench.domain.references import Outcome, ReferenceItem
from workbench.errors import ConflictError
from workbench.storage import references


def test_a_reference_comes_back_equal_with_the_same_hash(study: Any) -> None:
    with study.database.read() as conn:
        found = references.get(conn, "vote")
        assert found == study.reference
        assert found.hash == study.reference.hash
        assert references.by_hash(conn, study.reference.hash) == study.reference
        assert references.items(conn, study.reference.hash) == study.reference.items
        assert references.list_all(conn) == [study.reference]


def test_an_unknown_reference_is_none(study: Any) -> None:
    with study.database.read() as conn:
        assert references.get(conn, "other") is None
        assert references.by_hash(conn, "0" * 64) is None
        assert references.items(conn, "0" * 64) == {}


def test_freezing_the_same_votes_again_changes_nothing(study: Any) -> None:
    with study.database.write() as conn:
        assert references.add(conn, study.reference) == "vote"
        assert references.add(conn, replace(study.reference, name="again")) == "vote"
        assert [reference.name for reference in references.list_all(conn)] == ["vote"]


def test_a_name_stands_for_one_reference(study: Any) -> None:
    items = {**study.reference.items, ("r3", "edema"): ReferenceItem(Outcome.PRESENT, 6, 0, tie=False)}
    other = replace(study.reference, items=items)
    with pytest.raises(ConflictError, match="named vote is frozen with other votes"), study.database.write() as conn:
        references.add(conn, other)
    with study.database.write() as conn:
        assert references.add(conn, replace(other, name="adjudicated")) == "adjudicated"
        assert references.get(conn, "adjudicated").items == items


def test_a_head_is_the_reference_without_its_items(study: Any) -> None:
    with study.database.read() as conn:
        (head,) = references.heads(conn)
    assert head.hash == study.reference.hash
    for field in fields(head):
        assert getattr(head, field.name) == getattr(study.reference, field.name)


def test_items_come_one_by_one_in_order(study: Any) -> None:
    with study.database.read() as conn:
        rows = list(references.iterate_items(conn, study.reference.hash))
    assert [(report, finding) for report, finding, _ in rows] == sorted(study.reference.items)
    assert {(report, finding): item for report, finding, item in rows} == study.reference.items
