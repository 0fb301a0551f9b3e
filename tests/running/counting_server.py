"""A model server without faults that writes down each call as it comes: python counting_server.py CALLS SECONDS

It prints its port on the first line. Each call adds two lines to the file CALLS, "+" and the hash of the report when it
comes, "-" and the hash when it has been answered, so that what was in flight at any moment can be told afterwards.
"""

import asyncio
import hashlib
import json
import os
import socket
import sys
from pathlib import Path

REPLY = json.dumps({"findings": [{"finding": "effusion", "state": "present", "evidence": "effusion"}]})
ANSWER = {
    "id": "chatcmpl-1",
    "object": "chat.completion",
    "created": 1,
    "model": "m-served",
    "choices": [{"index": 0, "message": {"role": "assistant", "content": REPLY}, "finish_reason": "stop"}],
    "usage": {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120},
}


async def main(calls: str, seconds: str) -> None:
    body = json.dumps(ANSWER).encode()
    head = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(body)
    # As one write each, so that nothing is half written whenever the file is read.
    written = os.open(Path(calls), os.O_WRONLY | os.O_CREAT | os.O_APPEND)

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        try:
            while True:
                asked = await reader.readuntil(b"\r\n\r\n")
                (length,) = (line for line in asked.lower().split(b"\r\n") if line.startswith(b"content-length:"))
                sent = json.loads(await reader.readexactly(int(length.split(b":")[1])))
                report = "\n".join(sent["messages"][-1]["content"].split("\n")[1:-1])
                digest = hashlib.sha256(report.encode()).hexdigest().encode()
                os.write(written, b"+" + digest + b"\n")
                try:
                    await asyncio.sleep(float(seconds))
                    writer.write(head + body)
                    await writer.drain()
                finally:
                    os.write(written, b"-" + digest + b"\n")
        except (ConnectionError, asyncio.IncompleteReadError):
            writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0, backlog=1024)
    sys.stdout.write(f"{server.sockets[0].getsockname()[1]}\n")
    sys.stdout.flush()
    parent = os.getppid()
    while os.getppid() == parent:  # noqa: ASYNC110 - nobody is left to stop it when a test is killed
        await asyncio.sleep(1)


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
