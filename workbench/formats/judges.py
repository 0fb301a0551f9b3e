"""Files of what a judge is told, in YAML 1.2."""

from pathlib import Path
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict

from workbench.domain.judging import JudgePrompt
from workbench.formats.yaml_files import read_model


def _said(value: str) -> str:
    if not value.strip():
        raise ValueError("is blank")
    return value


_Said = Annotated[str, AfterValidator(_said)]


class _File(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    format: Literal[1]
    name: _Said
    find: _Said
    weigh: _Said | None = None


def read_judge(path: Path) -> JudgePrompt:
    """Return what a judge is told; ``weigh`` makes it one of two passes.

    Raises:
        InputError: the file cannot be read or is no YAML; a key is unknown, missing, blank or no text.
    """
    file = read_model(path, _File)
    return JudgePrompt(file.name, file.find, file.weigh or "")
