"""A model that is asked through its provider's official client: what is the same whichever provider it is."""

from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from time import perf_counter
from typing import TYPE_CHECKING, Any, TypeVar

from workbench.domain.runs import LabelerSettings
from workbench.models.base import Completion, Constraint, Message
from workbench.models.bodies import as_text
from workbench.models.calls import ClientErrors, ask, hush, sendable_key
from workbench.models.egress import BODY_LIMIT, Egress

if TYPE_CHECKING:
    import httpx2

T = TypeVar("T")

_AS_IT_COMES = {"headers": {"X-Stainless-Raw-Response": "raw"}}  # the answer is read here, not by the client


class ClientModel(ABC):
    """Asks once for each completion, through a client that is made when it is first used.

    A run that is finished asks nothing and need not load the client, which takes seconds.

    Args:
        settings: without a base_url it is the provider's own server that is asked.
        key: None sends none.
        egress: the study's data-use lock.
        constraint: how the server is to hold replies to their form; None not at all. See ``workbench.models.probe``.
        limit: bytes that one answer may have.

    Raises:
        InputError: the settings lack a model or have what it has no use for, or the address or the key cannot be one.
        RightsError: the study does not allow this server.
    """

    _own_url: str  # of the provider
    _path: str  # behind the address, where it is asked
    _request_id_header: str

    def __init__(
        self,
        settings: LabelerSettings,
        *,
        key: str | None,
        egress: Egress,
        constraint: Constraint | None = None,
        limit: int = BODY_LIMIT,
    ) -> None:
        base_url = settings.base_url or self._own_url
        egress.check(base_url)
        self._make = _maker(
            self._client_of, settings, base_url, sendable_key(settings, key), lambda: egress.transport(limit=limit)
        )
        self._constraint = constraint or Constraint.TEXT
        self._seconds = settings.timeout
        self._client: tuple[Any, ClientErrors] | None = None
        self._sent = self._settings_sent(settings, base_url)

    @staticmethod
    @abstractmethod
    def _client_of(http_client: "httpx2.AsyncClient", **given: Any) -> tuple[Any, ClientErrors]:
        """Return the provider's client and the errors it raises; ``given`` are arguments that every client takes."""

    @staticmethod
    @abstractmethod
    def _settings_sent(settings: LabelerSettings, base_url: str) -> dict[str, object]:
        """Return what of the settings goes into each request."""

    @abstractmethod
    def request(self, messages: Sequence[Message], schema: Mapping[str, object]) -> dict[str, Any]:
        """Return the body of one request, as JSON."""

    @abstractmethod
    def completion(self, body: bytes, request_id: str = "") -> Completion:
        """Return what an answer's body says. Raises CallError where it is no answer."""

    async def complete(self, messages: Sequence[Message], *, schema: Mapping[str, object]) -> Completion:
        """Return the answer; see ``Model.complete``."""

        async def send(client: Any) -> tuple[bytes, str]:
            # Spelled out here: given its parts, the client would walk through all of them for each call, twice.
            body = as_text(self.request(messages, schema)).encode()
            answer = await client.post(self._path, content=body, cast_to=object, options=_AS_IT_COMES)
            return answer.http_response.content, answer.http_response.headers.get(self._request_id_header, "")

        started = perf_counter()
        body, request_id = await self.use(send)
        return replace(self.completion(body, request_id), latency=perf_counter() - started)

    async def use(self, send: Callable[[Any], Awaitable[T]], *, seconds: float | None = None) -> T:
        """Return what ``send`` brings when it is given the provider's client.

        Args:
            send: sends something through it.
            seconds: how long it may take; as long as a call when left out.

        Raises:
            CallError: there is no answer.
        """
        if self._client is None:
            self._client = self._make()
        client, errors = self._client
        return await ask(lambda: send(client), seconds=seconds or self._seconds, errors=errors)

    async def close(self) -> None:
        """Give back connections."""
        if self._client is not None:
            await self._client[0].close()


def _maker(
    client_of: Callable[..., tuple[Any, ClientErrors]],
    settings: LabelerSettings,
    base_url: str,
    key: str,
    transport: "Callable[[], httpx2.AsyncBaseTransport]",
) -> Callable[[], tuple[Any, ClientErrors]]:
    """Return what makes the client. A function, so that the key is in no attribute."""

    def make() -> tuple[Any, ClientErrors]:
        import httpx2  # noqa: PLC0415

        http_client = httpx2.AsyncClient(transport=transport(), trust_env=False, follow_redirects=False)
        made = client_of(http_client, api_key=key, base_url=base_url, max_retries=0, timeout=settings.timeout)
        # What *_CUSTOM_HEADERS of the environment says: no argument keeps clients from sending it, to any server.
        made[0]._custom_headers = {}  # noqa: SLF001
        hush()  # last: as they are imported, clients take the level of their logs from the environment
        return made

    return make
