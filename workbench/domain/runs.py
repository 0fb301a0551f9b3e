"""Runs: one prompt, one labeler, one cohort; and the extractions they are made of."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from operator import add, attrgetter

from workbench.domain.findings import State
from workbench.domain.hashing import content_hash
from workbench.domain.reports import READ_BY_DEFAULT

_CACHE_WRITE = 1.25  # of the price of input: Anthropic's, for a cache of five minutes


@dataclass(frozen=True, slots=True)
class LabelerSettings:
    """Which labeler, and how it is set. ``identity`` holds all that can change a label; the rest cannot.

    ``options`` are settings of one kind of labeler that can change a label (the scripted labeler's file hash, the
    rules engine's version); ``concurrency``, ``timeout`` and ``delay`` only change how fast it goes. ``file`` says
    where the scripted labeler's replies lie on this computer; what is in it is known by its hash. ``api_key_env``
    names the environment variable that holds the key, never the key. ``context_tokens`` is how much the model reads
    at once, where known. ``price`` is what it costs, None where nobody said.
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
    api_key_env: str | None = None
    context_tokens: int | None = None
    price: "Price | None" = None

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


@dataclass(frozen=True, slots=True)
class Price:
    """What a model costs per million tokens. Where nobody gave a price of cached input, it is the full one.

    What is written to a provider's cache costs ``cache_write``, one and a quarter of the input where nobody gave it, as
    at Anthropic; servers that do not count such tokens charge nothing for them. An answer that came in a batch costs
    ``batch_factor`` of all that.
    """

    input: float
    output: float
    cached_input: float | None = None
    currency: str = "USD"
    cache_write: float | None = None
    batch_factor: float = 0.5

    def of(self, input_tokens: int, output_tokens: int, cached_tokens: int = 0, written_tokens: int = 0) -> float:
        """Return the cost of a call.

        Args:
            input_tokens: all of them.
            output_tokens: of the reply.
            cached_tokens: those of the input that came from a cache.
            written_tokens: those of the input that were written to it.
        """
        cached = self.input if self.cached_input is None else self.cached_input
        written = self.input * _CACHE_WRITE if self.cache_write is None else self.cache_write
        fresh = input_tokens - cached_tokens - written_tokens
        paid = fresh * self.input + cached_tokens * cached + written_tokens * written + output_tokens * self.output
        return paid / 1_000_000

    def of_usage(self, usage: "Usage") -> float:
        """Return the cost of replies whose tokens are known."""
        u = usage
        whole = self.of(u.input_tokens, u.output_tokens, u.cached_tokens, u.written_tokens)
        in_batches = self.of(u.batch_input_tokens, u.batch_output_tokens, u.batch_cached_tokens, u.batch_written_tokens)
        return whole - (1 - self.batch_factor) * in_batches


class ExtractionStatus(StrEnum):
    """How an attempt to label one report ended. Only ``ok`` carries labels; nothing else is ever read as absent."""

    OK = "ok"
    BLANK = "blank"  # nothing to read in the selected sections
    OTHER_LANGUAGE = "other_language"  # than the prompt's phrases, so that the rules labeler can read none of it
    TRUNCATED = "truncated"
    REFUSED = "refused"
    MALFORMED = "malformed"
    WRONG_LABEL = "wrong_label"
    TOO_LONG = "too_long"
    FAILED = "failed"


class Flag(StrEnum):
    """What is doubtful about a reply that can be used, for a clinician to look at. It changes no label."""

    INVENTED_EVIDENCE = "invented_evidence"  # the quote does not stand in the report
    INEXACT_EVIDENCE = "inexact_evidence"  # it does, but for case, white space or punctuation at its ends
    NO_EVIDENCE = "no_evidence"
    EXAMPLE_EVIDENCE = "example_evidence"  # the quote stands in a worked example of the prompt
    OTHERWISE_READ = "otherwise_read"  # the rules labeler reads the quote the other way
    LISTED_TWICE = "listed_twice"  # twice with the same state, and merged
    REPAIRED = "repaired"  # the second reply, asked for because the first could not be used


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
    cached_tokens: int | None = None  # of the input tokens, those that the server had read before
    request_id: str = ""
    served_model: str = ""  # as the server names it
    finish_reason: str = ""  # in the server's word
    constraint: str = ""  # how the reply was held to its form; see models.base.Constraint
    reasoning: str = ""  # what the model wrote before its answer; kept, never read
    unrepaired: str = ""  # the first reply, when this is the repaired one
    flags: Mapping[Flag, tuple[str, ...]] = field(default_factory=dict)  # finding ids; none: the whole reply
    written_tokens: int | None = None  # of the input tokens, those that were written to the server's cache
    batch: str = ""  # the provider's name of the batch it came in; "" for a call
    lost: int = 0  # calls for it that brought no reply, and of which nobody said what they took

    def state(self, finding_id: str) -> State | None:
        """Return the state of a finding, or None where the extraction failed."""
        if self.status is not ExtractionStatus.OK:
            return None
        mention = self.mentions.get(finding_id)
        return mention.state if mention else State.NOT_MENTIONED


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens that extractions took, and calls that brought none. What came without token counts is only counted.

    Those named ``batch_...`` are the ones among the others that came in batches, which cost less.
    """

    replies: int = 0  # with token counts
    input_tokens: int = 0  # cached ones included
    output_tokens: int = 0
    cached_tokens: int = 0
    unknown: int = 0  # replies whose server did not say; they are taken to cost as much as the others
    written_tokens: int = 0  # of the input, written to the server's cache
    batch_input_tokens: int = 0
    batch_output_tokens: int = 0
    batch_cached_tokens: int = 0
    batch_written_tokens: int = 0
    lost: int = 0  # calls that brought no reply, and of which nobody said what they took: in no sum, perhaps paid for

    def __add__(self, other: "Usage") -> "Usage":
        """Return both together."""
        return Usage(*map(add, _COUNTS(self), _COUNTS(other)))

    @property
    def tokens(self) -> int:
        """Return input and output tokens together."""
        return self.input_tokens + self.output_tokens


_COUNTS = attrgetter(*Usage.__slots__)


@dataclass(frozen=True, slots=True)
class Failure:
    """That a text brought no reply at all. It is no extraction: the run goes on, and going on with it asks again."""

    trouble: str  # models.base.Trouble, or "error" where something else went wrong
    detail: str  # a sentence; it never repeats the report
    calls: int = 1  # how many were made in vain
    usage: Usage = Usage()  # what its server said they took all the same; ``lost`` are those it said nothing of


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
class Pace:
    """How the process that works on a run gets on at this moment. Nothing of it outlives that process."""

    calls: int = 0  # sent by this process, those that were turned away included
    in_flight: int = 0
    per_second: float | None = None  # calls, over the last half minute; None before the first has ended
    seconds_left: float | None = None  # None where nothing can be said yet
    paused_until: datetime | None = None  # the server asked everybody to wait
    paused_why: str = ""


@dataclass(frozen=True, slots=True)
class RunProgress:
    """How far a run has come. ``failed`` counts by status; ``alive`` says whether a runner holds the lease.

    ``done`` counts every report that has an extraction, usable or not, or of which the last attempt brought no reply
    (``failed`` under "failed"); going on with the run asks for the latter again. ``usage`` is of all its extractions,
    whichever process or run asked for them; each is paid once, so each counts once, however many reports share it.
    ``cost`` and ``forecast`` (what the whole run will have cost, from the mean so far) are at the price the labeler
    has now, whatever it was when they were made; None without a price or without anything to go by.
    """

    total: int
    done: int
    failed: Mapping[str, int]
    alive: bool
    started_at: datetime | None = None
    updated_at: datetime | None = None
    usage: Usage = Usage()
    cost: float | None = None
    forecast: float | None = None
    pace: Pace | None = None  # None where nobody works on it
    stopped: str = ""  # why the last runner stopped before the end, in a sentence; "" where one went on since
    unanswered: int = 0  # reports going on would ask for again: their last attempt brought no reply

    @property
    def finished(self) -> bool:
        """Return whether every report has been labelled or tried."""
        return self.done >= self.total


@dataclass(frozen=True, slots=True)
class Hello:
    """That a labeler's server answered, when it was last asked something that holds nothing of any report."""

    constraint: str  # how it holds replies to their form; see models.base.Constraint
    served_model: str  # as the server names it
    latency: float  # seconds that its last answer took
    at: datetime
