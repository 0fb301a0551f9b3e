"""Options that several commands share."""

from pathlib import Path
from typing import Annotated

import typer

from workbench.errors import InputError

StudyOption = Annotated[
    Path | None,
    typer.Option("--study", help="Folder of the study; else WORKBENCH_STUDY, else the current folder.", metavar="DIR"),
]
AsOption = Annotated[str | None, typer.Option("--as", help="Who acts: a name from the study's people.", metavar="NAME")]
JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON object; messages go to stderr.")]
EncodingOption = Annotated[str, typer.Option(help="Encoding of the file, such as utf-8, gb18030 or latin-1.")]


def columns_of(pairs: list[str] | None) -> dict[str, str] | None:
    """Return a column mapping from ``what=column`` pairs, None where there is none.

    Raises:
        InputError: a pair does not say what or which column.
    """
    mapping = {}
    for pair in pairs or []:
        what, _, column = pair.partition("=")
        if not what or not column:
            raise InputError(
                f"--column {pair} does not say which column; write it as WHAT=COLUMN, for example id=StudyID."
            )
        mapping[what.strip()] = column.strip()
    return mapping or None


def directions_of(higher: list[str] | None, lower: list[str] | None) -> dict[str, bool]:
    """Return by metric whether higher is better, from ``--higher-is-better`` and ``--lower-is-better``.

    Raises:
        InputError: a metric is named in both.
    """
    if both := next((metric for metric in higher or [] if metric in (lower or [])), None):
        raise InputError(f"{both} is said to be better both higher and lower; say one.")
    return {**dict.fromkeys(higher or [], True), **dict.fromkeys(lower or [], False)}
