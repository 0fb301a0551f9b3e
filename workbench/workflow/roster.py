"""Who is one of the study's people. One rule: who has an account is what the database says of them.

``[people]`` in ``data/study.toml`` counts for names that have no account. They act through the command line on the
computer that holds the study and cannot sign in to the pages; so a new study has a lead who can make accounts. A name
may stand in both only with the same roles: while they differ, nobody acts under it.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from sqlite3 import Connection

from workbench.domain.actors import Actor, Role
from workbench.domain.people import Person
from workbench.errors import RightsError
from workbench.storage import people as people_store
from workbench.storage.database import Database


@dataclass(frozen=True, slots=True)
class Roster:
    """The people with an account, and those that the settings list, each by name."""

    accounts: Mapping[str, Person]
    listed: Mapping[str, frozenset[Role]]

    @property
    def people(self) -> dict[str, frozenset[Role]]:
        """Return the roles of everybody who may act, by name: those listed in their order, then those with accounts."""
        names = [*self.listed, *(name for name in self.accounts if name not in self.listed)]
        return {name: self._roles(name) for name in names if not self.fault(name)}

    def actor(self, name: str) -> Actor:
        """Return the person of that name as one who acts.

        Raises:
            RightsError: nobody of that name may act; says why.
        """
        fault = self.fault(name)
        if fault:
            raise RightsError(fault)
        return Actor(name, self._roles(name))

    def fault(self, name: str) -> str:
        """Return why nobody may act under a name, empty where there is no reason."""
        account = self.accounts.get(name)
        if account is None:
            if name in self.listed:
                return ""
            known = ", ".join(self.people) or "nobody yet"
            return f"{name} is not one of the study's people ({known}); add them with `workbench user add`."
        if not account.active:
            return f"{name} was deactivated and may not act; `workbench user add` takes them back."
        return self.disagreement(name, account.roles)

    def disagreement(self, name: str, roles: frozenset[Role]) -> str:
        """Return how the settings contradict an account of these roles, empty where they do not."""
        listed = self.listed.get(name, roles)
        if listed == roles:
            return ""
        return (
            f"data/study.toml lists {name} as {told(listed)}, the account as {told(roles)}; "
            "take the line out of [people], or make it say the same."
        )

    def _roles(self, name: str) -> frozenset[Role]:
        account = self.accounts.get(name)
        return account.roles if account else self.listed[name]


def told(roles: frozenset[Role]) -> str:
    """Return roles as a list for people, in the order of what they may do."""
    return ", ".join(role.value for role in Role if role in roles) or "nothing"


def read_roster(database: Database, listed: Mapping[str, list[Role]]) -> Roster:
    """Return the people of a study as they stand now."""
    with database.read() as conn:
        accounts = people_store.people(conn)
    return _roster(accounts, listed)


def account_actor(person: Person, listed: Mapping[str, list[Role]]) -> Actor:
    """Return somebody with an account as one who acts, without reading everybody.

    Raises:
        RightsError: they may not act; says why.
    """
    return _roster({person.name: person}, listed).actor(person.name)


def require_standing(conn: Connection, actor: Actor, listed: Mapping[str, list[Role]]) -> None:
    """Raise RightsError where somebody with an account may not act any more, or not in all of the roles they come with.

    Names without an account pass: what they may do stands in the settings, which do not change while a study is open.
    """
    person = people_store.person(conn, actor.name)
    if person is None:
        return
    lost = actor.roles - account_actor(person, listed).roles
    if lost:
        raise RightsError(f"{actor.name} is no longer {told(lost)}, so nothing was saved; sign in again.")


def _roster(accounts: Mapping[str, Person], listed: Mapping[str, list[Role]]) -> Roster:
    return Roster(accounts, {name: frozenset(roles) for name, roles in listed.items()})
