"""OpenAI, and any server that speaks as it does: vLLM, llama.cpp, Ollama, LM Studio and others by ``base_url``."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any
from urllib.parse import urlsplit

from pydantic import BaseModel, Field

from workbench.domain.runs import LabelerSettings
from workbench.models.base import Completion, Constraint, Finish, Message
from workbench.models.bodies import LOOSE, Count, Name, Text, Tokens, part_of, read_answer, read_body
from workbench.models.calls import ClientErrors, needed_model
from workbench.models.client_model import ClientModel

if TYPE_CHECKING:
    import httpx2

BASE_URL = "https://api.openai.com/v1"
CONSTRAINTS = (Constraint.JSON_SCHEMA, Constraint.JSON_OBJECT, Constraint.TEXT)  # the tightest first
_CUT = frozenset({"length", "max_tokens", "model_length"})


class _Details(BaseModel):
    cached_tokens: Count = None


class _Usage(BaseModel):
    prompt_tokens: Count = None
    completion_tokens: Count = None
    prompt_tokens_details: Annotated[_Details | None, LOOSE] = None


class _Message(BaseModel):
    content: Text | list[dict[str, Any]] | None = None
    refusal: Text | None = None
    reasoning_content: Any = None
    reasoning: Any = None


class _Choice(BaseModel):
    message: _Message
    finish_reason: Name = ""


class _Answer(BaseModel):
    choices: list[_Choice] = Field(min_length=1)
    usage: Annotated[_Usage | None, LOOSE] = None
    model: Name = ""
    id: Name = ""


class _Spent(BaseModel):
    usage: Annotated[_Usage | None, LOOSE] = None


class OpenAIModel(ClientModel):
    """Asks over the chat completions API; see ``Model``.

    Of the settings ``temperature``, ``seed`` and ``max_tokens`` are sent where they are given, and only then. For the
    rest see ``ClientModel``.
    """

    _own_url = BASE_URL
    _path = "/chat/completions"
    _request_id_header = "x-request-id"

    @staticmethod
    def _client_of(http_client: "httpx2.AsyncClient", **given: Any) -> tuple[Any, ClientErrors]:
        import openai  # noqa: PLC0415

        client = openai.AsyncOpenAI(http_client=http_client, **given)
        client.organization = client.project = client.admin_api_key = client.webhook_secret = None
        return client, ClientErrors(openai.APIStatusError, openai.APITimeoutError, openai.APIConnectionError)

    @staticmethod
    def _settings_sent(settings: LabelerSettings, base_url: str) -> dict[str, object]:
        # OpenAI's own models no longer take max_tokens; of the servers that speak like it not all know the new name.
        own = f".{urlsplit(base_url).hostname}".endswith(".openai.com")
        sent = {
            "model": needed_model(settings),
            "temperature": settings.temperature,
            "seed": settings.seed,
            "max_completion_tokens" if own else "max_tokens": settings.max_tokens,
        }
        return {name: value for name, value in sent.items() if value is not None}

    def request(self, messages: Sequence[Message], schema: Mapping[str, object]) -> dict[str, Any]:
        """Return the body of one request, as JSON."""
        said = [{"role": message.role.value, "content": message.text} for message in messages]
        return {**self._sent, "messages": said, **_form(self._constraint, schema)}

    def completion(self, body: bytes, request_id: str = "") -> Completion:
        """Return what an answer says. What a server adds beside the answer's text is kept apart."""
        answer = read_answer(_Answer, body, lambda: _tokens(read_body(_Spent, body).usage or _Usage()))
        return _completion(answer, request_id, self._constraint)


def _form(constraint: Constraint, schema: Mapping[str, object]) -> dict[str, object]:
    match constraint:
        case Constraint.JSON_SCHEMA:
            named = {"name": "labels", "strict": True, "schema": dict(schema)}
            return {"response_format": {"type": "json_schema", "json_schema": named}}
        case Constraint.JSON_OBJECT:
            return {"response_format": {"type": "json_object"}}
        case _:
            return {}


def _completion(answer: _Answer, request_id: str, constraint: Constraint) -> Completion:
    choice = answer.choices[0]
    message, tokens = choice.message, _tokens(answer.usage or _Usage())
    text, thoughts = _parts(message.content)
    return Completion(
        text or message.refusal or "",
        _finish(choice),
        input_tokens=tokens.input,
        output_tokens=tokens.output,
        request_id=request_id or answer.id,
        model=answer.model,
        cached_tokens=tokens.cached,
        finish_reason=choice.finish_reason,
        constraint=constraint.value,
        reasoning=next((t for t in (message.reasoning_content, message.reasoning) if isinstance(t, str)), thoughts),
    )


def _tokens(usage: _Usage) -> Tokens:
    details = usage.prompt_tokens_details or _Details()
    cached = part_of(usage.prompt_tokens, details.cached_tokens)
    return Tokens(usage.prompt_tokens, usage.completion_tokens, cached)


def _finish(choice: _Choice) -> Finish:
    if choice.message.refusal or choice.finish_reason == "content_filter":
        return Finish.REFUSAL
    return Finish.LENGTH if choice.finish_reason in _CUT else Finish.STOP


def _parts(content: str | list[dict[str, Any]] | None) -> tuple[str, str]:
    """Return text and thoughts of a content; some servers give it in parts."""
    if not isinstance(content, list):
        return content or "", ""
    texts = [part["text"] for part in content if isinstance(part.get("text"), str)]
    thoughts = [part["thinking"] for part in content if isinstance(part.get("thinking"), str)]
    return "".join(map(str, texts)), "".join(map(str, thoughts))
