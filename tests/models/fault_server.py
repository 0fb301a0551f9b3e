"""A language-model server that misbehaves on purpose: real sockets, both APIs, every fault a script can ask for.

    python tests/models/fault_server.py --port 0 --seed 7

prints its port on the first line and serves until it is killed or who started it is gone:

    POST /v1/chat/completions    as OpenAI does
    POST /v1/messages            as Anthropic does
    GET  /log                    what was asked and what was dealt, as JSON

A report is what stands between the delimiters of the first user message. What it is dealt, call after call, is its
plan; the last step of the plan is dealt for ever after. A report says its plan itself,

    {deal 429:seconds=1, reset, ok}

or draws one by the seed and its text: with ``--seed`` some faults that pass, then something final (half of them
``ok``); without a seed and without a directive every call is ``ok``. A plan is the same whatever the order of calls.

A right reply lists each sentence of the report that reads "<finding id> present|absent|uncertain." and quotes it. So a
test writes reports whose labels it knows: "pneumothorax present. cardiomegaly absent."

Steps that pass (ask again):
    429[:FORM] 529[:FORM] 503[:FORM] with Retry-After in a FORM of ``FORMS``; seconds=N,
        fraction=N, ms=N and date=N ask for N seconds, in these units
    500 502 reset (after half of the body) reset_early half (less than Content-Length) empty not_json no_choices
    error_body slow[:SECONDS] (the right reply in small pieces) drip (a byte now and then, without end)
    endless (white space without end) bomb (a small gzip body that unfolds to 50 MB)
Steps that do not:
    400 401 403 404 409 413 422 too_long quota setting (a setting that is not taken) redirect[:URL]
Steps that are answers:
    ok fence think think_open truncated spaces (white space up to the limit of tokens) refusal filter wrong_label
    wrong_state prose empty_text null_text invented twice contradiction reasoning (apart from the answer)

Servers repeat things they should not: each error body here holds the key, the report and the word SERVER-CANARY.
"""

import argparse
import asyncio
import gzip
import hashlib
import json
import os
import random
import re
import socket
import sys
import time
from dataclasses import dataclass, field
from email.utils import formatdate
from functools import lru_cache
from typing import Any

CANARY = "SERVER-CANARY"
FORMS = ("none", "0", "seconds", "fraction", "ms", "date", "past", "garbage", "negative", "empty", "nan", "huge")
PASSING = (
    *(f"429:{form}" for form in FORMS if form != "huge"),
    "429",
    "529",
    "529:seconds",
    "503:seconds",
    "503",
    "500",
    "502",
    "reset",
    "reset_early",
    "half",
    "empty",
    "not_json",
    "no_choices",
    "error_body",
    "endless",
    "slow",
)
FINAL = (
    "truncated",
    "spaces",
    "refusal",
    "filter",
    "wrong_label",
    "wrong_state",
    "prose",
    "fence",
    "think",
    "think_open",
    "empty_text",
    "twice",
    "contradiction",
    "invented",
    "400",
    "422",
    "too_long",
)
Lines = list[tuple[str, str]]  # of a head: name and value
_DIRECTIVE = re.compile(r"\{deal ([^}]*)\}")
_SAID = re.compile(r"\b([a-z][a-z0-9_]*) (present|absent|uncertain)\.")
_ENDLESS_BYTES = 64 << 20
_DRIP_SECONDS = 600.0
_REASONS = {
    200: "OK", 307: "Temporary Redirect", 400: "Bad Request", 401: "Unauthorized", 403: "Forbidden", 404: "Not Found",
    409: "Conflict", 413: "Content Too Large", 422: "Unprocessable Content", 429: "Too Many Requests",
    500: "Internal Server Error", 502: "Bad Gateway", 503: "Service Unavailable", 529: "Overloaded",
}  # fmt: skip


@dataclass
class Options:
    """How the server deals. ``wait`` is the seconds that a Retry-After of no stated length asks for."""

    seed: int | None = None
    latency: float = 0.0
    wait: float = 0.05
    passing: tuple[str, ...] = PASSING
    final: tuple[str, ...] = FINAL
    trouble: float = 0.5  # share of reports that are dealt faults that pass, and of those that end in something else
    redirect: str = "/elsewhere"
    ignores: frozenset[str] = frozenset()  # constraints that are taken and not kept
    rejects: frozenset[str] = frozenset()  # constraints that are answered with an error
    reject_status: int = 400


@dataclass
class Report:
    """What happened to one report."""

    plan: tuple[str, ...]
    calls: int = 0
    dealt: list[str] = field(default_factory=list)


@dataclass
class Request:
    """A request, read."""

    path: str
    headers: dict[str, str]
    body: dict[str, object]

    @property
    def anthropic(self) -> bool:
        return self.path.endswith("/messages")

    @property
    def key(self) -> str:
        return self.headers.get("x-api-key") or self.headers.get("authorization", "").removeprefix("Bearer ")


def plan_of(text: str, options: Options) -> tuple[str, ...]:
    """Return the steps a report is dealt, the last one for ever."""
    asked = _DIRECTIVE.search(text)
    if asked:
        return tuple(step.strip() for step in asked[1].split(",")) or ("ok",)
    if options.seed is None:
        return ("ok",)
    digest = hashlib.sha256(f"{options.seed}\n{text}".encode("utf-8", "surrogatepass")).digest()
    draw = random.Random(digest)
    passing = [draw.choice(options.passing or ("",)) for _ in range(draw.randint(1, 3))]
    kept = passing if options.passing and draw.random() < options.trouble else []
    return (*kept, draw.choice(options.final) if options.final and draw.random() < options.trouble else "ok")


def report_of(body: dict[str, object]) -> str:
    """Return the report of a request: the first user message without its first and last line."""
    for message in body.get("messages", []):  # type: ignore[attr-defined]
        if message.get("role") == "user":
            content = message.get("content", "")
            if isinstance(content, list):
                content = "".join(part.get("text", "") for part in content)
            lines = content.split("\n")
            return "\n".join(lines[1:-1]) if len(lines) > 2 else content
    return ""


def right_answer(said: list[dict[str, str]], schema: dict[str, Any]) -> dict[str, object]:
    """Return what is said in the form a schema asks for; without one, or with another than of labels, see the code."""
    asked = schema.get("properties", {})
    if not asked or "findings" in asked:
        return {"findings": said}
    states = {item["finding"]: {"state": item["state"], "evidence": item["evidence"]} for item in said}
    filled: dict[str, object] = {}
    for name, form in asked.items():
        if "state" in form.get("properties", {}):
            filled[name] = states.get(name, {"state": "not_mentioned", "evidence": ""})
        else:
            filled[name] = form.get("enum", [""])[0]
    return filled


def schema_of(body: dict[str, Any]) -> dict[str, Any]:
    """Return the JSON Schema of a request, empty where it has none."""
    form = body.get("response_format") or (body.get("output_config") or {}).get("format") or {}
    tools = body.get("tools") or [{}]
    schema: dict[str, Any] = form.get("json_schema", form).get("schema") or tools[0].get("input_schema") or {}
    return schema


def text_of(step: str, report: str, schema: dict[str, Any]) -> tuple[str, str]:
    """Return the text of an answer and how it ended: stop, length, refusal or filter."""
    said = [{"finding": f, "state": s, "evidence": f"{f} {s}."} for f, s in _SAID.findall(report)]
    right = json.dumps(right_answer(said, schema))
    if step in {"refusal", "filter"}:
        return "I cannot help with that.", step
    if step == "truncated":
        return right[: len(right) // 2], "length"
    if step == "spaces":
        return '{"findings":' + " \n\t" * 3000, "length"
    one = said[0] if said else {"finding": "pneumothorax", "state": "present", "evidence": "none"}
    other = {**one, "state": "absent" if one["state"] == "present" else "present"}
    lists = {
        "wrong_label": [{**one, "finding": "pneumothorx"}],
        "wrong_state": [{**one, "state": "maybe"}],
        "invented": [{**item, "evidence": "words of no report"} for item in said],
        "twice": [*said, *said],
        "contradiction": [one, other],
    }
    return (json.dumps({"findings": lists[step]}) if step in lists else _dressed(step, right)), "stop"


def _dressed(step: str, right: str) -> str:
    dress = {
        "fence": f"```json\n{right}\n```",
        "prose": f"Here are the labels: {right} I hope that helps.",
        "think": f"<think>\nFirst {{I}} look.\n</think>\n\n{right}",
        "think_open": f"<think>\nI never end: {right}",
        "empty_text": "",
        "null_text": "",
    }
    return dress.get(step, right)


def answer(step: str, request: Request, report: str) -> dict[str, object]:
    """Return the body of an answer in the form of the API that was asked."""
    text, end = text_of(step, report, schema_of(request.body))
    words, said = len(report.split()) + 100, len(text.split()) + 1
    if request.anthropic:
        return _anthropic_answer(step, request, (text, end), words)
    message: dict[str, object] = {"role": "assistant", "content": None if step == "null_text" else text}
    if end == "refusal":
        message |= {"content": None, "refusal": text}
    if step == "reasoning":
        message["reasoning_content"] = "I looked."
    reason = {"stop": "stop", "length": "length", "refusal": "stop", "filter": "content_filter"}[end]
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": f"{request.body.get('model')}-served",
        "choices": [{"index": 0, "message": message, "finish_reason": reason, "logprobs": None}],
        "usage": {
            "prompt_tokens": words,
            "completion_tokens": said,
            "total_tokens": words + said,
            "prompt_tokens_details": {"cached_tokens": 64},
        },
    }


def _anthropic_answer(step: str, request: Request, said: tuple[str, str], words: int) -> dict[str, object]:
    text, end = said
    reason = {"stop": "end_turn", "length": "max_tokens", "refusal": "refusal", "filter": "refusal"}[end]
    content: list[dict[str, object]] = [] if step == "null_text" else [{"type": "text", "text": text}]
    if step == "reasoning":
        content.insert(0, {"type": "thinking", "thinking": "I looked.", "signature": "s"})
    if request.body.get("tool_choice") and end == "stop" and step not in {"prose", "fence", "think", "think_open"}:
        try:
            content = [{"type": "tool_use", "id": "t", "name": "x", "input": json.loads(text or "{}")}]
            reason = "tool_use"
        except ValueError:
            pass
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": f"{request.body.get('model')}-served",
        "content": content,
        "stop_reason": reason,
        "stop_sequence": None,
        "usage": {
            "input_tokens": words - 64,
            "output_tokens": len(text.split()) + 1,
            "cache_read_input_tokens": 64,
            "cache_creation_input_tokens": 0,
        },
    }


def retry_after(form: str, wait: float) -> Lines:
    """Return the header lines of one form of Retry-After; ``form`` may say its number, as in ``seconds=2``."""
    name, _, number = form.partition("=")
    amount = float(number) if number else wait
    whole = str(int(number)) if number and float(number).is_integer() else str(amount)
    lines = {
        "none": [],
        "": [],
        "0": [("Retry-After", "0")],
        "seconds": [("Retry-After", whole)],
        "fraction": [("Retry-After", f"{amount:.3f}")],
        "ms": [("retry-after-ms", str(int(amount * 1000)))],
        "date": [("Retry-After", formatdate(time.time() + max(amount, 1.0), usegmt=True))],
        "past": [("Retry-After", formatdate(time.time() - 3600, usegmt=True))],
        "garbage": [("Retry-After", "soon, I hope")],
        "negative": [("Retry-After", "-5")],
        "empty": [("Retry-After", "")],
        "nan": [("Retry-After", "nan")],
        "huge": [("Retry-After", "600")],
    }
    return lines[name]


def error_body(kind: str, request: Request, report: str, **more: object) -> dict[str, object]:
    """Return an error body that, as bad servers do, repeats the key and the report."""
    said = f"{CANARY} {request.key} {report} {more.pop('message', '')}"
    if request.anthropic:
        return {"type": "error", "error": {"type": kind, "message": said}}
    return {"error": {"type": kind, "message": said, "param": None, "code": None, **more}}


def refusal_of(step: str, request: Request, report: str, options: Options) -> tuple[int, Lines, bytes]:
    """Return status, header lines and body of an answer that is an error."""
    name, _, form = step.partition(":")
    more: dict[str, object] = {}
    headers: Lines = []
    kind = "server_error"
    if name in {"429", "503", "529"}:
        headers, kind = retry_after(form, options.wait), "rate_limit_error"
    if name == "redirect":
        return 307, [("Location", form or options.redirect)], b""
    if name == "502":
        return 502, [("Content-Type", "text/html")], f"<html>{CANARY} {request.key} {report}</html>".encode()
    match name:
        case "too_long":
            kind, more = (
                "invalid_request_error",
                {"code": "context_length_exceeded", "message": "prompt is too long: 9 > 8"},
            )
        case "quota":
            kind, more = "insufficient_quota", {"code": "insufficient_quota"}
        case "setting":
            kind, more = "invalid_request_error", {"code": "unsupported_value", "param": "temperature"}
    status = {"too_long": 400, "quota": 429, "setting": 400}.get(name) or int(name)
    return status, headers, json.dumps(error_body(kind, request, report, **more)).encode()


@lru_cache(maxsize=1)
def _bomb() -> bytes:
    return gzip.compress(b" " * (50 << 20))


class FaultServer:
    """Serves; ``log`` is what /log shows."""

    def __init__(self, options: Options) -> None:
        self.options = options
        self.reports: dict[str, Report] = {}
        self.calls = self.connections = self.flying = self.peak = 0
        self.journal: list[tuple[float, str, str]] = []
        self.last: dict[str, object] = {}

    def log(self) -> dict[str, object]:
        """Return what was asked and dealt: by report its hash (SHA-256 of its text), plan, calls and steps dealt;
        ``journal`` holds seconds, the start of the report's hash and the step, in the order of calls.
        """
        return {
            "calls": self.calls,
            "connections": self.connections,
            "peak": self.peak,
            "reports": {h: {"plan": r.plan, "calls": r.calls, "dealt": r.dealt} for h, r in self.reports.items()},
            "journal": self.journal,
            "last": self.last,
        }

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer one connection's requests, one after the other."""
        self.connections += 1
        writer.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        try:
            while (request := await read_request(reader)) is not None:
                if request.path.endswith("/log"):
                    await self._send(writer, 200, [], json.dumps(self.log()).encode())
                elif not await self._called(request, writer):
                    break
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()

    async def _called(self, request: Request, writer: asyncio.StreamWriter) -> bool:
        """Deal the next step; return whether the connection goes on."""
        text = report_of(request.body)
        digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
        report = self.reports.get(digest)
        if report is None:
            report = self.reports[digest] = Report(plan_of(text, self.options))
        step = self._constraint_step(request) or report.plan[min(report.calls, len(report.plan) - 1)]
        report.calls += 1
        report.dealt.append(step)
        self.calls += 1
        self.journal.append((time.monotonic(), digest[:12], step))
        self.last = {"path": request.path, "headers": request.headers, "body": request.body}
        self.flying += 1
        self.peak = max(self.peak, self.flying)
        try:
            if self.options.latency:
                await asyncio.sleep(self.options.latency)
            return await self._deal(step, request, text, writer)
        finally:
            self.flying -= 1

    def _constraint_step(self, request: Request) -> str:
        asked = constraint_of(request.body)
        if asked in self.options.rejects:
            return str(self.options.reject_status)
        return "prose" if asked in self.options.ignores else ""

    async def _deal(self, step: str, request: Request, text: str, writer: asyncio.StreamWriter) -> bool:
        name, _, form = step.partition(":")
        if name.isdigit() or name in {"too_long", "quota", "setting", "redirect"}:
            status, headers, body = refusal_of(step, request, text, self.options)
            await self._send(writer, status, headers, body)
            return True
        body = json.dumps(answer(name, request, text)).encode()
        match name:
            case "reset" | "reset_early" | "half":
                await self._cut(name, writer, body)
            case "slow":
                await self._slowly(writer, body, float(form or 0.3))
                return True
            case "drip" | "endless":
                await self._without_end(name, writer)
            case "bomb":
                await self._send(writer, 200, [("Content-Encoding", "gzip")], _bomb())
                return True
            case _:
                await self._send(writer, 200, [], self._odd(name, request, text) if name in _ODD else body)
                return True
        return False

    def _odd(self, name: str, request: Request, text: str) -> bytes:
        if name == "not_json":
            return f"<html>{CANARY} {request.key} {text}</html>".encode()
        if name == "no_choices":
            return b'{"id": "x", "choices": [], "content": null, "usage": null}'
        if name == "error_body":
            return json.dumps(error_body("server_error", request, text)).encode()
        return b""

    async def _send(self, writer: asyncio.StreamWriter, status: int, headers: Lines, body: bytes) -> None:
        writer.write(head(status, [*headers, ("Content-Length", str(len(body)))]) + body)
        await writer.drain()

    async def _cut(self, name: str, writer: asyncio.StreamWriter, body: bytes) -> None:
        if name != "reset_early":
            writer.write(head(200, [("Content-Length", str(len(body)))]) + body[: len(body) // 2])
            await writer.drain()
            await asyncio.sleep(0.01)
        if name != "half":  # closing with nothing lingering sends a reset instead of an end
            linger = b"\x01\x00\x00\x00\x00\x00\x00\x00"
            writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
            writer.transport.abort()

    async def _slowly(self, writer: asyncio.StreamWriter, body: bytes, seconds: float) -> None:
        writer.write(head(200, [("Content-Length", str(len(body)))]))
        pieces = 10
        size = -(-len(body) // pieces)
        for start in range(0, len(body), size):
            await asyncio.sleep(seconds / pieces)
            writer.write(body[start : start + size])
            await writer.drain()

    async def _without_end(self, name: str, writer: asyncio.StreamWriter) -> None:
        writer.write(head(200, [("Transfer-Encoding", "chunked")]))
        deadline = time.monotonic() + _DRIP_SECONDS
        sent = 0
        while time.monotonic() < deadline and sent < _ENDLESS_BYTES and not writer.is_closing():
            piece = b" " if name == "drip" else b" " * 65536
            writer.write(b"%x\r\n%s\r\n" % (len(piece), piece))
            await writer.drain()
            sent += len(piece)
            await asyncio.sleep(0.02 if name == "drip" else 0)


_ODD = frozenset({"empty", "not_json", "no_choices", "error_body"})


def constraint_of(body: dict[str, object]) -> str:
    """Return how the request asks for its reply to be held: json_schema, json_object, tool or text."""
    form = body.get("response_format") or (body.get("output_config") or {}).get("format")  # type: ignore[attr-defined]
    if isinstance(form, dict):
        return str(form.get("type"))
    return "tool" if body.get("tool_choice") else "text"


def head(status: int, headers: Lines) -> bytes:
    """Return the first lines of an answer."""
    given = {name.lower() for name, _ in headers}
    more = [] if "content-type" in given else [("Content-Type", "application/json")]
    lines = [
        f"{name}: {value}" for name, value in [*more, *headers, ("x-request-id", "req-1"), ("request-id", "req-1")]
    ]
    return "\r\n".join([f"HTTP/1.1 {status} {_REASONS.get(status, 'Odd')}", *lines, "", ""]).encode()


async def read_request(reader: asyncio.StreamReader) -> Request | None:
    """Return the next request, None at the end of the connection."""
    try:
        raw = await reader.readuntil(b"\r\n\r\n")
    except asyncio.IncompleteReadError:
        return None
    first, *lines = raw.decode("latin-1").rstrip("\r\n").split("\r\n")
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    body = await reader.readexactly(int(headers.get("content-length", "0")))
    try:
        content = json.loads(body) if body else {}
    except ValueError:
        content = {}
    return Request(first.split(" ")[1], headers, content if isinstance(content, dict) else {})


def _options(arguments: argparse.Namespace) -> Options:
    def names(text: str | None, usual: tuple[str, ...]) -> tuple[str, ...]:
        return usual if text is None else tuple(name for name in text.split(",") if name)

    return Options(
        seed=arguments.seed,
        latency=arguments.latency,
        wait=arguments.wait,
        passing=names(arguments.passing, PASSING),
        final=names(arguments.final, FINAL),
        trouble=arguments.trouble,
        redirect=arguments.redirect,
        ignores=frozenset(names(arguments.ignores, ())),
        rejects=frozenset(names(arguments.rejects, ())),
        reject_status=arguments.reject_status,
    )


async def _main(arguments: argparse.Namespace) -> None:
    server = FaultServer(_options(arguments))
    listening = await asyncio.start_server(server.serve, arguments.host, arguments.port, backlog=4096, limit=1 << 20)
    sys.stdout.write(f"{listening.sockets[0].getsockname()[1]}\n")
    sys.stdout.flush()
    parent = os.getppid()
    async with listening:
        while os.getppid() == parent:  # noqa: ASYNC110 - nobody is left to stop it when a test is killed
            await asyncio.sleep(1.0)


def main() -> None:
    """Serve until killed."""
    parser = argparse.ArgumentParser(description="A language-model server that misbehaves on purpose.")
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=0, help="0: any free one, printed on the first line")
    parser.add_argument("--seed", type=int, help="draw each report's plan by this seed and its text")
    parser.add_argument("--latency", type=float, default=0.0, help="seconds before each answer")
    parser.add_argument("--wait", type=float, default=0.05, help="seconds that Retry-After asks for")
    parser.add_argument("--passing", help="steps that pass to draw from, separated by commas")
    parser.add_argument("--final", help="steps other than ok to end in, separated by commas")
    parser.add_argument("--trouble", type=float, default=0.5, help="share of reports with faults that pass; "
                        "share of those that do not end in ok")  # fmt: skip
    parser.add_argument("--redirect", default="/elsewhere", help="where a redirect without an address leads")
    parser.add_argument("--ignores", help="constraints taken and not kept: json_schema,json_object,tool")
    parser.add_argument("--rejects", help="constraints answered with an error")
    parser.add_argument("--reject-status", type=int, default=400)
    asyncio.run(_main(parser.parse_args()))


if __name__ == "__main__":
    main()
