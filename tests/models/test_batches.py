"""Both real clients hand batches over on real sockets: what they send, what they read, what they never repeat."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, TypeVar

import httpx2
import pytest

from workbench.domain.runs import LabelerSettings
from workbench.errors import RightsError
from workbench.models.anthropic import AnthropicModel
from workbench.models.anthropic_batches import AnthropicBatches
from workbench.models.base import CallError, Completion, Constraint, Message, Role, Trouble
from workbench.models.batches import BatchAnswer, Sought, whole_lines
from workbench.models.egress import Egress
from workbench.models.openai import OpenAIModel
from workbench.models.openai_batches import OpenAIBatches

KINDS: dict[str, tuple[Any, Any, str]] = {
    "openai": (OpenAIModel, OpenAIBatches, "/v1"),
    "anthropic": (AnthropicModel, AnthropicBatches, ""),
}
KEY = "sk-KEY-CANARY"
T = TypeVar("T")

pytestmark = pytest.mark.parametrize("kind", KINDS)


def made(kind: str, url: str, *, egress: Egress | None = None) -> Any:
    model, batches, path = KINDS[kind]
    settings = LabelerSettings("x", kind, base_url=f"{url}{path}", model="m", timeout=10.0, max_tokens=50)
    return batches(model(settings, key=KEY, egress=egress or Egress(), constraint=Constraint.TEXT))


def done(server: Any, work: Callable[[], Awaitable[T]]) -> T:
    async def run() -> T:
        try:
            return await work()
        finally:
            await server.close()

    return asyncio.run(run())


def requests(server: Any, *reports: str) -> list[bytes]:
    said = [
        server.request(f"n{i}", [Message(Role.SYSTEM, "Label."), Message(Role.USER, f"<r>\n{text}\n</r>")], {})
        for i, text in enumerate(reports)
    ]
    return [json.dumps(each).encode() for each in said]


async def answers(server: Any, name: str) -> dict[str, Completion | CallError]:
    found: list[BatchAnswer] = [answer async for answer in server.answers(name)]
    return {answer.id: answer.result for answer in found}


def test_a_batch_goes_from_being_handed_over_to_its_answers(kind: str, start_batch_server: Callable[..., Any]) -> None:
    provider = start_batch_server("--looks", "2")
    server = made(kind, provider.url)

    async def work() -> Any:
        # A line of the file holds U+2028 as it is, which some readers take for the end of a line.
        first = await server.submit(requests(server, "pneumothorax present. \u2028 end", "{deal prose}"), "t1")
        second = await server.state(first.id)
        third = await server.state(first.id)
        return first, second, third, await answers(server, first.id)

    first, second, third, found = done(server, work)
    assert [state.ended for state in (first, second, third)] == [False, False, True]
    assert (third.id, third.answered, third.failed) == (first.id, 2, 0)
    assert json.loads(found["n0"].text)["findings"][0]["finding"] == "pneumothorax"
    assert found["n0"].input_tokens > 100
    assert found["n1"].text.startswith("Here are the labels")
    seen = provider.log()
    assert seen["keys"] == [KEY]
    assert seen["batches"] == {first.id: ["n0", "n1"]}


def test_what_a_server_says_of_a_failure_is_not_repeated(kind: str, start_batch_server: Callable[..., Any]) -> None:
    server = made(kind, start_batch_server("--looks", "0").url)

    async def work() -> Any:
        state = await server.submit(requests(server, "{deal 400}", "{deal 500}", "{deal expired}"), "t1")
        return await answers(server, state.id)

    found = done(server, work)
    assert {name: error.trouble for name, error in found.items()} == {
        "n0": Trouble.REJECTED,
        "n1": Trouble.SERVER,
        "n2": Trouble.SERVER,
    }
    assert not any("CANARY" in str(error) for error in found.values())


@pytest.mark.parametrize("status", [400, 401, 404, 429, 500])
def test_a_batch_that_is_not_taken_ends_in_one_known_way(
    kind: str, start_batch_server: Callable[..., Any], status: int
) -> None:
    server = made(kind, start_batch_server("--refuse", str(status)).url)
    with pytest.raises(CallError) as error:
        done(server, lambda: server.submit(requests(server, "REPORT-CANARY"), "t1"))
    told = {400: Trouble.REJECTED, 401: Trouble.CLOSED, 404: Trouble.CLOSED, 429: Trouble.BUSY, 500: Trouble.SERVER}
    assert (error.value.trouble, error.value.status) == (told[status], status)
    assert "CANARY" not in str(error.value)


def test_a_batch_is_found_among_others_and_none_where_there_is_none(
    kind: str, start_batch_server: Callable[..., Any]
) -> None:
    server = made(kind, start_batch_server("--others", "7").url)
    before = datetime.now(UTC)

    async def work() -> Any:
        nothing = await server.find(Sought("t1", 2, before, frozenset()))
        state = await server.submit(requests(server, "a", "b"), "t1")
        found = await server.find(Sought("t1", 2, before, frozenset()))
        later = before + timedelta(days=1)
        return nothing, state.id, found.id, await server.find(Sought("t2", 2, later, frozenset({state.id})))

    nothing, mine, found, another = done(server, work)
    assert nothing is None
    assert found == mine
    assert another is None


def test_a_name_that_would_lead_to_another_path_is_not_followed(
    kind: str, start_batch_server: Callable[..., Any]
) -> None:
    server = made(kind, start_batch_server().url)
    if kind == "anthropic":
        with pytest.raises(CallError, match="names no batch"):
            done(server, lambda: answers(server, "../../files"))
    else:
        with pytest.raises(CallError, match="404"):
            done(server, lambda: answers(server, "nothing"))


def test_batches_go_nowhere_that_calls_may_not_go(kind: str) -> None:
    with pytest.raises(RightsError, match="restricted to this computer"):
        made(kind, "https://api.example.org")


def test_a_line_that_does_not_end_is_refused(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert kind in KINDS
    monkeypatch.setattr("workbench.models.batches.BODY_LIMIT", 100)
    path = tmp_path / "lines"
    path.write_bytes(b'{"a": 1}\n\n' + b"x" * 99 + b"\n" + b"y" * 500)
    with path.open("rb") as file:
        lines = whole_lines(file)
        assert [next(lines), next(lines)] == [b'{"a": 1}\n', b"x" * 99 + b"\n"]
        with pytest.raises(CallError, match="goes on beyond 100 bytes"):
            next(lines)


def test_a_state_that_no_text_can_hold_is_told_so_that_it_can_be_kept(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    odd = "in\ud800\0"
    said = {"id": "b1", "status": odd, "processing_status": odd, "created_at": "2026-01-01T00:00:00Z"}
    body = json.dumps(said if kind == "anthropic" else {**said, "created_at": 1.0})

    async def answer(_: httpx2.Request) -> httpx2.Response:
        return httpx2.Response(200, content=body.encode(), headers={"content-type": "application/json"})

    monkeypatch.setattr(Egress, "transport", lambda _, **_limit: httpx2.MockTransport(answer))
    server = made(kind, "http://127.0.0.1:1")
    assert done(server, lambda: server.state("b1")).state == "in\\ud800\\u0000"
