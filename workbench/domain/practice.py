"""Practice reports: labelled before the first real round, told apart from it everywhere, and never voted on."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from workbench.domain.findings import State
from workbench.domain.hashing import content_hash
from workbench.domain.reports import Report


@dataclass(frozen=True, slots=True)
class PracticeReport:
    """A report with its key: what it says of each finding, and in one sentence why where that teaches something.

    Findings that ``key`` leaves out are not mentioned; ``why`` may also speak of those.
    """

    report: Report
    key: Mapping[str, State]
    why: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class PracticeSet:
    """The practice reports of a study in the order in which raters get them."""

    label_set_id: str
    reports: tuple[PracticeReport, ...]

    @property
    def hash(self) -> str:
        """Return the identity: texts and keys. The sentences that explain a key may be mended without starting over."""
        rows = [
            [p.report.id, p.report.hash, {f: s.value for f, s in p.key.items() if s is not State.NOT_MENTIONED}]
            for p in self.reports
        ]
        return content_hash("practice", {"label_set": self.label_set_id, "reports": rows})

    def get(self, report_id: str) -> PracticeReport | None:
        """Return a practice report by its id, None where there is none."""
        return next((p for p in self.reports if p.report.id == report_id), None)


@dataclass(frozen=True, slots=True)
class PracticeAnswer:
    """What a rater said of a practice report. A later one supersedes it and both are kept; ``submitted`` False is a
    draft. ``seconds`` leaves idle time out.
    """

    rater: str
    practice_hash: str
    report_id: str
    states: Mapping[str, State]
    submitted: bool
    at: datetime
    evidence: Mapping[str, str] = field(default_factory=dict)
    seconds: float | None = None
