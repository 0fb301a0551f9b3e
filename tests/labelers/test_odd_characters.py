"""Replies with characters that no text can have: paid for once, asked for once more, and kept."""

import asyncio
import json
from collections.abc import Callable
from typing import Any

import httpx2
import pytest

from workbench.domain.findings import Finding, LabelSet, Policies, Policy
from workbench.domain.prompts import FindingGuidance, Guidance, Prompt
from workbench.domain.runs import Extraction, ExtractionKey, ExtractionStatus, LabelerSettings
from workbench.labelers.language_model import LanguageModelLabeler
from workbench.models.anthropic import AnthropicModel
from workbench.models.base import Constraint
from workbench.models.egress import Egress
from workbench.models.openai import OpenAIModel
from workbench.running.pool import Pool
from workbench.storage import runs
from workbench.storage.database import Database

POLICIES = Policies(Policy.PRESENT)
LABEL_SET = LabelSet("demo", "1", "Demo", (Finding("effusion", "Effusion", "", "lung", ""),), POLICIES, POLICIES)
PROMPT = Prompt(Guidance("demo", "en", "t", "", {"effusion": FindingGuidance("", ("effusion",))}), "Label it.\n")
MODELS: dict[str, Callable[..., Any]] = {"openai": OpenAIModel, "anthropic": AnthropicModel}
FOUND = {"finding": "effusion", "state": "present", "evidence": "ODD"}
ODD = {
    "a NUL as it is": (b"\x00", "\\u0000"),
    "a NUL that the server spells": (rb"\u0000", "\\u0000"),
    "the first half": (rb"\ud83d", "\\ud83d"),
    "the second half": (rb"\udc00", "\\udc00"),
    "bytes of no character": (b"\xff", "\\udcff"),
}


def body_of(kind: str, text: object) -> bytes:
    """Return a right answer of a provider, with ODD in its words."""
    said = json.dumps({"findings": [text]})
    answers = {
        "openai": {
            "choices": [{"message": {"content": said}, "finish_reason": "stop"}],
            "usage": {"prompt_tokens": 100, "completion_tokens": 5},
            "model": "m",
        },
        "anthropic": {
            "content": [{"type": "text", "text": said}],
            "stop_reason": "end_turn",
            "usage": {"input_tokens": 100, "output_tokens": 5},
            "model": "m",
        },
        "tool": {
            "content": [{"type": "tool_use", "id": "t", "name": "labels", "input": {"findings": [text]}}],
            "stop_reason": "tool_use",
            "usage": {"input_tokens": 100, "output_tokens": 5},
            "model": "m",
        },
    }
    return json.dumps(answers[kind]).encode()


def labelled(kind: str, bodies: list[bytes], monkeypatch: pytest.MonkeyPatch) -> tuple[Extraction, int]:
    """Return what comes of a text where a server gives these answers, the last for ever, and how often it was asked."""
    calls = []

    async def answer(_: httpx2.Request) -> httpx2.Response:
        calls.append(1)
        return httpx2.Response(200, content=bodies[min(len(calls), len(bodies)) - 1])

    monkeypatch.setattr(Egress, "transport", lambda _, **_limit: httpx2.MockTransport(answer))
    provider = "anthropic" if kind == "tool" else kind
    settings = LabelerSettings("m", provider, base_url="http://127.0.0.1:1", model="m", max_tokens=100)
    how = Constraint.TOOL if kind == "tool" else Constraint.TEXT
    model = Pool(1).through(MODELS[provider](settings, key=None, egress=Egress(), constraint=how))
    labeler = LanguageModelLabeler(settings, PROMPT, LABEL_SET, model, constraint=how)
    return asyncio.run(labeler.label("Effusion.")), len(calls)


@pytest.mark.parametrize("kind", ["openai", "anthropic", "tool"])
@pytest.mark.parametrize("odd", ODD)
def test_it_ends_as_malformed_after_one_more_try_and_is_kept_as_it_came(
    kind: str, odd: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Any
) -> None:
    sent, kept = ODD[odd]
    if kind == "tool" and "NUL" in odd:
        pytest.skip("within a tool's input it is spelled out, so that it is JSON")
    body = body_of(kind, FOUND).replace(b"ODD", sent)
    extraction, calls = labelled(kind, [body], monkeypatch)
    assert (extraction.status, calls) == (ExtractionStatus.MALFORMED, 2)
    assert f'"evidence": "{kept}"' in extraction.raw == extraction.unrepaired
    assert (extraction.input_tokens, extraction.output_tokens) == (200, 10)
    database, key = Database(tmp_path / "w.db"), ExtractionKey("p", "s", "l", "t")
    with database.write() as conn:
        runs.save_extractions(conn, [(key, extraction)])
    with database.read() as conn:
        assert runs.extractions(conn, [key])[key] == extraction


@pytest.mark.parametrize("kind", ["openai", "anthropic"])
def test_one_that_is_mended_counts(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    right = body_of(kind, FOUND).replace(b"ODD", b"Effusion.")
    odd = body_of(kind, FOUND).replace(b"ODD", b"\x00")
    extraction, calls = labelled(kind, [odd, right], monkeypatch)
    assert (extraction.status, calls) == (ExtractionStatus.OK, 2)
    assert "\\u0000" in extraction.unrepaired


@pytest.mark.parametrize("body", [b"\x00", b'{"choices": [', b"\xff\xfe", b'"\\ud800"', b"[" * 5000])
def test_what_is_no_answer_at_all_stays_none(body: bytes) -> None:
    settings = LabelerSettings("m", "openai", base_url="http://127.0.0.1:1", model="m")
    model = OpenAIModel(settings, key=None, egress=Egress())
    with pytest.raises(Exception, match="not of the form of a completion"):
        model.completion(body)
