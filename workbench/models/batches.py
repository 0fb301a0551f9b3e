"""Many requests handed over at once, to be answered within a day at a lower price: what providers' batches share."""

import re
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from tempfile import TemporaryFile
from typing import IO, Any, Protocol, TypeVar

from pydantic import BaseModel

from workbench.models.base import CallError, Completion, Message, Trouble
from workbench.models.bodies import in_shape, read_body
from workbench.models.client_model import ClientModel
from workbench.models.egress import BODY_LIMIT

TRANSFER_SECONDS = 3600.0  # for a file of requests or answers to be carried over
TRANSFER_LIMIT = 2 << 30  # bytes of a file of answers
NO_ANSWER = "The batch ended before this report was answered; it is asked again when the run goes on."
_PIECE = 1 << 16
_NAME = re.compile(r"[A-Za-z0-9_.:-]{1,200}")

Form = TypeVar("Form", bound=BaseModel)


@dataclass(frozen=True, slots=True)
class BatchState:
    """How a batch stands, as its provider says.

    ``ended`` says that nothing more will be answered. Some providers count ``answered`` and ``failed`` only then.
    ``why`` is why the provider did not take a batch up, in a sentence; "" where it did.
    """

    id: str
    state: str  # in the provider's word
    ended: bool
    answered: int = 0
    failed: int = 0
    why: str = ""


@dataclass(frozen=True, slots=True)
class BatchAnswer:
    """What came of one request of a batch, by the id it was given."""

    id: str
    result: Completion | CallError


@dataclass(frozen=True, slots=True)
class Sought:
    """A batch that may have reached its provider: by what it would be known there."""

    token: str
    requests: int
    since: datetime
    known: frozenset[str]  # batches there that are others


class BatchServer(Protocol):
    """A provider that takes batches. Whatever goes wrong raises CallError."""

    most_requests: int
    most_bytes: int

    def request(self, name: str, messages: Sequence[Message], schema: Mapping[str, object]) -> dict[str, Any]:
        """Return one request of a batch as JSON, under a name that is its own in the batch."""
        ...

    async def submit(self, requests: Iterable[bytes], token: str) -> BatchState:
        """Hand over requests, each as JSON in UTF-8, as one batch that is known by ``token``."""
        ...

    async def find(self, sought: Sought) -> BatchState | None:
        """Return a batch that was handed over before, None where there is none."""
        ...

    async def state(self, batch_id: str) -> BatchState:
        """Return how a batch stands now."""
        ...

    async def cancel(self, batch_id: str) -> BatchState:
        """Have a batch end early; what was answered by then can be had as of any that has ended."""
        ...

    def answers(self, batch_id: str) -> AsyncIterator[BatchAnswer]:
        """Yield what came of a batch that has ended, in any order; what is missing was not answered."""
        ...

    async def close(self) -> None:
        """Give back connections."""
        ...


def batch_name(given: str) -> str:
    """Return a provider's name of a batch or file, which becomes part of an address.

    Raises:
        CallError: it cannot be one; it is not repeated.
    """
    if not _NAME.fullmatch(given):
        raise CallError("The server's answer names no batch.", Trouble.SERVER)
    return given


async def asked(
    model: ClientModel, form: type[Form], send: Callable[[Any], Awaitable[Any]], *, seconds: float | None = None
) -> Form:
    """Return what a call's answer says.

    Args:
        model: through whose client it is sent.
        form: of the answer's body.
        send: makes the call through the client it is given, and returns the raw response.
        seconds: how long it may take; as long as any call when left out.

    Raises:
        CallError: there is no answer, or it is not of that form.
    """

    async def body(client: Any) -> bytes:
        return bytes((await send(client)).http_response.content)

    return read_body(form, await model.use(body, seconds=seconds))


def read_line(form: type[Form], line: bytes) -> Form:
    """Return what one line of a batch's answers says.

    Raises:
        CallError: it is no such line.
    """
    found = in_shape(form, line)
    if found is not None:
        return found
    raise CallError("A line of the batch's answers is not of their form.", Trouble.SERVER)


def completion_of(model: ClientModel, body: str, request_id: str = "") -> Completion | CallError:
    """Return the completion that a body in a batch's answers is, or why it is none."""
    try:
        return model.completion(body.encode("utf-8", "backslashreplace"), request_id)
    except CallError as error:
        return error


async def lines_of(carry: Callable[[Callable[[bytes], object]], Awaitable[None]]) -> AsyncIterator[bytes]:
    """Yield the lines of a file that a server sends, which lies on this computer's disk meanwhile, under no name.

    Args:
        carry: fetches the file, handing each piece to what it is given.
    """
    with TemporaryFile() as file:
        await carry(file.write)
        file.seek(0)
        for line in whole_lines(file):
            yield line


def whole_lines(file: IO[bytes]) -> Iterator[bytes]:
    """Yield the lines of a file that hold something.

    Raises:
        CallError: one has no end.
    """
    while line := file.readline(BODY_LIMIT):
        if len(line) == BODY_LIMIT and not line.endswith(b"\n"):
            raise CallError(f"An answer of the batch goes on beyond {BODY_LIMIT:,} bytes.", Trouble.SERVER)
        if line.strip():
            yield line


async def carry_over(response: Any, take: Callable[[bytes], object]) -> None:
    """Hand a client's streamed response on, piece by piece."""
    async for piece in response.iter_bytes(_PIECE):
        take(piece)
