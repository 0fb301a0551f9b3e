"""CheXpert's 14 observations as CheXbert and chexpert-labeler write them, and which of them are comparable."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict

from workbench.domain.findings import LabelSet, State
from workbench.errors import InputError
from workbench.formats.tables import Place, read_table
from workbench.formats.yaml_files import read_model

OBSERVATIONS = (
    "No Finding",
    "Enlarged Cardiomediastinum",
    "Cardiomegaly",
    "Lung Lesion",
    "Lung Opacity",
    "Edema",
    "Consolidation",
    "Pneumonia",
    "Atelectasis",
    "Pneumothorax",
    "Pleural Effusion",
    "Pleural Other",
    "Fracture",
    "Support Devices",
)
_IDS = ("report_id", "study_id", "id", "uid")
_TEXTS = ("Reports", "Report Impression", "report", "text")  # of chexpert-labeler, of CheXbert
_CODES = {
    "": State.NOT_MENTIONED.code,
    "1": State.PRESENT.code,
    "0": State.ABSENT.code,
    "-1": State.UNCERTAIN.code,
}


class _File(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)
    format: Literal[1]
    label_set: str
    findings: dict[str, str]


def read_comparable(path: Path, label_set: LabelSet) -> Mapping[str, str]:
    """Return which observation each comparable finding is, in label-set order.

    Raises:
        InputError: the file cannot be read, is for another label set, or names an unknown finding or observation.
    """
    file = read_model(path, _File)
    if file.label_set != label_set.id:
        raise InputError(f"{path}: it is for the label set {file.label_set}, and this study's is {label_set.id}.")
    for finding, observation in file.findings.items():
        if finding not in label_set.ids:
            raise InputError(f"{path}: {finding} is no finding of the label set {label_set.id}.")
        if observation not in OBSERVATIONS:
            raise InputError(f"{path}: {observation} is none of CheXpert's observations: {', '.join(OBSERVATIONS)}.")
    return {finding: file.findings[finding] for finding in label_set.ids if finding in file.findings}


def read_chexpert(
    path: Path,
    observations: Sequence[str],
    *,
    id_column: str | None = None,
    by_text: Mapping[str, Sequence[str]] | None = None,
    encoding: str = "utf-8",
) -> Mapping[str, Sequence[int]]:
    """Return four-state codes by report id: 1, 0, -1, and -2 for a blank, in the order of ``observations``.

    Args:
        path: a CSV with a column per observation: 1, 0, -1 or blank, also as "1.0".
        observations: those that are read.
        id_column: the column with the report id; else one of the usual names, else by the report's text.
        by_text: the ids of the reports of each text, white space apart, for files without an id.
        encoding: of the file.

    Raises:
        InputError: the file cannot be read, lacks an observation, tells no report's id or text, has another value, or
            names a report twice with different labels; names the row.
    """
    table = read_table(path, encoding)
    columns = [table.column(observation) for observation in observations]
    named = id_column or next((name for name in _IDS if name in table.columns), None)
    spoken = None if named else next((name for name in _TEXTS if name in table.columns), None)
    if named is None and (spoken is None or by_text is None):
        raise InputError(f"{path} does not tell whose labels a row holds; add a column report_id.")
    at = table.column(named or spoken or "")
    found: dict[str, Sequence[int]] = {}
    for cells in table.rows:
        reports = [cells[at].strip()] if named else (by_text or {}).get(flat(cells[at]), ())
        codes = [_code(cells[column], name, table.place) for column, name in zip(columns, observations, strict=True)]
        for report in reports:
            if found.setdefault(report, codes) != codes:
                raise InputError(f"{table.place}: report {report} has two different rows of labels; remove one.")
    return found


def flat(text: str) -> str:
    """Return a text with all white space as single blanks: what labelers leave of it when they write it out."""
    return " ".join(text.split())


def _code(cell: str, observation: str, place: Place) -> int:
    said = cell.strip()
    said = said.removesuffix(".0")
    if said not in _CODES:
        raise InputError(f"{place}: {observation} is {cell}; it should be 1, 0, -1 or blank.")
    return _CODES[said]
