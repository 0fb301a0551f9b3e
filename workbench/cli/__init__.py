"""The command line: the same workflow calls as the pages."""

import signal
import sys
from io import TextIOWrapper
from typing import NoReturn

from workbench.cli.commands import app
from workbench.errors import InputError, WorkbenchError


def main() -> None:
    """Run the command line. Exits 0 when done, 1 on a refusal explained in one line, 2 on wrong usage."""
    if signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
        # As an exception it takes away what is half written and gives a run back; by default it would just end.
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # a terminal that lacks a letter still gets the rest
    try:
        _require_readable(sys.argv[1:])
        app(prog_name="workbench")
    except WorkbenchError as error:
        _refuse(str(error))
    except BrokenPipeError:  # the reader of a pipe went away, as in `workbench history | head`
        sys.stderr.close()
        sys.exit(1)
    except OSError as error:  # a full disk, a folder that may not be written to: nobody's fault in the program
        about = f"{error.filename}: " if error.filename else ""
        _refuse(f"The system refused: {about}{error.strerror or error}. Put that right and try again.")


def _refuse(why: str) -> NoReturn:
    sys.stderr.write(f"workbench: {' '.join(why.split())}\n")
    sys.exit(1)


def _require_readable(arguments: list[str]) -> None:
    """Refuse an argument whose bytes are no text, which no database or file could hold."""
    for argument in arguments:
        try:
            argument.encode()
        except UnicodeEncodeError:
            raise InputError(
                f"{argument!a} cannot be read as text; rename the file, or set a UTF-8 locale (LC_ALL=C.UTF-8)."
            ) from None
