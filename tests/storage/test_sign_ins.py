"""Hashes, sessions and failures: replaced, ended and forgotten without a trace."""

from datetime import datetime, timedelta

from workbench.storage import sign_ins
from workbench.storage.database import Database
from workbench.storage.sign_ins import Credentials

MINUTE = timedelta(minutes=1)


def test_credentials_are_replaced_and_removed(database: Database, now: datetime) -> None:
    with database.write() as conn:
        assert sign_ins.credentials(conn, "Ada") == Credentials()
        sign_ins.set_credentials(conn, "Ada", Credentials(code="c1", code_expires_at=now))
        assert sign_ins.credentials(conn, "Ada") == Credentials("", "c1", now)
        sign_ins.set_credentials(conn, "Ada", Credentials("p1"))
        assert sign_ins.credentials(conn, "Ada") == Credentials("p1")
        sign_ins.remove_credentials(conn, "Ada")
        assert sign_ins.credentials(conn, "Ada") == Credentials()


def test_hashes_do_not_show_in_a_repr(now: datetime) -> None:
    assert "p1" not in repr(Credentials("p1", "c1", now))
    assert "c1" not in repr(Credentials("p1", "c1", now))


def test_a_session_lasts_until_its_end(database: Database, now: datetime) -> None:
    with database.write() as conn:
        sign_ins.start_session(conn, "t1", "Ada", started_at=now, expires_at=now + MINUTE)
        assert sign_ins.session_name(conn, "t1", now + MINUTE * 0.99) == "Ada"
        assert sign_ins.session_name(conn, "t1", now + MINUTE) is None
        assert sign_ins.session_name(conn, "t2", now) is None


def test_sessions_that_have_run_out_are_cleared_away(database: Database, now: datetime) -> None:
    with database.write() as conn:
        sign_ins.start_session(conn, "t1", "Ada", started_at=now, expires_at=now + MINUTE)
        sign_ins.start_session(conn, "t2", "Ben", started_at=now + MINUTE, expires_at=now + 2 * MINUTE)
        assert [row["token_hash"] for row in conn.execute("SELECT token_hash FROM sessions")] == ["t2"]


def test_sessions_end_one_by_one_or_all_of_a_person(database: Database, now: datetime) -> None:
    with database.write() as conn:
        for token, name in (("t1", "Ada"), ("t2", "Ada"), ("t3", "Ada"), ("t4", "Ben")):
            sign_ins.start_session(conn, token, name, started_at=now, expires_at=now + MINUTE)
        sign_ins.end_session(conn, "t1")
        assert sign_ins.session_name(conn, "t1", now) is None
        assert sign_ins.end_sessions(conn, "Ada") == 2
        assert [sign_ins.session_name(conn, f"t{n}", now) for n in (2, 3, 4)] == [None, None, "Ben"]


def test_failures_are_counted_taken_back_and_forgotten(database: Database, now: datetime) -> None:
    with database.write() as conn:
        sign_ins.count_failure(conn, ["a", "b"], now)
        sign_ins.count_failure(conn, ["a"], now + MINUTE)
        assert sign_ins.failures(conn, ["a", "b", "c"]) == {"a": (2, now + MINUTE), "b": (1, now)}
        sign_ins.take_back_failure(conn, "a")
        sign_ins.take_back_failure(conn, "b")
        assert sign_ins.failures(conn, ["a", "b"]) == {"a": (1, now + MINUTE)}
        sign_ins.count_failure(conn, ["b", "c"], now)
        sign_ins.forget_failures(conn, before=now + MINUTE)
        assert sign_ins.failures(conn, ["a", "b", "c"]) == {"a": (1, now + MINUTE)}
        sign_ins.forget_failures(conn, key="a")
        assert sign_ins.failures(conn, ["a"]) == {}
