"""What is sent to Anthropic, and what odd answers amount to."""

import asyncio
import json
from collections.abc import Callable
from typing import Any

import httpx2
import pytest

from workbench.domain.runs import LabelerSettings
from workbench.errors import InputError
from workbench.models.anthropic import AnthropicModel
from workbench.models.base import CallError, Completion, Constraint, Finish, Message, Role, Trouble
from workbench.models.egress import Egress

MESSAGES = [
    Message(Role.SYSTEM, "Label."),
    Message(Role.USER, "<report>\nClear.\n</report>"),
    Message(Role.ASSISTANT, "Clear?"),
    Message(Role.USER, "JSON."),
]
SCHEMA = {"type": "object", "properties": {}, "required": [], "additionalProperties": False}


def ask(base_url: str, *, constraint: Constraint | None = None, key: str | None = None, **more: Any) -> Completion:
    settings = LabelerSettings(**{"name": "x", "kind": "anthropic", "base_url": base_url, "model": "m", **more})
    model = AnthropicModel(settings, key=key, egress=Egress(), constraint=constraint)

    async def call() -> Completion:
        try:
            return await model.complete(MESSAGES, schema=SCHEMA)
        finally:
            await model.close()

    return asyncio.run(call())


def sent(start_fault_server: Callable[..., Any], **more: Any) -> dict[str, Any]:
    server = start_fault_server()
    ask(server.url, **more)
    return dict(server.log()["last"])


def test_the_shared_part_comes_first_and_is_marked_to_be_cached(start_fault_server: Callable[..., Any]) -> None:
    assert sent(start_fault_server)["body"] == {
        "model": "m",
        "max_tokens": 4096,
        "system": [{"type": "text", "text": "Label.", "cache_control": {"type": "ephemeral"}}],
        "messages": [
            {"role": "user", "content": "<report>\nClear.\n</report>"},
            {"role": "assistant", "content": "Clear?"},
            {"role": "user", "content": "JSON."},
        ],
    }


def test_settings_are_sent_where_they_are_given(start_fault_server: Callable[..., Any]) -> None:
    body = sent(start_fault_server, temperature=0.0, max_tokens=7)["body"]
    assert (body["temperature"], body["max_tokens"]) == (0.0, 7)


def test_a_seed_is_refused_for_there_is_none() -> None:
    with pytest.raises(InputError, match=r"^Labeler x: an anthropic labeler has no use for seed"):
        ask("http://127.0.0.1:9", seed=1)


def test_each_constraint_is_asked_for(start_fault_server: Callable[..., Any]) -> None:
    body = sent(start_fault_server, constraint=Constraint.JSON_SCHEMA)["body"]
    assert body["output_config"] == {"format": {"type": "json_schema", "schema": SCHEMA}}
    body = sent(start_fault_server, constraint=Constraint.TOOL)["body"]
    assert [tool["input_schema"] for tool in body["tools"]] == [SCHEMA]
    assert body["tool_choice"] == {"type": "tool", "name": body["tools"][0]["name"], "disable_parallel_tool_use": True}
    body = sent(start_fault_server, constraint=Constraint.TEXT)["body"]
    assert not {"output_config", "tools", "tool_choice"} & body.keys()


def test_the_key_is_sent_as_it_is_and_none_is_made_up(start_fault_server: Callable[..., Any]) -> None:
    headers = sent(start_fault_server, key="sk-1")["headers"]
    assert "sk-1" in {headers.get("x-api-key"), headers.get("authorization", "").removeprefix("Bearer ")}
    headers = sent(start_fault_server)["headers"]
    assert "none" in {headers.get("x-api-key"), headers.get("authorization", "").removeprefix("Bearer ")}


@pytest.fixture
def answered(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Completion]:
    """Ask where the server's answer is a given body, or given text."""

    def ask_for(body: object, constraint: Constraint = Constraint.TEXT) -> Completion:
        content = body if isinstance(body, str) else json.dumps(body)

        async def answer(_: httpx2.Request) -> httpx2.Response:
            return httpx2.Response(200, content=content.encode())

        monkeypatch.setattr(Egress, "transport", lambda _, **_limit: httpx2.MockTransport(answer))
        return ask("http://127.0.0.1:9", constraint=constraint)

    return ask_for


def text(words: str) -> dict[str, object]:
    return {"type": "text", "text": words}


def tool(value: object) -> dict[str, object]:
    return {"type": "tool_use", "id": "t", "name": "labels", "input": value}


@pytest.mark.parametrize(
    ("content", "stop_reason", "reply", "finish"),
    [
        ([text("a")], "end_turn", "a", Finish.STOP),
        ([text("a"), text("b")], "end_turn", "ab", Finish.STOP),
        ([], "end_turn", "", Finish.STOP),
        ([text("a")], None, "a", Finish.STOP),
        ([text("a")], "max_tokens", "a", Finish.LENGTH),
        ([text("a")], "model_context_window_exceeded", "a", Finish.LENGTH),
        ([text("no")], "refusal", "no", Finish.REFUSAL),
        ([tool({"b": "\u00e9", "a": 1})], "tool_use", '{"b": "\u00e9", "a": 1}', Finish.STOP),
        ([text("I call it."), tool({})], "tool_use", "{}", Finish.STOP),
        ([tool({"a": 1})], "max_tokens", '{"a": 1}', Finish.LENGTH),
        ([tool({}), tool({})], "tool_use", "{}\n{}", Finish.STOP),
        ([{"type": "redacted_thinking", "data": "x"}, text("a")], "end_turn", "a", Finish.STOP),
    ],
)
def test_what_odd_answers_amount_to(
    answered: Callable[..., Completion], content: object, stop_reason: object, reply: str, finish: Finish
) -> None:
    completion = answered({"content": content, "stop_reason": stop_reason}, Constraint.TOOL)
    assert (completion.text, completion.finish) == (reply, finish)
    assert completion.finish_reason == (stop_reason or "")


@pytest.mark.parametrize(
    "body", ["", "null", "{}", {"content": None}, {"content": "a"}, {"content": [7]}, {"type": "error", "error": {}}]
)
def test_what_is_no_answer_is_asked_for_again(answered: Callable[..., Completion], body: object) -> None:
    with pytest.raises(
        CallError, match=r"^The server's answer is (empty|not of the form of a completion)\.$"
    ) as failed:
        answered(body)
    assert failed.value.trouble is Trouble.SERVER


@pytest.mark.parametrize(
    ("usage", "counted"),
    [
        (None, (None, None, None)),
        ({"input_tokens": 5, "output_tokens": 2}, (5, 2, None)),
        # 5 fresh, 40 read from the cache and 7 written to it are 52 tokens of input
        (
            {
                "input_tokens": 5,
                "output_tokens": 2,
                "cache_read_input_tokens": 40,
                "cache_creation_input_tokens": 7,
            },
            (52, 2, 40),
        ),
        (
            {
                "input_tokens": 5,
                "output_tokens": 2,
                "cache_read_input_tokens": None,
                "cache_creation_input_tokens": None,
            },
            (5, 2, None),
        ),
        ({"input_tokens": "x", "output_tokens": {}}, (None, None, None)),
        ({"input_tokens": 10**30, "output_tokens": -2}, (None, None, None)),
        ({"input_tokens": 1.5, "output_tokens": 1_000_000_001, "cache_read_input_tokens": 4}, (None, None, None)),
        ({"input_tokens": 5, "output_tokens": 10**9, "cache_read_input_tokens": -40}, (5, 10**9, None)),
    ],
)
def test_tokens_of_the_cache_are_counted_as_input(
    answered: Callable[..., Completion], usage: object, counted: tuple[int | None, ...]
) -> None:
    completion = answered({"content": [text("a")], "usage": usage})
    assert (completion.input_tokens, completion.output_tokens, completion.cached_tokens) == counted
