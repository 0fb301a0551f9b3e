"""What calls took that brought no reply: counted where the server said it, and said to be unknown where it did not."""

import asyncio
import json
from collections.abc import Callable
from typing import Any

import httpx2
import pytest

from workbench.domain.findings import LabelSet
from workbench.domain.prompts import Prompt
from workbench.domain.runs import LabelerSettings, Price, Run, RunProgress, Usage
from workbench.labelers.language_model import LanguageModelLabeler
from workbench.models.anthropic import AnthropicModel
from workbench.models.base import Constraint
from workbench.models.egress import Egress
from workbench.models.openai import OpenAIModel
from workbench.running import process
from workbench.running.pool import Patience, Pool
from workbench.running.runner import execute
from workbench.storage.database import Database

MODELS: dict[str, Callable[..., Any]] = {"openai": OpenAIModel, "anthropic": AnthropicModel}
PRICE = Price(10.0, 100.0)
RIGHT = '{"findings": []}'


def said(kind: str, text: str, given: int, answered: int) -> dict[str, Any]:
    if kind == "openai":
        usage = {"prompt_tokens": given, "completion_tokens": answered}
        return {"choices": [{"message": {"content": text}, "finish_reason": "stop"}], "usage": usage}
    usage = {"input_tokens": given, "output_tokens": answered}
    return {"content": [{"type": "text", "text": text}], "stop_reason": "end_turn", "usage": usage}


def nothing(kind: str, given: int, answered: int) -> dict[str, Any]:
    """An answer that holds no reply, and yet says what it took."""
    return said(kind, "", given, answered) | {"choices": [], "content": None}


def lost() -> dict[str, Any]:
    raise httpx2.ReadError("the connection failed")


@pytest.fixture
def run_of(
    database: Database, a_run: Callable[..., Run], prompt: Prompt, label_set: LabelSet, monkeypatch: pytest.MonkeyPatch
) -> Callable[..., RunProgress]:
    """Run over one text against a server that answers so, and return how the run stands, as another process sees it."""

    def go(kind: str, *answers: Callable[[], dict[str, Any]], tries: int = 3) -> RunProgress:
        left = list(answers)

        async def answer(_: httpx2.Request) -> httpx2.Response:
            return httpx2.Response(200, content=json.dumps(left.pop(0)()))

        monkeypatch.setattr(Egress, "transport", lambda _, **_limit: httpx2.MockTransport(answer))
        settings = LabelerSettings("m", kind, base_url="http://127.0.0.1:1", model="m", max_tokens=50, price=PRICE)
        pool = Pool(1, Patience(tries=tries, first_wait=0.0))
        model = pool.through(MODELS[kind](settings, key=None, egress=Egress(), constraint=Constraint.TEXT))
        labeler = LanguageModelLabeler(settings, prompt, label_set, model, constraint=Constraint.TEXT)
        run, texts = a_run(settings), [("r", "Clear.")]
        done = asyncio.run(execute(database, run, labeler, texts, pool=pool))
        assert not left
        with database.read() as conn:
            seen = process.progress(conn, run, texts)
        assert (seen.usage, seen.cost) == (done.usage, done.cost)
        return seen

    return go


@pytest.mark.parametrize("kind", MODELS)
def test_what_was_taken_in_vain_before_a_reply_is_part_of_what_it_took(
    kind: str, run_of: Callable[..., RunProgress]
) -> None:
    seen = run_of(kind, lambda: nothing(kind, 100, 7), lost, lambda: said(kind, RIGHT, 90, 5))
    assert seen.failed == {}
    assert seen.usage == Usage(1, 190, 12, lost=1)
    assert seen.cost == pytest.approx((190 * 10 + 12 * 100) / 1e6)


@pytest.mark.parametrize("kind", MODELS)
def test_what_a_call_took_that_failed_for_good_counts_and_stays_counted_when_it_heals(
    kind: str, run_of: Callable[..., RunProgress]
) -> None:
    seen = run_of(kind, lambda: nothing(kind, 100, 7), lost, lambda: nothing(kind, 50, 3))
    assert (seen.failed, seen.unanswered) == ({"failed": 1}, 1)
    assert seen.usage == Usage(2, 150, 10, lost=1)
    assert seen.cost == pytest.approx((150 * 10 + 10 * 100) / 1e6)
    healed = run_of(kind, lambda: said(kind, RIGHT, 90, 5))
    assert healed.failed == {}
    assert healed.usage == Usage(3, 240, 15, lost=1)


@pytest.mark.parametrize("kind", MODELS)
@pytest.mark.parametrize(
    ("end", "status"),
    [
        ({"finish_reason": "length", "stop_reason": "max_tokens"}, "truncated"),
        ({"finish_reason": "content_filter", "stop_reason": "refusal"}, "refused"),
    ],
)
def test_a_reply_that_cannot_be_used_counts_as_any(
    kind: str, end: dict[str, str], status: str, run_of: Callable[..., RunProgress]
) -> None:
    answer = said(kind, RIGHT, 90, 50)
    if kind == "openai":
        answer["choices"][0]["finish_reason"] = end["finish_reason"]
    else:
        answer["stop_reason"] = end["stop_reason"]
    seen = run_of(kind, lambda: answer)
    assert (seen.failed, seen.usage) == ({status: 1}, Usage(1, 90, 50))


@pytest.mark.parametrize("kind", MODELS)
def test_a_mending_that_fails_counts_too(kind: str, run_of: Callable[..., RunProgress]) -> None:
    seen = run_of(kind, lambda: said(kind, "Words.", 90, 5), lambda: nothing(kind, 95, 2), lost, tries=2)
    assert (seen.failed, seen.usage) == ({"malformed": 1}, Usage(1, 185, 7, lost=1))
