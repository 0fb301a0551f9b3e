"""In a network that is this computer and nothing else, reports still arrive, and nothing tries to leave."""

import json
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

ELSEWHERE = "203.0.113.9"  # an address that documents may use and nobody has
LEADS_ASTRAY = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "OPENAI_BASE_URL", "ANTHROPIC_BASE_URL")
ENVIRONMENT = {
    **dict.fromkeys((*LEADS_ASTRAY, *map(str.lower, LEADS_ASTRAY)), f"http://{ELSEWHERE}:8080"),
    "ANTHROPIC_OPEN_TELEMETRY": "true",
    "OTEL_EXPORTER_OTLP_ENDPOINT": f"http://{ELSEWHERE}:8080",
    "OPENAI_API_KEY": "sk-environment",
    "ANTHROPIC_API_KEY": "sk-environment",
}


def test_what_leaves_is_seen_of_child_processes_too(run_with_only_loopback: Callable[..., dict[str, Any]]) -> None:
    """Without this, the tests below would pass where nothing is watched."""
    code = """
        import subprocess, sys, urllib.request
        child = "import urllib.request; urllib.request.urlopen('http://192.0.2.7/', timeout=0.5)"  # by the proxy
        subprocess.run([sys.executable, "-c", child], stderr=subprocess.DEVNULL)
        for address in ("http://192.0.2.1/", "http://[2001:db8::5]/"):
            try:
                urllib.request.build_opener(urllib.request.ProxyHandler({})).open(address, timeout=0.5)
            except OSError:
                pass
    """
    result = run_with_only_loopback(sys.executable, "-c", textwrap.dedent(code), env=ENVIRONMENT)
    assert result["left"] == [ELSEWHERE, "192.0.2.1", "2001:db8::5"]


def test_a_command_that_hangs_is_an_error_and_no_reason_to_skip(
    run_with_only_loopback: Callable[..., dict[str, Any]],
) -> None:
    with pytest.raises(RuntimeError, match="TimeoutExpired|timed out"):
        run_with_only_loopback(sys.executable, "-c", "import time; time.sleep(60)", env=ENVIRONMENT, seconds=0.5)


ASK = """
    import asyncio, json, subprocess, sys
    from workbench.domain.runs import LabelerSettings
    from workbench.errors import RightsError
    from workbench.models.anthropic import AnthropicModel
    from workbench.models.base import CallError, Message, Role
    from workbench.models.egress import Egress
    from workbench.models.openai import OpenAIModel
    from workbench.models.probe import probe

    ELSEWHERE = "203.0.113.9"
    MODELS = [(OpenAIModel, "/v1"), (AnthropicModel, "")]
    said = []

    def asked(maker, base_url, deal="ok"):
        async def call():
            settings = LabelerSettings("x", "k", base_url=base_url, model="m", timeout=60)
            model = maker(settings, key=None, egress=Egress())
            try:
                text = "<report>\\npneumothorax present. {deal %s}\\n</report>" % deal
                return (await model.complete([Message(Role.USER, text)], schema={})).text
            finally:
                await model.close()
        try:
            said.append("pneumothorax" in asyncio.run(call()))
        except (CallError, RightsError) as error:
            said.append(str(error).split(":")[0][:30])

    if len(sys.argv) == 3:
        for maker, path in MODELS:
            asked(maker, sys.argv[2] + path)
            asked(maker, f"http://{ELSEWHERE}{path}")
    else:
        server = subprocess.Popen([sys.executable, sys.argv[1]], stdout=subprocess.PIPE, text=True)
        url = "http://127.0.0.1:" + server.stdout.readline().strip()
        for maker, path in MODELS:
            asked(maker, url + path)
            asked(maker, url.replace("127.0.0.1", "localhost") + path)
            asked(maker, url + path, f"redirect:http://{ELSEWHERE}/v1/messages")
            asked(maker, url + path, f"redirect://{ELSEWHERE}/v1/chat/completions")
            for base_url in (None, f"http://{ELSEWHERE}/v1", "http://[2001:db8::5]/", "http://127.0.0.1.evil.example/"):
                asked(maker, base_url)
        child = [sys.executable, "-c", open("/proc/self/cmdline").read().split("\\0")[2], sys.argv[1], url]
        said.append(json.loads(subprocess.run(child, capture_output=True, text=True).stdout))
        server.kill()
    print(json.dumps(said))
"""


def test_reports_go_to_this_computer_and_nothing_leaves_it(
    root: Path, run_with_only_loopback: Callable[..., dict[str, Any]]
) -> None:
    server = str(root / "tests/models/fault_server.py")
    result = run_with_only_loopback(sys.executable, "-c", textwrap.dedent(ASK), server, env=ENVIRONMENT)
    assert result["code"] == 0, result["output"]
    sent, redirected, refused = True, "The server sends its callers e", "This study's reports are restr"
    each = [sent, sent, redirected, redirected, refused, refused, refused, refused]
    assert json.loads(result["output"].splitlines()[-1]) == [*each, *each, [sent, refused, sent, refused]]
    assert result["left"] == []
