"""Practice files: reports with the key that raters' labels are held against, in YAML 1.2."""

from io import StringIO
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError, YAMLError

from workbench.domain.findings import LabelSet, State
from workbench.domain.practice import PracticeReport, PracticeSet
from workbench.domain.reports import Report
from workbench.errors import InputError
from workbench.formats.tables import Place, lines
from workbench.text.sections import split_sections


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class _Said(_Part):
    state: Annotated[State, Field(strict=False)]
    why: str = ""


class _Report(_Part):
    id: Annotated[str, Field(min_length=1)]
    text: str
    language: str = "en"
    findings: dict[str, _Said] = Field(default_factory=dict)


class _File(_Part):
    format: Literal[1]
    label_set: str
    reports: Annotated[list[_Report], Field(min_length=1)]


def read_practice(path: Path, label_set: LabelSet) -> PracticeSet:
    """Return the practice reports that a YAML file holds, sections found by their headers.

    Raises:
        InputError: the file cannot be read or is no YAML; it is for another label set; a key is unknown or missing; a
            report's id comes twice or its text is blank; a finding is not in the label set or a state is unknown.
    """
    file = _validated(path, _loaded(path))
    if file.label_set != label_set.id:
        raise InputError(f"{path}: it is for the label set {file.label_set}, and this study's is {label_set.id}.")
    reports: dict[str, PracticeReport] = {}
    for given in file.reports:
        where = f"{path}, report {given.id}"
        if given.id in reports:
            raise InputError(f"{where}: two reports have this id; each needs its own.")
        if not given.text.strip():
            raise InputError(f"{where}: its text is blank.")
        for finding in given.findings:
            if finding not in label_set.ids:
                raise InputError(
                    f"{where}: {finding} is no finding of the label set {label_set.id}; correct or remove it."
                )
        reports[given.id] = PracticeReport(
            Report(given.id, given.id, given.text, split_sections(given.text), given.language, path.name),
            {finding: said.state for finding, said in given.findings.items()},
            {finding: said.why.strip() for finding, said in given.findings.items() if said.why.strip()},
        )
    return PracticeSet(file.label_set, tuple(reports.values()))


def _loaded(path: Path) -> object:
    text = "".join(lines(path, "utf-8", Place(path)))
    try:
        return YAML(typ="safe", pure=True).load(StringIO(text))
    except MarkedYAMLError as error:
        line = f", line {error.problem_mark.line + 1}" if error.problem_mark else ""
        raise InputError(f"{path}{line}: the YAML cannot be read: {' '.join(str(error.problem).split())}.") from error
    except (YAMLError, RecursionError, ValueError) as error:
        said = "it is nested too deeply" if isinstance(error, RecursionError) else " ".join(str(error).split())
        raise InputError(f"{path}: the YAML cannot be read: {said}.") from error


def _validated(path: Path, value: object) -> _File:
    try:
        return _File.model_validate(value)
    except ValidationError as error:
        # An unknown key first, since a misspelt one is missing too.
        fault = min(error.errors(), key=lambda each: each["type"] != "extra_forbidden")
        where = ", ".join(_steps(fault["loc"], value)) or "the file"
        said = {
            "extra_forbidden": "is no key that is known here; correct its spelling or take it out",
            "missing": "is missing",
            "string_type": "should be text: put it in quotation marks",
        }.get(fault["type"], fault["msg"].removeprefix("Value error, "))
        raise InputError(f"{path}, {where}: {said}.") from error


def _steps(loc: tuple[int | str, ...], value: object) -> list[str]:
    """Return where a fault is, a report by its id rather than its place in the list."""
    steps, reports = list(loc), value.get("reports") if isinstance(value, dict) else None
    if len(steps) > 1 and isinstance(steps[1], int) and isinstance(reports, list):
        given = reports[steps[1]]
        name = given.get("id", steps[1] + 1) if isinstance(given, dict) else steps[1] + 1
        steps[:2] = [f"report {name}"]
    return [str(step) for step in steps]
