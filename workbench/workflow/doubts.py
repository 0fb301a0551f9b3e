"""What a clinician should look at in a run: replies that failed, and replies that are doubtful though they count."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from workbench.domain.actors import Actor
from workbench.domain.findings import State
from workbench.domain.runs import Extraction, ExtractionStatus, Flag
from workbench.labelers.rules import RulesLabeler
from workbench.text.instructions import instruction_in
from workbench.workflow.run import PreparedRun, extractions
from workbench.workflow.study import Study

INSTRUCTED = "instructed"  # the report holds words meant for a labeler
_FIRMLY = frozenset({State.PRESENT, State.ABSENT, State.NOT_MENTIONED})


@dataclass(frozen=True, slots=True)
class Doubt:
    """One reply to look at. ``kind`` is a failed ``ExtractionStatus``, a ``Flag`` or ``INSTRUCTED``.

    ``findings`` are those it is about, none where it is the whole reply; for ``INSTRUCTED`` those in which the reply
    contradicts the rules labeler: one says present and the other does not.
    """

    report_id: str
    kind: str
    findings: tuple[str, ...] = ()
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Doubts:
    """Everything to look at in a run, and the replies themselves by report."""

    items: tuple[Doubt, ...]
    replies: Mapping[str, Extraction]

    def of(self, kind: str) -> tuple[Doubt, ...]:
        """Return the doubts of one kind, by report id."""
        return tuple(item for item in self.items if item.kind == kind)

    @property
    def counts(self) -> Mapping[str, int]:
        """Return how many replies are doubtful in each way, failures first."""
        kinds = (*(status.value for status in ExtractionStatus), INSTRUCTED, *(flag.value for flag in Flag))
        found = {kind: len(self.of(kind)) for kind in kinds}
        return {kind: count for kind, count in found.items() if count}


def doubts(study: Study, actor: Actor, prepared: PreparedRun) -> Doubts:
    """Return what to look at in a run of a language model, of its first repeat.

    Raises:
        RightsError: the person rates in an open round, or the cohort is locked.
    """
    replies = extractions(study, actor, prepared)
    rules = RulesLabeler(prepared.prompt, study.label_set)
    items: list[Doubt] = []
    for report, text in prepared.texts:
        reply = replies.get(report)
        if reply is None:
            continue
        if words := instruction_in(text):
            items.append(Doubt(report, INSTRUCTED, _contradicted(rules, reply, text, study.label_set.ids), words))
        if reply.status is not ExtractionStatus.OK:
            items.append(Doubt(report, reply.status.value, detail=reply.detail))
        items += [Doubt(report, flag.value, findings) for flag, findings in reply.flags.items()]
    return Doubts(tuple(items), replies)


def _contradicted(rules: RulesLabeler, reply: Extraction, text: str, findings: Sequence[str]) -> tuple[str, ...]:
    """Return the findings that either calls present and the other firmly does not; none where the rules cannot read."""
    if rules.languages.unread(text):
        return ()
    read = rules.label_text(text)
    found = []
    for finding in findings:
        said = reply.state(finding)
        mention = read.get(finding)
        by_rules = mention.state if mention else State.NOT_MENTIONED
        pair = {said, by_rules}
        if said in _FIRMLY and by_rules in _FIRMLY and State.PRESENT in pair and len(pair) == 2:
            found.append(finding)
    return tuple(found)
