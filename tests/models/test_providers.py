"""Both real clients against a server that misbehaves: each call ends in one known way, and nothing leaks."""

import asyncio
import gc
import logging
import sys
import time
import traceback
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from workbench.domain.runs import LabelerSettings
from workbench.errors import InputError
from workbench.models.anthropic import AnthropicModel
from workbench.models.base import CallError, Completion, Constraint, Finish, Message, Role, Trouble
from workbench.models.egress import Egress
from workbench.models.openai import OpenAIModel

PROVIDERS = {"openai": (OpenAIModel, "/v1"), "anthropic": (AnthropicModel, "")}
KEY = "sk-KEY-CANARY"
REPORT = "REPORT-CANARY pneumothorax present. cardiomegaly absent."
RIGHT = (
    '{"findings": [{"finding": "pneumothorax", "state": "present", "evidence": "pneumothorax present."}, '
    '{"finding": "cardiomegaly", "state": "absent", "evidence": "cardiomegaly absent."}]}'
)

pytestmark = pytest.mark.parametrize("provider", PROVIDERS)


def made(provider: str, root: str, **more: Any) -> Any:
    model, path = PROVIDERS[provider]
    constraint = more.pop("constraint", None)
    settings = {"name": "x", "kind": provider, "base_url": f"{root}{path}", "model": "m", "timeout": 10.0, **more}
    return model(LabelerSettings(**settings), key=KEY, egress=Egress(), constraint=constraint)


def call(provider: str, root: str, step: str = "ok", **more: Any) -> Completion:
    model = made(provider, root, **more)

    async def ask() -> Completion:
        try:
            completion: Completion = await model.complete(messages(step), schema={"type": "object"})
            return completion
        finally:
            await model.close()

    return asyncio.run(ask())


def messages(step: str) -> list[Message]:
    return [
        Message(Role.SYSTEM, "Label."),
        Message(Role.USER, f"<report>\n{REPORT} {{deal {step}}}\n</report>"),
    ]


@pytest.fixture
def root(start_fault_server: Callable[..., Any]) -> str:
    return str(start_fault_server().url)


def test_a_reply_comes_with_all_that_the_server_says_of_it(provider: str, root: str) -> None:
    completion = call(provider, root)
    assert completion.text == RIGHT
    assert completion.finish is Finish.STOP
    assert completion.finish_reason == {"openai": "stop", "anthropic": "end_turn"}[provider]
    # The server counts 100 and a token a word of the report, of which 64 were cached; and a token a word of the reply.
    assert completion.input_tokens == 100 + len(f"{REPORT} {{deal ok}}".split())
    assert completion.cached_tokens == 64
    assert completion.output_tokens == len(RIGHT.split()) + 1
    assert (completion.request_id, completion.model, completion.reasoning) == ("req-1", "m-served", "")
    assert completion.constraint == "text"


@pytest.mark.parametrize(
    ("step", "finish", "text"),
    [
        ("truncated", Finish.LENGTH, RIGHT[: len(RIGHT) // 2]),
        ("spaces", Finish.LENGTH, '{"findings":' + " \n\t" * 3000),
        ("refusal", Finish.REFUSAL, "I cannot help with that."),
        ("filter", Finish.REFUSAL, "I cannot help with that."),
        ("fence", Finish.STOP, f"```json\n{RIGHT}\n```"),
        ("think", Finish.STOP, f"<think>\nFirst {{I}} look.\n</think>\n\n{RIGHT}"),
        ("prose", Finish.STOP, f"Here are the labels: {RIGHT} I hope that helps."),
        ("empty_text", Finish.STOP, ""),
        ("null_text", Finish.STOP, ""),
        ("slow:0.2", Finish.STOP, RIGHT),
    ],
)
def test_an_answer_is_handed_on_as_it_came(provider: str, root: str, step: str, finish: Finish, text: str) -> None:
    completion = call(provider, root, step)
    assert (completion.finish, completion.text) == (finish, text)


def test_what_the_model_thought_is_kept_apart(provider: str, root: str) -> None:
    completion = call(provider, root, "reasoning")
    assert (completion.text, completion.reasoning) == (RIGHT, "I looked.")


TROUBLES = [
    *((f"429:{form}", Trouble.BUSY, None) for form in ("none", "0", "past", "garbage", "negative", "empty", "nan")),
    ("429:seconds=2", Trouble.BUSY, 2.0),
    ("429:fraction=0.25", Trouble.BUSY, 0.25),
    ("429:ms=0.25", Trouble.BUSY, 0.25),
    ("429:huge", Trouble.BUSY, 600.0),
    ("529", Trouble.BUSY, None),
    ("529:seconds=3", Trouble.BUSY, 3.0),
    ("503:seconds=3", Trouble.BUSY, 3.0),
    ("503", Trouble.SERVER, None),
    ("500", Trouble.SERVER, None),
    ("502", Trouble.SERVER, None),
    ("empty", Trouble.SERVER, None),
    ("not_json", Trouble.SERVER, None),
    ("no_choices", Trouble.SERVER, None),
    ("error_body", Trouble.SERVER, None),
    ("endless", Trouble.SERVER, None),
    ("bomb", Trouble.SERVER, None),
    ("reset", Trouble.CONNECTION, None),
    ("reset_early", Trouble.CONNECTION, None),
    ("half", Trouble.CONNECTION, None),
    ("400", Trouble.REJECTED, None),
    ("422", Trouble.REJECTED, None),
    ("too_long", Trouble.TOO_LONG, None),
    ("413", Trouble.TOO_LONG, None),
    ("401", Trouble.CLOSED, None),
    ("403", Trouble.CLOSED, None),
    ("404", Trouble.CLOSED, None),
    ("quota", Trouble.CLOSED, None),
    ("redirect", Trouble.CLOSED, None),
]


@pytest.fixture
def everything_logged(caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[], str]]:
    """All that any logger says, were somebody to ask for all of it; returns it as one text."""
    monkeypatch.setenv("OPENAI_LOG", "debug")
    monkeypatch.setenv("ANTHROPIC_LOG", "debug")
    with caplog.at_level(logging.DEBUG):
        yield lambda: caplog.text + "".join(repr(record.__dict__) for record in caplog.records)


def test_each_trouble_is_told_apart_in_one_sentence_that_repeats_nothing(
    provider: str, start_fault_server: Callable[..., Any], everything_logged: Callable[[], str]
) -> None:
    server = start_fault_server()
    for number, (step, trouble, wait) in enumerate(TROUBLES, start=1):
        with pytest.raises(CallError) as failed:
            call(provider, server.url, step)
        error = failed.value
        assert (step, error.trouble) == (step, trouble)
        assert (step, error.retry_after) == (step, wait)
        assert server.log()["calls"] == number, f"{step}: asked once, and not again"
        told = "".join(traceback.format_exception(error)) + repr(error) + repr(error.__dict__) + everything_logged()
        assert error.__cause__ is None
        assert error.__context__ is None, step
        for secret in ("SERVER-CANARY", "REPORT-CANARY", "KEY-CANARY", "pneumothorax"):
            assert secret not in told, step


def test_a_date_is_waited_for(provider: str, root: str) -> None:
    with pytest.raises(CallError) as failed:
        call(provider, root, "429:date=30")
    assert failed.value.retry_after == pytest.approx(30, abs=5)


def test_a_server_that_drips_holds_no_place_beyond_the_time_given(provider: str, root: str) -> None:
    began = time.monotonic()
    with pytest.raises(CallError, match=r"^The server gave no whole answer within 0\.5 seconds") as failed:
        call(provider, root, "drip", timeout=0.5)
    assert failed.value.trouble is Trouble.CONNECTION
    assert time.monotonic() - began < 60, "it would drip for ten minutes"


def test_a_server_that_is_not_there(provider: str) -> None:
    with pytest.raises(CallError, match=r"^The server cannot be reached") as failed:
        call(provider, "http://127.0.0.1:9")
    assert failed.value.trouble is Trouble.CONNECTION
    assert failed.value.__context__ is None


def test_a_stopped_call_leaves_the_model_usable(provider: str, root: str) -> None:
    async def stop_one() -> Completion:
        model = made(provider, root)
        try:
            hanging = asyncio.create_task(model.complete(messages("drip"), schema={}))
            await asyncio.sleep(0.2)
            hanging.cancel()
            with pytest.raises(asyncio.CancelledError):
                await hanging
            completion: Completion = await model.complete(messages("ok"), schema={})
            return completion
        finally:
            await model.close()

    assert asyncio.run(stop_one()).text == RIGHT


def test_many_at_once_are_answered_each_with_its_own(provider: str, start_fault_server: Callable[..., Any]) -> None:
    server = start_fault_server("--latency", "0.2")

    async def ask_all() -> list[Completion]:
        model = made(provider, server.url)
        texts = [f"<report>\nfinding_{n} present.\n</report>" for n in range(150)]
        try:
            return list(await asyncio.gather(*(model.complete([Message(Role.USER, t)], schema={}) for t in texts)))
        finally:
            await model.close()

    for number, completion in enumerate(asyncio.run(ask_all())):
        assert f'"finding_{number}"' in completion.text
    assert server.log()["peak"] > 100, "who asks decides how many are in flight, not the client"


def test_the_key_is_in_no_picture_of_the_model(provider: str, root: str) -> None:
    model = made(provider, root)
    assert KEY not in repr(model) + repr(vars(model))
    with pytest.raises(InputError) as refused:
        PROVIDERS[provider][0](
            LabelerSettings("x", provider, base_url=root, model="m"), key=f"{KEY}\n", egress=Egress()
        )
    assert KEY not in "".join(traceback.format_exception(refused.value))
    asyncio.run(model.close())


def test_a_model_without_a_name_is_refused(provider: str) -> None:
    with pytest.raises(InputError, match=r"^Labeler x needs the name of its model"):
        made(provider, "http://127.0.0.1:9", model=None)


def test_a_closed_model_leaves_no_connection_open(provider: str, root: str) -> None:
    gc.collect()  # what others left
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always", ResourceWarning)
        call(provider, root)
        gc.collect()
    assert not [warning for warning in told if warning.category is ResourceWarning]


def test_no_constraint_is_asked_for_unless_told(provider: str, start_fault_server: Callable[..., Any]) -> None:
    server = start_fault_server()
    call(provider, server.url)
    sent = server.log()["last"]["body"]
    assert not {"response_format", "output_config", "tools", "temperature", "seed"} & sent.keys()
    assert call(provider, server.url, constraint=Constraint.JSON_SCHEMA).constraint == "json_schema"


def test_a_model_that_is_asked_nothing_loads_no_client(provider: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A finished run makes its labeler too, and is gone on with in less time than the client takes to load."""
    monkeypatch.delitem(sys.modules, provider, raising=False)
    asyncio.run(made(provider, "http://127.0.0.1:9").close())
    assert provider not in sys.modules


def test_how_long_a_call_took_is_told_without_the_wait_for_its_turn(provider: str, root: str) -> None:
    model = made(provider, root)

    async def twice() -> list[Completion]:
        try:
            return [await model.complete(messages(step), schema={}) for step in ("slow:0.2", "ok")]
        finally:
            await model.close()

    slow, quick = asyncio.run(twice())
    assert slow.latency is not None
    assert quick.latency is not None
    assert slow.latency >= 0.2
