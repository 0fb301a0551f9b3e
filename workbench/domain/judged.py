"""Who judged generated reports by what, and what became of each study: kept beside the scores that came of it."""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from workbench.domain.runs import Usage

SCRIPTED = "scripted"


@dataclass(frozen=True, slots=True)
class JudgedBy:
    """A judge: what it was told (title, hash, form of the answer, passes) and whose model answered."""

    judge: str
    judge_hash: str
    form: str
    passes: int
    labeler: str
    labeler_kind: str
    model: str
    labeler_hash: str

    @property
    def by_model(self) -> bool:
        """Return whether a model judged; a scripted labeler reads its answers from a file."""
        return self.labeler_kind != SCRIPTED


@dataclass(frozen=True, slots=True)
class JudgedSystem:
    """One system before a judge: the studies of a data set by what became of them, each counted once.

    ``judged`` have the judge's score and ``blank`` reports have 0 without being sent. The rest has no score: those that
    ``failed``, counted by why; ``left_out`` by the system; and those with ``no_reference``.
    """

    submission: str  # hash of what it had submitted
    judged: int
    failed: Mapping[str, int]
    blank: int
    left_out: int
    no_reference: int

    @property
    def sent(self) -> int:
        """Return how many pairs the judge was to judge."""
        return self.judged + sum(self.failed.values())


@dataclass(frozen=True, slots=True)
class JudgeRecord:
    """What scores of a judge rest on. ``usage`` and ``cost`` are of all judgements, earlier attempts included.

    ``cost`` is None without a price. Two systems that wrote the same are judged, and paid for, once.
    """

    by: JudgedBy
    systems: Mapping[str, JudgedSystem]
    usage: Usage
    cost: float | None
    currency: str

    def as_json(self) -> dict[str, object]:
        """Return the record as JSON."""
        return asdict(self)

    @staticmethod
    def from_json(value: Mapping[str, Any]) -> "JudgeRecord":
        """Return the record that ``as_json`` gave."""
        return JudgeRecord(
            JudgedBy(**value["by"]),
            {name: JudgedSystem(**it) for name, it in value["systems"].items()},
            Usage(**value["usage"]),
            value["cost"],
            value["currency"],
        )


def by_why(counts: Iterable[Mapping[str, int]]) -> dict[str, int]:
    """Return counts by why, added up; the most frequent first."""
    total: dict[str, int] = {}
    for one in counts:
        for why, n in one.items():
            total[why] = total.get(why, 0) + n
    return dict(sorted(total.items(), key=lambda item: (-item[1], item[0])))
