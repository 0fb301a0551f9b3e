"""Judgements of raters: appended with provenance, never edited."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from workbench.domain.findings import State

IN_THE_BROWSER = "browser"  # source of what a rater said on the page, and not in a file


class Mark(StrEnum):
    """What is noted of an annotation beside its labels."""

    NONE_OF_THESE = "none_of_these"  # the rater said so in as many words
    COME_BACK = "come_back"  # unsure; wants to see it again
    TOO_FAST = "too_fast"  # submitted faster than anybody reads
    HIGHLIGHTED = "highlighted"  # the prompt's phrases were highlighted, which can prime a rater


@dataclass(frozen=True, slots=True)
class Annotation:
    """One rater's labels of one report. A later one by the same rater supersedes it and both are kept.

    Findings that ``states`` leaves out are not mentioned when the report was submitted. ``submitted`` False is a
    draft, which never votes; a second ``reading`` of the same report tells how a rater agrees with themselves and never
    votes either. ``reason`` says why submitted labels were changed. ``seconds`` leaves idle time out.
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
    source: str = ""  # file it was imported from, or IN_THE_BROWSER
    simulated: bool = False
    reading: int = 1
    marks: frozenset[Mark] = frozenset()
    reason: str = ""
