"""Cohorts: fixed sets of reports, allocated by patient."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from workbench.domain.hashing import content_hash


class Purpose(StrEnum):
    """What a cohort may be used for."""

    TAXONOMY = "taxonomy"  # to settle the label set and the guidelines
    DEVELOPMENT = "development"  # prompts are tuned on it
    VALIDATION = "validation"  # locked until the end
    EVALUATION = "evaluation"  # report generators are scored on it
    EXTERNAL = "external"  # another hospital or language; never mixed


@dataclass(frozen=True, slots=True)
class Cohort:
    """A fixed set of reports. ``members`` maps report id to text hash; ``probabilities`` to the chance with which the
    report was drawn (1 where nothing was enriched).
    """

    name: str
    purpose: Purpose
    members: Mapping[str, str]
    probabilities: Mapping[str, float]
    seed: int
    created_at: datetime
    author: str

    @property
    def hash(self) -> str:
        """Return the identity: sorted report ids and text hashes."""
        return content_hash("cohort", sorted(self.members.items()))

    @property
    def enriched(self) -> bool:
        """Return whether some reports were likelier to be drawn than others."""
        return len(set(self.probabilities.values())) > 1
