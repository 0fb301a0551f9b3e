"""What a server can hold replies to, found out once by asking it something invented."""

import asyncio
import json
from collections.abc import Awaitable, Callable, Sequence
from typing import ParamSpec, TypeVar

from workbench.models.base import CallError, Constraint, Finish, Message, Model, Role, Trouble

P = ParamSpec("P")
T = TypeVar("T")

_BUSY_TRIES, _BUSY_SECONDS, _BUSY_LONGEST = 5, 2.0, 60.0
# No one who is free to answer would answer so: whether the words come back tells whether the form was held.
_WORDS = ("velm", "orsk")
_SCHEMA: dict[str, object] = {
    "type": "object",
    "properties": {"colour": {"type": "string", "enum": list(_WORDS)}},
    "required": ["colour"],
    "additionalProperties": False,
}
_MESSAGES = (
    Message(Role.SYSTEM, "You answer in one plain sentence. JSON is for machines and you are talking to a person."),
    Message(Role.USER, "What colour is the sky on a clear day?"),
)


async def probe(model_of: Callable[[Constraint], Model], constraints: Sequence[Constraint]) -> Constraint:
    """Return the first of ``constraints`` that the server takes and keeps.

    A server that answers an error to one, or takes it and then does as it likes, is asked the next. Each is asked once,
    with a question that holds nothing of any report.

    Args:
        model_of: makes the model that holds replies so; each is closed again.
        constraints: the tightest first, ``Constraint.TEXT`` last; a provider's module has them as ``CONSTRAINTS``.

    Raises:
        CallError: the server answers not even plain text, or not now.
    """
    *held, last = constraints
    for constraint in held:
        if await _keeps(model_of(constraint), constraint):
            return constraint
    await _asked(model_of(last))
    return last


async def patiently(ask: Callable[P, Awaitable[T]], *given: P.args, **named: P.kwargs) -> T:
    """Return what a probe, called with the rest, finds out, asked again a few times where the server is busy.

    Not through a pool of calls: that would ask again, with growing waits, a server that fails at a form, although its
    failing is the answer.

    Raises:
        CallError: the server answers not even plain text, is busy for longer, or cannot be reached.
    """
    for _ in range(_BUSY_TRIES - 1):
        try:
            return await ask(*given, **named)
        except CallError as error:
            wait = error.retry_after or _BUSY_SECONDS
            if error.trouble is not Trouble.BUSY or wait > _BUSY_LONGEST:
                raise
            await asyncio.sleep(wait)
    return await ask(*given, **named)


async def _keeps(model: Model, constraint: Constraint) -> bool:
    try:
        answer = await _asked(model)
    except CallError as error:
        # Some servers fail at a form they do not know instead of refusing it.
        if error.trouble in {Trouble.REJECTED, Trouble.SERVER}:
            return False
        raise
    return answer is not None and (constraint is Constraint.JSON_OBJECT or answer.get("colour") in _WORDS)


async def _asked(model: Model) -> dict[str, object] | None:
    """Return the answer where it is a JSON object that came to its end."""
    try:
        completion = await model.complete(_MESSAGES, schema=_SCHEMA)
    finally:
        await model.close()
    try:
        answer = json.loads(completion.text)
    except (ValueError, RecursionError):
        return None
    return answer if isinstance(answer, dict) and completion.finish is Finish.STOP else None
