"""Signing in: by password, for the first time by one-time code, or by the e-mail that OpenID Connect vouches for.

A wrong name is answered like a wrong password, as slowly and in the same words.
"""

import hashlib
import secrets
import sqlite3
from datetime import UTC, datetime, timedelta

from workbench.domain.actors import Actor
from workbench.domain.people import Person, Session, name_key
from workbench.errors import InputError, RightsError
from workbench.storage import people as people_store
from workbench.storage import sign_ins
from workbench.storage.people import Event, PersonEvent
from workbench.workflow import slow_down
from workbench.workflow.passwords import code_fits, hash_password, password_fits, require_password
from workbench.workflow.roster import account_actor
from workbench.workflow.slow_down import Try
from workbench.workflow.study import Study

SESSION_LASTS = timedelta(days=14)
WRONG_PASSWORD = "The name or the password is wrong."  # noqa: S105 - a sentence
WRONG_CODE = "The name or the code is wrong, or the code is used up or out of date; ask the study lead for a new one."


def sign_in(study: Study, tried: Try, password: str, *, now: datetime | None = None) -> Session:
    """Start a session for a name and its password.

    Raises:
        RightsError: they do not fit, or the try comes too soon after wrong ones.
    """
    at = now or datetime.now(UTC)
    person, kept = _counted(study, tried, at)
    if not password_fits(password, kept.password if person else "") or person is None:
        raise RightsError(WRONG_PASSWORD)
    with study.database.write() as conn:
        # The account may have changed while the password was checked.
        if sign_ins.credentials(conn, person.name).password != kept.password:
            raise RightsError(WRONG_PASSWORD)
        slow_down.forgive(conn, tried)
        session = _new_session(person, at)
        _start(conn, session, at)
    return session


def first_sign_in(study: Study, tried: Try, code: str, password: str, *, now: datetime | None = None) -> Session:
    """Use up a one-time code: set the person's password and start a session.

    Raises:
        InputError: the password is too short; the code stays good.
        RightsError: name and code do not fit, the code is used up or out of date, or the try comes too soon.
    """
    require_password(password)
    at = now or datetime.now(UTC)
    person, kept = _counted(study, tried, at)
    good = person is not None and kept.code_expires_at is not None and at < kept.code_expires_at
    if not code_fits(code, kept.code if good else "") or person is None:
        raise RightsError(WRONG_CODE)
    hashed = hash_password(password)
    with study.database.write() as conn:
        # Of two who type the same code at once one finds it used up.
        if sign_ins.credentials(conn, person.name).code != kept.code:
            raise RightsError(WRONG_CODE)
        slow_down.forgive(conn, tried)
        sign_ins.set_credentials(conn, person.name, sign_ins.Credentials(password=hashed))
        sign_ins.end_sessions(conn, person.name)
        people_store.append(conn, PersonEvent(person.name, Event.PASSWORD, person.name, at))
        session = _new_session(person, at)
        _start(conn, session, at)
    return session


def change_password(
    study: Study, actor: Actor, tried: Try, old: str, new: str, *, token: str = "", now: datetime | None = None
) -> int:
    """Change one's own password, and return how many other sessions were ended by it; that of ``token`` goes on.

    Raises:
        InputError: the new password is too short, too long, or the old one.
        RightsError: the old one is wrong, the try comes too soon after wrong ones, or it is somebody else's.
    """
    if name_key(tried.name) != name_key(actor.name):
        raise RightsError(f"{actor.name} may change no password but their own.")
    require_password(new)
    if old == new:
        raise InputError("The new password is the old one; choose another.")
    at = now or datetime.now(UTC)
    person, kept = _counted(study, tried, at)
    if not password_fits(old, kept.password if person else "") or person is None:
        raise RightsError("The present password is wrong, so nothing was changed.")
    hashed = hash_password(new)
    with study.writing(actor) as conn:
        # Another tab may have changed it, or an admin issued a code, while this one was checked.
        if sign_ins.credentials(conn, person.name).password != kept.password:
            raise RightsError("The present password is wrong, so nothing was changed.")
        slow_down.forgive(conn, tried)
        sign_ins.set_credentials(conn, person.name, sign_ins.Credentials(password=hashed))
        people_store.append(conn, PersonEvent(person.name, Event.PASSWORD, person.name, at))
        return sign_ins.end_sessions(conn, person.name, but=_token_hash(token) if token else "")


def signed_in(study: Study, token: str, *, now: datetime | None = None) -> Actor | None:
    """Return whose session a browser's token stands for, with the roles they have now; None where it is no session.

    Raises:
        RightsError: study.toml contradicts the person's account.
    """
    if not token:
        return None
    with study.database.read() as conn:
        name = sign_ins.session_name(conn, _token_hash(token), now or datetime.now(UTC))
        person = people_store.person(conn, name) if name else None
    return account_actor(person, study.settings.people) if person and person.active else None


def sign_out(study: Study, token: str) -> None:
    """End a session; a token that is none is no matter."""
    if token:
        with study.database.write() as conn:
            sign_ins.end_session(conn, _token_hash(token))


def person_of_email(study: Study, email: str, *, verified: bool) -> Actor:
    """Return the person whom OpenID Connect knows by an address.

    Raises:
        RightsError: the provider does not say that it checked the address, or nobody has it.
    """
    if not verified:
        raise RightsError("The sign-in service does not say that your e-mail address is checked, so it cannot be used.")
    for person in study.roster.accounts.values():
        if email and person.active and person.email.casefold() == email.casefold():
            return study.roster.actor(person.name)
    raise RightsError(f"Nobody in this study has the address {email}; ask the study lead to add it to your account.")


def has_accounts(study: Study) -> bool:
    """Return whether anybody could sign in; where nobody can, the sign-in page says how to begin."""
    return any(person.active for person in study.roster.accounts.values())


def _counted(study: Study, tried: Try, at: datetime) -> tuple[Person | None, sign_ins.Credentials]:
    """Count the try, then return who has the name, if anybody, with what is kept of them."""
    with study.database.write() as conn:
        slow_down.count(conn, tried, at)
        known = people_store.people(conn).values()
        key = name_key(tried.name)
        person = next((each for each in known if each.active and name_key(each.name) == key), None)
        return person, sign_ins.credentials(conn, person.name if person else "")


def _new_session(person: Person, at: datetime) -> Session:
    return Session(person.name, at + SESSION_LASTS, secrets.token_urlsafe(32))


def _start(conn: sqlite3.Connection, session: Session, at: datetime) -> None:
    sign_ins.start_session(conn, _token_hash(session.token), session.name, started_at=at, expires_at=session.expires_at)


def _token_hash(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()
