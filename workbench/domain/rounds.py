"""A round of rating: who labels which cohort under which guideline and rule, all fixed before it starts."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from workbench.domain.findings import Policies, State
from workbench.domain.hashing import content_hash
from workbench.domain.references import VoteRule


class RoundAction(StrEnum):
    """What happened to a round. The last one says whether it takes labels, and whether it stands at all."""

    OPENED = "opened"
    CLOSED = "closed"
    REOPENED = "reopened"
    WITHDRAWN = "withdrawn"  # opened by mistake: nobody had saved a label in it


@dataclass(frozen=True, slots=True)
class Round:
    """A round on one cohort under one guideline (the label set's hash). A changed guideline is another round.

    Nobody but ``raters`` takes part. Each has an own order drawn from ``seed``; ``twice`` reports of it come a second
    time, unannounced, for the agreement of a rater with themselves.
    """

    name: str
    cohort_hash: str
    label_set_hash: str
    rule: VoteRule
    vote_policies: Policies
    states: tuple[State, ...]
    raters: tuple[str, ...]
    seed: int
    twice: int
    opened_at: datetime
    author: str

    @property
    def hash(self) -> str:
        """Return the identity: everything that was fixed, and not when or by whom."""
        return content_hash(
            "round",
            {
                "cohort": self.cohort_hash,
                "label_set": self.label_set_hash,
                "rule": [self.rule.k, self.rule.n, self.rule.tie.value],
                "policies": self.vote_policies.as_json(),
                "states": [state.value for state in self.states],
                "raters": sorted(self.raters),
                "seed": self.seed,
                "twice": self.twice,
            },
        )


@dataclass(frozen=True, slots=True)
class RoundEvent:
    """One opening, closing, re-opening or withdrawal, with who, when and why."""

    round_hash: str
    action: RoundAction
    actor: str
    at: datetime
    reason: str


@dataclass(frozen=True, slots=True)
class Adjudication:
    """A decision on one tie or short vote, made without seeing names or counts. Appended; the last one counts."""

    reference_hash: str
    report_id: str
    finding_id: str
    present: bool
    actor: str
    at: datetime
    reason: str
