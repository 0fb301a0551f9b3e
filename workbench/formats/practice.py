"""Practice files: reports with the key that raters' labels are held against, in YAML 1.2."""

from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from workbench.domain.findings import LabelSet, State
from workbench.domain.practice import PracticeReport, PracticeSet
from workbench.domain.reports import Report
from workbench.errors import InputError
from workbench.formats.yaml_files import read_model
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
    file = read_model(path, _File, "reports")
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
