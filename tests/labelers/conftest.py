"""A model whose answers are dealt, for the tests of those that ask one."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import pytest

from workbench.models.base import Completion, Message


@dataclass
class Dealer:
    """Deals answers in turn and keeps what it is sent."""

    answers: list[Completion | Exception]
    sent: list[Sequence[Message]] = field(default_factory=list)
    schemas: list[Mapping[str, object]] = field(default_factory=list)
    closed: bool = False

    async def complete(self, messages: Sequence[Message], *, schema: Mapping[str, object]) -> Completion:
        self.sent.append(messages)
        self.schemas.append(schema)
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer

    async def close(self) -> None:
        self.closed = True


@pytest.fixture
def deal() -> Callable[..., Dealer]:
    """Makes models that deal what they are given, in turn: ``deal(completion, error)``."""
    return lambda *answers: Dealer(list(answers))
