"""What the commands that have a language model judge reports share: options, and the judges."""

from pathlib import Path
from typing import Annotated

import typer

from workbench.errors import InputError
from workbench.formats.judges import read_judge
from workbench.workflow.judging import Bench, bench_of
from workbench.workflow.study import Study

SHIPPED_JUDGE = Path(__file__).resolve().parents[2] / "data" / "judges" / "one-pass.yaml"
NO_LABELER = "Say which labeler's model judges with --judge-by NAME; `workbench labeler list` shows them."

JudgeByOption = Annotated[
    str | None, typer.Option(help="The labeler of data/study.toml whose model judges.", metavar="LABELER")
]
MaxTokensOption = Annotated[int | None, typer.Option(min=0, help="Stop a model before it has taken more.")]
MaxCostOption = Annotated[float | None, typer.Option(min=0, help="Stop a model before it has cost more.")]


def benches(study: Study, files: list[Path], by: str | None) -> list[Bench]:
    """Return a judge per file of what one is told; with a labeler alone the shipped one of one pass.

    Raises:
        InputError: files without a labeler, a file cannot be read, or the labeler asks no model.
        NotFoundError: there is no such labeler.
    """
    if by is None:
        if files:
            raise InputError(NO_LABELER)
        return []
    return [bench_of(study, read_judge(file), by) for file in files or [SHIPPED_JUDGE]]


def only_bench(study: Study, file: Path | None, by: str | None) -> Bench:
    """Return the judge of a labeler, told what a file says or what the shipped one of one pass does.

    Raises:
        InputError: no labeler is named, the file cannot be read, or the labeler asks no model.
        NotFoundError: there is no such labeler.
    """
    if by is None:
        raise InputError(NO_LABELER)
    return bench_of(study, read_judge(file or SHIPPED_JUDGE), by)
