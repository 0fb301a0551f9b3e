"""The last judgement counts, all earlier ones stay, and raters never mix."""

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest

from workbench.domain.annotations import Annotation
from workbench.domain.findings import State
from workbench.storage import annotations, label_sets


def test_an_annotation_comes_back_equal(study: Any) -> None:
    with study.database.read() as conn:
        assert annotations.latest(conn, ["r1"], study.label_set.hash) == [study.annotation]


def test_all_four_states_survive(study: Any, now: datetime) -> None:
    findings = dict(zip("abcd", State, strict=True))
    with study.database.write() as conn:
        annotations.append(conn, Annotation("r2", "Ada", findings, True, now, study.label_set.hash))
        (kept,) = annotations.latest(conn, ["r2"], study.label_set.hash)
    assert kept.states == findings


def test_the_last_one_added_counts_and_the_others_stay(study: Any, now: datetime) -> None:
    changed = replace(study.annotation, states={"edema": State.PRESENT}, at=now - timedelta(days=1))
    with study.database.write() as conn:
        annotations.append(conn, changed)
        assert annotations.latest(conn, ["r1"], study.label_set.hash) == [changed]
        assert annotations.history(conn, "r1", "Ada") == [study.annotation, changed]


def test_a_draft_leaves_the_submission_standing(study: Any) -> None:
    draft = replace(study.annotation, states={}, submitted=False)
    with study.database.write() as conn:
        annotations.append(conn, draft)
        assert annotations.latest(conn, ["r1"], study.label_set.hash) == [study.annotation]
        assert annotations.latest(conn, ["r1"], study.label_set.hash, submitted_only=False) == [draft]


def test_two_raters_on_one_report_do_not_touch_each_other(study: Any) -> None:
    ben = replace(study.annotation, rater="Ben", states={})
    with study.database.write() as conn:
        annotations.append(conn, ben)
        assert annotations.latest(conn, ["r1"], study.label_set.hash) == [study.annotation, ben]
        assert annotations.latest(conn, ["r1"], study.label_set.hash, rater="Ben") == [ben]
        assert annotations.history(conn, "r1", "Ben") == [ben]
        assert annotations.raters(conn) == ["Ada", "Ben"]


def test_labels_of_another_label_set_stay_apart(study: Any) -> None:
    newer = replace(study.label_set, version="2")
    again = replace(study.annotation, label_set_hash=newer.hash)
    with study.database.write() as conn:
        label_sets.add(conn, newer)
        annotations.append(conn, again)
        assert annotations.latest(conn, ["r1"], study.label_set.hash) == [study.annotation]
        assert annotations.latest(conn, ["r1"], newer.hash) == [again]


def test_answers_follow_the_order_of_the_reports_asked_for(study: Any) -> None:
    with study.database.write() as conn:
        added = [replace(study.annotation, report_id=r, rater=who) for who in ("Zoe", "Ada") for r in ("r2", "r3")]
        assert annotations.append_many(conn, added) == 4
        found = annotations.latest(conn, ["r3", "r1", "r3"], study.label_set.hash)
    assert [(a.report_id, a.rater) for a in found] == [("r3", "Ada"), ("r3", "Zoe"), ("r1", "Ada")]


def test_nothing_added_is_nothing_counted(study: Any) -> None:
    with study.database.write() as conn:
        assert annotations.append_many(conn, []) == 0


def test_submitted_reports_are_counted_once_each(study: Any) -> None:
    with study.database.write() as conn:
        annotations.append(conn, study.annotation)
        annotations.append(conn, replace(study.annotation, report_id="r2", submitted=False))
        annotations.append(conn, replace(study.annotation, report_id="r3", rater="Ben"))
        assert annotations.submitted_counts(conn, ["r1", "r2"], study.label_set.hash) == {"Ada": 1}
        assert annotations.submitted_counts(conn, ["r1", "r3"], study.label_set.hash) == {"Ada": 1, "Ben": 1}


def test_a_time_without_a_zone_is_refused(study: Any, now: datetime) -> None:
    naive = replace(study.annotation, at=now.replace(tzinfo=None))
    with pytest.raises(ValueError, match="no time zone"), study.database.write() as conn:
        annotations.append(conn, naive)


def test_a_cohort_read_row_by_row_gives_what_is_read_at_once(study: Any) -> None:
    first, newer = study.annotation, replace(study.label_set, version="2")
    with study.database.write() as conn:
        label_sets.add(conn, newer)
        annotations.append(conn, replace(first, report_id="r3", rater="Zoe"))
        annotations.append(conn, replace(first, report_id="r3", states={}))
        until = annotations.last_id(conn)
        annotations.append(conn, replace(first, rater="Zoe", states={"edema": State.PRESENT}))
        annotations.append(conn, replace(first, states={}, comment="amended"))
        annotations.append(conn, replace(first, states={}, submitted=False))
        annotations.append(conn, replace(first, label_set_hash=newer.hash))
        for limit in (None, until):
            rows = list(annotations.iterate_submitted(conn, "dev", study.label_set.hash, until=limit))
            assert rows == annotations.latest(conn, ["r1", "r2", "r3"], study.label_set.hash, until=limit)
    assert [(a.report_id, a.rater, a.comment) for a in rows] == [
        ("r1", "Ada", "=SUM(1)"),
        ("r3", "Ada", "=SUM(1)"),
        ("r3", "Zoe", "=SUM(1)"),
    ]
