"""Commands that make or open a study: demo, serve, init."""

import os
import signal
import socket
import subprocess
import sys
import threading
import time
import webbrowser
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from workbench.cli.options import AsOption, JsonOption, StudyOption
from workbench.cli.output import Output, figure, table
from workbench.domain.actors import Role
from workbench.domain.hashing import short
from workbench.errors import InputError
from workbench.workflow.demo import FOLDER, Demo, demo
from workbench.workflow.opening import NewStudy, default_people, init_study, open_study
from workbench.workflow.prompts import revisions
from workbench.workflow.settings import SignIn
from workbench.workflow.sign_in import has_accounts
from workbench.workflow.study import HOME, STUDY_VARIABLE, find_study

LOCAL = "127.0.0.1"
PortOption = Annotated[int, typer.Option(help="Port of the page.", min=1, max=65535)]
AddressOption = Annotated[str, typer.Option(help="Address to listen on; 127.0.0.1 is this computer only.")]


def register(app: typer.Typer) -> None:
    """Add these commands to the program."""
    app.command("demo")(demo_command)
    app.command("serve")(serve_command)
    app.command("init")(init_command)


def demo_command(
    *,
    serve: Annotated[bool, typer.Option("--serve/--no-serve", help="Open the pages when the study is made.")] = True,
    folder: Annotated[Path, typer.Option("--folder", help="Where the demo study is made.")] = FOLDER,
    port: PortOption = 8501,
    as_json: JsonOption = False,
) -> None:
    """Make the demo study (invented reports, simulated raters), run the loop on it, and open the pages.

    What is there already is kept, with all that was done in it; delete the folder to start afresh.

    \b
    Examples:
      workbench demo
      workbench demo --no-serve --json
    """
    out = Output(as_json)
    made = demo(folder.resolve(), tell=out.tell)
    out.answer(_demo_json(made), *_demo_shown(made))
    if serve:
        _serve(made.study.folder, port, LOCAL, out)


def _demo_json(made: Demo) -> dict[str, object]:
    return {
        "revisions": [
            {
                "number": row.revision.number,
                "hash": row.revision.prompt_hash,
                "status": row.revision.status.value,
                "macro_f1": row.score.evaluation.macro_f1.value if row.score else None,
                "n_findings": row.score.evaluation.macro_f1.n if row.score else 0,
            }
            for row in made.rows
        ],
        "study": str(made.study.folder),
        "made": made.made,
        "simulated": made.study.settings.simulated,
        "reference": {"name": made.reference.name, "hash": made.reference.hash},
    }


def _demo_shown(made: Demo) -> list[Table | str]:
    rows = [
        (
            row.revision.number,
            short(row.revision.prompt_hash),
            row.revision.status,
            figure(row.score.evaluation.macro_f1) if row.score else "-",
            row.revision.message,
        )
        for row in made.rows
    ]
    title = f"Demo study in {made.study.folder}: macro-F1 on {made.reference.name} ({short(made.reference.hash)})"
    return [
        table(title, ["revision", "hash", "status", "macro-F1 (95 %)", "message"], rows),
        made.study.settings.simulated,
    ]


def serve_command(
    *,
    study: StudyOption = None,
    port: PortOption = 8501,
    address: AddressOption = LOCAL,
    as_json: JsonOption = False,
) -> None:
    """Open the pages of a study in the browser.

    People sign in with accounts made by `workbench user add`. A study in which one picks a name, such as the demo, is
    served to this computer only.

    \b
    Examples:
      workbench serve --study my-study
      workbench serve --study my-study --address 0.0.0.0 --port 80
    """
    opened, out = open_study(study), Output(as_json)
    if opened.settings.sign_in is SignIn.PICK and address != LOCAL:
        raise InputError(
            f"In this study one picks a name, so it is served on {LOCAL} only; for {address} it needs a sign-in "
            'with accounts (sign_in = "accounts" in data/study.toml).'
        )
    if opened.settings.sign_in is SignIn.ACCOUNTS and not has_accounts(opened):
        out.tell("Nobody can sign in yet: make an account with `workbench user add NAME`.")
    if address != LOCAL:
        out.tell("Passwords and reports travel as they are over http: let a proxy with https stand before this server.")
    _serve(opened.folder, port, address, out)


def _serve(folder: Path, port: int, address: str, out: Output) -> None:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((address, port))
        except OSError as error:
            reason = error.strerror or error
            raise InputError(f"Port {port} on {address} cannot be used ({reason}); try another with --port.") from None
    url = f"http://{'localhost' if address in {LOCAL, '0.0.0.0'} else address}:{port}"  # noqa: S104
    out.tell(f"The workbench is at {url} - stop it with Ctrl-C.")
    _open_browser_soon(url)
    sys.stdout.flush()
    flags = [f"--server.port={port}", f"--server.address={address}", "--server.headless=true"]
    flags += ["--browser.gatherUsageStats=false", "--global.developmentMode=false"]
    flags += ["--server.enableStaticServing=false"]  # no folder of files is ever served as it is
    # Streamlit reads .streamlit/config.toml from the current folder; what matters for safety is passed as flags too.
    server = subprocess.Popen(
        [sys.executable, "-m", "streamlit", "run", str(HOME / "workbench" / "ui" / "server.py"), *flags],
        cwd=HOME,
        env={**os.environ, STUDY_VARIABLE: str(folder)},
    )
    signal.signal(signal.SIGTERM, lambda *_: server.terminate())
    try:
        code = server.wait()
    except KeyboardInterrupt:
        server.terminate()
        code = server.wait()
    if code not in {0, -signal.SIGTERM, -signal.SIGINT}:
        raise typer.Exit(1)


def _open_browser_soon(url: str) -> None:
    if not (sys.platform in {"darwin", "win32"} or os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")):
        return

    def wait_and_open() -> None:
        time.sleep(2)
        webbrowser.open(url)

    threading.Thread(target=wait_and_open, daemon=True).start()


def init_command(
    directory: Annotated[Path, typer.Argument(help="Folder of the new study.", metavar="DIR")],
    *,
    title: Annotated[str, typer.Option(help="Title shown on every page.")] = "",
    prompts: Annotated[bool, typer.Option("--prompts/--no-prompts", help="Start with the shipped revisions.")] = True,
    as_name: AsOption = None,
    as_json: JsonOption = False,
) -> None:
    """Make a new study: settings, label set, database and the shipped prompt revisions.

    \b
    Examples:
      workbench init my-study
      workbench init my-study --title "Chest 2026" --as "Dr. Chan"
    """
    out = Output(as_json)
    people = {as_name: [Role.LEAD, Role.ADMIN]} if as_name else default_people()
    study = init_study(find_study(directory), NewStudy(title or directory.name, people, with_prompts=prompts))
    lead = study.actor(next(iter(people)))
    taken = revisions(study)
    out.answer(
        {"study": str(study.folder), "lead": lead.name, "revisions": [r.number for r in taken]},
        f"Made the study {study.folder} with {lead.name} as lead and {len(taken)} accepted revisions.",
        f"Next: workbench import reports FILE --study {directory}",
    )
