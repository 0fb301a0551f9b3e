"""Who acts. Every workflow call takes an Actor; rights are checked there and nowhere else."""

from dataclasses import dataclass
from enum import StrEnum

from workbench.errors import RightsError


class Role(StrEnum):
    """What a person may do in a study."""

    RATER = "rater"
    ADJUDICATOR = "adjudicator"
    LEAD = "lead"
    ADMIN = "admin"


@dataclass(frozen=True, slots=True)
class Actor:
    """A named person with roles."""

    name: str
    roles: frozenset[Role]

    def require(self, *roles: Role, to: str) -> None:
        """Raise RightsError unless the person has one of ``roles``; ``to`` says what was asked for."""
        if not self.roles.intersection(roles):
            needed = " or ".join(role.value for role in roles)
            raise RightsError(f"{self.name} may not {to}: that needs the role {needed}; ask the study lead.")
