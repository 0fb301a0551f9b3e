"""A model that answers from a file: for tests, for demonstrations, and to see what a failed reply looks like.

The file is JSONL. Each line holds one reply and says what it is for:

    {"contains": "small effusion", "reply": {"findings": [...]}}
    {"text_hash": "9f86...", "reply": "any text", "failure": "truncated"}
    {"default": true, "reply": {"findings": []}}

The first line that fits a report answers it: by the hash of its text, else by words it contains, else the default.
``failure`` is ``truncated`` (half of the reply, cut at the limit), ``refused``, ``malformed`` (prose around it) or
``error`` (the call fails). ``repaired`` is what is answered when the reply is sent back, else the same again.
"""

import asyncio
import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, JsonValue, ValidationError, model_validator

from workbench.domain.hashing import text_hash
from workbench.errors import InputError, WorkbenchError
from workbench.models.base import Completion, Finish, Message, Role


class _Entry(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    text_hash: str | None = None
    contains: str | None = None
    default: bool = False
    reply: JsonValue = ""
    repaired: JsonValue = None
    failure: Literal["truncated", "refused", "malformed", "error"] | None = None

    @model_validator(mode="after")
    def _one_key(self) -> "_Entry":
        if sum((self.text_hash is not None, bool(self.contains), self.default)) != 1:
            raise ValueError("say exactly one of text_hash, contains and default: true")
        return self

    @property
    def text(self) -> str:
        return _text(self.reply)


def file_hash(path: Path) -> str:
    """Return the hash of a file of replies. Raises InputError when it cannot be read."""
    return hashlib.sha256(_bytes(path)).hexdigest()


class ScriptedModel:
    """Answers from a file of replies.

    Args:
        path: the JSONL file.
        delay: seconds each answer takes.

    Raises:
        InputError: the file cannot be read, or a line of it is wrong; the line is named.
    """

    def __init__(self, path: Path, *, delay: float = 0.0) -> None:
        entries = _entries(path)
        self._delay = delay
        self._name = path.name
        self._by_hash = {e.text_hash: e for e in reversed(entries) if e.text_hash is not None}
        self._by_words = [e for e in entries if e.contains]
        self._default = next((e for e in entries if e.default), None)

    async def complete(self, messages: Sequence[Message], *, schema: Mapping[str, object]) -> Completion:  # noqa: ARG002
        """Return the reply for the report in the first user message, whose first and last line delimit it.

        Raises:
            WorkbenchError: no reply is for this report, or its reply is to fail.
        """
        await asyncio.sleep(self._delay)
        user = next(message.text for message in messages if message.role is Role.USER)
        entry = self._entry(user)
        if entry.failure == "error":
            raise WorkbenchError(f"{self._name} says that this call fails.")
        sent = sum(len(message.text.split()) for message in messages)
        asked_again = any(message.role is Role.ASSISTANT for message in messages)
        mended = asked_again and entry.repaired is not None
        text, finish = (_text(entry.repaired), Finish.STOP) if mended else _answer(entry)
        return Completion(text, finish, sent, len(text.split()), model="scripted")

    async def close(self) -> None:
        """Give back nothing: there is only a file, and it has been read."""

    def _entry(self, user: str) -> _Entry:
        report = "\n".join(user.split("\n")[1:-1])
        entry = self._by_hash.get(text_hash(report))
        if entry is None:
            entry = next((e for e in self._by_words if str(e.contains) in report), self._default)
        if entry is None:
            raise WorkbenchError(f"{self._name} has no reply for this report and no default; add one.")
        return entry


def _text(reply: JsonValue) -> str:
    return reply if isinstance(reply, str) else json.dumps(reply, ensure_ascii=False)


def _answer(entry: _Entry) -> tuple[str, Finish]:
    match entry.failure:
        case "truncated":
            return entry.text[: len(entry.text) // 2], Finish.LENGTH
        case "refused":
            return "", Finish.REFUSAL
        case "malformed":
            return f"Here is the answer: {entry.text} I hope that helps.", Finish.STOP
        case _:
            return entry.text, Finish.STOP


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise InputError(f"The file of replies {path.name} cannot be read: {error.strerror}.") from None


def _entries(path: Path) -> list[_Entry]:
    entries = []
    try:
        text = _bytes(path).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(f"{path.name}: the byte at position {error.start + 1} is not UTF-8.") from None
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        try:
            entries.append(_Entry.model_validate_json(line))
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            spot = ", ".join(str(part) for part in first["loc"])
            reason = first["msg"].removeprefix("Value error, ")
            raise InputError(f"{path.name}, line {number}{': ' if spot else ''}{spot}: {reason}.") from None
    return entries
