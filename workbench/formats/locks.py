"""Holding a file or folder as the only process that writes into it."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from workbench.errors import ConflictError

if sys.platform != "win32":
    import fcntl


@contextmanager
def alone(path: Path) -> Iterator[None]:
    """Hold a file or folder. The system lets go of it when the process ends, however it ends.

    On Windows, and where the disk of another computer has no locks, this is not looked after.

    Raises:
        ConflictError: another process holds it.
    """
    if sys.platform == "win32":
        yield
        return
    handle = os.open(path, os.O_RDONLY)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise ConflictError(
                f"Another labelling is writing into {path}; wait for it to end, or write elsewhere."
            ) from None
        except OSError:  # a disk that has no locks
            pass
        yield
    finally:
        os.close(handle)
