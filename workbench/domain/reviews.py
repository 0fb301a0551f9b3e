"""Radiologists' review of generated reports, blinded to the system that wrote them: what is fixed, and what is said."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from workbench.domain.hashing import content_hash


class Fault(StrEnum):
    """What can be wrong with a finding in a generated report."""

    MISSED = "missed"  # the reference has it, the generated report does not
    INVENTED = "invented"  # the generated report has it, the reference does not
    PLACE = "place"  # both have it, on another side or at another place
    DEGREE = "degree"  # both have it, as more or less severe or certain


OTHER = "other"  # stands where a finding's id stands, for what is no finding of the label set

# What an overall rating says of the generated report, as reviewers read it on the screen.
RATINGS: Mapping[int, str] = {
    1: "Another decision about the patient would follow",
    2: "Could mislead: must be written anew",
    3: "Must be corrected before it is signed",
    4: "Trifles only: could be signed as it is",
    5: "As good as the reference",
}

SCALE_SIZE = len(RATINGS)

Marks = Mapping[str, frozenset[Fault]]  # by finding; findings without a fault are left out


class ReviewAction(StrEnum):
    """What happens to a review, once each."""

    OPENED = "opened"
    CLOSED = "closed"


@dataclass(frozen=True, slots=True)
class Review:
    """A review of what systems wrote for some studies of a data set, all of it fixed before anybody rates.

    ``submissions`` are (system, number of its submission), so that a later file of a system changes nothing here; each
    has a text for every one of ``study_ids``. ``seed`` drew the studies and draws each reviewer's order. ``name`` says
    nothing of data set or systems: reviewers read it.
    """

    name: str
    data_set_hash: str
    submissions: tuple[tuple[str, int], ...]
    study_ids: tuple[str, ...]
    reviewers: tuple[str, ...]
    seed: int
    opened_at: datetime
    author: str

    @property
    def hash(self) -> str:
        """Return the identity: everything that was fixed, and not when or by whom."""
        return content_hash(
            "review",
            {
                "name": self.name,
                "data_set": self.data_set_hash,
                "submissions": [list(one) for one in self.submissions],
                "studies": list(self.study_ids),
                "reviewers": sorted(self.reviewers),
                "seed": self.seed,
            },
        )


@dataclass(frozen=True, slots=True)
class ReviewEvent:
    """An opening or closing, with who, when and why."""

    review_hash: str
    action: ReviewAction
    actor: str
    at: datetime
    reason: str


@dataclass(frozen=True, slots=True)
class Judgement:
    """All that a reviewer says of one generated report; a later one takes its place and both are kept.

    ``rating`` is None before the first. ``seconds`` leaves idle time out.
    """

    rating: int | None = None
    marks: Marks = field(default_factory=dict)
    comment: str = ""
    seconds: float | None = None
    at: datetime | None = None


@dataclass(frozen=True, slots=True)
class ImportedRating:
    """A rating that was made elsewhere, of what one system wrote for one study."""

    study_id: str
    system: str
    reviewer: str
    judgement: Judgement


def marks_as_json(marks: Marks) -> dict[str, list[str]]:
    """Return the JSON form of marks, equal for equal marks; findings without a fault are left out."""
    return {finding: sorted(fault.value for fault in faults) for finding, faults in marks.items() if faults}


def marks_from_json(value: Mapping[str, list[str]]) -> dict[str, frozenset[Fault]]:
    """Read what ``marks_as_json`` wrote."""
    return {finding: frozenset(map(Fault, faults)) for finding, faults in value.items()}
