"""Anthropic, and servers that speak its messages API."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import BaseModel

from workbench.domain.runs import LabelerSettings
from workbench.errors import InputError
from workbench.models.base import Completion, Constraint, Finish, Message, Role
from workbench.models.bodies import LOOSE, Count, Name, Text, Tokens, as_text, part_of, read_answer, read_body
from workbench.models.calls import ClientErrors, needed_model
from workbench.models.client_model import ClientModel

if TYPE_CHECKING:
    import httpx2

BASE_URL = "https://api.anthropic.com"
CONSTRAINTS = (Constraint.JSON_SCHEMA, Constraint.TOOL, Constraint.TEXT)  # the tightest first
MAX_TOKENS = 4096  # the API asks for a limit: sent where the settings give none
_CUT = frozenset({"max_tokens", "model_context_window_exceeded"})
_TOOL = "labels"


class _Usage(BaseModel):
    input_tokens: Count = None
    output_tokens: Count = None
    cache_read_input_tokens: Count = None
    cache_creation_input_tokens: Count = None


class _Block(BaseModel):
    type: Name = ""
    text: Text = ""
    thinking: Text = ""
    input: Any = None


class _Answer(BaseModel):
    content: list[_Block]
    stop_reason: Name = ""
    usage: Annotated[_Usage | None, LOOSE] = None
    model: Name = ""
    id: Name = ""


class _Spent(BaseModel):
    usage: Annotated[_Usage | None, LOOSE] = None


class AnthropicModel(ClientModel):
    """Asks over the messages API; see ``Model``.

    The system text is marked to be cached: it is the same for every report. Of the settings ``max_tokens`` is 4096
    where it is not given, ``temperature`` is sent where it is given, and a seed is refused. For the rest see
    ``ClientModel``.
    """

    _own_url = BASE_URL
    _path = "/v1/messages"
    _request_id_header = "request-id"

    @staticmethod
    def _client_of(http_client: "httpx2.AsyncClient", **given: Any) -> tuple[Any, ClientErrors]:
        import anthropic  # noqa: PLC0415

        # Telemetry off: a variable of the environment could have it send reports to a collector.
        client = anthropic.AsyncAnthropic(http_client=http_client, open_telemetry=False, **given)
        return client, ClientErrors(anthropic.APIStatusError, anthropic.APITimeoutError, anthropic.APIConnectionError)

    @staticmethod
    def _settings_sent(settings: LabelerSettings, base_url: str) -> dict[str, object]:  # noqa: ARG004 - same for each
        if settings.seed is not None:
            raise InputError(f"Labeler {settings.name}: an anthropic labeler has no use for seed; take that line out.")
        sent: dict[str, object] = {"model": needed_model(settings), "max_tokens": settings.max_tokens or MAX_TOKENS}
        if settings.temperature is not None:  # no argument of the client now, but servers that speak the API take it
            sent["temperature"] = settings.temperature
        return sent

    def request(self, messages: Sequence[Message], schema: Mapping[str, object]) -> dict[str, Any]:
        """Return the body of one request, as JSON."""
        return {**self._sent, **_conversation(messages), **_form(self._constraint, schema)}

    def completion(self, body: bytes, request_id: str = "") -> Completion:
        """Return what an answer says. With a tool it is the tool's input, as JSON on one line."""
        answer = read_answer(_Answer, body, lambda: _tokens(read_body(_Spent, body).usage or _Usage()))
        return _completion(answer, request_id, self._constraint)


def _conversation(messages: Sequence[Message]) -> dict[str, object]:
    system: list[dict[str, object]] = [
        {"type": "text", "text": message.text} for message in messages if message.role is Role.SYSTEM
    ]
    if system:
        system[-1]["cache_control"] = {"type": "ephemeral"}
    said = [{"role": m.role.value, "content": m.text} for m in messages if m.role is not Role.SYSTEM]
    return {"messages": said, **({"system": system} if system else {})}


def _form(constraint: Constraint, schema: Mapping[str, object]) -> dict[str, object]:
    match constraint:
        case Constraint.JSON_SCHEMA:
            return {"output_config": {"format": {"type": "json_schema", "schema": dict(schema)}}}
        case Constraint.TOOL:
            tool = {"name": _TOOL, "description": "Give the answer.", "input_schema": dict(schema)}
            return {
                "tools": [tool],
                "tool_choice": {"type": "tool", "name": _TOOL, "disable_parallel_tool_use": True},
            }
        case _:
            return {}


def _completion(answer: _Answer, request_id: str, constraint: Constraint) -> Completion:
    tokens = _tokens(answer.usage or _Usage())
    calls = [as_text(block.input) for block in answer.content if block.type == "tool_use"]
    texts = [block.text for block in answer.content if block.type == "text"]
    return Completion(
        "\n".join(calls) if calls else "".join(texts),
        _finish(answer.stop_reason),
        input_tokens=tokens.input,
        output_tokens=tokens.output,
        request_id=request_id or answer.id,
        model=answer.model,
        cached_tokens=tokens.cached,
        written_tokens=tokens.written,
        finish_reason=answer.stop_reason,
        constraint=constraint.value,
        reasoning="".join(block.thinking for block in answer.content),
    )


def _finish(stop_reason: str) -> Finish:
    if stop_reason == "refusal":
        return Finish.REFUSAL
    return Finish.LENGTH if stop_reason in _CUT else Finish.STOP


def _tokens(usage: _Usage) -> Tokens:
    whole = _all_input(usage)
    cached = part_of(whole, usage.cache_read_input_tokens)
    return Tokens(whole, usage.output_tokens, cached, part_of(whole, usage.cache_creation_input_tokens))


def _all_input(usage: _Usage) -> int | None:
    """Return all tokens of the input; the API counts those read from and written to its cache apart."""
    if usage.input_tokens is None:
        return None
    return usage.input_tokens + (usage.cache_read_input_tokens or 0) + (usage.cache_creation_input_tokens or 0)
