"""The real server: the forms set and end sessions, other sites cannot use them, and no address gives away a file."""

import http.client
import os
import re
import socket
import subprocess
import sys
import time
import urllib.parse
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from workbench.domain.actors import Role
from workbench.domain.cohorts import Purpose
from workbench.ui.sign_in import cookie_name, read_told, told_cookie_name
from workbench.workflow import people
from workbench.workflow.cohorts import define
from workbench.workflow.ingest import import_reports
from workbench.workflow.opening import NewStudy, init_study
from workbench.workflow.sign_in import first_sign_in, signed_in
from workbench.workflow.slow_down import Try
from workbench.workflow.study import Study

PASSWORD = "quiet lungs today"
SECRET = "THE-LUNGS-OF-SOMEBODY"


@dataclass(frozen=True)
class Answer:
    status: int
    headers: list[tuple[str, str]]
    body: bytes

    def header(self, name: str) -> str:
        return "\n".join(value for key, value in self.headers if key.lower() == name)

    def cookie(self, name: str) -> str:
        """The Set-Cookie line of a cookie, empty where it is not set."""
        lines = [line for line in self.header("set-cookie").split("\n") if line.startswith(f"{name}=")]
        return lines[0] if lines else ""


@dataclass(frozen=True)
class Served:
    study: Study
    port: int

    def ask(self, method: str, path: str, body: str = "", headers: Mapping[str, str] | None = None) -> Answer:
        """Send a request as it stands: no client tidies the path."""
        conn = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        conn.putrequest(method, path, skip_host=True)
        given = {"Host": f"127.0.0.1:{self.port}", **(headers or {})}
        if method == "POST":
            given |= {"Content-Type": "application/x-www-form-urlencoded", "Content-Length": str(len(body.encode()))}
        for key, value in given.items():
            conn.putheader(key, value)
        conn.endheaders(body.encode() if method == "POST" else None)
        got = conn.getresponse()
        answer = Answer(got.status, got.getheaders(), got.read())
        conn.close()
        return answer

    def post(self, path: str, fields: Mapping[str, str], **headers: str) -> Answer:
        """Send a form as our own page does."""
        origin = {"Origin": f"http://127.0.0.1:{self.port}"}
        return self.ask("POST", path, urllib.parse.urlencode(fields), origin | headers)

    def token(self, name: str = "Rita") -> str:
        line = self.post("/sign-in", {"person": name, "password": PASSWORD}).cookie(cookie_name(self.study.folder))
        assert line
        return line.split(";")[0].split("=", 1)[1]


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory, root: Path) -> Iterator[Served]:
    """A real study with one report, a rater with a password, and a server on it."""
    folder = tmp_path_factory.mktemp("served") / "study"
    study = init_study(folder, NewStudy("Chest", {"Lea": [Role.LEAD, Role.ADMIN]}))
    with (folder / "data" / "study.toml").open("a") as settings:
        settings.write(f"# {SECRET}\n")
    lead = study.actor("Lea")
    reports = folder.parent / "reports.csv"
    reports.write_text(f"id,patient_id,text\nr1,p1,FINDINGS: {SECRET}\n")
    import_reports(study, lead, reports)
    define(study, lead, "dev", Purpose.DEVELOPMENT, ["r1"])
    first_sign_in(study, Try("Rita", ""), people.add(study, lead, "Rita", [Role.RATER]).code, PASSWORD)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    process = subprocess.Popen(
        [sys.executable, "-m", "streamlit", "run", "workbench/ui/server.py", f"--server.port={port}"],
        cwd=root,
        env={**os.environ, "WORKBENCH_STUDY": str(folder)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        here = Served(study, port)
        _wait(here, process)
        yield here
    finally:
        process.terminate()
        process.wait(timeout=20)


def _wait(served: Served, process: "subprocess.Popen[bytes]") -> None:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        assert process.poll() is None, "the server ended before it answered"
        try:
            if served.ask("GET", "/_stcore/health").status == 200:
                return
        except OSError:
            time.sleep(0.1)
    raise AssertionError("the server did not answer within a minute")


def test_the_right_password_sets_a_cookie_that_no_script_reads(served: Served) -> None:
    answer = served.post("/sign-in", {"person": "Rita", "password": PASSWORD, "then": "/annotate"})
    assert (answer.status, answer.header("location")) == (303, "/annotate")
    line = answer.cookie(cookie_name(served.study.folder))
    token = line.split(";")[0].split("=", 1)[1]
    assert {"HttpOnly", "SameSite=lax", "Path=/"} <= set(line.split("; "))
    assert "Secure" not in line
    actor = signed_in(served.study, token)
    assert actor is not None
    assert actor.name == "Rita"


def test_behind_https_the_cookie_is_for_https_only(served: Served) -> None:
    fields = {"person": "Rita", "password": PASSWORD}
    line = served.post("/sign-in", fields, **{"X-Forwarded-Proto": "https"}).cookie(cookie_name(served.study.folder))
    assert "Secure" in line.split("; ")


def test_a_wrong_password_is_told_on_the_page_it_came_from(served: Served) -> None:
    answer = served.post("/sign-in", {"person": "Ritä", "password": "wrong", "then": "/annotate"})
    assert (answer.status, answer.header("location")) == (303, "/annotate")
    assert answer.cookie(f"{cookie_name(served.study.folder)}") == ""
    line = answer.cookie(told_cookie_name(served.study.folder))
    assert "HttpOnly" in line
    told = read_told(line.split(";")[0].split("=", 1)[1])
    assert told is not None
    assert (told.sentence, told.person, told.by_code) == ("The name or the password is wrong.", "Ritä", False)


def test_a_code_works_over_the_form_and_only_once(served: Served) -> None:
    issued = people.add(served.study, served.study.actor("Lea"), "Newcomer", [Role.RATER])
    fields = {"person": "Newcomer", "code": issued.code, "password": "short"}
    told = served.post("/sign-in", fields).cookie(told_cookie_name(served.study.folder))
    assert "at%20least%2010%20characters" in told
    fields["password"] = PASSWORD
    assert served.post("/sign-in", fields).cookie(cookie_name(served.study.folder))
    assert not served.post("/sign-in", fields).cookie(cookie_name(served.study.folder))


@pytest.mark.parametrize(
    "then", ["//evil.org", "https://evil.org", "/\\evil.org", "/a/../b", "/annotate?x=1", "", "/é"]
)
def test_nobody_is_sent_to_another_site(served: Served, then: str) -> None:
    answer = served.post("/sign-in", {"person": "Rita", "password": PASSWORD, "then": then})
    assert answer.header("location") == "/"


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"Origin": "http://evil.org"},
        {"Origin": "null"},
        {"Origin": "http://evil.org", "Sec-Fetch-Site": "cross-site"},
        {"Referer": "http://127.0.0.1/"},
    ],
)
@pytest.mark.parametrize("path", ["/sign-in", "/sign-out"])
def test_another_site_can_sign_nobody_in_or_out(served: Served, path: str, headers: dict[str, str]) -> None:
    token = served.token()
    given = headers | {"Cookie": f"{cookie_name(served.study.folder)}={token}"}
    answer = served.ask("POST", path, urllib.parse.urlencode({"person": "Rita", "password": PASSWORD}), given)
    assert (answer.status, answer.header("set-cookie")) == (403, "")
    assert signed_in(served.study, token) is not None


def test_a_browser_that_vouches_for_the_same_site_is_believed_behind_a_proxy(served: Served) -> None:
    body = urllib.parse.urlencode({"person": "Rita", "password": PASSWORD})
    for headers in (
        {"Origin": "https://study.hospital.org", "Sec-Fetch-Site": "same-origin"},
        {"Origin": "https://study.hospital.org", "X-Forwarded-Host": "study.hospital.org"},
    ):
        assert served.ask("POST", "/sign-in", body, headers).cookie(cookie_name(served.study.folder))


def test_signing_out_ends_the_session_and_the_cookie(served: Served) -> None:
    token = served.token()
    cookie = {"Cookie": f"{cookie_name(served.study.folder)}={token}"}
    answer = served.post("/sign-out", {}, **cookie)
    assert (answer.status, answer.header("location")) == (303, "/")
    assert "Max-Age=0" in answer.cookie(cookie_name(served.study.folder))
    assert signed_in(served.study, token) is None


def test_signing_in_ends_the_session_that_was_there(served: Served) -> None:
    before = served.token()
    fields = {"person": "Rita", "password": PASSWORD}
    served.post("/sign-in", fields, Cookie=f"{cookie_name(served.study.folder)}={before}")
    assert signed_in(served.study, before) is None


@pytest.mark.parametrize("body", ["x" * 20_000, "&".join("a=1" for _ in range(500)), "person=%FF%FE"])
def test_a_form_that_is_none_of_ours_is_refused(served: Served, body: str) -> None:
    answer = served.ask("POST", "/sign-in", body, {"Origin": f"http://127.0.0.1:{served.port}"})
    assert answer.status == 403


def test_the_forms_have_no_pages_of_their_own(served: Served) -> None:
    for path in ("/sign-in", "/sign-out"):
        answer = served.ask("GET", path)
        assert (answer.status, answer.header("location")) == (303, "/")


def test_files_of_pages_are_for_who_is_signed_in(served: Served) -> None:
    name = "0" * 56 + ".csv"
    assert served.ask("GET", f"/media/{name}").status == 403
    assert served.ask("PUT", "/_stcore/upload_file/session/file").status == 403
    cookie = {"Cookie": f"{cookie_name(served.study.folder)}={served.token()}"}
    assert served.ask("GET", f"/media/{name}", headers=cookie).status == 404


# --- no address gives away a file -------------------------------------------------------------------------------------

_FILES = ("data/workbench.db", "data/workbench.db-wal", "data/study.toml", "prompts/cxr21/0001.md", "data/cxr21.yaml")
_PREFIXES = (
    "",
    "static",
    "app/static",
    "media",
    "component",
    "_stcore/bidi-components",
    "component/workbench",
    "_stcore",
    "sign-in",
)
_CLIMBS = ("", "../" * 8, "..%2f" * 8, "%2e%2e/" * 8, "..%5c" * 8, "%252e%252e%252f" * 4, ".%00./" * 4, "//")


def addresses(folder: Path) -> list[str]:
    targets = [target for file in _FILES for target in (file, str(folder / file).lstrip("/"))]
    found = [
        "/" + "/".join(part for part in (prefix, climb + target) if part)
        for prefix in _PREFIXES
        for climb in _CLIMBS
        for target in targets
    ]
    found += [f"/{path}" for path in ("", "annotate", "data", "data/", ".streamlit/config.toml", "robots.txt", "%")]
    found += [f"/{urllib.parse.quote(str(folder / _FILES[0]), safe='')}", f"/file://{folder}/{_FILES[0]}"]
    found += ["/_stcore/host-config", "/_stcore/metrics", "/_stcore/health", "/openapi.json", "/_stcore/agent"]
    return found


@pytest.mark.parametrize("inside", [False, True], ids=["stranger", "signed in"])
def test_no_address_returns_bytes_of_the_database_or_of_a_study_file(served: Served, inside: bool) -> None:
    folder = served.study.folder
    lead_line = (folder / "prompts" / "cxr21" / "0001.md").read_text().splitlines()[4]
    marks = [b"SQLite format 3", SECRET.encode(), b"$argon2", b"Rita", b"label_set =", lead_line.encode()]
    headers = {"Cookie": f"{cookie_name(folder)}={served.token()}"} if inside else {}
    shell = served.ask("GET", "/").body
    assert b"<html" in shell
    asked = addresses(folder)
    assert len(asked) > 700
    for path in asked:
        answer = served.ask("GET", path, headers=headers)
        assert answer.status < 500, path
        assert not any(mark in answer.body for mark in marks), path
        if answer.status == 200 and re.search(r"\.(db|db-wal|toml|md|yaml)$", path):
            assert answer.body == shell, path  # the app's shell, the same for everybody and everything


def test_the_marks_are_in_the_files(served: Served) -> None:
    database = served.study.database.path
    kept = database.read_bytes() + database.with_name(database.name + "-wal").read_bytes()
    for mark in (b"SQLite format 3", SECRET.encode(), b"$argon2", b"Rita"):
        assert mark in kept
