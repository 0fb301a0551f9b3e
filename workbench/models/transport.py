"""Connections under the data-use lock. Imported late: it loads the HTTP client."""

import asyncio
import socket
import ssl
from collections.abc import AsyncIterable, AsyncIterator, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, cast

import anyio
import httpcore2
import httpx2
from httpcore2._utils import is_socket_readable

from workbench.models.base import CallError, Trouble
from workbench.models.egress import Egress

_IDLE_SECONDS = 4.0  # less than the five after which common servers close, so that none is used as it closes
_SocketOptions = Iterable[tuple[int, int, int] | tuple[int, int, bytes | bytearray] | tuple[int, int, None, int]]


class LockedTransport(httpx2.AsyncBaseTransport):
    """Carries requests to where an ``Egress`` allows: no proxy, no redirect, no compressed and no endless answer.

    Args:
        egress: asked at each connection about the addresses that it is about to be opened to.
        limit: bytes that one answer may have.

    Requests raise RightsError where the lock refuses, CallError where an answer is refused, httpx2.TransportError
    where a connection fails.
    """

    def __init__(self, egress: Egress, *, limit: int) -> None:
        self._limit = limit
        self._pool = httpcore2.AsyncConnectionPool(
            ssl_context=ssl.create_default_context(),
            max_connections=None,  # who asks says how many are in flight
            keepalive_expiry=_IDLE_SECONDS,
            network_backend=_LockedBackend(egress),
        )

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Return the answer, its body still to be read."""
        request.headers["Accept-Encoding"] = "identity"  # a small body must not unfold to a large one
        sent = httpcore2.Request(
            method=request.method,
            url=httpcore2.URL(
                scheme=request.url.raw_scheme,
                host=request.url.raw_host,
                port=request.url.port,
                target=request.url.raw_path,
            ),
            headers=request.headers.raw,
            content=cast("AsyncIterable[bytes]", request.stream),
            extensions=request.extensions,
        )
        with _as_client_errors():
            answer = await self._pool.handle_async_request(sent)
        body = _Body(cast("AsyncIterable[bytes]", answer.stream), self._limit)
        response = httpx2.Response(answer.status, headers=answer.headers, stream=body, extensions=answer.extensions)
        refusal = _refusal(response)
        if refusal is not None:
            await body.aclose()
            raise refusal
        return response

    async def aclose(self) -> None:
        """Close all connections."""
        await self._pool.aclose()


def _refusal(response: httpx2.Response) -> CallError | None:
    if 300 <= response.status_code < 400:
        sentence = f"The server sends its callers elsewhere (HTTP {response.status_code}), which is not followed."
        return CallError(f"{sentence[:-1]}; write its final address as base_url.", Trouble.CLOSED)
    if response.headers.get("content-encoding", "identity").strip().lower() not in {"", "identity"}:
        return CallError("The server compresses its answers unasked, and they are not read.", Trouble.SERVER)
    return None


class _Body(httpx2.AsyncByteStream):
    def __init__(self, stream: AsyncIterable[bytes], limit: int) -> None:
        self._stream = stream
        self._limit = limit

    async def __aiter__(self) -> AsyncIterator[bytes]:
        size = 0
        with _as_client_errors():
            async for part in self._stream:
                size += len(part)
                if size > self._limit:
                    raise CallError(f"The server's answer goes on beyond {self._limit:,} bytes.", Trouble.SERVER)
                yield part

    async def aclose(self) -> None:
        if hasattr(self._stream, "aclose"):
            await self._stream.aclose()


class _LockedBackend(httpcore2.AsyncNetworkBackend):
    """Opens a connection to the very address that was checked."""

    def __init__(self, egress: Egress) -> None:
        self._egress = egress
        self._network = httpcore2.AnyIOBackend()

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,  # noqa: ASYNC109 - the interface's
        local_address: str | None = None,
        socket_options: _SocketOptions | None = None,
    ) -> httpcore2.AsyncNetworkStream:
        self._egress.check_host(host, port)  # before the name is looked up: a look-up tells others
        addresses = await _looked_up(host, port)
        self._egress.check_addresses(host, port, addresses)
        failure: Exception = httpcore2.ConnectError("the name has no address")
        for address in addresses:
            try:
                opened = await self._network.connect_tcp(address, port, timeout, local_address, socket_options)
                return _Stream(opened)
            except (httpcore2.ConnectError, httpcore2.ConnectTimeout) as error:
                failure = error
        raise failure

    async def connect_unix_socket(
        self,
        path: str,  # noqa: ARG002
        timeout: float | None = None,  # noqa: ARG002, ASYNC109
        socket_options: _SocketOptions | None = None,  # noqa: ARG002
    ) -> httpcore2.AsyncNetworkStream:
        raise httpcore2.ConnectError("no socket but one of the internet is opened")

    async def sleep(self, seconds: float) -> None:
        await self._network.sleep(seconds)


class _Stream(httpcore2.AsyncNetworkStream):
    """A stream that remembers its socket.

    Before each request the pool asks every idle connection whether it can be read, and each time the stream below
    would find out anew all there is to know of its socket, the address of its other end included.
    """

    def __init__(self, stream: httpcore2.AsyncNetworkStream, opened: socket.socket | None = None) -> None:
        self._stream = stream
        self._socket = opened or stream.get_extra_info("socket")

    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:  # noqa: ASYNC109 - the interface's
        return await self._stream.read(max_bytes, timeout)

    async def write(self, buffer: bytes, timeout: float | None = None) -> None:  # noqa: ASYNC109
        await self._stream.write(buffer, timeout)

    async def aclose(self) -> None:
        await self._stream.aclose()

    async def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,  # noqa: ASYNC109
    ) -> httpcore2.AsyncNetworkStream:
        return _Stream(await self._stream.start_tls(ssl_context, server_hostname, timeout), self._socket)

    def get_extra_info(self, info: str) -> Any:
        return is_socket_readable(self._socket) if info == "is_readable" else self._stream.get_extra_info(info)


async def _looked_up(host: str, port: int) -> list[str]:
    try:
        found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        raise httpcore2.ConnectError("the name has no address") from None
    return list(dict.fromkeys(str(address[0]) for *_, address in found))


@contextmanager
def _as_client_errors() -> Iterator[None]:
    """Raise what the client's users expect, in words that repeat nothing."""
    failure: httpx2.TransportError
    try:
        yield
    except (httpcore2.TimeoutException, TimeoutError):
        failure = httpx2.ReadTimeout("timed out")
    except (httpcore2.NetworkError, httpcore2.ProtocolError, httpcore2.UnsupportedProtocol, OSError, anyio.EndOfStream):
        failure = httpx2.ReadError("the connection failed")
    else:
        return
    raise failure
