"""What identifies the reports that are read from a file, so that work on it can be taken up again."""

import hashlib
from pathlib import Path

from workbench.errors import InputError
from workbench.formats.mimic import mimic_list
from workbench.formats.tables import cannot_open


def source_hash(path: Path) -> str:
    """Return the SHA-256 of a file, or of the places and sizes of the reports in a folder of MIMIC-CXR's.

    Raises:
        InputError: it cannot be read.
    """
    if path.is_dir():
        return mimic_list(path)[1]
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise InputError(cannot_open(path, error)) from None
