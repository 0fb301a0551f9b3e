"""What goes to a language model and what comes back."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol


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


@dataclass(frozen=True, slots=True)
class Completion:
    """One answer of a model. Numbers and names are None or empty where the server did not say."""

    text: str
    finish: Finish = Finish.STOP
    input_tokens: int | None = None
    output_tokens: int | None = None
    request_id: str = ""
    model: str = ""


class Model(Protocol):
    """A language model, wherever it runs."""

    async def complete(self, messages: Sequence[Message], *, schema: Mapping[str, object]) -> Completion:
        """Return the answer to ``messages``; ``schema`` is the JSON Schema to hold it to where the server can."""
        ...
