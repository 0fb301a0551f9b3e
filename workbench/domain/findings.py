"""Findings, the four states a finding can have in a report, and what becomes of "uncertain"."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType

from workbench.domain.hashing import content_hash


class State(StrEnum):
    """What a report says of one finding. Stored as it is; collapsed to two only where it is scored."""

    PRESENT = "present"
    ABSENT = "absent"
    UNCERTAIN = "uncertain"
    NOT_MENTIONED = "not_mentioned"

    @property
    def code(self) -> int:
        """Return the number that stands for the state in arrays (see ``CODES``)."""
        return CODES[self]


# The numbers used in arrays: CheXpert's 1 / 0 / -1, and -2 for its blank. Two more are not states at all.
CODES: Mapping[State, int] = MappingProxyType(
    {State.PRESENT: 1, State.ABSENT: 0, State.UNCERTAIN: -1, State.NOT_MENTIONED: -2}
)
STATE_OF_CODE: Mapping[int, State] = MappingProxyType({code: state for state, code in CODES.items()})
MISSING = -9  # a vote that was not given
FAILED = -8  # a reply that could not be used: never read as absent


class Policy(StrEnum):
    """What an uncertain label counts as where two states are needed."""

    PRESENT = "present"
    ABSENT = "absent"
    EXCLUDE = "exclude"


@dataclass(frozen=True, slots=True)
class Policies:
    """A policy for "uncertain": a default and overrides per finding id."""

    default: Policy
    overrides: Mapping[str, Policy] = field(default_factory=dict)

    def of(self, finding_id: str) -> Policy:
        """Return the policy of one finding."""
        return self.overrides.get(finding_id, self.default)

    def as_json(self) -> dict[str, object]:
        """Return the JSON form, overrides that equal the default left out."""
        kept = {f: p.value for f, p in sorted(self.overrides.items()) if p != self.default}
        return {"default": self.default.value, "overrides": kept}

    @classmethod
    def from_json(cls, value: Mapping[str, object]) -> "Policies":
        """Read what ``as_json`` wrote."""
        overrides = value.get("overrides") or {}
        assert isinstance(overrides, Mapping)  # noqa: S101 - written by as_json
        return cls(Policy(str(value["default"])), {str(f): Policy(str(p)) for f, p in overrides.items()})


@dataclass(frozen=True, slots=True)
class Finding:
    """One finding that raters and labelers look for, with the definition raters work by."""

    id: str
    name: str
    name_zh: str
    group: str
    definition: str
    include: str = ""
    exclude: str = ""
    critical: bool = False


@dataclass(frozen=True, slots=True)
class LabelSet:
    """An ordered set of findings with the study's policies for "uncertain".

    ``hash`` covers what decides a label (id, version, findings) and not the policies, which are applied later.
    """

    id: str
    version: str
    title: str
    findings: tuple[Finding, ...]
    vote_policies: Policies
    prediction_policies: Policies

    @property
    def ids(self) -> tuple[str, ...]:
        """Return the finding ids in their order: the column order of every table and file."""
        return tuple(finding.id for finding in self.findings)

    @property
    def critical(self) -> frozenset[str]:
        """Return the ids of the findings that are dangerous to miss."""
        return frozenset(finding.id for finding in self.findings if finding.critical)

    def get(self, finding_id: str) -> Finding:
        """Return a finding by its id. Raises KeyError for an unknown one."""
        for finding in self.findings:
            if finding.id == finding_id:
                return finding
        raise KeyError(finding_id)

    @property
    def hash(self) -> str:
        """Return the identity of the label set."""
        rows = [
            [f.id, f.name, f.name_zh, f.group, f.definition, f.include, f.exclude, f.critical] for f in self.findings
        ]
        return content_hash("label-set", {"id": self.id, "version": self.version, "findings": rows})
