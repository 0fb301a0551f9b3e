"""The server of ``rating_load.py``: the product's own, with times written down around it, to the file WORKBENCH_TIMES.

One JSON line per event: ``saved`` from a browser's message to labels that are committed, ``drawn`` from the message to
the end of the rerun it caused; both in milliseconds, by session.
"""

import json
import os
import threading
import time
from pathlib import Path
from typing import Any

from starlette.middleware import Middleware
from streamlit.runtime.app_session import AppSession
from streamlit.runtime.scriptrunner import get_script_run_ctx
from streamlit.runtime.scriptrunner.script_runner import ScriptRunner
from streamlit.starlette import App

import workbench.ui
from workbench.ui.routes import Guard, routes
from workbench.workflow import annotate

_waiting: dict[str, list[float]] = {}  # by session when messages arrived that no finished run has worked off
_lock = threading.Lock()
_run = threading.local()
_out = Path(os.environ["WORKBENCH_TIMES"]).open("a", buffering=1)  # noqa: SIM115 - open as long as the server


def _write(session: str, what: str) -> None:
    since = _waiting.get(session, [])
    if since:
        took = 1000 * (time.perf_counter() - since[0])
        _out.write(json.dumps({"session": session, "what": what, "ms": took}) + "\n")


_handle, _start, _finish = AppSession.handle_backmsg, ScriptRunner._run_script, ScriptRunner._on_script_finished
_save = annotate.save


def _handled(self: AppSession, msg: Any) -> None:
    if msg.WhichOneof("type") == "rerun_script":
        with _lock:
            _waiting.setdefault(self.id, []).append(time.perf_counter())
    _handle(self, msg)


def _started(self: ScriptRunner, *given: Any) -> None:
    _run.began = time.perf_counter()
    _start(self, *given)


def _finished(self: ScriptRunner, ctx: Any, *rest: Any, **named: Any) -> None:
    _finish(self, ctx, *rest, **named)
    with _lock:
        _write(ctx.session_id, "drawn")
        _waiting[ctx.session_id] = [at for at in _waiting.get(ctx.session_id, []) if at > _run.began]


def _saved(*given: Any, **named: Any) -> None:
    _save(*given, **named)
    context = get_script_run_ctx()
    if context is not None:
        with _lock:
            _write(context.session_id, "saved")


AppSession.handle_backmsg = _handled  # type: ignore[method-assign]
ScriptRunner._run_script = _started  # type: ignore[method-assign]
ScriptRunner._on_script_finished = _finished  # type: ignore[method-assign]
annotate.save = _saved

app = App(Path(workbench.ui.__file__).with_name("app.py"), routes=routes(), middleware=[Middleware(Guard)])
