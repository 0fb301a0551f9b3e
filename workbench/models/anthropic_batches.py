"""Anthropic's message batches: requests are handed over in one body, and answers come as lines of JSON."""

import json
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from types import MappingProxyType
from typing import Annotated, Any

from pydantic import BaseModel

from workbench.models.anthropic import AnthropicModel
from workbench.models.base import CallError, Completion, Message, Trouble
from workbench.models.batches import (
    NO_ANSWER,
    TRANSFER_SECONDS,
    BatchAnswer,
    BatchState,
    Sought,
    asked,
    batch_name,
    carry_over,
    completion_of,
    lines_of,
    read_line,
)
from workbench.models.bodies import LOOSE, Count, Name, as_text, storable
from workbench.models.calls import status_failure

_SKEW = timedelta(minutes=5)  # by which two clocks may differ
_PAGE = 100
_STATUS = MappingProxyType(
    {
        "invalid_request_error": 400,
        "authentication_error": 401,
        "billing_error": 402,
        "permission_error": 403,
        "not_found_error": 404,
        "request_too_large": 413,
        "rate_limit_error": 429,
        "timeout_error": 408,
        "overloaded_error": 529,
    }
)


class _Counts(BaseModel):
    processing: Count = None
    succeeded: Count = None
    errored: Count = None
    canceled: Count = None
    expired: Count = None


class _Batch(BaseModel):
    id: str
    processing_status: str
    created_at: datetime
    request_counts: Annotated[_Counts | None, LOOSE] = None

    @property
    def numbers(self) -> tuple[int, int, int]:
        """Return how many are waited for, answered, and without an answer."""
        counts = self.request_counts or _Counts()
        lost = (counts.errored or 0) + (counts.canceled or 0) + (counts.expired or 0)
        return counts.processing or 0, counts.succeeded or 0, lost


class _Page(BaseModel):
    data: list[_Batch]
    has_more: bool = False


class _Error(BaseModel):
    type: Name = ""
    message: Name = ""


class _ErrorBody(BaseModel):
    error: Annotated[_Error | None, LOOSE] = None


class _Result(BaseModel):
    type: str
    message: Any = None
    error: Annotated[_ErrorBody | None, LOOSE] = None


class _Line(BaseModel):
    custom_id: str
    result: _Result


class AnthropicBatches:
    """Hands batches over through the official client; see ``BatchServer``."""

    most_requests = 100_000
    # The provider takes 256 MB. All of it goes in one body, of which the client makes several copies on the way.
    most_bytes = 64_000_000

    def __init__(self, model: AnthropicModel) -> None:
        self._model = model

    def request(self, name: str, messages: Sequence[Message], schema: Mapping[str, object]) -> dict[str, Any]:
        """Return one request of a batch."""
        return {"custom_id": name, "params": self._model.request(messages, schema)}

    async def submit(self, requests: Iterable[bytes], token: str) -> BatchState:  # noqa: ARG002 - see find
        """Hand over the requests."""
        given = {"requests": [json.loads(request) for request in requests]}

        def create(client: Any) -> Any:
            return client.messages.batches.with_raw_response.create(requests=(), extra_body=given)

        return _state(await asked(self._model, _Batch, create, seconds=TRANSFER_SECONDS))

    async def find(self, sought: Sought) -> BatchState | None:
        """Return the batch made next after that moment that is none of the known and has as many requests.

        These batches bear no mark of their own: whether one is the batch that is sought its answers tell for sure.
        """
        earliest = sought.since - _SKEW
        hits: list[_Batch] = []
        after: dict[str, str] = {}
        while True:

            def page(client: Any, after: dict[str, str] = after) -> Any:
                return client.messages.batches.with_raw_response.list(limit=_PAGE, **after)

            found = await asked(self._model, _Page, page)
            for batch in found.data:
                alike = sum(batch.numbers) == sought.requests and batch.id not in sought.known
                if alike and _instant(batch) >= earliest:
                    hits.append(batch)
            if not found.has_more or not found.data or _instant(found.data[-1]) < earliest:
                # One from before can be it only where the clocks differ.
                hits.sort(key=lambda batch: (_instant(batch) < sought.since, abs(_instant(batch) - sought.since)))
                return _state(hits[0]) if hits else None
            after = {"after_id": batch_name(found.data[-1].id)}

    async def state(self, batch_id: str) -> BatchState:
        """Return how a batch stands now."""

        def retrieve(client: Any) -> Any:
            return client.messages.batches.with_raw_response.retrieve(batch_id)

        return _state(await asked(self._model, _Batch, retrieve))

    async def cancel(self, batch_id: str) -> BatchState:
        """Have a batch end early."""

        def cancel(client: Any) -> Any:
            return client.messages.batches.with_raw_response.cancel(batch_id)

        return _state(await asked(self._model, _Batch, cancel))

    async def answers(self, batch_id: str) -> AsyncIterator[BatchAnswer]:
        """Yield the answers."""
        async for line in lines_of(lambda take: self._fetch(batch_id, take)):
            yield self.answer(line)

    def answer(self, line: bytes) -> BatchAnswer:
        """Return what one line of the answers says.

        Raises:
            CallError: it is no such line.
        """
        said = read_line(_Line, line)
        return BatchAnswer(said.custom_id, self._result(said.result))

    async def close(self) -> None:
        """Give back connections."""
        await self._model.close()

    def _result(self, result: _Result) -> Completion | CallError:
        if result.type == "succeeded":
            return completion_of(self._model, as_text(result.message))
        if result.type == "errored":
            said = (result.error or _ErrorBody()).error or _Error()
            return status_failure(_STATUS.get(said.type, 500), {}, json.dumps({"error": said.model_dump()}))
        return CallError(NO_ANSWER, Trouble.SERVER)

    async def _fetch(self, batch_id: str, take: Callable[[bytes], object]) -> None:
        async def results(client: Any) -> None:
            # From the batch's own path: to an address that an answer names, the client would send the key as well.
            response = await client.get(
                f"/v1/messages/batches/{batch_name(batch_id)}/results",
                cast_to=object,
                options={"headers": {"Accept": "application/binary", "X-Stainless-Raw-Response": "stream"}},
            )
            try:
                await carry_over(response, take)
            finally:
                await response.close()

        await self._model.use(results, seconds=TRANSFER_SECONDS)


def _instant(batch: _Batch) -> datetime:
    return batch.created_at if batch.created_at.tzinfo else batch.created_at.replace(tzinfo=UTC)


def _state(batch: _Batch) -> BatchState:
    _, answered, lost = batch.numbers
    ended = batch.processing_status == "ended"
    return BatchState(batch_name(batch.id), storable(batch.processing_status)[:40], ended, answered, lost)
