"""Label-set files: the findings of a study with the definitions raters work by, in YAML 1.2."""

from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from workbench.domain.findings import Finding, LabelSet, Policies, Policy
from workbench.errors import InputError
from workbench.formats.yaml_files import read_model


def _id(value: str) -> str:
    # Ids become column names, JSON keys and words on the command line.
    if not value.isidentifier() or value != value.lower():
        raise ValueError("should be lower-case letters, digits and underscores, a letter first")
    return value


def _said(value: str) -> str:
    if not value.strip():
        raise ValueError("is blank")
    return value


_Id = Annotated[str, AfterValidator(_id)]
_Said = Annotated[str, AfterValidator(_said)]


class _Part(BaseModel):
    # Strict: "version: 1" without quotation marks is a number, and a hash must not depend on how it is printed.
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class _Finding(_Part):
    id: _Id
    name: _Said
    name_zh: str = ""
    group: str = ""
    definition: _Said
    include: str = ""
    exclude: str = ""
    critical: bool = False


class _Policies(_Part):
    default: Annotated[Policy, Field(strict=False)]
    overrides: dict[str, Annotated[Policy, Field(strict=False)]] = Field(default_factory=dict)


class _BothPolicies(_Part):
    vote: _Policies
    prediction: _Policies


class _File(_Part):
    id: _Id
    version: _Said
    title: _Said
    policies: _BothPolicies
    findings: Annotated[list[_Finding], Field(min_length=1)]


def read_label_set(path: Path) -> LabelSet:
    """Return the label set that a YAML file holds.

    Raises:
        InputError: the file cannot be read or is no YAML; a key is unknown, missing or given twice; a value is of the
            wrong kind; two findings share an id or name; a policy names a finding that is not in the set.
    """
    file = read_model(path, _File, "findings")
    _require_distinct(path, [f.id for f in file.findings], "id")
    _require_distinct(path, [f.name for f in file.findings], "name")
    label_set = LabelSet(
        id=file.id,
        version=file.version,
        title=file.title,
        findings=tuple(Finding(**finding.model_dump()) for finding in file.findings),
        vote_policies=_policies(file.policies.vote),
        prediction_policies=_policies(file.policies.prediction),
    )
    for kind, policies in (("vote", label_set.vote_policies), ("prediction", label_set.prediction_policies)):
        unknown = sorted(set(policies.overrides) - set(label_set.ids))
        if unknown:
            raise InputError(f"{path}: the {kind} policies name {unknown[0]}, which is no finding of this label set.")
    return label_set


def _policies(part: _Policies) -> Policies:
    return Policies(part.default, dict(part.overrides))


def _require_distinct(path: Path, names: list[str], what: str) -> None:
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise InputError(f"{path}: two findings have the {what} {twice}; each needs its own.")
