"""A language-model server that answers every call the same after a fixed time: python quick_server.py SECONDS

It prints its port on the first line and ends with whoever started it. It reads no more of a request than it must, so
that what is measured is the client. /count tells how many calls there were and how many at once at most.
"""

import asyncio
import json
import os
import sys
import time

SAID = {"finding": "pleural_effusion", "state": "present", "evidence": "small left pleural effusion"}
REPLY = json.dumps({"findings": [SAID]})
ANSWER = {
    "id": "chatcmpl-1",
    "object": "chat.completion",
    "created": 1,
    "model": "m-served",
    "choices": [{"index": 0, "message": {"role": "assistant", "content": REPLY}, "finish_reason": "stop"}],
    "usage": {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120},
}


def framed(body: bytes) -> bytes:
    return b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(body) + body


class Quick(asyncio.Protocol):
    """One connection."""

    calls = flying = peak = 0
    first = last = 0.0
    answer = framed(json.dumps(ANSWER).encode())
    seconds = 0.0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport, self.buffer, self.need = transport, b"", -1  # asyncio sets TCP_NODELAY itself

    def data_received(self, data: bytes) -> None:
        self.buffer += data
        while self.buffer:
            if self.need < 0:
                head, end, _ = self.buffer.partition(b"\r\n\r\n")
                if not end:
                    return
                length = head.lower().partition(b"content-length:")[2].split(b"\r\n")[0]
                self.need = len(head) + 4 + int(length or 0)
            if len(self.buffer) < self.need:
                return
            asked, self.buffer, self.need = self.buffer[: self.need], self.buffer[self.need :], -1
            self.asked(asked)

    def asked(self, request: bytes) -> None:
        cls = type(self)
        if request.startswith(b"GET /count"):
            told = {"calls": cls.calls, "peak": cls.peak, "seconds": cls.last - cls.first}
            self.transport.write(framed(json.dumps(told).encode()))  # type: ignore[attr-defined]
            cls.calls = cls.peak = 0
            return
        cls.first = cls.first if cls.calls else time.monotonic()
        cls.calls += 1
        cls.flying += 1
        cls.peak = max(cls.peak, cls.flying)
        asyncio.get_running_loop().call_later(cls.seconds, self.reply)

    def reply(self) -> None:
        cls = type(self)
        cls.flying -= 1
        cls.last = time.monotonic()
        self.transport.write(cls.answer)  # type: ignore[attr-defined]


async def main(seconds: str) -> None:
    Quick.seconds = float(seconds)
    server = await asyncio.get_running_loop().create_server(Quick, "127.0.0.1", 0, backlog=1024)
    print(server.sockets[0].getsockname()[1], flush=True)
    parent = os.getppid()
    while os.getppid() == parent:  # noqa: ASYNC110 - it must not outlive a benchmark that was stopped
        await asyncio.sleep(1)


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
