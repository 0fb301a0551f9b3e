"""Rating: one's own labels, every save kept, closed once the reference is frozen."""

from datetime import UTC, datetime

import pytest

from workbench.domain.actors import Actor, Role
from workbench.domain.cohorts import Purpose
from workbench.domain.findings import State
from workbench.domain.reports import Report
from workbench.errors import ConflictError, InputError, NotFoundError, RightsError
from workbench.storage import annotations, imports, reports
from workbench.workflow import annotate
from workbench.workflow.cohorts import define
from workbench.workflow.reference import freeze
from workbench.workflow.study import Study


def test_a_draft_comes_back_and_goes_first_in_the_queue(rated: Study, rater: Actor) -> None:
    order = annotate.queue(rated, rater, "development").order
    last = order[-1]
    annotate.save(rated, rater, last, {"fracture": State.UNCERTAIN}, submitted=False)
    queue = annotate.queue(rated, rater, "development")
    own = annotate.open_report(rated, rater, last).own
    assert queue.next == last
    assert own is not None
    assert own.states == {"fracture": State.UNCERTAIN}


def test_submitted_reports_leave_the_queue_until_it_is_empty(rated: Study, rater: Actor) -> None:
    for _ in range(6):
        report = annotate.queue(rated, rater, "development").next
        assert report is not None
        annotate.save(rated, rater, report, {}, submitted=True)
    assert annotate.queue(rated, rater, "development").next is None


def test_each_rater_has_an_own_order_that_stays(rated: Study, rater: Actor) -> None:
    first, again = (annotate.queue(rated, rater, "development").order for _ in range(2))
    other = annotate.queue(rated, Actor("rater1", rater.roles), "development").order
    assert first == again
    assert sorted(other) == sorted(first)
    assert other != first


def test_a_rater_sees_nobody_elses_labels(rated: Study, rater: Actor) -> None:
    assert annotate.open_report(rated, rater, "r1").own is None
    assert annotate.queue(rated, rater, "development").submitted == frozenset()


def test_amending_keeps_what_was_said_before(rated: Study, rater: Actor) -> None:
    annotate.save(rated, rater, "r1", {"fracture": State.PRESENT}, submitted=True)
    annotate.save(rated, rater, "r1", {}, submitted=True)
    with rated.database.read() as conn:
        history = annotations.history(conn, "r1", rater.name)
    assert [dict(a.states) for a in history] == [{"fracture": State.PRESENT}, {}]


def test_a_frozen_reference_closes_the_round(rated: Study, lead: Actor, rater: Actor) -> None:
    freeze(rated, lead, "development")
    with pytest.raises(ConflictError, match="round is closed: the reference development-1 is frozen"):
        annotate.save(rated, rater, "r1", {}, submitted=True)
    assert annotate.queue(rated, rater, "development").closed


def test_wrong_findings_states_and_reports_are_refused(rated: Study, rater: Actor) -> None:
    with pytest.raises(InputError, match="Report r1: flu = present"):
        annotate.save(rated, rater, "r1", {"flu": State.PRESENT}, submitted=True)
    with pytest.raises(NotFoundError, match="no report r99"):
        annotate.save(rated, rater, "r99", {}, submitted=True)


def test_a_lead_who_is_no_rater_does_not_rate(rated: Study, lead: Actor) -> None:
    with pytest.raises(RightsError, match="may not rate reports"):
        annotate.queue(rated, lead, "development")


def test_whoever_edits_prompts_cannot_read_a_locked_report_by_rating_it(rated: Study, rater: Actor) -> None:
    with rated.database.write() as conn:
        imported = imports.add(conn, "reports", "v.csv", file_hash="", actor="x", at=datetime.now(UTC), rows=1)
        reports.add(conn, [Report("v1", "p9", "Normal.", ())], imported)
    both = Actor("Dr. Both", frozenset({Role.LEAD, Role.RATER}))
    define(rated, both, "validation", Purpose.VALIDATION, ["v1"])
    with pytest.raises(RightsError, match="locked validation cohort and Dr. Both edits prompts too"):
        annotate.open_report(rated, both, "v1")
    assert annotate.open_report(rated, rater, "v1").report.text == "Normal."
    assert annotate.open_report(rated, both, "r1").report.id == "r1"
