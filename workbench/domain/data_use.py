"""On what basis reports may be sent to a server that is not this computer."""

from dataclasses import dataclass
from datetime import date, datetime


@dataclass(frozen=True, slots=True)
class Basis:
    """Why a host may be sent reports: the agreement with who runs it, and whether it keeps nothing of them."""

    agreement: str
    zero_retention: bool
    until: date | None = None  # the last day on which it holds; None where no end was agreed


@dataclass(frozen=True, slots=True)
class Opening:
    """A host that was opened on record. ``closed_at`` and ``closed_by`` are set once somebody has closed it again."""

    host: str  # a name or address, with a port or, for all ports, without
    basis: Basis
    actor: str
    at: datetime
    closed_at: datetime | None = None
    closed_by: str = ""

    def holds(self, today: date) -> bool:
        """Return whether reports may be sent there today."""
        return self.closed_at is None and (self.basis.until is None or today <= self.basis.until)
