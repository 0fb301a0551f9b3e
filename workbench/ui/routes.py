"""The two forms that a page cannot answer, since only an answer to a form can set a cookie that no script can read."""

import re
import urllib.parse
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from workbench.domain.people import Session
from workbench.errors import WorkbenchError
from workbench.storage.database import Database
from workbench.ui import sign_in as door
from workbench.ui import state
from workbench.workflow import sign_in
from workbench.workflow.settings import SignIn
from workbench.workflow.slow_down import Try
from workbench.workflow.study import Study, find_study, read_study

_LONGEST_FORM = 10_000  # bytes
_PAGE = re.compile(r"/[a-z]*")
_GUARDED = ("/media/", "/_stcore/upload_file/")
_ELSEWHERE = "This was sent from another site, so nothing was done. Open the workbench itself and try there."


def routes() -> list[Route]:
    """Return the routes for ``st.App``."""
    return [
        Route(door.SIGN_IN, _sign_in, methods=["POST"]),
        Route(door.SIGN_OUT, _sign_out, methods=["POST"]),
        Route(door.SIGN_IN, _to_start, methods=["GET"]),
        Route(door.SIGN_OUT, _to_start, methods=["GET"]),
    ]


class Guard:
    """Hands files of pages (downloads, uploads) only to who is signed in, however well their address is guessed."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or answer 403."""
        if scope["type"] == "http" and scope["path"].startswith(_GUARDED):
            request = Request(scope)
            if not await run_in_threadpool(_may_have_files, request):
                await PlainTextResponse("Sign in first.", 403)(scope, receive, send)
                return
        await self._app(scope, receive, send)


async def _to_start(_: Request) -> Response:
    return RedirectResponse("/", 303)


async def _sign_in(request: Request) -> Response:
    form = await _form(request)
    if form is None or not _own(request):
        return PlainTextResponse(_ELSEWHERE, 403)
    return await run_in_threadpool(_answer, request, form)


async def _sign_out(request: Request) -> Response:
    if not _own(request):
        return PlainTextResponse(_ELSEWHERE, 403)
    return await run_in_threadpool(_end, request)


def _answer(request: Request, form: dict[str, str]) -> Response:
    if door.providers():
        return PlainTextResponse("Sign in with your organisation.", 403)
    asked = form.get(door.GO_ON_TO, "")
    answer = RedirectResponse(asked if _PAGE.fullmatch(asked) else "/", 303)
    with _study() as study:
        told = door.told_cookie_name(study.folder)
        try:
            session = _session(study, request, form)
        except WorkbenchError as refusal:
            said = door.Told(str(refusal), form.get(door.PERSON, "")[:200], door.CODE in form)
            _keep(answer, request, told, said.text, door.TOLD_SECONDS)
            return answer
        cookie = door.cookie_name(study.folder)
        # What was signed in here before is over: a tab left open must not go on as somebody else.
        sign_in.sign_out(study, request.cookies.get(cookie, ""))
        _keep(answer, request, cookie, session.token, int(sign_in.SESSION_LASTS.total_seconds()))
        answer.delete_cookie(told, path="/")
    return answer


def _session(study: Study, request: Request, form: dict[str, str]) -> Session:
    tried = Try(form.get(door.PERSON, ""), request.client.host if request.client else "")
    password = form.get(door.PASSWORD, "")
    if door.CODE in form:
        return sign_in.first_sign_in(study, tried, form[door.CODE], password)
    return sign_in.sign_in(study, tried, password)


def _end(request: Request) -> Response:
    answer = RedirectResponse("/", 303)
    with _study() as study:
        cookie = door.cookie_name(study.folder)
        sign_in.sign_out(study, request.cookies.get(cookie, ""))
        answer.delete_cookie(cookie, path="/")
    return answer


def _may_have_files(request: Request) -> bool:
    if door.providers():
        return True
    with _study() as study:
        if study.settings.sign_in is SignIn.PICK:
            return True
        try:
            return sign_in.signed_in(study, request.cookies.get(door.cookie_name(study.folder), "")) is not None
        except WorkbenchError:
            return False


def _own(request: Request) -> bool:
    """Return whether our own page sent the form. Behind a proxy it may be known by another host."""
    origin = urllib.parse.urlsplit(request.headers.get("origin", "")).netloc
    if origin and origin in {request.headers.get("host"), request.headers.get("x-forwarded-host")}:
        return True
    return request.headers.get("sec-fetch-site") == "same-origin"


async def _form(request: Request) -> dict[str, str] | None:
    """Return a form's fields, None where it is none or larger than any of ours."""
    body = b""
    async for chunk in request.stream():
        body += chunk
        if len(body) > _LONGEST_FORM:
            return None
    try:
        return dict(urllib.parse.parse_qsl(body.decode(), keep_blank_values=True, errors="strict", max_num_fields=10))
    except ValueError:
        return None


def _keep(answer: Response, request: Request, name: str, value: str, seconds: int) -> None:
    secure = "https" in {request.url.scheme, request.headers.get("x-forwarded-proto")}
    answer.set_cookie(name, value, max_age=seconds, path="/", httponly=True, samesite="lax", secure=secure)


@contextmanager
def _study() -> Iterator[Study]:
    """Open the study for one request: settings are kept while their files stay the same, the connection is not."""
    folder = find_study()
    study = _read(folder, state.files(folder))
    database = Database(study.database.path)
    try:
        yield replace(study, database=database)
    finally:
        database.close()


@lru_cache(maxsize=1)
def _read(folder: Path, files: object) -> Study:  # noqa: ARG001 - files are the key
    return read_study(folder)
