"""A judge of generated reports: what it is asked, and what it found."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from workbench.domain.hashing import content_hash
from workbench.domain.runs import ExtractionStatus


class ReportError(StrEnum):
    """The kinds of error of a generated report that GREEN counts (Ostmeier et al. 2024, arXiv 2405.03595)."""

    FALSE_FINDING = "false_finding"
    MISSING_FINDING = "missing_finding"
    WRONG_LOCATION = "wrong_location"
    WRONG_SEVERITY = "wrong_severity"
    FALSE_COMPARISON = "false_comparison"
    MISSING_COMPARISON = "missing_comparison"


@dataclass(frozen=True, slots=True)
class JudgePrompt:
    """What a judge is told. ``weigh`` is empty where errors are found and weighed in one pass."""

    name: str
    find: str
    weigh: str = ""

    @property
    def hash(self) -> str:
        """Return the identity of what is asked. The name does not count."""
        return content_hash("judge", [self.find, self.weigh])


@dataclass(frozen=True, slots=True)
class JudgedError:
    """One error of a generated report, in the judge's words."""

    kind: ReportError
    significant: bool
    what: str


@dataclass(frozen=True, slots=True)
class Judgement:
    """What a judge says of one generated report, or why it says nothing. Only ``ok`` has a score."""

    status: ExtractionStatus
    errors: tuple[JudgedError, ...] = ()
    matched: tuple[str, ...] = ()
    detail: str = ""
    raw: tuple[str, ...] = ()  # the replies, one for each pass
    input_tokens: int | None = None
    output_tokens: int | None = None

    @property
    def score(self) -> float | None:
        """Return GREEN's score: matched findings / (matched findings + clinically significant errors).

        1 without a significant error, 0 without a matched finding, as published: so two normal reports that agree have
        0, and a drop from it cannot be seen. None where nothing was judged.
        """
        if self.status is not ExtractionStatus.OK:
            return None
        matched = len(self.matched)
        return matched / (matched + sum(error.significant for error in self.errors)) if matched else 0.0

    @property
    def counts(self) -> Mapping[ReportError, int]:
        """Return the number of clinically significant errors of each kind."""
        return {kind: sum(e.significant and e.kind is kind for e in self.errors) for kind in ReportError}
