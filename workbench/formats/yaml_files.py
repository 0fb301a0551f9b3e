"""YAML 1.2 files as they are read everywhere: strictly, each fault one sentence with its place."""

from io import StringIO
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, ValidationError
from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError, YAMLError

from workbench.errors import InputError
from workbench.formats.tables import Place, lines

M = TypeVar("M", bound=BaseModel)
_SAID = {
    "extra_forbidden": "is no key that is known here; correct its spelling or take it out",
    "missing": "is missing",
    "string_type": "should be text: put it in quotation marks",
}


def read_yaml(path: Path) -> object:
    """Return the value that a YAML file in UTF-8 holds. YAML 1.1 would read the cue ``no`` as False.

    Raises:
        InputError: the file cannot be read or is no YAML; the line is named.
    """
    text = "".join(lines(path, "utf-8", Place(path)))
    try:
        return YAML(typ="safe", pure=True).load(StringIO(text))
    except MarkedYAMLError as error:
        line = f", line {error.problem_mark.line + 1}" if error.problem_mark else ""
        raise InputError(f"{path}{line}: the YAML cannot be read: {' '.join(str(error.problem).split())}.") from error
    except (YAMLError, RecursionError, ValueError) as error:
        said = "it is nested too deeply" if isinstance(error, RecursionError) else " ".join(str(error).split())
        raise InputError(f"{path}: the YAML cannot be read: {said}.") from error


def read_model(path: Path, model: type[M], entries: str = "") -> M:
    """Return what a YAML file holds, checked against its model.

    Args:
        path: the file.
        model: what it must hold.
        entries: the list of the file whose entries have an ``id``, by which a fault names them.

    Raises:
        InputError: the file cannot be read or is no YAML; a key is unknown or missing, or a value is of the wrong kind.
    """
    value = read_yaml(path)
    if not isinstance(value, dict):
        *most, last = model.model_fields
        raise InputError(f"{path}: it should hold {', '.join(most)} and {last}.")
    try:
        return model.model_validate(value)
    except ValidationError as error:
        # An unknown key first, since a misspelt one is missing too.
        fault = min(error.errors(), key=lambda each: each["type"] != "extra_forbidden")
        where = ", ".join(_steps(fault["loc"], value, entries))
        said = _SAID.get(fault["type"], fault["msg"].removeprefix("Value error, ").removeprefix("Input "))
        raise InputError(f"{path}: {where} {said[0].lower()}{said[1:]}.") from error


def _steps(loc: tuple[int | str, ...], value: dict[str, object], entries: str) -> list[str]:
    """Return where a fault is, an entry by its id rather than its place in the list."""
    steps, listed = list(loc), value.get(entries)
    if len(steps) > 1 and steps[0] == entries and isinstance(steps[1], int) and isinstance(listed, list):
        given = listed[steps[1]]
        name = given.get("id", steps[1] + 1) if isinstance(given, dict) else steps[1] + 1
        steps[:2] = [f"{entries.removesuffix('s')} {name}"]
    return [str(step) for step in steps]
