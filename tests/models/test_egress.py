"""The data-use lock: nothing that stands in a setting, a name, an answer or the environment gets around it."""

import asyncio
import socket
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from workbench.domain.runs import LabelerSettings
from workbench.errors import InputError, RightsError
from workbench.models.anthropic import AnthropicModel
from workbench.models.base import CallError, Message, Role, Trouble
from workbench.models.egress import Egress, is_loopback
from workbench.models.openai import OpenAIModel

LISTED = Egress(hosts=frozenset({"gpu.hospital.org:8000", "10.0.0.5", "[fd00::5]:8000", "Big.Host.", "fe80::1"}))
PROVIDERS = {"openai": (OpenAIModel, "/v1"), "anthropic": (AnthropicModel, "")}
QUESTION = [Message(Role.SYSTEM, "s"), Message(Role.USER, "<report>\npneumothorax present.\n</report>")]


def allows(check: Callable[..., None], *address: Any) -> bool:
    """Return whether a check lets an address pass."""
    try:
        check(*address)
    except RightsError:
        return False
    return True


@pytest.fixture(autouse=True)
def no_real_look_ups(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fail where a name is looked up that a test has not given an answer for."""
    real = socket.getaddrinfo

    def look_up(host: Any, *arguments: Any, **named: Any) -> Any:
        assert host in {"127.0.0.1", "::1", "localhost", None}, f"{host} was looked up"
        return real(host, *arguments, **named)

    monkeypatch.setattr(socket, "getaddrinfo", look_up)


@pytest.mark.parametrize(
    "base_url",
    [
        "http://127.0.0.1:8000/v1",
        "http://127.9.9.9",
        "https://127.0.0.1/v1",
        "http://[::1]:80/",
        "http://localhost",
        "http://LocalHost.:11434/v1",
        "http://[::ffff:127.0.0.1]/",
        "http://gpu.hospital.org:8000/v1",
        "http://GPU.hospital.org.:8000/v1",
        "http://10.0.0.5:9/",
        "http://10.0.0.5",
        "http://[fd00::5]:8000",
        "http://[FD00:0::5]:8000",
        "http://big.host/",
        "https://[fe80::1]/",
    ],
)
def test_this_computer_and_listed_hosts_are_allowed(base_url: str) -> None:
    assert allows(LISTED.check, base_url)


@pytest.mark.parametrize(
    "base_url",
    [
        "https://api.openai.com/v1",
        "https://api.anthropic.com",
        "http://localhost.evil.com",
        "http://127.0.0.1.evil.com",
        "http://evil.com/127.0.0.1",
        "http://evil.com/%40127.0.0.1",
        "http://localhost-evil.com",
        "http://[::ffff:8.8.8.8]/",
        "http://[::ffff:808:808]/",
        "http://2130706433/",
        "http://0x7f.1/",
        "http://0x7f000001/",
        "http://127.1/",
        "http://0.0.0.0:8000/",
        "http://[::]/",
        "http://169.254.169.254/",
        "http://192.168.0.10:8000/v1",
        "http://gpu.hospital.org/v1",
        "http://gpu.hospital.org:8001/v1",
        "http://evil.gpu.hospital.org:8000/v1",
        "http://gpu.hospital.org.evil.com:8000/v1",
        "http://10.0.0.50/",
        "http://[fd00::5]:8001",
        "http://bighost/",
    ],
)
def test_anything_else_is_refused_without_looking_it_up(base_url: str) -> None:
    with pytest.raises(RightsError, match=r"^This study's reports are restricted to this computer and listed hosts"):
        LISTED.check(base_url)


@pytest.mark.parametrize(
    "base_url",
    [
        "http://127.0.0.1@evil.com/",
        "http://user:secret@127.0.0.1/",
        "http://evil.com@127.0.0.1/",
        "http://127.0.0.1:80@evil.com",
        "http://127.0.0.1\\@evil.com",
        "http://evil.com\\.127.0.0.1",
        "http://127.0.0.1#@evil.com",
        "http://127.0.0.1/?to=evil.com",
        "http://127.0.0.1#evil.com",
        "http://127.0.0.1%00.evil.com/",
        "http://127.0.0.1%2eevil.com",
        "http://[::1%25eth0]/",
        "http://[::1]evil.com/",
        "http://0177.0.0.1/",
        "http://\uff11\uff12\uff17.0.0.1/",
        "http://127.0.0.1/v1\r\nHost: evil.com",
        "http://127.0.0.1 .evil.com",
        "http://127.0.0.1:99999/",
        "http://127.0.0.1:0/",
        "http:127.0.0.1",
        "//127.0.0.1",
        "127.0.0.1:8000",
        "localhost:8000/v1",
        "http://",
        "http:///v1",
        "unix:///run/server.sock",
        "http+unix://%2Frun%2Fserver.sock/v1",
        "file:///etc/passwd",
        "ws://127.0.0.1/",
        "",
    ],
)
@pytest.mark.parametrize("egress", [LISTED, Egress(restricted=False)], ids=["restricted", "open"])
def test_what_two_readers_could_read_as_two_addresses_is_none(base_url: str, egress: Egress) -> None:
    with pytest.raises(InputError) as refused:
        egress.check(base_url)
    assert "secret" not in str(refused.value)


@pytest.mark.parametrize(
    "entry", ["*.hospital.org", "https://a/v1", "a b", "a:0", "a:99999", "", "0.0.0.0/0", "a:b", "u@a"]
)
def test_a_list_holds_hosts_only(entry: str) -> None:
    with pytest.raises(InputError, match="is not written as a name or address"):
        Egress(hosts=frozenset({entry}))


def test_an_open_study_may_use_any_host() -> None:
    assert allows(Egress(restricted=False).check, "https://api.openai.com/v1")
    assert allows(Egress(restricted=False).check_addresses, "api.openai.com", 443, ["8.8.8.8"])


def test_what_loopback_is() -> None:
    assert all(map(is_loopback, ["127.0.0.1", "127.255.255.254", "::1", "0:0::1", "::ffff:127.0.0.1"]))
    assert not any(
        map(is_loopback, ["128.0.0.1", "0.0.0.0", "::", "::2", "::ffff:128.0.0.1", "localhost", "", "127.1"])
    )


@pytest.mark.parametrize("model", [OpenAIModel, AnthropicModel])
def test_a_restricted_study_refuses_providers_before_anything_is_sent(model: Callable[..., Any]) -> None:
    with pytest.raises(RightsError, match=r"^This study's reports are restricted"):
        model(settings(None), key="sk-1", egress=Egress())


def settings(base_url: str | None, **more: Any) -> LabelerSettings:
    return LabelerSettings(**{"name": "x", "kind": "k", "base_url": base_url, "model": "m", "timeout": 5.0, **more})


def made(provider: str, root: str, *, key: str | None = None, egress: Egress = Egress()) -> Any:  # noqa: B008
    """Return a model that asks the server at ``root``."""
    model, path = PROVIDERS[provider]
    return model(settings(f"{root}{path}"), key=key, egress=egress)


async def ask(model: Any) -> str:
    try:
        return str((await model.complete(QUESTION, schema={})).text)
    finally:
        await model.close()


@pytest.fixture
def bait() -> Iterator[tuple[str, list[Any]]]:
    """A listener that nothing may connect to: its address, and what did."""
    came: list[Any] = []
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.setblocking(False)
        yield f"127.0.0.1:{listener.getsockname()[1]}", came
        with pytest.raises(BlockingIOError):
            came.append(listener.accept())
    assert came == []


def answer_look_ups(monkeypatch: pytest.MonkeyPatch, answers: dict[str, list[list[str]]]) -> list[str]:
    """Answer each look-up of a name with the next of its lists of addresses; return the names as they are asked."""
    asked: list[str] = []

    def look_up(host: str, port: int, *arguments: Any, **named: Any) -> list[tuple[Any, ...]]:
        if isinstance(host, bytes):
            host = host.decode()
        asked.append(host)
        given = answers.get(host, [[host]])
        now = given.pop(0) if len(given) > 1 else given[0]
        return [
            (socket.AF_INET6 if ":" in address else socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, port))
            for address in now
        ]

    monkeypatch.setattr(socket, "getaddrinfo", look_up)
    return asked


@pytest.fixture
def connected(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Where sockets connect to; only loopback is let through."""
    tried: list[Any] = []
    real = asyncio.selector_events.BaseSelectorEventLoop.sock_connect  # type: ignore[attr-defined]

    async def connect(self: Any, sock: socket.socket, address: Any) -> Any:
        tried.append(address[0])
        assert is_loopback(address[0]), f"a connection to {address[0]} was tried"
        return await real(self, sock, address)

    monkeypatch.setattr(asyncio.selector_events.BaseSelectorEventLoop, "sock_connect", connect)  # type: ignore[attr-defined]
    return tried


@pytest.mark.parametrize("provider", PROVIDERS)
def test_a_name_that_changes_its_address_is_refused_when_it_does(
    provider: str,
    start_fault_server: Callable[..., Any],
    monkeypatch: pytest.MonkeyPatch,
    connected: list[Any],
) -> None:
    port = start_fault_server().port
    asked = answer_look_ups(monkeypatch, {"localhost": [["127.0.0.1"], ["203.0.113.7"]]})

    async def both() -> None:
        first = made(provider, f"http://localhost:{port}")
        assert "pneumothorax" in await ask(first)
        second = made(provider, f"http://localhost:{port}")
        with pytest.raises(CallError, match=r"^The name localhost does not lead to this computer alone") as refused:
            await ask(second)
        assert refused.value.trouble is Trouble.CLOSED

    asyncio.run(both())
    assert asked.count("localhost") == 2, "a name is looked up once for each connection, and that answer is used"
    assert connected == ["127.0.0.1"]


@pytest.mark.parametrize(
    "addresses", [["127.0.0.1", "203.0.113.7"], ["203.0.113.7", "127.0.0.1"], ["::ffff:203.0.113.7"]]
)
@pytest.mark.parametrize("provider", PROVIDERS)
def test_one_wrong_address_among_right_ones_is_enough_to_refuse(
    addresses: list[str],
    provider: str,
    monkeypatch: pytest.MonkeyPatch,
    connected: list[Any],
) -> None:
    answer_look_ups(monkeypatch, {"localhost": [addresses]})
    model = made(provider, "http://localhost:9")
    with pytest.raises(CallError, match=r"^The name localhost"):
        asyncio.run(ask(model))
    assert connected == []


@pytest.mark.parametrize("form", ["http://{}/v1/messages", "//{}/v1/chat/completions", "https://{}/"])
@pytest.mark.parametrize("egress", [Egress(), Egress(restricted=False)], ids=["restricted", "open"])
@pytest.mark.parametrize("provider", PROVIDERS)
def test_no_redirect_is_followed(
    provider: str,
    egress: Egress,
    form: str,
    bait: tuple[str, list[Any]],
    start_fault_server: Callable[..., Any],
) -> None:
    server = start_fault_server()
    text = f"<report>\n{{deal redirect:{form.format(bait[0])}}}\n</report>"
    model = made(provider, f"{server.url}", key="sk-1", egress=egress)

    async def call() -> None:
        try:
            await model.complete([Message(Role.USER, text)], schema={})
        finally:
            await model.close()

    with pytest.raises(CallError, match=r"^The server sends its callers elsewhere \(HTTP 307\)") as refused:
        asyncio.run(call())
    assert refused.value.trouble is Trouble.CLOSED
    assert server.log()["calls"] == 1


@pytest.mark.parametrize("provider", PROVIDERS)
def test_no_variable_of_the_environment_leads_elsewhere(
    provider: str,
    bait: tuple[str, list[Any]],
    start_fault_server: Callable[..., Any],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Any,
) -> None:
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "OPENAI_BASE_URL", "ANTHROPIC_BASE_URL"):
        monkeypatch.setenv(name, f"http://{bait[0]}")
        monkeypatch.setenv(name.lower(), f"http://{bait[0]}")
    for name in ("NO_PROXY", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
    for name in ("OPENAI_API_KEY", "OPENAI_ADMIN_KEY", "ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"):
        monkeypatch.setenv(name, "sk-of-the-environment")
    for name in ("OPENAI_CUSTOM_HEADERS", "ANTHROPIC_CUSTOM_HEADERS"):
        headers = ("X-Gateway", "Authorization", "x-api-key", "User-Agent", "OpenAI-Beta")
        monkeypatch.setenv(name, "\n".join(f"{header}: sk-of-the-environment" for header in headers))
    for name in ("OPENAI_ORG_ID", "OPENAI_PROJECT_ID", "OPENAI_WEBHOOK_SECRET", "ANTHROPIC_WEBHOOK_SIGNING_KEY"):
        monkeypatch.setenv(name, "sk-of-the-environment")
    monkeypatch.setenv("ANTHROPIC_OPEN_TELEMETRY", "true")
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", f"http://{bait[0]}")
    netrc = tmp_path / "netrc"
    netrc.write_text("machine 127.0.0.1\nlogin user\npassword sk-of-the-environment\n")
    monkeypatch.setenv("NETRC", str(netrc))
    server = start_fault_server()
    assert "pneumothorax" in asyncio.run(ask(made(provider, f"{server.url}", key="sk-1")))
    log = server.log()
    assert log["calls"] == 1
    assert "sk-of-the-environment" not in str(log["last"])
    sent = log["last"]["headers"]
    assert "sk-1" in (sent.get("x-api-key") or sent["authorization"])
    assert not {"x-gateway", "openai-organization", "openai-project", "openai-beta"} & sent.keys()
    with pytest.raises(RightsError):
        PROVIDERS[provider][0](settings(None), key="sk-1", egress=Egress())


def test_a_port_of_a_listed_host_opens_no_other(
    start_fault_server: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, connected: list[Any]
) -> None:
    server = start_fault_server()
    egress = Egress(hosts=frozenset({f"gpu.hospital.org:{server.port}"}))
    answer_look_ups(monkeypatch, {"gpu.hospital.org": [["127.0.0.1"]]})
    model = made("openai", f"http://gpu.hospital.org:{server.port}", egress=egress)
    assert "pneumothorax" in asyncio.run(ask(model))
    assert server.log()["last"]["headers"]["host"] == f"gpu.hospital.org:{server.port}"
    with pytest.raises(RightsError):
        OpenAIModel(settings(f"http://gpu.hospital.org:{server.port + 1}/v1"), key=None, egress=egress)
