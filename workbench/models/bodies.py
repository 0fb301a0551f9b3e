"""What stands in the bodies of answers, read loosely where it is beside the point and strictly where it is not."""

import json
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Annotated, TypeVar

from pydantic import (
    BaseModel,
    Field,
    JsonValue,
    PlainValidator,
    ValidationError,
    ValidatorFunctionWrapHandler,
    WrapValidator,
)

from workbench.domain.runs import Usage
from workbench.models.base import CallError, Trouble

M = TypeVar("M", bound=BaseModel)

_NAME_LIMIT = 200  # characters kept of a name the server gives
_COUNT_LIMIT = 1_000_000_000


def _or_none(value: object, handler: ValidatorFunctionWrapHandler) -> object:
    try:
        return handler(value)
    except ValidationError:
        return None


def storable(text: str) -> str:
    """Return a text as it can be kept: a NUL or half a character is spelled as JSON spells it, "\\u0000", "\\ud800"."""
    whole = text if text.isascii() else text.encode("utf-8", "backslashreplace").decode("utf-8")
    return whole.replace("\0", "\\u0000")


def _or_empty(value: object, handler: ValidatorFunctionWrapHandler) -> object:
    try:
        return storable(handler(value))[:_NAME_LIMIT]  # names are kept, also by those who read no reply
    except ValidationError:
        return ""


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise ValueError("no text")  # noqa: TRY004 - what pydantic takes for "it is none"
    return value


LOOSE = WrapValidator(_or_none)  # what cannot be read is not known; the reply still counts
# A number that no call could have taken is not said: it would be added to what a run has spent, or taken off it.
Count = Annotated[Annotated[int, Field(ge=0, le=_COUNT_LIMIT)] | None, LOOSE]
Name = Annotated[str, WrapValidator(_or_empty)]


Text = Annotated[str, PlainValidator(_text)]  # halves of characters included: what a model said is not thrown away


@dataclass(frozen=True, slots=True)
class Tokens:
    """What a server says a call took; None where it does not."""

    input: int | None = None
    output: int | None = None
    cached: int | None = None
    written: int | None = None

    @property
    def usage(self) -> Usage | None:
        """Return it as what one reply took, None where the server did not say."""
        if self.input is None or self.output is None:
            return None
        return Usage(1, self.input, self.output, self.cached or 0, written_tokens=self.written or 0)


def part_of(whole: int | None, part: int | None) -> int | None:
    """Return how many of ``whole`` tokens are of some kind: no more than all, and None where either is not known."""
    return None if whole is None or part is None else min(part, whole)


def read_answer(shape: type[M], body: bytes, tokens: Callable[[], Tokens]) -> M:
    """Return an answer's body in its shape, as ``read_body`` does.

    Raises:
        CallError: it is no answer; its ``usage`` is what the server says it took all the same, where ``tokens`` finds
            that in it.
    """
    try:
        return read_body(shape, body)
    except CallError as error:
        failure = error
    with suppress(CallError):  # nothing is said of it either
        failure.usage = tokens().usage
    raise failure


def read_body(shape: type[M], body: bytes) -> M:
    """Return an answer's body in its shape.

    One that holds a NUL, half a character or bytes of no character is read too: what a model said is paid for, and it
    would say it again. Where that stands in a ``Text``, whoever reads that finds it as it came.

    Raises:
        CallError: it is no answer; it is not repeated.
    """
    found = in_shape(shape, body)
    if found is not None:
        return found
    raise CallError(
        "The server's answer is not of the form of a completion." if body.strip() else "The server's answer is empty.",
        Trouble.SERVER,
    )


def in_shape(shape: type[M], body: bytes) -> M | None:
    """Return a body in its shape as ``read_body`` does, None where it is not of it."""
    try:
        return shape.model_validate_json(body)
    except ValidationError:
        pass
    try:  # the strict reader takes no such characters
        return shape.model_validate(json.loads(body.decode("utf-8", "surrogateescape"), strict=False))
    except (ValueError, RecursionError):
        return None


def as_text(value: JsonValue) -> str:
    """Return a value as JSON on one line."""
    return json.dumps(value, ensure_ascii=False)
