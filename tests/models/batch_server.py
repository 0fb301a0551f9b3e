"""A server that takes batches as OpenAI and Anthropic do: real sockets, files, and every end that a request can have.

    python tests/models/batch_server.py --looks 2

prints its port on the first line and serves until it is killed or who started it is gone. A batch ends when its state
has been asked for ``--looks`` times. What each report is dealt it says itself, as for ``fault_server.py``: steps that
are answers, 400, 500, and

    expired canceled (where the provider has the word) missing (no line at all) strange (a line that nobody asked for)

    --hold N     the first batch is taken, and that is said N seconds later
    --lose       the first batch is taken, and the connection cut before that is said
    --refuse N   no batch is taken: HTTP status N
    --fail CODE  OpenAI's batches fail as a whole
    --forget     no batch is known any more once it was taken
    --others N   so many batches of somebody else stand in the lists
    GET /log     batches, how many times each request was handed over, calls, files, keys and the paths asked
"""

import argparse
import json
import os
import re
import socket
import sys
import threading
import time
from collections import Counter
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

sys.path.insert(0, str(Path(__file__).parent))
import fault_server as faults

_LOCK = threading.Lock()
_ERRORS = {400: "invalid_request_error", 500: "api_error"}


class Server(ThreadingHTTPServer):
    """What has been handed over."""

    daemon_threads = True
    request_queue_size = 128

    def __init__(self, options: argparse.Namespace) -> None:
        super().__init__(("127.0.0.1", options.port), Handler)
        self.options = options
        self.files: dict[str, bytes] = {}
        self.batches: dict[str, dict[str, Any]] = {}
        self.asked: Counter[str] = Counter()
        self.paths: Counter[str] = Counter()
        self.keys: set[str] = set()
        self.calls = 0
        for number in range(options.others):
            self.add([], {}, anthropic=True, name=f"other_{number}")
            self.add([], {}, anthropic=False, name=f"other-{number}")

    def add(self, requests: list[dict[str, Any]], given: dict[str, Any], *, anthropic: bool, name: str = "") -> str:
        """Take a batch and return its name."""
        made = name or f"{'msgbatch_' if anthropic else 'batch_'}{len(self.batches)}"
        self.batches[made] = {
            "requests": requests,
            "anthropic": anthropic,
            "metadata": given.get("metadata"),
            "looks": 0,
            "made": time.time(),
        }
        self.asked.update(str(request["custom_id"]) for request in requests)
        return made

    def ended(self, name: str) -> bool:
        return bool(self.batches[name]["looks"] >= self.options.looks)

    def log(self) -> dict[str, Any]:
        """Return what /log shows."""
        return {
            "batches": {
                name: [request["custom_id"] for request in batch["requests"]]
                for name, batch in self.batches.items()
                if not name.startswith("other")
            },
            "asked": self.asked,
            "calls": self.calls,
            "files": len(self.files),
            "keys": sorted(self.keys),
            "paths": self.paths,
        }


class Handler(BaseHTTPRequestHandler):
    """One connection."""

    protocol_version = "HTTP/1.1"
    server: Server

    def setup(self) -> None:
        super().setup()
        self.request.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def log_message(self, *_: object) -> None:
        pass

    def do_GET(self) -> None:
        url = urlsplit(self.path)
        asked = {name: values[0] for name, values in parse_qs(url.query).items()}
        with _LOCK:
            if url.path == "/log":
                self._send(self.server.log())
                return
            self._note(url.path)
            *_, before, last = url.path.split("/")
            if last == "batches":
                self._send(self._list("/messages/" in url.path, asked))
            elif last == "content":
                self._send(self.server.files[before])
            elif last == "results":
                self._send(b"".join(line + b"\n" for line in self._results(before)))
            elif last in self.server.batches and not self.server.options.forget:
                self.server.batches[last]["looks"] += 1
                self._send(self._shown(last))
            else:
                self._send({"error": {"message": faults.CANARY}}, 404)

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", "0")))
        with _LOCK:
            self._note(self.path)
            if self.path.endswith("/files"):
                name = f"file-{len(self.server.files)}"
                self.server.files[name] = _uploaded(body)
                self._send({"id": name, "object": "file"})
            elif self.path.endswith("/batches"):
                self._taken(json.loads(body))
            elif self.path.endswith("/cancel"):
                name = self.path.split("/")[-2]
                if self.server.options.forget:
                    self._send({"error": {"message": faults.CANARY}}, 404)
                    return
                self.server.batches[name]["cancelled"] = True
                self._send(self._shown(name))
            else:
                self.server.calls += 1
                self._send(self._answer("ok", json.loads(body)))

    def _note(self, path: str) -> None:
        self.server.paths[re.sub(r"[0-9]+", "N", path)] += 1
        self.server.keys.add(self.headers.get("x-api-key") or self.headers.get("Authorization", "").split(" ")[-1])

    def _taken(self, given: dict[str, Any]) -> None:
        options = self.server.options
        if options.refuse:
            self._send({"error": {"type": _ERRORS.get(options.refuse, "e"), "message": faults.CANARY}}, options.refuse)
            return
        anthropic = "requests" in given
        lines = [] if anthropic else self.server.files[given["input_file_id"]].splitlines()
        requests = given["requests"] if anthropic else [json.loads(line) for line in lines]
        name = self.server.add(requests, given, anthropic=anthropic)
        if options.lose:
            options.lose = False
            self.close_connection = True
            self.connection.shutdown(socket.SHUT_RDWR)
            return
        if options.hold:
            seconds, options.hold = options.hold, 0.0
            _LOCK.release()
            time.sleep(seconds)
            _LOCK.acquire()
        self._send(self._shown(name))

    def _list(self, anthropic: bool, asked: dict[str, str]) -> dict[str, Any]:
        names = [name for name, batch in self.server.batches.items() if batch["anthropic"] == anthropic][::-1]
        after = asked.get("after") or asked.get("after_id")
        names = names[names.index(after) + 1 :] if after else names
        page = names[: min(int(asked.get("limit", "20")), 2)]  # small, so that there are several
        return {"object": "list", "data": [self._shown(name) for name in page], "has_more": len(names) > len(page)}

    def _shown(self, name: str) -> dict[str, Any]:
        batch = self.server.batches[name]
        ended, total = self.server.ended(name), len(batch["requests"])
        ends = Counter(_end(self._step(request)) for request in batch["requests"]) if ended else Counter[str]()
        if batch["anthropic"]:
            counts = {"processing": 0 if ended else total, "succeeded": ends["ok"], "errored": ends["error"]}
            counts |= {"expired": ends["expired"] + ends["missing"], "canceled": ends["canceled"]}
            return {
                "id": name,
                "type": "message_batch",
                "processing_status": "ended" if ended else "in_progress",
                "created_at": datetime.fromtimestamp(batch["made"], UTC).isoformat(),
                "expires_at": datetime.fromtimestamp(batch["made"] + 86400, UTC).isoformat(),
                "request_counts": counts,
                "results_url": "http://192.0.2.1/elsewhere" if ended else None,
            }
        failed = self.server.options.fail if ended else ""
        shown = {
            "id": name,
            "object": "batch",
            "endpoint": "/v1/chat/completions",
            "completion_window": "24h",
            "input_file_id": "file-0",
            "created_at": int(batch["made"]),
            "status": ("failed" if failed else "completed") if ended else "in_progress",
            "metadata": batch["metadata"],
            "request_counts": {"total": total, "completed": ends["ok"], "failed": total - ends["ok"] if ended else 0},
        }
        if failed:
            return {**shown, "errors": {"data": [{"code": failed, "message": faults.CANARY}]}}
        return {**shown, **(self._result_files(name) if ended else {})}

    def _result_files(self, name: str) -> dict[str, str | None]:
        lines = self._results(name)
        errors = [line for line in lines if b'"response": null' in line]
        answers = [line for line in lines if b'"response": null' not in line]
        found: dict[str, str | None] = {}
        for kind, some in (("output", answers), ("error", errors)):
            self.server.files[f"{name}-{kind}"] = b"".join(line + b"\n" for line in some)
            found[f"{kind}_file_id"] = f"{name}-{kind}" if some else None
        return found

    def _results(self, name: str) -> list[bytes]:
        lines = []
        for request in reversed(self.server.batches[name]["requests"]):  # no order is promised
            step = self._step(request)
            if step == "missing":
                continue
            anthropic = "params" in request
            result = self._anthropic(step, request) if anthropic else self._openai(step, request)
            lines.append(json.dumps({"custom_id": request["custom_id"], **result}).encode())
            if step == "strange":
                lines.append(json.dumps({"custom_id": "nobody-asked", **result}).encode())
        return lines

    def _openai(self, step: str, request: dict[str, Any]) -> dict[str, Any]:
        if step in {"expired", "canceled"}:
            return {"id": "x", "response": None, "error": {"code": f"batch_{step}", "message": faults.CANARY}}
        status = int(step) if step.isdigit() else 200
        body = {"error": {"message": faults.CANARY}} if status != 200 else self._answer(step, request["body"])
        return {"id": "x", "response": {"status_code": status, "request_id": "req-b", "body": body}, "error": None}

    def _anthropic(self, step: str, request: dict[str, Any]) -> dict[str, Any]:
        if step in {"expired", "canceled"}:
            return {"result": {"type": step}}
        if step.isdigit():
            error = {"type": _ERRORS[int(step)], "message": faults.CANARY}
            return {"result": {"type": "errored", "error": {"type": "error", "error": error}}}
        return {"result": {"type": "succeeded", "message": self._answer(step, request["params"])}}

    def _step(self, request: dict[str, Any]) -> str:
        text = faults.report_of(request.get("params") or request["body"])
        step = str(faults.plan_of(text, faults.Options())[-1])
        # "early" is answered before anybody cancels.
        batch = next(b for b in self.server.batches.values() if any(r is request for r in b["requests"]))
        if batch.get("cancelled") and step != "early":
            return "canceled"
        return "ok" if step == "early" else step

    def _answer(self, step: str, body: dict[str, Any]) -> dict[str, Any]:
        path = "/v1/messages" if "/messages" in self.path else "/v1/chat/completions"
        request = faults.Request(path, {}, body)
        answer: dict[str, Any] = faults.answer("ok" if step == "strange" else step, request, faults.report_of(body))
        return answer

    def _send(self, body: dict[str, Any] | bytes, status: int = 200) -> None:
        content = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)


def _end(step: str) -> str:
    if step in {"expired", "canceled", "missing"}:
        return step
    return "error" if step.isdigit() else "ok"


def _uploaded(body: bytes) -> bytes:
    """Return the file of an upload: of its parts the one that has a file's name."""
    boundary = body.split(b"\r\n", 1)[0]
    part = next(part for part in body.split(boundary) if b"filename=" in part)
    return part.split(b"\r\n\r\n", 1)[1].removesuffix(b"\r\n")


def main() -> None:
    """Serve until killed."""
    parser = argparse.ArgumentParser(description="A server that takes batches.")
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--looks", type=int, default=1)
    parser.add_argument("--hold", type=float, default=0.0)
    parser.add_argument("--lose", action="store_true")
    parser.add_argument("--refuse", type=int, default=0)
    parser.add_argument("--fail", default="")
    parser.add_argument("--forget", action="store_true")
    parser.add_argument("--others", type=int, default=0)
    server = Server(parser.parse_args())
    sys.stdout.write(f"{server.server_address[1]}\n")
    sys.stdout.flush()
    threading.Thread(target=server.serve_forever, daemon=True).start()
    parent = os.getppid()
    while os.getppid() == parent:  # nobody is left to stop it when a test is killed
        time.sleep(1.0)


if __name__ == "__main__":
    main()
