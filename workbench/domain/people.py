"""The people of a study who have an account: their roles, and whether they may still sign in."""

import unicodedata
from dataclasses import dataclass, field
from datetime import datetime

from workbench.domain.actors import Actor, Role


@dataclass(frozen=True, slots=True)
class Person:
    """What is on record about a person. ``active`` turns False when they are deactivated."""

    name: str
    roles: frozenset[Role]
    email: str = ""
    active: bool = True

    @property
    def actor(self) -> Actor:
        """Return the person as one who acts."""
        return Actor(self.name, self.roles)


@dataclass(frozen=True, slots=True)
class Session:
    """A browser in which a person is signed in. ``token`` is the secret that the browser keeps; nobody else does."""

    name: str
    expires_at: datetime
    token: str = field(repr=False)


def name_key(name: str) -> str:
    """Return what two spellings of one name share: letter case, spacing and the coding of accents do not tell apart."""
    return " ".join(unicodedata.normalize("NFKC", name).casefold().split())
