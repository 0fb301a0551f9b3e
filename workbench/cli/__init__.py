"""The command line: the same workflow calls as the pages."""

import sys

from workbench.cli.commands import app
from workbench.errors import WorkbenchError


def main() -> None:
    """Run the command line. Exits 0 when done, 1 on a refusal explained in one line, 2 on wrong usage."""
    try:
        app(prog_name="workbench")
    except WorkbenchError as error:
        sys.stderr.write(f"workbench: {' '.join(str(error).split())}\n")
        sys.exit(1)
    except BrokenPipeError:  # the reader of a pipe went away, as in `workbench history | head`
        sys.stderr.close()
        sys.exit(1)
