"""Where the reports on a rater's desk come from: a cohort, or the practice reports. Both are worked on alike."""

from collections.abc import Mapping

from workbench.domain.actors import Actor
from workbench.domain.annotations import Mark
from workbench.domain.findings import State
from workbench.workflow import annotate, changes, practice
from workbench.workflow.annotate import Act, Entry, Queue, RatingTask
from workbench.workflow.changes import Change
from workbench.workflow.study import Study

PRACTICE = ""  # stands where a cohort's name stands, and no cohort has it


def queue(study: Study, actor: Actor, cohort: str) -> Queue:
    """Return the rater's way through a cohort or through the practice reports."""
    return annotate.queue(study, actor, cohort) if cohort else practice.queue(study, actor)


def open_report(study: Study, actor: Actor, cohort: str, entry: Entry) -> RatingTask:
    """Return a report for rating with the rater's own labels."""
    return annotate.open_report(study, actor, cohort, entry) if cohort else practice.open_report(study, actor, entry)


def to_take_back(study: Study, actor: Actor, cohort: str, entry: Entry) -> tuple[Change, ...]:
    """Return the rater's changes of a report that can be taken back, oldest first; none of a practice report."""
    return changes.to_take_back(study, actor, cohort, entry) if cohort else ()


def save(
    study: Study,
    actor: Actor,
    cohort: str,
    entry: Entry,
    states: Mapping[str, State],
    *,
    submitted: bool,
    marks: frozenset[Mark],
    evidence: Mapping[str, str],
    comment: str,
    seconds: float,
    reason: str,
    act: Act | None,
    read: RatingTask,
) -> None:
    """Keep the rater's labels; of a practice report its labels and the words they rest on."""
    if cohort:
        annotate.save(
            study,
            actor,
            cohort,
            entry,
            states,
            submitted=submitted,
            marks=marks,
            evidence=evidence,
            comment=comment,
            seconds=seconds,
            reason=reason,
            act=act,
            read=read,
        )
        return
    practice.save(
        study,
        actor,
        entry,
        states,
        submitted=submitted,
        none_of_these=Mark.NONE_OF_THESE in marks,
        evidence=evidence,
        seconds=seconds,
        act=act,
        read=read,
    )
