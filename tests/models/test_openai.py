"""What is sent to OpenAI and servers like it, and what odd answers of theirs amount to."""

import asyncio
import json
from collections.abc import Callable
from typing import Any

import httpx2
import pytest

from workbench.domain.runs import LabelerSettings
from workbench.models.base import CallError, Completion, Constraint, Finish, Message, Role, Trouble
from workbench.models.egress import Egress
from workbench.models.openai import OpenAIModel

MESSAGES = [Message(Role.SYSTEM, "Label."), Message(Role.USER, "<report>\nClear.\n</report>")]
SCHEMA = {"type": "object", "properties": {}, "required": [], "additionalProperties": False}


def ask(base_url: str, *, constraint: Constraint | None = None, key: str | None = None, **more: Any) -> Completion:
    settings = LabelerSettings(**{"name": "x", "kind": "openai", "base_url": base_url, "model": "m", **more})
    model = OpenAIModel(settings, key=key, egress=Egress(), constraint=constraint)

    async def call() -> Completion:
        try:
            return await model.complete(MESSAGES, schema=SCHEMA)
        finally:
            await model.close()

    return asyncio.run(call())


def sent(start_fault_server: Callable[..., Any], **more: Any) -> dict[str, Any]:
    server = start_fault_server()
    ask(f"{server.url}/v1", **more)
    return dict(server.log()["last"])


def test_settings_are_sent_where_they_are_given_and_only_then(start_fault_server: Callable[..., Any]) -> None:
    messages = [{"role": "system", "content": "Label."}, {"role": "user", "content": "<report>\nClear.\n</report>"}]
    assert sent(start_fault_server)["body"] == {"model": "m", "messages": messages}
    given = sent(start_fault_server, temperature=0.0, seed=0, max_tokens=7)["body"]
    assert given == {"model": "m", "messages": messages, "temperature": 0.0, "seed": 0, "max_tokens": 7}


def test_openai_itself_takes_the_limit_of_tokens_by_its_new_name(monkeypatch: pytest.MonkeyPatch) -> None:
    bodies = []

    async def answer(request: httpx2.Request) -> httpx2.Response:
        bodies.append((str(request.url), json.loads(request.content)))
        return httpx2.Response(200, json={"choices": [{"message": {"content": "{}"}, "finish_reason": "stop"}]})

    monkeypatch.setattr(Egress, "transport", lambda _, **_limit: httpx2.MockTransport(answer))
    settings = LabelerSettings("x", "openai", model="m", max_tokens=7)
    model = OpenAIModel(settings, key="sk-1", egress=Egress(restricted=False))
    assert asyncio.run(model.complete(MESSAGES, schema={})).text == "{}"
    url, body = bodies[0]
    assert url == "https://api.openai.com/v1/chat/completions"
    assert body["max_completion_tokens"] == 7
    assert "max_tokens" not in body


@pytest.mark.parametrize(
    ("constraint", "form"),
    [
        (
            Constraint.JSON_SCHEMA,
            {"type": "json_schema", "json_schema": {"name": "labels", "strict": True, "schema": SCHEMA}},
        ),
        (Constraint.JSON_OBJECT, {"type": "json_object"}),
        (Constraint.TEXT, None),
        (None, None),
    ],
)
def test_each_constraint_is_asked_for(
    start_fault_server: Callable[..., Any], constraint: Constraint | None, form: object
) -> None:
    assert sent(start_fault_server, constraint=constraint)["body"].get("response_format") == form


def test_the_key_is_sent_as_it_is_and_none_is_made_up(start_fault_server: Callable[..., Any]) -> None:
    assert sent(start_fault_server, key="sk-1")["headers"]["authorization"] == "Bearer sk-1"
    assert sent(start_fault_server)["headers"]["authorization"] == "Bearer none"


@pytest.fixture
def answered(monkeypatch: pytest.MonkeyPatch) -> Callable[[object], Completion]:
    """Ask where the server's answer is a given body, or given text."""

    def ask_for(body: object) -> Completion:
        content = body if isinstance(body, str) else json.dumps(body)

        async def answer(_: httpx2.Request) -> httpx2.Response:
            return httpx2.Response(200, content=content.encode("utf-8", "surrogatepass"))

        monkeypatch.setattr(Egress, "transport", lambda _, **_limit: httpx2.MockTransport(answer))
        return ask("http://127.0.0.1:9/v1")

    return ask_for


def choice(finish_reason: object = "stop", **message: object) -> dict[str, object]:
    return {"choices": [{"message": message, "finish_reason": finish_reason}]}


@pytest.mark.parametrize(
    ("body", "text", "finish", "reasoning"),
    [
        (choice(content="a"), "a", Finish.STOP, ""),
        (choice(None, content="a"), "a", Finish.STOP, ""),
        (choice("length", content="a"), "a", Finish.LENGTH, ""),
        (choice("model_length", content="a"), "a", Finish.LENGTH, ""),
        (choice("content_filter", content=None), "", Finish.REFUSAL, ""),
        (choice(content=None, refusal="no"), "no", Finish.REFUSAL, ""),
        (choice(content="a", refusal=""), "a", Finish.STOP, ""),
        (choice("tool_calls", content=None), "", Finish.STOP, ""),
        (choice(content="a", reasoning_content="r"), "a", Finish.STOP, "r"),
        (choice(content="a", reasoning="r"), "a", Finish.STOP, "r"),
        (choice(content="a", reasoning=None, reasoning_content=None), "a", Finish.STOP, ""),
        (choice("length", content=None, reasoning_content="r"), "", Finish.LENGTH, "r"),
        (
            choice(content=[{"type": "thinking", "thinking": "r"}, {"type": "text", "text": "a"}, {"text": "b"}]),
            "ab",
            Finish.STOP,
            "r",
        ),
        (choice(content="\u00e9\n \U0001f600"), "\u00e9\n \U0001f600", Finish.STOP, ""),
    ],
)
def test_what_odd_answers_amount_to(
    answered: Callable[[object], Completion], body: object, text: str, finish: Finish, reasoning: str
) -> None:
    completion = answered(body)
    assert (completion.text, completion.finish, completion.reasoning) == (text, finish, reasoning)


@pytest.mark.parametrize(
    "body",
    [
        "",
        "  \n ",
        "null",
        "[]",
        "{}",
        {"choices": None},
        {"choices": []},
        {"choices": [None]},
        {"choices": [{}]},
        {"choices": [{"message": None}]},
        {"choices": [{"message": {"content": 7}}]},
        {"error": {"message": "overloaded"}},
        '{"choices": [{"message": {"content": "a',
        "data: {}\n\n",
        "[" * 100_000,
    ],
)
def test_what_is_no_answer_is_asked_for_again(answered: Callable[[object], Completion], body: object) -> None:
    with pytest.raises(
        CallError, match=r"^The server's answer is (empty|not of the form of a completion)\.$"
    ) as failed:
        answered(body)
    assert failed.value.trouble is Trouble.SERVER
    assert failed.value.__context__ is None


@pytest.mark.parametrize(
    ("usage", "counted"),
    [
        (None, (None, None, None)),
        ({}, (None, None, None)),
        ({"prompt_tokens": 5, "completion_tokens": 2}, (5, 2, None)),
        ({"prompt_tokens": 5, "completion_tokens": 2, "prompt_tokens_details": None}, (5, 2, None)),
        ({"prompt_tokens": 5, "completion_tokens": 2, "prompt_tokens_details": {"cached_tokens": 3}}, (5, 2, 3)),
        (
            {"prompt_tokens": "many", "completion_tokens": [], "prompt_tokens_details": {"cached_tokens": {}}},
            (None,) * 3,
        ),
        ("unknown", (None, None, None)),
        ({"prompt_tokens": 10**30, "completion_tokens": -1}, (None, None, None)),
        ({"prompt_tokens": 10**9, "completion_tokens": 10**9 + 1}, (10**9, None, None)),
        ({"prompt_tokens": 5, "completion_tokens": 2, "prompt_tokens_details": {"cached_tokens": 50}}, (5, 2, 5)),
        ({"prompt_tokens": -5, "completion_tokens": 2, "prompt_tokens_details": {"cached_tokens": 3}}, (None, 2, None)),
    ],
)
def test_tokens_that_cannot_be_read_cost_no_reply(
    answered: Callable[[object], Completion], usage: object, counted: tuple[int | None, ...]
) -> None:
    completion = answered({**choice(content="a"), "usage": usage, "model": 7, "id": None})
    assert completion.text == "a"
    assert (completion.input_tokens, completion.output_tokens, completion.cached_tokens) == counted
    assert (completion.model, completion.request_id) == ("", "")


def test_names_a_server_gives_are_kept_short(answered: Callable[[object], Completion]) -> None:
    assert len(answered({**choice("x" * 9999, content="a"), "model": "m" * 9999}).model) == 200


def test_names_a_server_gives_can_be_kept(answered: Callable[[object], Completion]) -> None:
    odd = answered({**choice("st\0op", content="a"), "model": "m\ud800", "id": "\udc00"})
    assert (odd.finish_reason, odd.model, odd.request_id) == ("st\\u0000op", "m\\ud800", "\\udc00")
