"""Reports go in once, verbatim, and never with two texts."""

import re
from collections.abc import Callable
from datetime import datetime
from typing import Any

import pytest

from workbench.domain.reports import Report
from workbench.errors import ConflictError
from workbench.storage import imports, reports
from workbench.storage.database import Database


def add(database: Database, some: list[Report], now: datetime) -> tuple[int, int]:
    with database.write() as conn:
        import_id = imports.add(conn, "reports", "a.csv", file_hash="h", actor="Lena", at=now, rows=len(some))
        return reports.add(conn, some, import_id)


def test_every_stored_report_comes_back_equal(study: Any) -> None:
    with study.database.read() as conn:
        assert reports.list_all(conn) == study.reports
        assert list(reports.iterate(conn)) == study.reports
        assert reports.count(conn) == 3
        assert reports.patients(conn) == {"r1": "p1", "r2": "p2", "r3": "p2"}
        assert reports.text_hashes(conn) == {report.id: report.hash for report in study.reports}


def test_reports_come_in_the_order_asked_for_and_unknown_ids_are_left_out(study: Any) -> None:
    with study.database.read() as conn:
        assert [report.id for report in reports.by_ids(conn, ["r3", "nobody", "r1"])] == ["r3", "r1"]
        assert reports.get(conn, "nobody") is None
        assert reports.get(conn, "r2") == study.reports[1]


def test_more_ids_than_sqlite_takes_parameters(
    database: Database, make_report: Callable[..., Report], now: datetime
) -> None:
    some = [make_report(f"r{number}") for number in range(40_000)]
    assert add(database, some, now) == (40_000, 0)
    with database.read() as conn:
        wanted = [report.id for report in reversed(some)]
        assert [report.id for report in reports.by_ids(conn, wanted)] == wanted


def test_the_same_report_again_is_known(database: Database, make_report: Callable[..., Report], now: datetime) -> None:
    assert add(database, [make_report("a"), make_report("b"), make_report("a")], now) == (2, 1)
    assert add(database, [make_report("b"), make_report("c")], now) == (1, 1)


def test_another_text_under_a_known_id_stops_the_import_and_shows_both(
    database: Database, make_report: Callable[..., Report], now: datetime
) -> None:
    text = "Clear lungs. " * 20 + "Compared with 12 March. " + "Normal heart. " * 20
    add(database, [make_report("A1", text, source="old.csv")], now)
    other = text.replace("12 March", "13 March")
    with pytest.raises(ConflictError) as refusal:
        add(database, [make_report("new"), make_report("A1", other, source="new.csv")], now)
    message = str(refusal.value)
    assert re.search(r"old\.csv has “…[^”]*12 March[^”]*…”, new\.csv has “…[^”]*13 March[^”]*…”", message)
    assert len(message) < 400
    with database.read() as conn:
        assert [report.id for report in reports.list_all(conn)] == ["A1"]
        assert reports.list_all(conn)[0].text == text
        assert len(imports.list_all(conn)) == 1


def test_another_patient_under_a_known_id_stops_the_import(
    database: Database, make_report: Callable[..., Report], now: datetime
) -> None:
    add(database, [make_report("A1", patient="p1")], now)
    with pytest.raises(ConflictError, match="as patient p1, .*a.csv says patient p2"):
        add(database, [make_report("A1", patient="p2")], now)


def test_an_import_is_on_record(study: Any, now: datetime) -> None:
    with study.database.read() as conn:
        (record,) = imports.list_all(conn)
    assert record == imports.Import(1, "reports", "a.csv", "abc", "Lena", now, 3)
