"""The data-use lock: where reports may be sent.

A study is restricted unless it says otherwise; its reports then go to this computer or to a host that it lists, and to
nowhere else. What is checked is not a name in a setting but the address of the very connection that is opened, so that
neither a name that changes its address, nor a redirect, nor a proxy, nor a variable of the environment gets around it.
"""

import ipaddress
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from workbench.errors import InputError, RightsError

if TYPE_CHECKING:
    import httpx2

BODY_LIMIT = 8 << 20  # bytes of one answer; the longest replies of reasoning models are under a tenth of that
_PORTS = {"http": 80, "https": 443}
_PLAIN = re.compile(r"[\x21-\x7e]+")
_HOST = re.compile(r"[0-9A-Fa-f:.]+|[A-Za-z0-9._-]+")
_ENTRY = re.compile(r"(?P<host>\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+)(?::(?P<port>[0-9]{1,5}))?")
_SHOWN = 80  # characters of a host that are repeated


@dataclass(frozen=True, slots=True)
class Egress:
    """Where a study's reports may be sent.

    Args:
        restricted: whether only this computer and ``hosts`` may be reached.
        hosts: names or addresses, each with a port or, for all ports, without: "gpu.hospital.org", "10.0.0.5:8000",
            "[fd00::5]:8000".

    Raises:
        InputError: an entry of ``hosts`` is not of that form.
    """

    restricted: bool = True
    hosts: frozenset[str] = field(default_factory=frozenset)

    def __post_init__(self) -> None:
        for entry in self.hosts:
            _entry(entry)

    def check(self, base_url: str) -> None:
        """Refuse an address that reports may not be sent to. Nothing is looked up or connected to.

        Raises:
            InputError: it is no address of a server.
            RightsError: the study does not allow it.
        """
        self.check_host(*_target(base_url))

    def check_host(self, host: str, port: int) -> None:
        """Refuse a host by its name; ``localhost`` is allowed here and must still have loopback addresses only.

        Raises:
            RightsError: the study does not allow it.
        """
        host = _tidy(host)
        if not self.restricted or self._listed(host, port) or host == "localhost" or is_loopback(host):
            return
        raise RightsError(
            "This study's reports are restricted to this computer and listed hosts, and "
            f"{_shown(host)} (port {port}) is neither: use a server on this computer (127.0.0.1), or ask a lead to "
            "open this host for the study."
        )

    def check_addresses(self, host: str, port: int, addresses: Sequence[str]) -> None:
        """Refuse to connect to ``host`` where any address it was looked up to is not allowed.

        Raises:
            RightsError: the study does not allow it.
        """
        self.check_host(host, port)
        if not self.restricted or self._listed(_tidy(host), port) or all(map(is_loopback, addresses)):
            return
        raise RightsError(
            f"The name {_shown(_tidy(host))} does not lead to this computer alone, so no restricted report is sent "
            "there: write 127.0.0.1 instead."
        )

    def transport(self, *, limit: int = BODY_LIMIT) -> "httpx2.AsyncBaseTransport":
        """Return what opens connections under this lock; see ``workbench.models.transport``.

        Args:
            limit: bytes that one answer may have.
        """
        from workbench.models.transport import LockedTransport  # noqa: PLC0415

        return LockedTransport(self, limit=limit)

    def _listed(self, host: str, port: int) -> bool:
        return any(host == name and (only is None or only == port) for name, only in map(_entry, self.hosts))


def is_loopback(address: str) -> bool:
    """Return whether an address is this computer's own: 127.0.0.0/8, ::1, or one of these mapped into IPv6."""
    try:
        ip = ipaddress.ip_address(address)
    except ValueError:
        return False
    mapped = ip.ipv4_mapped if isinstance(ip, ipaddress.IPv6Address) else None
    return (mapped or ip).is_loopback


def _target(base_url: str) -> tuple[str, int]:
    """Return host and port of an address, as the client that is to use it reads them."""
    import httpx2  # noqa: PLC0415 - takes a third of a second

    wrong = "is no address of a server: write it like http://127.0.0.1:8000/v1."
    if not _PLAIN.fullmatch(base_url) or "\\" in base_url:
        raise InputError(f"A base_url with spaces, backslashes or characters that are not ASCII {wrong}")
    try:
        url = httpx2.URL(base_url)
        other = urlsplit(base_url)
        host = url.raw_host.decode("ascii")
        port = _PORTS.get(url.scheme, 0) if url.port is None else url.port
        same = _tidy(other.hostname or "") == _tidy(host)
    except (httpx2.InvalidURL, ValueError):
        raise InputError(f"The base_url {wrong}") from None
    if url.scheme not in _PORTS:
        raise InputError(f"A base_url that begins with neither http:// nor https:// {wrong}")
    if url.userinfo or "@" in base_url:
        raise InputError(f"A base_url with a name or password before an @ {wrong}")
    if not same or not _HOST.fullmatch(host) or not 0 < port < 65536:
        raise InputError(f"The base_url {wrong}")
    if url.query or url.fragment:
        raise InputError(f"A base_url with a ? or # {wrong}")
    return host, port


def _entry(entry: str) -> tuple[str, int | None]:
    """Return host and port of an entry of the list; the port is None where all are meant."""
    bare = f"[{entry}]" if entry.count(":") > 1 and not entry.startswith("[") else entry
    match = _ENTRY.fullmatch(bare)
    if match is None or not 0 < int(match["port"] or 1) < 65536:
        raise InputError(f"The host {_shown(entry)!r} is not written as a name or address with or without a port.")
    return _tidy(match["host"]), int(match["port"]) if match["port"] else None


def _tidy(host: str) -> str:
    name = host.strip("[]").lower().removesuffix(".")
    try:
        return str(ipaddress.ip_address(name))
    except ValueError:
        return name


def _shown(host: str) -> str:
    return host if len(host) <= _SHOWN else f"{host[:_SHOWN]}..."
