"""A server's address is of the right shape before anything is sent there."""

import pytest

from workbench.domain.runs import LabelerSettings
from workbench.errors import InputError
from workbench.labelers.server_address import checked_address, is_providers_own


def settings(address: str | None, kind: str = "openai") -> LabelerSettings:
    return LabelerSettings("qwen", kind, base_url=address)


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("http://127.0.0.1:8000/v1", "http://127.0.0.1:8000/v1"),
        ("http://127.0.0.1:8000/v1/", "http://127.0.0.1:8000/v1"),
        ("HTTPS://GPU.Hospital.org/Serve/v1", "https://gpu.hospital.org/Serve/v1"),
        ("http://[::1]:11434/v1", "http://[::1]:11434/v1"),
        ("http://localhost", "http://localhost"),
    ],
)
def test_one_server_is_written_in_one_way(given: str, kept: str) -> None:
    assert checked_address(settings(given)) == kept


@pytest.mark.parametrize(
    ("address", "problem"),
    [
        ("", "is no address"),
        ("127.0.0.1:8000/v1", "is no address"),
        ("localhost:8000", "is no address"),
        ("ftp://server/v1", "is no address"),
        ("http://", "is no address"),
        ("http:///v1", "is no address"),
        ("http://server:port/v1", "is no address"),
        ("http://server:99999/v1", "is no address"),
        ("http://[::1/v1", "is no address"),
        (" http://server/v1", "is no address"),
        ("http://server/v1\n", "is no address"),
        ("http://sérver/v1", "is no address"),
        ("http://sk-secret@server/v1", "holds a name or a key"),
        ("http://me:sk-secret@server/v1", "holds a name or a key"),
        ("http://server/sk-secret@host/v1", 'has a "@" or a backslash in its path'),
        ("http://server\\v1", "has a "),
        ("http://server/v1?key=sk-secret", 'behind a "?"'),
        ("http://server/v1#sk-secret", 'behind a "?"'),
        ("http://server/v1/chat/completions", "ends in /chat/completions"),
        ("http://server/v1/chat/completions/", "ends in /chat/completions"),
    ],
)
def test_what_is_no_address_is_refused_without_repeating_it(address: str, problem: str) -> None:
    with pytest.raises(InputError) as refused:
        checked_address(settings(address))
    assert problem in str(refused.value)
    assert str(refused.value).startswith("Labeler qwen: its base_url ")
    assert "sk-secret" not in str(refused.value)


@pytest.mark.parametrize("end", ["/v1", "/v1/messages"])
def test_anthropics_library_adds_the_version_itself(end: str) -> None:
    assert checked_address(settings("http://127.0.0.1:8000", "anthropic")) == "http://127.0.0.1:8000"
    with pytest.raises(InputError, match=f"ends in {end}, which is added"):
        checked_address(settings(f"http://127.0.0.1:8000{end}", "anthropic"))


@pytest.mark.parametrize(
    ("address", "kind", "own"),
    [
        (None, "openai", True),
        ("https://api.openai.com/v1", "openai", True),
        ("https://api.anthropic.com", "anthropic", True),
        ("http://api.openai.com/v1", "openai", False),  # in the clear
        ("https://api.openai.com.example.org/v1", "openai", False),
        ("https://api.openai.com/v1", "anthropic", False),
        ("http://127.0.0.1:8000/v1", "openai", False),
    ],
)
def test_only_the_providers_own_address_gets_the_providers_own_key(address: str | None, kind: str, own: bool) -> None:
    assert is_providers_own(settings(address, kind)) is own
