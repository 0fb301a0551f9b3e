"""What every provider's client shares: one call in bounded time, and each trouble in one sentence that repeats nothing.

A server's own words may hold the report and the key it was sent, and so may the exceptions of the clients: neither is
repeated, logged or chained.
"""

import asyncio
import json
import logging
import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from math import isfinite
from typing import TypeVar

from workbench.domain.runs import LabelerSettings
from workbench.errors import InputError, RightsError
from workbench.models.base import CallError, Trouble

T = TypeVar("T")

NO_KEY = "none"  # sent where a server needs no key: with nothing given the clients would send one of the environment
_WORDS_LIMIT = 20_000  # characters of an error's body that are looked through
_TALKATIVE = ("openai", "anthropic", "httpx2", "httpcore2")
_NUMBER = re.compile(r"[0-9]+(?:\.[0-9]+)?")
_TOO_LONG = re.compile(
    r"context[ _](?:length|window|size)|maximum context|(?:prompt|input) is too long|too many (?:input )?tokens"
    r"|request_too_large",
    re.IGNORECASE,
)
_NO_CREDIT = re.compile(r"insufficient_quota|billing_error|billing_hard_limit|credit balance", re.IGNORECASE)
_SETTINGS = {
    "temperature": "temperature",
    "seed": "seed",
    "max_tokens": "max_tokens",
    "max_completion_tokens": "max_tokens",
}


def hush() -> None:
    """Keep the clients from logging requests, whatever the environment asks for: they hold the report."""
    for name in _TALKATIVE:
        logging.getLogger(name).setLevel(logging.WARNING)


def sendable_key(settings: LabelerSettings, key: str | None) -> str:
    """Return the key to send.

    Raises:
        InputError: it cannot be a key; it is not repeated.
    """
    if key is None:
        return NO_KEY
    if not key or not all("!" <= character <= "~" for character in key):
        where = f" in {settings.api_key_env}" if settings.api_key_env else ""
        raise InputError(
            f"Labeler {settings.name}: the key{where} is empty, or holds a space, line break or other sign no key has."
        )
    return key


def needed_model(settings: LabelerSettings) -> str:
    """Return the name of the model to ask.

    Raises:
        InputError: the settings name none.
    """
    if not settings.model:
        raise InputError(f'Labeler {settings.name} needs the name of its model; give it as model = "...".')
    return settings.model


@dataclass(frozen=True, slots=True)
class ClientErrors:
    """What a client raises: for an answer that is an error (it has a ``response``), for none in time, for none."""

    status: type[Exception]
    timeout: type[Exception]
    connection: type[Exception]


async def ask(send: Callable[[], Awaitable[T]], *, seconds: float, errors: ClientErrors) -> T:
    """Return what ``send`` brings, in ``seconds`` from beginning to end however steadily bytes come.

    Raises:
        CallError: there is no answer. Nothing is chained to it.
    """
    try:
        async with asyncio.timeout(seconds):
            return await send()
    except Exception as error:
        failure = _failure(error, seconds, errors)
        if failure is None:
            raise
    raise failure  # out here, so that what the client raised does not hang on it


def _failure(error: Exception, seconds: float, errors: ClientErrors) -> CallError | None:
    """Return what an exception amounts to, None for a fault of the program."""
    own = _own(error)
    if own is not None:
        return own
    if isinstance(error, errors.status):
        response = error.response  # type: ignore[attr-defined]
        return status_failure(response.status_code, response.headers, response.text)
    if isinstance(error, (TimeoutError, errors.timeout)):
        return CallError(f"The server gave no whole answer within {seconds:g} seconds.", Trouble.CONNECTION)
    if isinstance(error, (OSError, errors.connection)):
        return CallError(
            "The server cannot be reached, or the connection to it was lost; check base_url and whether it runs.",
            Trouble.CONNECTION,
        )
    if isinstance(error, UnicodeEncodeError):
        return CallError("The report holds half a character, which cannot be sent.", Trouble.REJECTED)
    return None


def _own(error: BaseException) -> CallError | None:
    """Return, made anew, what the lock or the transport said, however clients have wrapped it."""
    inner: BaseException | None = error
    while inner is not None:
        if isinstance(inner, CallError):
            return CallError(str(inner), inner.trouble, retry_after=inner.retry_after)
        if isinstance(inner, RightsError):
            return CallError(str(inner), Trouble.CLOSED)
        inner = inner.__cause__
    return None


def status_failure(status: int, headers: Mapping[str, str], body: str) -> CallError:
    """Return what an answer of HTTP status 300 or above amounts to.

    Args:
        status: the HTTP status.
        headers: the answer's, looked up in any case.
        body: looked through for what kind of error it is, and never repeated.
    """
    said = _error_fields(body)
    words = " ".join(said.values())
    trouble, sentence = _judged(status, said, words, asked_to_wait="retry-after" in headers)
    return CallError(sentence, trouble, retry_after=retry_after(headers), status=status)


def _judged(status: int, said: Mapping[str, str], words: str, *, asked_to_wait: bool) -> tuple[Trouble, str]:
    code = f"(HTTP {status})"
    if status == 402 or (status in {400, 403, 429} and _NO_CREDIT.search(words)):
        return Trouble.CLOSED, f"The account of this key has no credit left {code}; top it up or use another key."
    if status == 413 or (status in {400, 422, 500} and _TOO_LONG.search(words)):
        return Trouble.TOO_LONG, f"Prompt and report are longer than the model reads at once {code}."
    if status in {429, 529} or (status == 503 and asked_to_wait):
        return Trouble.BUSY, f"The server is busy and asks to wait {code}."
    if status == 408:
        return Trouble.CONNECTION, f"The server waited too long for the request {code}."
    if status >= 500 or status == 409:
        return Trouble.SERVER, f"The server failed {code}."
    return _refused(status, said, code)


def _refused(status: int, said: Mapping[str, str], code: str) -> tuple[Trouble, str]:
    setting = _SETTINGS.get(said.get("param", ""))
    if setting and "unsupported" in said.get("code", ""):
        return Trouble.CLOSED, f"The model does not take the setting {setting} {code}; change it or take that line out."
    closed = {
        401: f"The server does not accept the key {code}; check the variable it is read from.",
        403: f"The key has no right to this model {code}.",
        404: f"The server has no such model or no such path {code}; check model and base_url.",
        405: f"The server has no such path {code}; check base_url.",
    }
    if status in closed:
        return Trouble.CLOSED, closed[status]
    return Trouble.REJECTED, f"The server does not take this request {code}."


def _error_fields(body: str) -> dict[str, str]:
    """Return code, type, param and message of an error's body where they can be found."""
    try:
        value = json.loads(body[:_WORDS_LIMIT])
    except (ValueError, RecursionError):
        return {}
    inner = value.get("error", value) if isinstance(value, dict) else value
    if not isinstance(inner, dict):
        return {"message": inner} if isinstance(inner, str) else {}
    found = {name: inner[name] for name in ("code", "type", "param", "message") if isinstance(inner.get(name), str)}
    return found | ({"message": value["detail"]} if isinstance(value.get("detail"), str) else {})


def retry_after(headers: Mapping[str, str], now: datetime | None = None) -> float | None:
    """Return the seconds a server asks to wait: more than 0, or None where it says nothing that can be read.

    ``retry-after-ms`` goes before ``Retry-After``, which is a number of seconds or a date. A date is counted from the
    answer's own ``Date``, so that two clocks that differ do no harm, and from ``now`` without one.
    """
    milliseconds = _number(headers.get("retry-after-ms"))
    if milliseconds:
        return milliseconds / 1000
    text = headers.get("retry-after")
    if text is None:
        return None
    seconds = _number(text)
    if seconds is None:
        until, since = _date(text), _date(headers.get("date")) or now or datetime.now(UTC)
        seconds = (until - since).total_seconds() if until else 0.0
    return seconds if seconds > 0 else None


def _number(text: str | None) -> float | None:
    if text is None or not _NUMBER.fullmatch(text.strip()):
        return None
    number = float(text)
    return number if isfinite(number) else None


def _date(text: str | None) -> datetime | None:
    try:
        date = parsedate_to_datetime(text or "")
    except (ValueError, TypeError, IndexError, OverflowError):
        return None
    return date if date.tzinfo else date.replace(tzinfo=UTC)
