"""What providers share: how long to wait, and what each kind of answer that is none amounts to."""

import asyncio
import json
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.domain.runs import LabelerSettings
from workbench.errors import InputError
from workbench.models.base import CallError, Trouble
from workbench.models.calls import ClientErrors, ask, retry_after, sendable_key, status_failure

NOW = datetime(2026, 11, 29, 12, 0, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"retry-after": "7"}, 7.0),
        ({"retry-after": " 7 "}, 7.0),
        ({"retry-after": "0.25"}, 0.25),
        ({"retry-after": "600"}, 600.0),
        ({"retry-after": "86400"}, 86400.0),
        ({"retry-after": "0"}, None),
        ({"retry-after": "0.0"}, None),
        ({"retry-after": "-5"}, None),
        ({"retry-after": ""}, None),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "inf"}, None),
        ({"retry-after": "1e3"}, None),
        ({"retry-after": "1_000"}, None),
        ({"retry-after": "9" * 400}, None),
        ({"retry-after": "\u0667"}, None),
        ({"retry-after": "7 s"}, None),
        ({"retry-after-ms": "1500"}, 1.5),
        ({"retry-after-ms": "1500", "retry-after": "9"}, 1.5),
        ({"retry-after-ms": "0", "retry-after": "9"}, 9.0),
        ({"retry-after-ms": "x", "retry-after": "9"}, 9.0),
        ({"retry-after": "Sun, 29 Nov 2026 12:01:30 GMT"}, 90.0),
        ({"retry-after": "Sunday, 29-Nov-26 12:01:30 GMT"}, 90.0),
        ({"retry-after": "Sun, 29 Nov 2026 12:01:30"}, 90.0),
        ({"retry-after": "Sun, 29 Nov 2026 11:00:00 GMT"}, None),
        ({"retry-after": "Sun, 29 Nov 2026 12:00:00 GMT"}, None),
        ({"retry-after": "Sun, 99 Nov 2026 12:00:00 GMT"}, None),
        # A server whose clock is an hour behind asks for 30 seconds all the same.
        ({"retry-after": "Sun, 29 Nov 2026 11:00:30 GMT", "date": "Sun, 29 Nov 2026 11:00:00 GMT"}, 30.0),
        ({"retry-after": "Sun, 29 Nov 2026 12:00:30 GMT", "date": "yesterday"}, 30.0),
    ],
)
def test_each_form_of_retry_after(headers: dict[str, str], seconds: float | None) -> None:
    assert retry_after(headers, NOW) == seconds


@given(st.text(), st.text(), st.text())
def test_no_header_breaks_it(first: str, second: str, third: str) -> None:
    wait = retry_after({"retry-after": first, "retry-after-ms": second, "date": third}, NOW)
    assert wait is None or 0 < wait < float("inf")


def openai_error(**fields: object) -> str:
    return json.dumps({"error": {"message": "", "type": None, "param": None, "code": None, **fields}})


@pytest.mark.parametrize(
    ("status", "body", "trouble"),
    [
        (429, "", Trouble.BUSY),
        (529, "", Trouble.BUSY),
        (500, "", Trouble.SERVER),
        (502, "<html>", Trouble.SERVER),
        (503, "", Trouble.SERVER),
        (504, "null", Trouble.SERVER),
        (409, "[]", Trouble.SERVER),
        (408, "", Trouble.CONNECTION),
        (400, '"x"', Trouble.REJECTED),
        (400, "[" * 100_000, Trouble.REJECTED),
        (422, '{"detail": [{"loc": ["body"]}]}', Trouble.REJECTED),
        (418, "", Trouble.REJECTED),
        (401, "", Trouble.CLOSED),
        (402, "", Trouble.CLOSED),
        (403, "", Trouble.CLOSED),
        (404, "", Trouble.CLOSED),
        (405, "", Trouble.CLOSED),
        (413, "", Trouble.TOO_LONG),
        # OpenAI
        (400, openai_error(code="context_length_exceeded"), Trouble.TOO_LONG),
        (429, openai_error(code="insufficient_quota"), Trouble.CLOSED),
        (429, openai_error(code="rate_limit_exceeded"), Trouble.BUSY),
        (400, openai_error(code="unsupported_value", param="temperature"), Trouble.CLOSED),
        (400, openai_error(code="unsupported_parameter", param="max_tokens"), Trouble.CLOSED),
        (400, openai_error(code="unsupported_value", param="response_format"), Trouble.REJECTED),
        (400, openai_error(code="invalid_value", param="temperature"), Trouble.REJECTED),
        # vLLM, llama.cpp, Anthropic
        (
            400,
            json.dumps(
                {"object": "error", "message": "This model's maximum context length is 2048 tokens.", "code": 400}
            ),
            Trouble.TOO_LONG,
        ),
        (400, openai_error(type="exceed_context_size_error", code=400), Trouble.TOO_LONG),
        (500, openai_error(message="Context size has been exceeded."), Trouble.TOO_LONG),
        (
            400,
            json.dumps(
                {"type": "error", "error": {"type": "x", "message": "prompt is too long: 9 tokens > 8 maximum"}}
            ),
            Trouble.TOO_LONG,
        ),
        (
            400,
            json.dumps({"type": "error", "error": {"type": "x", "message": "Your credit balance is too low"}}),
            Trouble.CLOSED,
        ),
    ],
)
def test_what_an_answer_that_is_an_error_amounts_to(status: int, body: str, trouble: Trouble) -> None:
    failure = status_failure(status, {}, body)
    assert failure.trouble is trouble
    assert f"(HTTP {status})" in str(failure)
    assert str(failure).count(".") == 1, "one sentence"


def test_a_server_that_says_when_to_come_back_is_busy_and_one_that_does_not_has_failed() -> None:
    busy = status_failure(503, {"retry-after": "2"}, "")
    assert (busy.trouble, busy.retry_after) == (Trouble.BUSY, 2.0)
    failed = status_failure(500, {"retry-after": "2"}, "")
    assert (failed.trouble, failed.retry_after) == (Trouble.SERVER, 2.0)


@given(st.integers(300, 599), st.text())
def test_no_words_of_a_server_are_repeated(status: int, words: str) -> None:
    plain = str(status_failure(status, {}, ""))
    body = json.dumps({"error": {"message": f"{words} SERVER-CANARY", "code": words, "param": "SERVER-CANARY"}})
    assert "SERVER-CANARY" not in str(status_failure(status, {}, body))
    assert str(status_failure(status, {}, f"{words} SERVER-CANARY")) == plain


@pytest.mark.parametrize("key", ["", " ", "sk-1\n", "sk 1", "sk-\u00e9", "\ufeffsk-1", "sk-1\x00"])
def test_what_cannot_be_a_key_is_named_and_not_shown(key: str) -> None:
    settings = LabelerSettings("gpt", "openai", api_key_env="MY_KEY")
    with pytest.raises(InputError, match=r"^Labeler gpt: the key in MY_KEY is empty, or holds a space") as refused:
        sendable_key(settings, key)
    assert "sk" not in str(refused.value)


def test_a_fault_of_the_program_is_no_trouble_of_the_server() -> None:
    async def send() -> None:
        raise KeyError("x")

    errors = ClientErrors(status=ValueError, timeout=ValueError, connection=ValueError)
    with pytest.raises(KeyError):
        asyncio.run(ask(send, seconds=1, errors=errors))


def test_half_a_character_is_the_reports_fault_and_not_shown() -> None:
    async def send() -> None:
        "secret report \ud800".encode()

    errors = ClientErrors(status=ZeroDivisionError, timeout=ZeroDivisionError, connection=ZeroDivisionError)
    with pytest.raises(CallError, match="half a character") as refused:
        asyncio.run(ask(send, seconds=1, errors=errors))
    assert refused.value.trouble is Trouble.REJECTED
    assert refused.value.__context__ is None
