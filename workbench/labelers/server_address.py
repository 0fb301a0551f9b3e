"""The address of a labeler's server: its shape is checked when it is configured, long before a report is sent."""

from types import MappingProxyType
from urllib.parse import SplitResult, urlsplit

from workbench.domain.runs import LabelerSettings
from workbench.errors import InputError
from workbench.models.egress import is_loopback

_OWN_HOSTS = MappingProxyType({"openai": "api.openai.com", "anthropic": "api.anthropic.com"})
_OWN_ADDRESSES = MappingProxyType({"openai": "https://api.openai.com/v1", "anthropic": "https://api.anthropic.com"})
_LIKE = MappingProxyType({"openai": "http://127.0.0.1:8000/v1", "anthropic": "http://127.0.0.1:8000"})
# What the provider's library puts behind the address itself.
_ADDED = MappingProxyType(
    {
        "openai": ("/chat/completions", "/completions", "/responses", "/models"),
        "anthropic": ("/v1/messages", "/messages", "/v1"),
    }
)


def checked_address(settings: LabelerSettings) -> str:
    """Return the address of a labeler's server, written in one way: host in lower case, no "/" at the end.

    Raises:
        InputError: it is no address of a server, holds a name or key, or has more at its end than it should; names the
            labeler.
    """
    given = settings.base_url or ""
    parts, port = _split(given)
    if parts is None or not parts.hostname or parts.scheme not in ("http", "https"):
        raise _wrong(settings, f'is no address of a server; one looks like "{_LIKE[settings.kind]}"')
    if "@" in parts.netloc:
        raise _wrong(settings, "holds a name or a key; take it out and name the key's variable as api_key_env")
    if parts.query or parts.fragment:
        raise _wrong(settings, 'has something behind a "?" or "#"; take it out')
    if "@" in parts.path or "\\" in given:
        raise _wrong(settings, 'has a "@" or a backslash in its path, where no server has one; take it out')
    path = parts.path.rstrip("/")
    for end in _ADDED[settings.kind]:
        if path.endswith(end):
            raise _wrong(settings, f"ends in {end}, which is added when it is used; take that end off")
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    return f"{parts.scheme}://{host}{f':{port}' if port else ''}{path}"


def server_address(settings: LabelerSettings) -> str | None:
    """Return the address that a labeler asks, None for one that asks no server."""
    if settings.kind not in _OWN_ADDRESSES:
        return None
    return settings.base_url or _OWN_ADDRESSES[settings.kind]


def runs_here(address: str) -> bool:
    """Return whether an address is this computer's own by its name; see ``models.egress`` for the connection's."""
    host = urlsplit(address).hostname or ""
    return host == "localhost" or is_loopback(host)


def is_providers_own(settings: LabelerSettings) -> bool:
    """Return whether a labeler asks OpenAI or Anthropic themselves, not another server that speaks their language."""
    if settings.base_url is None:
        return True
    parts = urlsplit(settings.base_url)
    return parts.scheme == "https" and parts.hostname == _OWN_HOSTS[settings.kind]


def _split(address: str) -> tuple[SplitResult | None, int | None]:
    if not address.isascii() or not address.isprintable() or " " in address:
        return None, None
    try:
        parts = urlsplit(address)
        port = parts.port
    except ValueError:
        return None, None
    return parts, port


def _wrong(settings: LabelerSettings, problem: str) -> InputError:
    """Return the refusal, which does not repeat the address: it may hold a key."""
    return InputError(f"Labeler {settings.name}: its base_url {problem}.")
