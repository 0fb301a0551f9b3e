"""Runs: one prompt, one labeler, one cohort; and the extractions they are made of."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from workbench.domain.findings import State
from workbench.domain.hashing import content_hash
from workbench.domain.reports import READ_BY_DEFAULT


@dataclass(frozen=True, slots=True)
class LabelerSettings:
    """Which labeler, and how it is set. ``identity`` holds all that can change a label; the rest cannot.

    ``options`` are settings of one kind of labeler that can change a label (the scripted labeler's file hash, the
    rules engine's version); ``concurrency``, ``timeout`` and ``delay`` only change how fast it goes. ``file`` says
    where the scripted labeler's replies lie on this computer; what is in it is known by its hash.
    """

    name: str
    kind: str  # rules | scripted | openai | anthropic
    base_url: str | None = None
    model: str | None = None
    temperature: float | None = None
    seed: int | None = None
    max_tokens: int | None = None
    options: Mapping[str, str] = field(default_factory=dict)
    concurrency: int = 1
    timeout: float = 60.0
    delay: float = 0.0
    file: str | None = None

    @property
    def identity(self) -> dict[str, object]:
        """Return what can change a label, as JSON."""
        return {
            "kind": self.kind,
            "base_url": self.base_url,
            "model": self.model,
            "temperature": self.temperature,
            "seed": self.seed,
            "max_tokens": self.max_tokens,
            "options": dict(sorted(self.options.items())),
        }

    @property
    def hash(self) -> str:
        """Return the identity of the labeler."""
        return content_hash("labeler", self.identity)


class ExtractionStatus(StrEnum):
    """How an attempt to label one report ended. Only ``ok`` carries labels; nothing else is ever read as absent."""

    OK = "ok"
    BLANK = "blank"  # nothing to read in the selected sections
    TRUNCATED = "truncated"
    REFUSED = "refused"
    MALFORMED = "malformed"
    WRONG_LABEL = "wrong_label"
    TOO_LONG = "too_long"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Mention:
    """What the labeler says of one finding and the words of the report it says it on."""

    state: State
    evidence: str = ""


@dataclass(frozen=True, slots=True)
class Extraction:
    """The labels of one text by one labeler under one prompt. Findings left out of ``mentions`` are not mentioned
    when ``status`` is ok, and unknown otherwise.
    """

    status: ExtractionStatus
    mentions: Mapping[str, Mention] = field(default_factory=dict)
    detail: str = ""  # why it failed, in a sentence
    raw: str = ""  # the reply as it came
    input_tokens: int | None = None
    output_tokens: int | None = None
    latency: float | None = None  # seconds

    def state(self, finding_id: str) -> State | None:
        """Return the state of a finding, or None where the extraction failed."""
        if self.status is not ExtractionStatus.OK:
            return None
        mention = self.mentions.get(finding_id)
        return mention.state if mention else State.NOT_MENTIONED


@dataclass(frozen=True, slots=True)
class ExtractionKey:
    """What an extraction is unique in; asking for it again never pays twice."""

    prompt_hash: str
    label_set_hash: str
    labeler_hash: str
    text_hash: str  # of the section-selected text that was sent
    repeat: int = 1


@dataclass(frozen=True, slots=True)
class Run:
    """A prompt run over a cohort. Its identity is its parts: running it again continues it."""

    prompt_hash: str
    label_set_hash: str
    cohort_hash: str
    labeler: LabelerSettings
    sections: tuple[str, ...] = READ_BY_DEFAULT
    repeats: int = 1

    @property
    def hash(self) -> str:
        """Return the identity of the run."""
        return content_hash(
            "run",
            {
                "prompt": self.prompt_hash,
                "label_set": self.label_set_hash,
                "cohort": self.cohort_hash,
                "labeler": self.labeler.hash,
                "sections": list(self.sections),
                "repeats": self.repeats,
            },
        )


@dataclass(frozen=True, slots=True)
class RunProgress:
    """How far a run has come. ``failed`` counts by status; ``alive`` says whether a runner holds the lease."""

    total: int
    done: int
    failed: Mapping[str, int]
    alive: bool
    started_at: datetime | None = None
    updated_at: datetime | None = None

    @property
    def finished(self) -> bool:
        """Return whether every report has an extraction, usable or not."""
        return self.done >= self.total
