"""What a server can hold replies to is found out by asking, and believed only when it was kept."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pytest

from workbench.domain.runs import LabelerSettings
from workbench.models import anthropic, openai
from workbench.models import probe as probe_module
from workbench.models.base import CallError, Completion, Constraint, Finish, Message, Trouble
from workbench.models.egress import Egress
from workbench.models.probe import patiently, probe

KEPT = '{"colour": "velm"}'
FREE = "The sky is blue."


class Asked:
    """A server that answers each constraint as it is told to."""

    def __init__(self, answers: Mapping[Constraint, Completion | CallError]) -> None:
        self.answers = answers
        self.asked: list[Constraint] = []
        self.closed: list[Constraint] = []
        self.sent: list[str] = []

    def model(self, constraint: Constraint) -> "OneModel":
        return OneModel(self, constraint)


class OneModel:
    def __init__(self, server: Asked, constraint: Constraint) -> None:
        self.server, self.constraint = server, constraint

    async def complete(self, messages: Sequence[Message], *, schema: Mapping[str, object]) -> Completion:
        self.server.asked.append(self.constraint)
        self.server.sent += [message.text for message in messages]
        answer = self.server.answers[self.constraint]
        if isinstance(answer, CallError):
            raise answer
        return answer

    async def close(self) -> None:
        self.server.closed.append(self.constraint)


SCHEMA, OBJECT, TOOL, TEXT = Constraint.JSON_SCHEMA, Constraint.JSON_OBJECT, Constraint.TOOL, Constraint.TEXT


def refused(trouble: Trouble) -> CallError:
    return CallError("No.", trouble)


@pytest.mark.parametrize(
    ("answers", "found"),
    [
        ({SCHEMA: Completion(KEPT)}, SCHEMA),
        ({SCHEMA: Completion('\n{\n  "colour": "orsk"\n}\n')}, SCHEMA),
        ({SCHEMA: refused(Trouble.REJECTED), OBJECT: Completion('{"sky": "blue"}')}, OBJECT),
        ({SCHEMA: refused(Trouble.SERVER), OBJECT: Completion('{"sky": "blue"}')}, OBJECT),
        # taken, and not kept
        ({SCHEMA: Completion(FREE), OBJECT: Completion(FREE), TEXT: Completion(FREE)}, TEXT),
        ({SCHEMA: Completion('{"colour": "blue"}'), OBJECT: Completion("[]"), TEXT: Completion(FREE)}, TEXT),
        ({SCHEMA: Completion(f"```json\n{KEPT}\n```"), OBJECT: Completion(KEPT)}, OBJECT),
        ({SCHEMA: Completion(KEPT, Finish.LENGTH), OBJECT: Completion(KEPT)}, OBJECT),
        ({SCHEMA: Completion(""), OBJECT: Completion("[" * 100_000), TEXT: Completion("")}, TEXT),
        ({SCHEMA: refused(Trouble.REJECTED), OBJECT: refused(Trouble.REJECTED), TEXT: Completion(KEPT)}, TEXT),
    ],
)
def test_the_tightest_that_is_kept_is_found(
    answers: Mapping[Constraint, Completion | CallError], found: Constraint
) -> None:
    server = Asked(answers)
    assert asyncio.run(probe(server.model, openai.CONSTRAINTS)) is found
    assert server.asked == list(openai.CONSTRAINTS[: openai.CONSTRAINTS.index(found) + 1]), "each once, in order"
    assert server.closed == server.asked


@pytest.mark.parametrize("trouble", [Trouble.CLOSED, Trouble.CONNECTION, Trouble.BUSY, Trouble.TOO_LONG])
def test_a_server_that_cannot_be_asked_is_no_server_without_constraints(trouble: Trouble) -> None:
    server = Asked({SCHEMA: refused(trouble)})
    with pytest.raises(CallError) as failed:
        asyncio.run(probe(server.model, openai.CONSTRAINTS))
    assert failed.value.trouble is trouble
    assert server.asked == server.closed == [SCHEMA]


@pytest.mark.parametrize("trouble", [Trouble.REJECTED, Trouble.SERVER])
def test_a_server_that_answers_not_even_text_is_said_to(trouble: Trouble) -> None:
    server = Asked(dict.fromkeys([SCHEMA, TOOL, TEXT], refused(trouble)))
    with pytest.raises(CallError):
        asyncio.run(probe(server.model, anthropic.CONSTRAINTS))
    assert server.closed == [SCHEMA, TOOL, TEXT]


@pytest.mark.parametrize(
    ("kind", "arguments", "found"),
    [
        ("openai", (), SCHEMA),
        ("openai", ("--rejects", "json_schema"), OBJECT),
        ("openai", ("--ignores", "json_schema"), OBJECT),
        ("openai", ("--rejects", "json_schema", "--ignores", "json_object"), TEXT),
        ("anthropic", (), SCHEMA),
        ("anthropic", ("--rejects", "json_schema"), TOOL),
        ("openai", ("--rejects", "json_schema,json_object", "--reject-status", "500"), TEXT),
        ("anthropic", ("--ignores", "json_schema,tool"), TEXT),
        ("anthropic", ("--rejects", "json_schema,tool"), TEXT),
    ],
)
def test_real_clients_are_probed(
    kind: str, arguments: tuple[str, ...], found: Constraint, start_fault_server: Callable[..., Any]
) -> None:
    server = start_fault_server(*arguments)
    maker: Any = openai.OpenAIModel if kind == "openai" else anthropic.AnthropicModel
    constraints = openai.CONSTRAINTS if kind == "openai" else anthropic.CONSTRAINTS
    base_url = f"{server.url}/v1" if kind == "openai" else server.url
    settings = LabelerSettings("x", kind, base_url=base_url, model="m")
    result = asyncio.run(
        probe(lambda constraint: maker(settings, key=None, egress=Egress(), constraint=constraint), constraints)
    )
    assert result is found
    assert "pneumothorax" not in str(server.log()["last"]["body"])


@pytest.mark.parametrize(
    ("troubles", "calls", "ends"),
    [
        ([], 1, None),
        ([(Trouble.BUSY, None), (Trouble.BUSY, 0.02)], 3, None),
        ([(Trouble.BUSY, None)] * 9, 5, Trouble.BUSY),
        ([(Trouble.BUSY, 600.0)], 1, Trouble.BUSY),
        ([(Trouble.SERVER, None)], 1, Trouble.SERVER),
        ([(Trouble.CONNECTION, None)], 1, Trouble.CONNECTION),
    ],
)
def test_only_a_busy_server_is_asked_again_and_not_for_ever(
    monkeypatch: pytest.MonkeyPatch, troubles: list[tuple[Trouble, float | None]], calls: int, ends: Trouble | None
) -> None:
    monkeypatch.setattr(probe_module, "_BUSY_SECONDS", 0.01)
    made = 0

    async def ask() -> str:
        nonlocal made
        made += 1
        if troubles:
            trouble, wait = troubles.pop(0)
            raise CallError("No.", trouble, retry_after=wait)
        return "found"

    if ends is None:
        assert asyncio.run(patiently(ask)) == "found"
    else:
        with pytest.raises(CallError) as told:
            asyncio.run(patiently(ask))
        assert told.value.trouble is ends
    assert made == calls
