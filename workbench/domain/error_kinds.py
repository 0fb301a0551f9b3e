"""Why a label is wrong: the kinds of error, and the rule by which each is recognised."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from types import MappingProxyType


class ErrorKind(StrEnum):
    """The likely cause of one wrong label, whichever labeler gave it."""

    SYNONYM = "synonym"
    NEGATION = "negation"
    UNCERTAINTY = "uncertainty"
    HISTORY = "history"
    SECTION = "section"
    BOUNDARY = "label_boundary"
    RARE = "rare_label"
    INVENTED_EVIDENCE = "invented_evidence"
    UNREADABLE = "unreadable_reply"
    DOUBTFUL = "reference_doubtful"
    UNEXPLAINED = "unexplained"


# One line each, shown wherever a kind is shown: nobody has to guess what a kind means.
RULES: Mapping[ErrorKind, str] = MappingProxyType(
    {
        ErrorKind.SYNONYM: "Missed, and none of the prompt's phrases for this finding stands in the text that is read.",
        ErrorKind.NEGATION: "The words deny the finding and were not read so, or were read so where raters see it.",
        ErrorKind.UNCERTAINTY: "The words are hedged (possible, cannot be excluded), or the labeler hedged plain ones.",
        ErrorKind.HISTORY: "The words speak of the past or of another examination (history of, has resolved, removed).",
        ErrorKind.SECTION: "The words stand in a section that is no part of what was seen, such as the indication.",
        ErrorKind.BOUNDARY: "The words name a neighbour, only look like this finding, or are silenced by an exclusion.",
        ErrorKind.RARE: "The finding has under 10 positives here, and the words stand plainly.",
        ErrorKind.INVENTED_EVIDENCE: "The words that the labeler quotes do not stand in the report.",
        ErrorKind.UNREADABLE: "The reply could not be used.",
        ErrorKind.DOUBTFUL: "The words stand plainly as the labeler says, and the raters were split.",
        ErrorKind.UNEXPLAINED: "No rule fits: read the report.",
    }
)


@dataclass(frozen=True, slots=True)
class ErrorTag:
    """What a person says that the kind of an error is. A later tag supersedes an earlier one and both are kept."""

    evaluation_hash: str
    report_id: str
    finding_id: str
    kind: ErrorKind
    comment: str
    actor: str
    at: datetime
