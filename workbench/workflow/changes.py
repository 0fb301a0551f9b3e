"""What a rater changed of a report and can take back, read from the drafts that were kept."""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise

from workbench.domain.actors import Actor
from workbench.domain.findings import State
from workbench.storage import annotations as annotation_store
from workbench.workflow.annotate import Entry, own_report, said
from workbench.workflow.study import Study


@dataclass(frozen=True, slots=True)
class Change:
    """A finding that a rater changed, with its answer and the words it rested on before."""

    finding: str
    before: State
    evidence: str | None = None


def to_take_back(study: Study, actor: Actor, cohort_name: str, entry: Entry) -> tuple[Change, ...]:
    """Return the rater's changes of a report that can be taken back, oldest first: those since it was submitted last.

    They are read from the drafts that were kept. A draft that says again what the last but one said took a change back,
    so neither counts.

    Raises:
        NotFoundError: it is not in the rater's queue.
        RightsError: as ``own_report``.
    """
    with own_report(study, actor, cohort_name, entry) as (conn, held):
        kept = annotation_store.history(conn, entry.report_id, actor.name)
    sheets = [_Sheet({}, {})]
    for each in kept:
        if each.reading != entry.reading or each.label_set_hash != held.label_set_hash:
            continue
        now = _Sheet(said(each.states), dict(each.evidence))
        if each.submitted:
            sheets = [now]
        elif now == sheets[-1]:
            continue
        elif sheets[-2:-1] == [now]:
            sheets.pop()
        else:
            sheets.append(now)
    return tuple(change for before, after in pairwise(sheets) for change in before.until(after))


@dataclass(frozen=True, slots=True)
class _Sheet:
    states: Mapping[str, State]
    evidence: Mapping[str, str]

    def until(self, later: "_Sheet") -> list[Change]:
        """Return what differs in a later one, as it is here: mostly one finding."""
        mine, theirs = ({f: (x.states.get(f), x.evidence.get(f)) for f in x.states} for x in (self, later))
        return [
            Change(finding, self.states.get(finding, State.NOT_MENTIONED), self.evidence.get(finding))
            for finding in sorted({*mine, *theirs})
            if mine.get(finding) != theirs.get(finding)
        ]
