"""The reference standard: what a vote of raters decided, frozen and known by its hash."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from workbench.domain.findings import MISSING, Policies
from workbench.domain.hashing import content_hash
from workbench.errors import RightsError


class Outcome(StrEnum):
    """What a vote came to (method 2)."""

    PRESENT = "present"
    NOT_PRESENT = "not_present"
    SHORT = "short"  # too few votes to decide: left out of scores and counted

    @property
    def code(self) -> int:
        """Return 1, 0, or MISSING for a short vote."""
        return {Outcome.PRESENT: 1, Outcome.NOT_PRESENT: 0, Outcome.SHORT: MISSING}[self]


@dataclass(frozen=True, slots=True)
class ReferenceItem:
    """The vote on one finding of one report: outcome, votes for present, votes missing or excluded, 3-3 flag."""

    outcome: Outcome
    present: int
    missing: int
    tie: bool


@dataclass(frozen=True, slots=True)
class SealedItems(Mapping[tuple[str, str], ReferenceItem]):
    """Stands for the items of a reference while nobody has looked at it on record: reading them is refused."""

    name: str
    hash: str  # of the reference

    def __getitem__(self, key: tuple[str, str]) -> ReferenceItem:
        """Refuse."""
        raise self._refusal()

    def __iter__(self) -> Iterator[tuple[str, str]]:
        """Refuse."""
        raise self._refusal()

    def __len__(self) -> int:
        """Refuse."""
        raise self._refusal()

    def _refusal(self) -> RightsError:
        return RightsError(
            f"Outcomes and counts of {self.name} are kept back until somebody looks at them on record, which ends its "
            f"adjudication; look with `workbench reference show {self.name}`."
        )


@dataclass(frozen=True, slots=True)
class VoteRule:
    """Present needs ``k`` of ``n`` votes, k > n/2. What a tie becomes is fixed before the round (method 3)."""

    k: int
    n: int
    tie: Outcome = Outcome.NOT_PRESENT

    def __post_init__(self) -> None:
        """Refuse a rule under which both answers could win."""
        if not 0 < self.k <= self.n or 2 * self.k <= self.n:
            raise ValueError(f"a vote of {self.k} of {self.n} is no majority rule: k must be above n/2 and at most n")

    @property
    def single_rater(self) -> bool:
        """Return whether one rater alone decides, which every page that shows a score must say."""
        return self.n == 1


@dataclass(frozen=True, slots=True)
class Reference:
    """A frozen reference standard on one cohort."""

    name: str
    cohort_hash: str
    label_set_hash: str
    rule: VoteRule
    raters: tuple[str, ...]
    vote_policies: Policies
    items: Mapping[tuple[str, str], ReferenceItem]  # (report id, finding id); may be SealedItems
    created_at: datetime
    author: str
    simulated: bool  # some vote in it came from a simulated rater
    last_annotation: int | None = None  # number of the last label that was there when it was frozen; not part of it
    parent_hash: str | None = None  # the version before it, or the vote that was adjudicated
    adjudicated: tuple[tuple[str, str], ...] = ()  # items that an adjudicator decided; the vote alone has none
    reason: str = ""  # why there is another version

    @property
    def hash(self) -> str:
        """Return the identity: rule, raters, policies and every outcome with its counts."""
        if isinstance(self.items, SealedItems):
            return self.items.hash
        rows = [
            [report, finding, item.outcome.value, item.present, item.missing, item.tie]
            for (report, finding), item in sorted(self.items.items())
        ]
        return content_hash(
            "reference",
            {
                "cohort": self.cohort_hash,
                "label_set": self.label_set_hash,
                "rule": [self.rule.k, self.rule.n, self.rule.tie.value],
                "raters": sorted(self.raters),
                "policies": self.vote_policies.as_json(),
                "items": rows,
                **({"adjudicated": sorted(map(list, self.adjudicated))} if self.adjudicated else {}),
            },
        )
