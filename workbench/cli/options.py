"""Options that several commands share."""

from pathlib import Path
from typing import Annotated

import typer

StudyOption = Annotated[
    Path | None,
    typer.Option("--study", help="Folder of the study; else WORKBENCH_STUDY, else the current folder.", metavar="DIR"),
]
AsOption = Annotated[str | None, typer.Option("--as", help="Who acts: a name from the study's people.", metavar="NAME")]
JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON object; messages go to stderr.")]
EncodingOption = Annotated[str, typer.Option(help="Encoding of the file, such as utf-8, gb18030 or latin-1.")]
