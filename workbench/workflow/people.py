"""Making and managing accounts: who may do it, and what is put on record."""

import sqlite3
import unicodedata
from collections.abc import Collection
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from workbench.domain.actors import Actor, Role
from workbench.domain.people import Person, name_key
from workbench.errors import ConflictError, InputError, NotFoundError
from workbench.storage import people as store
from workbench.storage import sign_ins
from workbench.storage.people import Event, PersonEvent
from workbench.workflow.passwords import hash_code, new_code
from workbench.workflow.study import Study

CODE_LASTS = timedelta(days=7)
LONGEST_NAME = 100
_LEADS_CARE = frozenset({Role.RATER, Role.ADJUDICATOR})  # what a lead may give and take; the rest is an admin's


@dataclass(frozen=True, slots=True)
class Issued:
    """A one-time code for a person. It is shown once and kept only as a hash."""

    person: Person
    expires_at: datetime
    code: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class Account:
    """A person with an account, whether they can sign in (by a password, or by a code not used yet), and when they
    last did.
    """

    person: Person
    has_password: bool
    code_expires_at: datetime | None  # None: no code is open
    last_sign_in: datetime | None = None  # None: never


def add(
    study: Study,
    actor: Actor,
    name: str,
    roles: Collection[Role] = (),
    *,
    email: str = "",
    now: datetime | None = None,
) -> Issued:
    """Make an account and return its one-time code. A deactivated person of that name is taken back.

    Args:
        study: the study.
        actor: who does it: an admin, or the lead for somebody who only rates or adjudicates.
        name: as it will stand beside every judgement of theirs.
        roles: what they may do; left out, what ``[people]`` lists for the name.
        email: what OpenID Connect knows them by; empty where that is not used.
        now: the time, for tests.

    Raises:
        RightsError: the actor may not.
        InputError: the name, the roles or the address cannot be taken.
        ConflictError: somebody has the name or the address already, or study.toml lists the name with other roles.
    """
    name = _valid_name(name)
    given = frozenset(roles) or frozenset(study.settings.people.get(name, ()))
    if not given:
        raise InputError(f"Say what {name} may do with --role: {', '.join(role.value for role in Role)}.")
    _require_right(actor, given, f"make an account for {name}")
    at, code = now or datetime.now(UTC), new_code()
    kept = hash_code(code)
    with study.writing(actor) as conn:
        known = store.people(conn)
        _require_free(study, known, name)
        if name in known:
            _require_right(actor, known[name].roles, f"take back {name}")
        _require_agreement(study, name, given)
        person = Person(name, given, _valid_email(email, known, name))
        store.append(conn, PersonEvent(name, Event.ADDED, actor.name, at, given, person.email))
        return _issue(conn, actor, person, (code, kept), at)


def set_roles(study: Study, actor: Actor, name: str, roles: Collection[Role], *, now: datetime | None = None) -> Person:
    """Change what a person may do, from their next click on.

    Raises:
        RightsError: the actor may not give or take these roles.
        NotFoundError: nobody of that name has an account.
        InputError: no role is given.
        ConflictError: nobody would be left who may do it again, or study.toml lists the name with other roles.
    """
    given = frozenset(roles)
    if not given:
        raise InputError(f"Name at least one role for {name}; `workbench user deactivate` takes all of them.")
    with study.writing(actor) as conn:
        person = _found(conn, actor, name, "change the roles of")
        _require_right(actor, given, f"give {name} these roles")
        _require_agreement(study, person.name, given)
        if Role.ADMIN not in given:
            _require_other_admin(study, conn, person)
        at = now or datetime.now(UTC)
        store.append(conn, PersonEvent(person.name, Event.ROLES, actor.name, at, given))
        return store.people(conn)[person.name]


def set_email(study: Study, actor: Actor, name: str, email: str, *, now: datetime | None = None) -> Person:
    """Change what OpenID Connect knows a person by; empty takes the address away.

    Raises:
        RightsError: the actor may not.
        NotFoundError: nobody of that name has an account.
        InputError: it is no address.
        ConflictError: somebody else has it.
    """
    with study.writing(actor) as conn:
        person = _found(conn, actor, name, "change the address of")
        valid = _valid_email(email, store.people(conn), person.name)
        at = now or datetime.now(UTC)
        store.append(conn, PersonEvent(person.name, Event.EMAIL, actor.name, at, email=valid))
        return store.people(conn)[person.name]


def issue_code(study: Study, actor: Actor, name: str, *, now: datetime | None = None) -> Issued:
    """Return a new one-time code for a person. Their password is forgotten and they are signed out everywhere.

    Raises:
        RightsError: the actor may not.
        NotFoundError: nobody of that name has an account.
    """
    code = new_code()
    kept = hash_code(code)
    with study.writing(actor) as conn:
        person = _found(conn, actor, name, "issue a code for")
        return _issue(conn, actor, person, (code, kept), now or datetime.now(UTC))


def deactivate(study: Study, actor: Actor, name: str, *, now: datetime | None = None) -> Person:
    """Take a person's account away and sign them out everywhere; what they did stays.

    Raises:
        RightsError: the actor may not.
        NotFoundError: nobody of that name has an account.
        ConflictError: nobody would be left who may make accounts.
    """
    with study.writing(actor) as conn:
        person = _found(conn, actor, name, "deactivate")
        _require_other_admin(study, conn, person)
        at = now or datetime.now(UTC)
        store.append(conn, PersonEvent(person.name, Event.DEACTIVATED, actor.name, at))
        sign_ins.remove_credentials(conn, person.name)
        sign_ins.end_sessions(conn, person.name)
        return store.people(conn)[person.name]


def accounts(study: Study, actor: Actor, *, now: datetime | None = None) -> list[Account]:
    """Return everybody who has or had an account, in the order they were added.

    Raises:
        RightsError: the actor is neither lead nor admin.
    """
    actor.require(Role.LEAD, Role.ADMIN, to="see who has an account")
    at = now or datetime.now(UTC)
    with study.database.read() as conn:
        found = [(person, sign_ins.credentials(conn, person.name)) for person in store.people(conn).values()]
        last = sign_ins.last_sign_ins(conn)
    return [
        Account(
            person,
            bool(kept.password),
            kept.code_expires_at if kept.code and kept.code_expires_at and kept.code_expires_at > at else None,
            last.get(person.name),
        )
        for person, kept in found
    ]


def _issue(conn: sqlite3.Connection, actor: Actor, person: Person, code: tuple[str, str], at: datetime) -> Issued:
    plain, kept = code
    expires = at + CODE_LASTS
    sign_ins.set_credentials(conn, person.name, sign_ins.Credentials(code=kept, code_expires_at=expires))
    sign_ins.end_sessions(conn, person.name)
    store.append(conn, PersonEvent(person.name, Event.CODE, actor.name, at))
    return Issued(person, expires, plain)


def _require_right(actor: Actor, roles: frozenset[Role], to: str) -> None:
    """Let an admin do anything, and the lead what concerns somebody who rates or adjudicates and does no more."""
    if roles <= _LEADS_CARE:
        actor.require(Role.ADMIN, Role.LEAD, to=to)
    else:
        actor.require(Role.ADMIN, to=to)


def may_give(actor: Actor) -> tuple[Role, ...]:
    """Return the roles that a person may give to others, and take from whoever has no more than these."""
    if Role.ADMIN in actor.roles:
        return tuple(Role)
    return tuple(role for role in Role if role in _LEADS_CARE) if Role.LEAD in actor.roles else ()


def _found(conn: sqlite3.Connection, actor: Actor, name: str, to: str) -> Person:
    """Return the active person of a name, having asked first whether the actor may know of them at all."""
    actor.require(Role.ADMIN, Role.LEAD, to=f"{to} {name}")
    known = store.people(conn)
    person = known.get(name) or next((each for each in known.values() if name_key(each.name) == name_key(name)), None)
    if person is None:
        raise NotFoundError(f"{name} has no account; make one with `workbench user add`.")
    _require_right(actor, person.roles, f"{to} {person.name}")
    if not person.active:
        raise NotFoundError(f"{person.name} was deactivated; `workbench user add` takes them back.")
    return person


def _require_free(study: Study, known: dict[str, Person], name: str) -> None:
    for listed in study.settings.people:
        if name_key(listed) == name_key(name) and listed != name:
            raise ConflictError(f"data/study.toml lists {listed}; write the name in the same way.")
    for other in known.values():
        if name_key(other.name) == name_key(name) and (other.active or other.name != name):
            raise ConflictError(f"{other.name} has an account already; `workbench user code` issues a new code.")


def _require_agreement(study: Study, name: str, roles: frozenset[Role]) -> None:
    disagreement = study.roster.disagreement(name, roles)
    if disagreement:
        raise ConflictError(disagreement)


def _require_other_admin(study: Study, conn: sqlite3.Connection, person: Person) -> None:
    """Keep somebody who may make accounts: another account, or a name of ``[people]`` that has none."""
    known = store.people(conn)
    others = [other.roles for other in known.values() if other.active and other.name != person.name]
    others += [frozenset(roles) for name, roles in study.settings.people.items() if name not in known]
    if Role.ADMIN in person.roles and not any(Role.ADMIN in roles for roles in others):
        raise ConflictError(f"{person.name} is the only admin; give somebody else that role first.")


def _valid_name(name: str) -> str:
    name = unicodedata.normalize("NFC", " ".join(name.split()))
    if not name or len(name) > LONGEST_NAME or not name.isprintable():
        raise InputError(f"{name!r} cannot be a name: it needs one to {LONGEST_NAME} printable characters.")
    return name


def _valid_email(email: str, known: dict[str, Person], name: str) -> str:
    email = email.strip()
    if not email:
        return ""
    local, at, domain = email.rpartition("@")
    if not (local and at and domain) or any(sign.isspace() or not sign.isprintable() for sign in email):
        raise InputError(f"{email!r} is no e-mail address.")
    for other in known.values():
        if other.active and other.name != name and other.email.casefold() == email.casefold():
            raise ConflictError(f"{other.name} has the address {email} already.")
    return email
