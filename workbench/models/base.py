"""What goes to a language model and what comes back."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from workbench.domain.runs import Usage
from workbench.errors import WorkbenchError


class Role(StrEnum):
    """Who speaks in a message."""

    SYSTEM = "system"
    USER = "user"
    ASSISTANT = "assistant"


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a conversation."""

    role: Role
    text: str


class Finish(StrEnum):
    """Why a completion ended."""

    STOP = "stop"
    LENGTH = "length"  # cut at the limit of tokens
    REFUSAL = "refusal"  # the model or its provider would not answer


class Constraint(StrEnum):
    """How a server holds a reply to its form. What came is validated whichever it was."""

    JSON_SCHEMA = "json_schema"
    JSON_OBJECT = "json_object"  # some JSON object; the schema stands in the prompt
    TOOL = "tool"  # a forced call of a tool whose input has the schema
    TEXT = "text"  # nothing holds it

    @property
    def knows_schema(self) -> bool:
        """Return whether the server is handed the schema itself, so that it need not stand in the prompt."""
        return self in {Constraint.JSON_SCHEMA, Constraint.TOOL}


@dataclass(frozen=True, slots=True)
class Completion:
    """One answer of a model. Numbers and names are None or empty where the server did not say."""

    text: str
    finish: Finish = Finish.STOP
    input_tokens: int | None = None  # all of them, cached ones included
    output_tokens: int | None = None
    request_id: str = ""
    model: str = ""
    cached_tokens: int | None = None
    finish_reason: str = ""  # in the server's word
    constraint: str = ""
    reasoning: str = ""  # where the server hands it over apart from the answer
    latency: float | None = None  # seconds the call took, waiting for a turn left out
    written_tokens: int | None = None  # of the input, written to the server's cache
    lost: int = 0  # calls for it that were made in vain before, and of which nobody told what they took


class Trouble(StrEnum):
    """Why a call brought no completion, and so what is to be done about it."""

    BUSY = "busy"  # 429, 529: everybody waits, then it is asked again
    SERVER = "server"  # another 5xx, or a body that is no answer: asked again
    CONNECTION = "connection"  # none, lost or timed out: asked again
    REJECTED = "rejected"  # this request cannot be answered; the others may be
    TOO_LONG = "too_long"  # more than the model reads at once
    CLOSED = "closed"  # no access, no such model, not allowed: no request will be answered


class CallError(WorkbenchError):
    """A call that brought no completion. The sentence never repeats the report, the key, or the server's own words.

    Args:
        sentence: for the person who runs it.
        trouble: what kind it is.
        retry_after: seconds the server asked to wait, at least; None where it said nothing that can be read.
        status: the HTTP status of its answer; None where there was none, or where it was not the status that told.

    ``calls`` is how many were made before this one was the last: whoever asks again counts there. ``usage`` is what the
    server said they took although they brought nothing, None where it said nothing.
    """

    def __init__(
        self, sentence: str, trouble: Trouble, *, retry_after: float | None = None, status: int | None = None
    ) -> None:
        super().__init__(sentence)
        self.trouble = trouble
        self.retry_after = retry_after
        self.status = status
        self.calls = 1
        self.usage: Usage | None = None


class Model(Protocol):
    """A language model, wherever it runs."""

    async def complete(self, messages: Sequence[Message], *, schema: Mapping[str, object]) -> Completion:
        """Return the answer to ``messages``; ``schema`` is the JSON Schema to hold it to where the server can.

        Asks once: who asks again, and when, is not the model's business. Raises CallError.
        """
        ...

    async def close(self) -> None:
        """Give back connections; nothing may be asked afterwards."""
        ...
