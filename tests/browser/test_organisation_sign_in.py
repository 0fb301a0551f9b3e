"""Signing in through OpenID Connect, with a provider of the test's own: who is let in, who is not, and out again."""

import os
import secrets
import socket
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import uvicorn
from selenium.webdriver.chrome.webdriver import WebDriver
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import WebDriverWait
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import Route

from workbench.domain.actors import Role
from workbench.workflow import people
from workbench.workflow.opening import NewStudy, init_study
from workbench.workflow.study import Study

pytestmark = pytest.mark.browser
pytest.importorskip("authlib", reason="Authlib, which the extra oidc brings, is not installed")
jwt = pytest.importorskip("joserfc.jwt")
jwk = pytest.importorskip("joserfc.jwk")


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@dataclass
class Provider:
    """A sign-in service that vouches at once for whoever ``claims`` says is there."""

    claims: dict[str, object]
    port: int = field(default_factory=free_port)
    nonces: dict[str, str] = field(default_factory=dict)
    key: Any = field(default_factory=lambda: jwk.RSAKey.generate_key(2048, {"kid": "k", "use": "sig", "alg": "RS256"}))

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def app(self) -> Starlette:
        return Starlette(
            routes=[
                Route("/.well-known/openid-configuration", self.describe),
                Route("/authorize", self.authorize),
                Route("/token", self.token, methods=["POST"]),
                Route("/keys", self.keys),
            ]
        )

    async def describe(self, _: Request) -> Response:
        return JSONResponse(
            {
                "issuer": self.url,
                "authorization_endpoint": f"{self.url}/authorize",
                "token_endpoint": f"{self.url}/token",
                "jwks_uri": f"{self.url}/keys",
                "response_types_supported": ["code"],
                "subject_types_supported": ["public"],
                "id_token_signing_alg_values_supported": ["RS256"],
            }
        )

    async def authorize(self, request: Request) -> Response:
        asked, code = request.query_params, secrets.token_hex(8)
        self.nonces[code] = asked["nonce"]
        answer = urllib.parse.urlencode({"code": code, "state": asked["state"]})
        return RedirectResponse(f"{asked['redirect_uri']}?{answer}")

    async def token(self, request: Request) -> Response:
        code = urllib.parse.parse_qs((await request.body()).decode())["code"][0]
        now, nonce = int(time.time()), self.nonces[code]
        said = {"iss": self.url, "aud": "workbench", "sub": "1", "iat": now, "exp": now + 600, "nonce": nonce}
        signed = jwt.encode({"alg": "RS256", "kid": "k"}, said | self.claims, self.key)
        return JSONResponse({"access_token": "a", "token_type": "Bearer", "expires_in": 600, "id_token": signed})

    async def keys(self, _: Request) -> Response:
        return JSONResponse({"keys": [self.key.as_dict(private=False)]})


@pytest.fixture
def provider() -> Iterator[Provider]:
    made = Provider({"email": "Rita@hospital.org", "email_verified": True})
    server = uvicorn.Server(uvicorn.Config(made.app(), port=made.port, log_level="error"))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    yield made
    server.should_exit = True
    thread.join(timeout=10)


@pytest.fixture
def study(tmp_path: Path) -> Study:
    made = init_study(tmp_path / "study", NewStudy("Chest 2026", {"Lea": [Role.LEAD, Role.ADMIN]}, with_prompts=False))
    people.add(made, made.actor("Lea"), "Rita", [Role.RATER], email="rita@hospital.org")
    return made


@pytest.fixture
def address(browsing: ModuleType, provider: Provider, study: Study, tmp_path: Path, root: Path) -> Iterator[str]:
    """A server whose secrets name the provider."""
    port = free_port()
    file = tmp_path / "secrets.toml"
    file.write_text(
        f'[auth]\nredirect_uri = "http://127.0.0.1:{port}/oauth2callback"\ncookie_secret = "{secrets.token_hex(32)}"\n'
        f'client_id = "workbench"\nclient_secret = "s"\n'
        f'server_metadata_url = "{provider.url}/.well-known/openid-configuration"\n'
    )
    command = [sys.executable, "-m", "streamlit", "run", "workbench/ui/server.py", f"--server.port={port}"]
    process = subprocess.Popen(
        [*command, f"--secrets.files={file}"],
        cwd=root,
        env={**os.environ, "WORKBENCH_STUDY": str(study.folder)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        url = f"http://127.0.0.1:{port}"
        browsing._wait_for(f"{url}/_stcore/health", process)
        yield url
    finally:
        process.terminate()
        process.wait(timeout=20)


def wait_for(driver: WebDriver, text: str) -> None:
    WebDriverWait(driver, 30).until(lambda d: text in d.execute_script("return document.body?.innerText ?? ''"))


def press(browsing: ModuleType, driver: WebDriver, label: str) -> None:
    browsing.settle(driver)
    driver.find_element(By.XPATH, f"//button[contains(normalize-space(.), '{label}')]").click()


def test_the_organisation_lets_in_whom_it_vouches_for_and_nobody_else(
    browsing: ModuleType, driver: WebDriver, address: str, provider: Provider, study: Study
) -> None:
    driver.get(address)
    wait_for(driver, "Sign in with your organisation")
    press(browsing, driver, "Sign in with your organisation")
    wait_for(driver, "Signed in as Rita")
    driver.refresh()
    wait_for(driver, "Signed in as Rita")
    press(browsing, driver, "Sign out")
    wait_for(driver, "Sign in with your organisation")

    provider.claims["email"] = "eve@hospital.org"
    press(browsing, driver, "Sign in with your organisation")
    wait_for(driver, "Nobody in this study has the address eve@hospital.org")
    press(browsing, driver, "Use another account")
    wait_for(driver, "Sign in with your organisation")

    provider.claims.update(email="rita@hospital.org", email_verified=False)
    press(browsing, driver, "Sign in with your organisation")
    wait_for(driver, "does not say that your e-mail address is checked")
    assert "Signed in as" not in driver.execute_script("return document.body.innerText")


def test_there_is_no_side_door_by_password(address: str, study: Study) -> None:
    code = people.issue_code(study, study.actor("Lea"), "Rita").code
    body = urllib.parse.urlencode({"person": "Rita", "code": code, "password": "quiet lungs today"}).encode()
    request = urllib.request.Request(f"{address}/sign-in", data=body, headers={"Origin": address})
    with pytest.raises(urllib.error.HTTPError, match="403"):
        urllib.request.urlopen(request, timeout=30)
