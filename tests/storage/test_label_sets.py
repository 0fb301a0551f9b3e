"""What a label was given by can always be looked up."""

from dataclasses import replace
from typing import Any

from workbench.domain.findings import Policies, Policy
from workbench.storage import label_sets


def test_a_label_set_comes_back_equal(study: Any) -> None:
    with study.database.read() as conn:
        found = label_sets.get(conn, study.label_set.hash)
        assert found == study.label_set
        assert found.hash == study.label_set.hash
        assert label_sets.get(conn, "0" * 64) is None


def test_other_policies_are_the_same_label_set_and_the_first_stays(study: Any) -> None:
    other = replace(study.label_set, vote_policies=Policies(Policy.EXCLUDE))
    with study.database.write() as conn:
        label_sets.add(conn, other)
        assert label_sets.get(conn, other.hash) == study.label_set


def test_versions_stand_side_by_side(study: Any) -> None:
    newer = replace(study.label_set, version="2")
    with study.database.write() as conn:
        label_sets.add(conn, newer)
        assert label_sets.get(conn, newer.hash) == newer
        assert label_sets.get(conn, study.label_set.hash) == study.label_set
