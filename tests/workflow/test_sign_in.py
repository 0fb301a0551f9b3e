"""Signing in: codes once, passwords slowly, sessions until they end, and nobody learns who has an account."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from unittest import mock

import pytest
from argon2 import PasswordHasher

from workbench.domain.actors import Actor, Role
from workbench.errors import InputError, RightsError
from workbench.storage.database import Database
from workbench.workflow import passwords, people, sign_in, slow_down
from workbench.workflow.sign_in import first_sign_in, person_of_email, sign_out, signed_in
from workbench.workflow.slow_down import Try
from workbench.workflow.study import Study

NOW = datetime(2026, 3, 1, 9, 0, tzinfo=UTC)
NAME, PASSWORD = "Dr. Wong", "quiet lungs today"
HOME, ELSEWHERE = "10.0.0.1", "10.0.0.2"
DAY, SECOND = timedelta(days=1), timedelta(seconds=1)


@pytest.fixture(autouse=True)
def quick_hashes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hashes as weak as can be: these tests sign in some hundred times."""
    passwords._nobodys_hash.cache_clear()
    monkeypatch.setattr(passwords, "_HASHER", PasswordHasher(time_cost=1, memory_cost=8, parallelism=1))


@pytest.fixture
def code(study: Study, lead: Actor) -> str:
    """The code of a rater who has not signed in yet."""
    return people.add(study, lead, NAME, [Role.RATER], now=NOW).code


@pytest.fixture
def person(study: Study, code: str) -> str:
    """A rater who has a password."""
    first_sign_in(study, Try(NAME, HOME), code, PASSWORD, now=NOW)
    return NAME


def enter(study: Study, password: str = PASSWORD, *, name: str = NAME, at: datetime = NOW, address: str = HOME) -> str:
    return sign_in.sign_in(study, Try(name, address), password, now=at).token


def test_a_code_sets_a_password_and_signs_in(study: Study, code: str) -> None:
    session = first_sign_in(study, Try(NAME, HOME), code, PASSWORD, now=NOW)
    assert signed_in(study, session.token, now=NOW) == Actor(NAME, frozenset({Role.RATER}))
    assert signed_in(study, enter(study), now=NOW) == Actor(NAME, frozenset({Role.RATER}))
    assert session.token not in repr(session)


def test_a_code_is_taken_however_it_is_typed(study: Study, code: str) -> None:
    typed = f" {code.lower().replace('-', ' ')} "
    assert first_sign_in(study, Try("dr.  WONG", HOME), typed, PASSWORD, now=NOW).name == NAME


def test_a_code_works_once(study: Study, code: str, person: str) -> None:
    with pytest.raises(RightsError, match="used up or out of date"):
        first_sign_in(study, Try(NAME, HOME), code, "another password", now=NOW)
    assert enter(study)


def test_of_two_who_use_a_code_at_once_one_is_refused(study: Study, code: str) -> None:
    def use(password: str) -> str:
        own = replace(study, database=Database(study.database.path))
        try:
            return first_sign_in(own, Try(NAME, password), code, password, now=NOW).token
        except RightsError:
            return ""

    with ThreadPoolExecutor(2) as pool:
        tokens = list(pool.map(use, ["first password", "second password"]))
    assert sorted(bool(token) for token in tokens) == [False, True]


def test_a_code_runs_out(study: Study, code: str) -> None:
    with pytest.raises(RightsError, match="used up or out of date"):
        first_sign_in(study, Try(NAME, HOME), code, PASSWORD, now=NOW + people.CODE_LASTS)
    assert first_sign_in(study, Try(NAME, HOME), code, PASSWORD, now=NOW + people.CODE_LASTS - SECOND)


def test_a_password_of_nine_characters_is_refused_and_the_code_stays_good(study: Study, code: str) -> None:
    with pytest.raises(InputError, match="at least 10 characters"):
        first_sign_in(study, Try(NAME, HOME), code, "x" * 9, now=NOW)
    assert first_sign_in(study, Try(NAME, HOME), code, "x" * 10, now=NOW)


@pytest.mark.parametrize(
    "password", ["", "quiet lungs today ", "Quiet lungs today", "quiet lungs", "x" * 100_000, "\0"]
)
def test_a_wrong_password_is_refused(study: Study, person: str, password: str) -> None:
    with pytest.raises(RightsError, match="The name or the password is wrong"):
        enter(study, password)


def test_an_accent_may_be_sent_in_two_ways(study: Study, code: str) -> None:
    first_sign_in(study, Try(NAME, HOME), code, "pe\u0301rihilar haze", now=NOW)
    assert enter(study, "p\u00e9rihilar haze")


def test_a_new_code_ends_the_password_and_every_session(study: Study, lead: Actor, person: str) -> None:
    token = enter(study)
    code = people.issue_code(study, lead, NAME, now=NOW).code
    assert signed_in(study, token, now=NOW) is None
    with pytest.raises(RightsError):
        enter(study)
    assert first_sign_in(study, Try(NAME, HOME), code, "another password", now=NOW)
    assert enter(study, "another password")


def test_deactivation_ends_every_session(study: Study, lead: Actor, person: str) -> None:
    tokens = [enter(study), enter(study)]
    people.deactivate(study, lead, NAME)
    assert [signed_in(study, token, now=NOW) for token in tokens] == [None, None]
    with pytest.raises(RightsError, match="The name or the password is wrong"):
        enter(study)


def test_who_is_taken_back_needs_the_new_code_not_the_old_password(study: Study, lead: Actor, person: str) -> None:
    people.deactivate(study, lead, NAME)
    people.add(study, lead, NAME, [Role.RATER], now=NOW)
    with pytest.raises(RightsError):
        enter(study)


def test_roles_of_a_session_are_those_of_now(study: Study, lead: Actor, person: str) -> None:
    token = enter(study)
    people.set_roles(study, lead, NAME, [Role.ADJUDICATOR])
    assert signed_in(study, token, now=NOW) == Actor(NAME, frozenset({Role.ADJUDICATOR}))


def test_a_session_runs_out_and_can_be_ended(study: Study, person: str) -> None:
    token, other = enter(study), enter(study)
    assert signed_in(study, token, now=NOW + sign_in.SESSION_LASTS - SECOND)
    assert signed_in(study, token, now=NOW + sign_in.SESSION_LASTS) is None
    sign_out(study, token)
    assert signed_in(study, token, now=NOW) is None
    assert signed_in(study, other, now=NOW)
    for nothing in ("", "no-such-token", token):
        sign_out(study, nothing)
        assert signed_in(study, nothing, now=NOW) is None


def test_no_secret_is_kept_as_it_is(study: Study, code: str, person: str) -> None:
    token = enter(study)
    with pytest.raises(RightsError):
        enter(study, "typed by mistake", name="my secret password as a name")
    with study.database.read() as conn:
        dump = "\n".join(conn.iterdump())
    for secret in (token, PASSWORD, code, code.replace("-", ""), "typed by mistake", "my secret password", HOME):
        assert secret not in dump


def test_a_listed_person_without_an_account_cannot_sign_in(study: Study) -> None:
    with pytest.raises(RightsError, match="The name or the password is wrong"):
        enter(study, "", name="Dr. Lead")


# --- nobody learns who has an account ---------------------------------------------------------------------------------


def answer(study: Study, tried: Try, *, by_code: bool, at: datetime = NOW) -> str:
    try:
        if by_code:
            first_sign_in(study, tried, "AAAA-AAAA-AAAA", PASSWORD, now=at)
        else:
            sign_in.sign_in(study, tried, "wrong password", now=at)
    except RightsError as refusal:
        return str(refusal)
    return "let in"


@pytest.mark.parametrize("by_code", [False, True])
def test_unknown_known_and_deactivated_names_are_answered_alike(
    study: Study, lead: Actor, person: str, by_code: bool
) -> None:
    people.add(study, lead, "New one", [Role.RATER], now=NOW)
    people.add(study, lead, "Gone", [Role.RATER], now=NOW)
    people.deactivate(study, lead, "Gone")
    told = {
        name: [answer(study, Try(name, name), by_code=by_code, at=NOW + n * SECOND) for n in range(8)]
        for name in (NAME, "New one", "Gone", "Nobody", "Dr. Lead")
    }
    assert "is wrong" in told["Nobody"][0]
    assert "wait 1 second" in told["Nobody"][4]
    assert all(sentences == told["Nobody"] for sentences in told.values())


@pytest.mark.parametrize("name", [NAME, "New one", "Nobody"])
@pytest.mark.parametrize("by_code", [False, True])
@pytest.mark.usefixtures("person")
def test_as_much_work_is_done_for_an_unknown_name(study: Study, lead: Actor, name: str, by_code: bool) -> None:
    people.add(study, lead, "New one", [Role.RATER], now=NOW)
    passwords.password_fits("", "")  # the hash of nobody is made once, and not while somebody waits
    with mock.patch.object(passwords, "_HASHER", wraps=passwords._HASHER) as hasher:
        answer(study, Try(name, HOME), by_code=by_code)
    assert [call[0] for call in hasher.method_calls] == ["verify"]


# --- wrong tries are slowed -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("failures", "seconds"), [(0, 0), (2, 0), (3, 1), (4, 2), (5, 4), (9, 64), (10, 120), (10_000, 120)]
)
def test_the_pause_doubles_up_to_two_minutes(failures: int, seconds: int) -> None:
    assert slow_down.wait_after(failures, free=3) == seconds


def fail(study: Study, times: int, *, name: str = NAME, address: str = HOME, at: datetime = NOW) -> datetime:
    """Fail that often, waiting as told, and return when the last try was."""
    for n in range(times):
        at += slow_down.wait_after(n, 3) * SECOND
        with pytest.raises(RightsError, match="is wrong"):
            enter(study, "wrong password", name=name, address=address, at=at)
    return at


def test_after_wrong_tries_even_the_right_password_waits(study: Study, person: str) -> None:
    last = fail(study, 5)
    with pytest.raises(RightsError, match="wait 4 seconds, then try again"):
        enter(study, at=last)
    with pytest.raises(RightsError, match="wait 1 second, then"):
        enter(study, at=last + 3.5 * SECOND)
    assert enter(study, at=last + 4 * SECOND)


def test_tries_that_come_too_soon_do_not_make_the_pause_longer(study: Study, person: str) -> None:
    last = fail(study, 5)
    for n in range(30):
        with pytest.raises(RightsError, match="wait"):
            enter(study, at=last + n * 0.1 * SECOND)
    assert enter(study, at=last + 4 * SECOND)


def test_nobody_is_locked_out_for_longer_than_two_minutes(study: Study, person: str) -> None:
    last = fail(study, 14)
    assert enter(study, at=last + 120 * SECOND)


def test_a_right_password_ends_the_pauses(study: Study, person: str) -> None:
    last = fail(study, 5)
    assert enter(study, at=last + 4 * SECOND)
    assert fail(study, 3, at=last + 4 * SECOND) == last + 4 * SECOND, "three failures cost no pause again"


def test_failures_are_forgotten_after_an_hour(study: Study, person: str) -> None:
    last = fail(study, 9)
    later = last + slow_down.FORGOTTEN_AFTER + SECOND
    assert fail(study, 3, at=later) == later, "three failures cost no pause again"


def test_a_clock_that_was_set_back_locks_nobody_out(study: Study, person: str) -> None:
    fail(study, 8)
    assert enter(study, at=NOW - DAY)


def test_an_account_is_slowed_wherever_the_tries_come_from(study: Study, person: str) -> None:
    for n in range(3):
        with pytest.raises(RightsError, match="is wrong"):
            enter(study, "wrong password", address=f"10.0.1.{n}")
    with pytest.raises(RightsError, match="wait 1 second"):
        enter(study, "wrong password", address="10.0.1.9")


def test_an_address_is_slowed_whatever_names_it_tries(study: Study, person: str) -> None:
    for n in range(30):
        with pytest.raises(RightsError, match="is wrong"):
            enter(study, "wrong password", name=f"name {n}")
    with pytest.raises(RightsError, match="wait 1 second"):
        enter(study, "wrong password", name="one more")
    with pytest.raises(RightsError, match="wait 1 second"):
        enter(study)
    assert enter(study, address=ELSEWHERE)


def test_an_own_account_does_not_clear_the_address(study: Study, person: str) -> None:
    for n in range(29):
        with pytest.raises(RightsError, match="is wrong"):
            enter(study, "wrong password", name=f"name {n}")
    enter(study)
    with pytest.raises(RightsError, match="is wrong"):
        enter(study, "wrong password", name="name 30")
    with pytest.raises(RightsError, match="wait 1 second"):
        enter(study, "wrong password", name="name 31")


def test_many_wrong_tries_at_once_do_not_slip_past(study: Study, person: str) -> None:
    def attempt(n: int) -> str:
        own = replace(study, database=Database(study.database.path))
        with pytest.raises(RightsError) as refusal:
            sign_in.sign_in(own, Try(NAME, f"10.0.2.{n}"), f"guess number {n}", now=NOW)
        return str(refusal.value)

    with ThreadPoolExecutor(8) as pool:
        told = list(pool.map(attempt, range(24)))
    assert sum("is wrong" in sentence for sentence in told) == 3


# --- OpenID Connect ---------------------------------------------------------------------------------------------------


def test_an_address_that_was_checked_stands_for_its_person(study: Study, lead: Actor) -> None:
    people.add(study, lead, NAME, [Role.RATER], email="Wong@x.org")
    assert person_of_email(study, "wong@X.org", verified=True) == Actor(NAME, frozenset({Role.RATER}))
    with pytest.raises(RightsError, match="not say that your e-mail address is checked"):
        person_of_email(study, "wong@x.org", verified=False)
    people.deactivate(study, lead, NAME)
    with pytest.raises(RightsError, match="Nobody in this study has the address"):
        person_of_email(study, "wong@x.org", verified=True)


def test_no_address_stands_for_nobody(study: Study, lead: Actor) -> None:
    people.add(study, lead, NAME, [Role.RATER])
    with pytest.raises(RightsError, match="Nobody in this study"):
        person_of_email(study, "", verified=True)


def test_real_hashes_are_argon2id_with_64_mebibytes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    kept = passwords.hash_password(PASSWORD)
    assert kept.startswith("$argon2id$v=19$m=65536,t=3,")
    assert passwords.password_fits(PASSWORD, kept)
    assert not passwords.password_fits(PASSWORD + "!", kept)


def test_one_changes_ones_own_password_with_the_present_one(study: Study, person: str) -> None:
    actor, here, there = study.actor(person), enter(study), enter(study, at=NOW + SECOND)
    ended = sign_in.change_password(
        study, actor, Try(person, HOME), PASSWORD, "clear costophrenic angles", token=here, now=NOW + SECOND
    )
    assert ended == 2  # the one elsewhere, and that of the first sign-in
    assert signed_in(study, here, now=NOW + SECOND) == actor
    assert signed_in(study, there, now=NOW + SECOND) is None
    with pytest.raises(RightsError, match="wrong"):
        enter(study, at=NOW + SECOND)
    assert enter(study, "clear costophrenic angles", at=NOW + 2 * SECOND)
    with study.database.read() as conn:
        assert "clear costophrenic" not in "\n".join(conn.iterdump())


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("not the password", "clear costophrenic angles", "present password is wrong"),
        (PASSWORD, "short", "at least 10 characters"),
        (PASSWORD, PASSWORD, "is the old one"),
    ],
)
def test_a_password_that_may_not_be_changed_stays(study: Study, person: str, old: str, new: str, told: str) -> None:
    token = enter(study)
    with pytest.raises((InputError, RightsError), match=told):
        sign_in.change_password(study, study.actor(person), Try(person, HOME), old, new, now=NOW)
    assert signed_in(study, token, now=NOW) is not None
    assert enter(study, at=NOW + SECOND)


def test_nobody_changes_the_password_of_somebody_else(study: Study, lead: Actor, person: str) -> None:
    with pytest.raises(RightsError, match="no password but their own"):
        sign_in.change_password(study, lead, Try(person, HOME), PASSWORD, "clear costophrenic angles", now=NOW)
    assert enter(study)


def test_guessing_the_present_password_is_slowed_as_signing_in_is(study: Study, person: str) -> None:
    actor = study.actor(person)
    for _ in range(3):
        with pytest.raises(RightsError, match="wrong"):
            sign_in.change_password(study, actor, Try(person, HOME), "a wrong guess", "another password", now=NOW)
    with pytest.raises(RightsError, match="pause"):
        sign_in.change_password(study, actor, Try(person, HOME), PASSWORD, "another password", now=NOW)


def test_the_last_sign_in_is_told_also_after_signing_out(study: Study, lead: Actor, person: str) -> None:
    people.add(study, lead, "Dr. New", [Role.RATER], now=NOW)
    sign_out(study, enter(study, at=NOW + DAY))
    last = {account.person.name: account.last_sign_in for account in people.accounts(study, lead, now=NOW)}
    assert last == {person: NOW + DAY, "Dr. New": None}
