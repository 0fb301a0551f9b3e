"""The trail holds every act by time, and what a rater labelled only where that may be told."""

import json
import re
import threading
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from workbench.domain.actors import Role
from workbench.domain.findings import State
from workbench.domain.references import VoteRule
from workbench.domain.reports import Report
from workbench.domain.rounds import Adjudication, Round, RoundAction, RoundEvent
from workbench.storage import annotations, audit, imports, people, reports, rounds
from workbench.storage.audit import Event
from workbench.storage.people import PersonEvent


def told(study: Any, closed: list[tuple[str, str]], locked: list[str]) -> list[Event]:
    with study.database.snapshot() as conn:
        return list(audit.trail(conn, closed=closed, locked=locked))


def test_every_kind_of_act_is_told_with_who_and_what(study: Any) -> None:
    events = told(study, [], [])
    assert [(e.actor, e.event, e.subject) for e in events] == [
        ("Lena", "reports imported", "a.csv"),
        ("Lena", "cohort made", "dev"),
        ("Lena", "cohort unlocked", "dev"),
        ("Ada", "labels submitted", "r1"),
        ("Lena", "reference frozen", "vote"),
        ("Lena", "revision added", "revision 1"),
        ("Lena", "run started", study.run.hash),
        ("Lena", "calls brought no reply (server)", f"prompt {study.prompt.hash}"),
        ("Lena", "run scored", study.run.hash),
        ("Lena", "cohort looked at (try)", "dev"),
        ("Lena", "revision accepted", "revision 1"),
    ]
    details = {e.event: json.loads(e.details) for e in events}
    assert details["revision accepted"]["reason"] == "climbs"
    assert details["revision accepted"]["signed"] == []
    assert details["cohort unlocked"] == {"reason": "final look", "declared": {"revision": 1}}
    assert (details["reference frozen"]["k"], details["reference frozen"]["raters"]) == (4, ["Ada", "Ben"])
    assert details["cohort made"]["reports"] == 3


def test_labels_are_told_only_where_the_round_is_closed_and_the_cohort_is_not_locked(study: Any) -> None:
    here = ("dev", study.label_set.hash)
    for closed, locked, shown in [
        ([], [], False),
        ([("other", here[1])], [], False),
        ([("dev", "another label set")], [], False),
        ([here], ["dev"], False),
        ([here], [], True),
    ]:
        (event,) = (e for e in told(study, closed, locked) if e.event == "labels submitted")
        details = json.loads(event.details)
        assert ("states" in details) is shown
        assert any(word in event.details for word in ("present", "SUM", "12.5", "Small")) is shown
        assert details["source"] == "ada.csv"
    assert details["states"] == {"effusion": "present", "edema": "uncertain"}
    assert (details["comment"], details["superseded"], details["simulated"]) == ("=SUM(1)", False, True)


def test_labels_that_later_ones_superseded_stay_and_say_so(study: Any) -> None:
    first, minute = study.annotation, timedelta(minutes=1)
    with study.database.write() as conn:
        annotations.append(conn, replace(first, states={"edema": State.PRESENT}, at=first.at + minute))
        annotations.append(conn, replace(first, states={}, submitted=False, at=first.at + 2 * minute))
    events = told(study, [("dev", study.label_set.hash)], [])
    rows = [(e.event, json.loads(e.details)) for e in events if e.event.startswith("labels")]
    # A draft supersedes nothing that was submitted.
    assert [(event, details["superseded"], details["states"]) for event, details in rows] == [
        ("labels submitted", True, {"effusion": "present", "edema": "uncertain"}),
        ("labels submitted", False, {"edema": "present"}),
        ("labels drafted", False, {}),
    ]


def test_what_was_decided_about_people_is_told_without_their_secrets(study: Any, now: Any) -> None:
    with study.database.write() as conn:
        people.append(conn, PersonEvent("Ada", people.Event.ADDED, "Lena", now, frozenset({Role.RATER}), "a@b.org"))
        people.append(conn, PersonEvent("Ada", people.Event.CODE, "Lena", now))
    events = [(e.event, e.subject, json.loads(e.details)) for e in told(study, [], []) if e.event.startswith("person")]
    assert events == [
        ("person added", "Ada", {"roles": ["rater"], "email": "a@b.org"}),
        ("person code issued", "Ada", {"roles": [], "email": ""}),
    ]


def test_what_was_adjudicated_is_told_only_where_labels_may_be(study: Any, now: Any) -> None:
    made = Adjudication(study.reference.hash, "r1", "edema", True, "Max", now, "Kerley lines")
    with study.database.write() as conn:
        rounds.add_adjudication(conn, made)
        rounds.add_view(conn, study.reference.hash, "Lena", now)
    here = [("dev", study.label_set.hash)]
    for closed, locked, shown in [([], [], {}), (here, ["dev"], {}), (here, [], {"present": True})]:
        events = {e.event: e for e in told(study, closed, locked)}
        item, look = events["item adjudicated"], events["reference looked at"]
        expected = {"reference": "vote", "finding": "edema", **shown, **({"reason": "Kerley lines"} if shown else {})}
        assert (item.actor, item.subject, json.loads(item.details)) == ("Max", "r1", expected)
        assert (look.actor, look.subject) == ("Lena", "vote")


def test_what_happened_to_a_round_is_told_with_what_it_fixed(study: Any, now: Any) -> None:
    made = Round(
        "dev-round-1", study.cohort.hash, study.label_set.hash, VoteRule(2, 3), study.label_set.vote_policies,
        (State.PRESENT,), ("Ada", "Ben"), 7, 1, now, "Lena",
    )  # fmt: skip
    with study.database.write() as conn:
        rounds.add(conn, made)
        for action in RoundAction:
            rounds.add_event(conn, RoundEvent(made.hash, action, "Lena", now, "because"))
    events = [e for e in told(study, [], []) if e.event.startswith("round")]
    assert [(e.event, e.subject) for e in events] == [(f"round {a}", "dev-round-1") for a in RoundAction]
    details = json.loads(events[0].details)
    assert (details["cohort"], details["raters"], details["k"], details["reason"]) == (
        "dev",
        ["Ada", "Ben"],
        2,
        "because",
    )


def test_acts_are_in_the_order_of_time_whatever_was_recorded_first(
    study: Any, make_report: Callable[..., Report]
) -> None:
    early = study.annotation.at - timedelta(days=1)
    with study.database.write() as conn:
        number = imports.add(conn, "labels", "old.csv", file_hash="d", actor="Max", at=early, rows=0)
        reports.add(conn, [make_report("r9")], number)
    events = told(study, [], [])
    assert (events[0].actor, events[0].subject) == ("Max", "old.csv")
    assert [e.at for e in events] == sorted(e.at for e in events)


def test_no_table_that_records_an_act_is_left_out(study: Any) -> None:
    with study.database.read() as conn:
        tables = [row["name"] for row in conn.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        columns = {table: {row["name"] for row in conn.execute(f"PRAGMA table_info({table})")} for table in tables}
    acts = {table for table in tables if columns[table] & {"actor", "author", "rater"}}
    told_of = {table for table in acts if any(re.search(rf"(FROM|JOIN) {table} ", source) for source in audit._SOURCES)}
    assert acts - told_of == set(), "add a SELECT for it to workbench/storage/audit.py"


def test_a_trail_without_any_act_is_empty(database: Any) -> None:
    with database.snapshot() as conn:
        assert list(audit.trail(conn, closed=[], locked=[])) == []


def test_a_snapshot_shows_one_moment(study: Any, make_report: Callable[..., Report]) -> None:
    other = type(study.database)(study.database.path)
    with study.database.snapshot() as conn:
        before = reports.count(conn)
        with pytest.raises(RuntimeError, match="already"), study.database.write():
            pass

        def write() -> None:
            with other.write() as writing:
                reports.add(writing, [make_report("late")], 1)

        thread = threading.Thread(target=write)
        thread.start()
        thread.join()
        assert reports.count(conn) == before
    with study.database.read() as conn:
        assert reports.count(conn) == before + 1
