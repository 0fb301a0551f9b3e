"""Judgements of raters: appended with provenance, never edited."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from workbench.domain.findings import State


@dataclass(frozen=True, slots=True)
class Annotation:
    """One rater's labels of one report. A later one by the same rater supersedes it and both are kept.

    Findings that ``states`` leaves out are not mentioned when the report was submitted. ``submitted`` False is a
    draft, which never votes.
    """

    report_id: str
    rater: str
    states: Mapping[str, State]
    submitted: bool
    at: datetime
    label_set_hash: str
    evidence: Mapping[str, str] = field(default_factory=dict)
    comment: str = ""
    seconds: float | None = None
    source: str = ""  # file it was imported from, or "browser"
    simulated: bool = False
