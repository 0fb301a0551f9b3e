"""A cohort is fixed once made; opening a locked one is on record."""

from dataclasses import replace
from datetime import datetime
from typing import Any

import pytest

from workbench.domain.cohorts import Cohort, Purpose
from workbench.errors import ConflictError, NotFoundError
from workbench.storage import cohorts
from workbench.storage.cohorts import Unlock


def test_a_cohort_comes_back_equal_by_name_and_by_hash(study: Any) -> None:
    with study.database.read() as conn:
        assert cohorts.get(conn, "dev") == study.cohort
        assert cohorts.by_hash(conn, study.cohort.hash) == study.cohort
        assert cohorts.list_all(conn) == [study.cohort]
        assert cohorts.get(conn, "other") is None
        assert cohorts.by_hash(conn, "0" * 64) is None


def test_cohorts_are_listed_oldest_first(study: Any) -> None:
    first = study.reports[0]
    later = replace(study.cohort, name="a", members={first.id: first.hash}, probabilities={first.id: 1.0})
    with study.database.write() as conn:
        cohorts.add(conn, later)
        assert [cohort.name for cohort in cohorts.list_all(conn)] == ["dev", "a"]


def test_a_name_stands_for_one_cohort(study: Any) -> None:
    other = replace(study.cohort, members={"r1": study.reports[0].hash})
    with pytest.raises(ConflictError, match="A cohort named dev exists"), study.database.write() as conn:
        cohorts.add(conn, other)


def test_the_very_same_reports_under_another_name_are_refused(study: Any) -> None:
    other = replace(study.cohort, name="val", purpose=Purpose.VALIDATION)
    with pytest.raises(ConflictError, match="Cohort dev holds the very same"), study.database.write() as conn:
        cohorts.add(conn, other)


@pytest.mark.parametrize(("report_id", "text_hash"), [("nobody", "0" * 64), ("r1", "0" * 64)])
def test_a_member_must_be_in_the_study_with_that_text(
    study: Any, now: datetime, report_id: str, text_hash: str
) -> None:
    cohort = Cohort("val", Purpose.VALIDATION, {report_id: text_hash}, {report_id: 1.0}, 1, now, "Lena")
    with pytest.raises(NotFoundError, match=f"Report {report_id} of cohort val"), study.database.write() as conn:
        cohorts.add(conn, cohort)


def test_unlocking_is_on_record_in_order(study: Any, now: datetime) -> None:
    with study.database.write() as conn:
        cohorts.unlock(conn, "dev", actor="Ben", at=now, reason="again", details={"endpoint": "macro-F1"})
        assert cohorts.unlocks(conn, "dev") == [
            Unlock("dev", "Lena", now, "final look", {"revision": 1}),
            Unlock("dev", "Ben", now, "again", {"endpoint": "macro-F1"}),
        ]
        assert cohorts.unlocks(conn, "other") == []


def test_a_cohort_that_is_not_there_cannot_be_unlocked(study: Any, now: datetime) -> None:
    with pytest.raises(NotFoundError, match="no cohort named val"), study.database.write() as conn:
        cohorts.unlock(conn, "val", actor="Ben", at=now, reason="", details={})
