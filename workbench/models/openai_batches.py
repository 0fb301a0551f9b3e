"""OpenAI's batches: a file of requests goes up, files of answers come back. ``vllm run-batch`` takes the same file."""

from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from datetime import timedelta
from tempfile import TemporaryFile
from types import MappingProxyType
from typing import Annotated, Any

from pydantic import BaseModel, JsonValue, ValidationError

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
from workbench.models.openai import OpenAIModel

_PATH = "/v1/chat/completions"
_TOKEN = "workbench_batch"  # noqa: S105 - the name of a batch's mark, and no secret
_SKEW = timedelta(hours=1)  # by which two clocks may differ
_PAGE = 100
_ENDED = frozenset({"completed", "failed", "expired", "cancelled"})
_WHY = MappingProxyType(
    {
        "token_limit_exceeded": "more tokens would wait in batches than the key may have waiting; wait for other "
        "batches to end, or run fewer reports at once",
        "billing_hard_limit_reached": "the account of this key has no credit left",
        "model_not_found": "it has no such model, or not for batches",
        "invalid_model": "it has no such model, or not for batches",
    }
)


class _Counts(BaseModel):
    completed: Count = None
    failed: Count = None


class _Error(BaseModel):
    code: Name = ""


class _Errors(BaseModel):
    data: Annotated[list[_Error] | None, LOOSE] = None


class _Batch(BaseModel):
    id: str
    status: str
    created_at: float = 0.0
    request_counts: Annotated[_Counts | None, LOOSE] = None
    metadata: Annotated[dict[str, str] | None, LOOSE] = None
    errors: Annotated[_Errors | None, LOOSE] = None
    output_file_id: str | None = None
    error_file_id: str | None = None


class _Page(BaseModel):
    data: list[_Batch]
    has_more: bool = False


class _File(BaseModel):
    id: str


class _Response(BaseModel):
    status_code: int
    request_id: Name = ""
    body: Any = None


class _Line(BaseModel):
    custom_id: str
    response: _Response | None = None
    error: JsonValue = None


class _Request(BaseModel):
    custom_id: str
    body: dict[str, JsonValue]
    response: None = None


def is_request(line: bytes) -> bool:
    """Return whether a line is a request of a batch, which has a body of its own, and no answer to one."""
    try:
        _Request.model_validate_json(line)
    except ValidationError:
        return False
    return True


class OpenAIBatches:
    """Hands batches over through the official client; see ``BatchServer``."""

    most_requests = 50_000
    most_bytes = 200_000_000

    def __init__(self, model: OpenAIModel) -> None:
        self._model = model

    def request(self, name: str, messages: Sequence[Message], schema: Mapping[str, object]) -> dict[str, Any]:
        """Return one line of the file."""
        return {"custom_id": name, "method": "POST", "url": _PATH, "body": self._model.request(messages, schema)}

    async def submit(self, requests: Iterable[bytes], token: str) -> BatchState:
        """Upload the file, which goes from disk piece by piece, and have it worked on."""
        with TemporaryFile() as content:
            content.writelines(line + b"\n" for line in requests)
            content.seek(0)

            def upload(client: Any) -> Any:
                given = (f"workbench-{token}.jsonl", content, "application/jsonl")
                return client.files.with_raw_response.create(file=given, purpose="batch")

            file = await asked(self._model, _File, upload, seconds=TRANSFER_SECONDS)

        def create(client: Any) -> Any:
            return client.batches.with_raw_response.create(
                input_file_id=batch_name(file.id),
                endpoint=_PATH,
                completion_window="24h",
                metadata={_TOKEN: token},
            )

        return _state(await asked(self._model, _Batch, create))

    async def find(self, sought: Sought) -> BatchState | None:
        """Return the batch that bears the token."""
        earliest = (sought.since - _SKEW).timestamp()
        after: dict[str, str] = {}
        while True:

            def page(client: Any, after: dict[str, str] = after) -> Any:
                return client.batches.with_raw_response.list(limit=_PAGE, **after)

            found = await asked(self._model, _Page, page)
            for batch in found.data:
                if (batch.metadata or {}).get(_TOKEN) == sought.token:
                    return _state(batch)
            if not found.has_more or not found.data or found.data[-1].created_at < earliest:
                return None
            after = {"after": batch_name(found.data[-1].id)}

    async def state(self, batch_id: str) -> BatchState:
        """Return how a batch stands now."""
        return _state(await self._batch(batch_id))

    async def cancel(self, batch_id: str) -> BatchState:
        """Have a batch end early."""

        def cancel(client: Any) -> Any:
            return client.batches.with_raw_response.cancel(batch_id)

        return _state(await asked(self._model, _Batch, cancel))

    async def answers(self, batch_id: str) -> AsyncIterator[BatchAnswer]:
        """Yield the lines of the file of answers and of that of errors."""
        batch = await self._batch(batch_id)
        for name in filter(None, (batch.output_file_id, batch.error_file_id)):
            async for line in lines_of(lambda take, name=name: self._fetch(name, take)):  # type: ignore[misc]
                yield self.answer(line)

    def answer(self, line: bytes) -> BatchAnswer:
        """Return what one line of a file of answers says.

        Raises:
            CallError: it is no such line.
        """
        said = read_line(_Line, line)
        return BatchAnswer(said.custom_id, self._result(said))

    async def close(self) -> None:
        """Give back connections."""
        await self._model.close()

    def _result(self, said: _Line) -> Completion | CallError:
        response = said.response
        if response is None:
            return CallError(NO_ANSWER, Trouble.SERVER)
        body = as_text(response.body)
        if not 200 <= response.status_code < 300:
            return status_failure(response.status_code, {}, body)
        return completion_of(self._model, body, response.request_id)

    async def _batch(self, batch_id: str) -> _Batch:
        def retrieve(client: Any) -> Any:
            return client.batches.with_raw_response.retrieve(batch_id)

        return await asked(self._model, _Batch, retrieve)

    async def _fetch(self, name: str, take: Callable[[bytes], object]) -> None:
        async def content(client: Any) -> None:
            async with client.files.with_streaming_response.content(batch_name(name)) as response:
                await carry_over(response, take)

        await self._model.use(content, seconds=TRANSFER_SECONDS)


def _state(batch: _Batch) -> BatchState:
    counts = batch.request_counts or _Counts()
    why = ""
    if batch.status == "failed":
        codes = [error.code for error in (batch.errors or _Errors()).data or []]
        told = next((_WHY[code] for code in codes if code in _WHY), "a request in it is not as the provider wants it")
        why = f"The provider did not take the batch up: {told}."
    return BatchState(
        batch_name(batch.id),
        storable(batch.status)[:40],
        batch.status in _ENDED,
        counts.completed or 0,
        counts.failed or 0,
        why,
    )
