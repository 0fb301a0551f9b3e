"""Looking at the study: its reports, how far raters are, and what a prompt sends for one of them."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from workbench.domain.actors import Actor, Role
from workbench.domain.findings import State
from workbench.domain.prompts import Decision, Prompt
from workbench.domain.references import Outcome
from workbench.domain.reports import Report
from workbench.errors import NotFoundError, RightsError
from workbench.prompting.diff import Change, diff_guidance
from workbench.prompting.render import render
from workbench.prompting.tokens import count_tokens
from workbench.storage import annotations as annotation_store
from workbench.storage import cohorts as cohort_store
from workbench.storage import prompts as prompt_store
from workbench.storage import reports as report_store
from workbench.text.normalise import words
from workbench.workflow.cohorts import get_cohort, locked_report_ids, require_unlocked
from workbench.workflow.run import extractions
from workbench.workflow.score import Score
from workbench.workflow.study import Study

_EDITS_PROMPTS = (Role.LEAD, Role.ADMIN)


@dataclass(frozen=True, slots=True)
class ReportLine:
    """A report as a list shows it; ``words`` counts those of the read sections, Chinese characters singly."""

    id: str
    patient_id: str
    cohorts: tuple[str, ...]
    sections: tuple[str, ...]
    words: int
    language: str
    source: str
    beginning: str
    search: str  # the whole text in lower case


@dataclass(frozen=True, slots=True)
class Shelf:
    """The reports that a person may see, and how many are hidden from them because validation is locked."""

    lines: tuple[ReportLine, ...]
    hidden: int


def list_reports(study: Study, actor: Actor) -> Shelf:
    """Return the study's reports in order of id, without those of locked cohorts for whoever edits prompts."""
    actor.require(*Role, to="read reports")
    locked = _hidden_from(study, actor)
    with study.database.read() as conn:
        reports = report_store.list_all(conn)
        cohorts = cohort_store.list_all(conn)
    names: dict[str, list[str]] = {}
    for cohort in cohorts:
        for report in cohort.members:
            names.setdefault(report, []).append(cohort.name)
    shown = [_line(study, report, names.get(report.id, [])) for report in reports if report.id not in locked]
    return Shelf(tuple(sorted(shown, key=lambda line: line.id)), sum(report.id in locked for report in reports))


def _line(study: Study, report: Report, cohorts: list[str]) -> ReportLine:
    read = report.select(study.settings.sections)
    return ReportLine(
        report.id,
        report.patient_id,
        tuple(cohorts),
        tuple(section.name for section in report.sections),
        sum(word[0].isalnum() for word in words(read)),
        report.language,
        report.source,
        " ".join(read.split())[:120],
        report.text.lower(),
    )


def read_report(study: Study, actor: Actor, report_id: str) -> Report:
    """Return one report.

    Raises:
        NotFoundError: the study does not hold it.
        RightsError: it is in a locked validation cohort and this person edits prompts (method 18).
    """
    actor.require(*Role, to="read reports")
    if report_id in _hidden_from(study, actor):
        raise RightsError(
            f"Report {report_id} is in a locked validation cohort, so whoever edits prompts cannot read it; "
            "unlock the cohort on record once the prompt is final."
        )
    with study.database.read() as conn:
        report = report_store.get(conn, report_id)
    if report is None:
        raise NotFoundError(f"There is no report {report_id} in this study.")
    return report


def _hidden_from(study: Study, actor: Actor) -> set[str]:
    return locked_report_ids(study) if actor.roles.intersection(_EDITS_PROMPTS) else set()


def count_reports(study: Study) -> int:
    """Return how many reports the study holds, hidden ones included."""
    with study.database.read() as conn:
        return report_store.count(conn)


def rating_progress(study: Study, actor: Actor, cohort_name: str) -> Mapping[str, int]:
    """Return how many reports of a cohort each rater has submitted: progress, no labels (method 6)."""
    actor.require(Role.LEAD, Role.ADMIN, Role.ADJUDICATOR, to="see how far the raters are")
    cohort = get_cohort(study, cohort_name)
    with study.database.read() as conn:
        return annotation_store.submitted_counts(conn, list(cohort.members), study.label_set.hash)


@dataclass(frozen=True, slots=True)
class Rendered:
    """What a language model is sent for one report; ``tokens`` is an estimate over both texts."""

    system: str
    user: str
    tokens: int


def rendered(study: Study, actor: Actor, prompt: Prompt, report_id: str) -> Rendered:
    """Return the texts that a prompt sends for a report, of the sections the study reads."""
    report = read_report(study, actor, report_id)
    system, user = render(prompt, study.label_set, report.select(study.settings.sections))
    return Rendered(system, user, count_tokens(system) + count_tokens(user))


def changes(old: Prompt, new: Prompt) -> list[Change]:
    """Return what changed between two prompts, in words."""
    return diff_guidance(old.guidance, new.guidance)


def decisions(study: Study, prompt_hash: str) -> list[Decision]:
    """Return the decisions on a revision, oldest first."""
    with study.database.read() as conn:
        return prompt_store.decisions(conn, prompt_hash)


@dataclass(frozen=True, slots=True)
class StateCounts:
    """What the labeler said on one finding, by what the reference has: reports per state, None for a failed reply."""

    present: Mapping[State | None, int]
    not_present: Mapping[State | None, int]
    short: int


def state_counts(study: Study, actor: Actor, score: Score) -> dict[str, StateCounts]:
    """Return by finding how often each of the four states was said where the reference has it and where not."""
    actor.require(Role.LEAD, Role.ADMIN, Role.ADJUDICATOR, to="see where a run errs")
    require_unlocked(study, score.prepared.cohort, "see its errors")
    labels = extractions(study, actor, score.prepared)
    table = {}
    for finding in study.label_set.ids:
        said: dict[Outcome, Counter[State | None]] = {outcome: Counter() for outcome in Outcome}
        for report, extraction in labels.items():
            if report not in score.left_out:
                said[score.reference.items[report, finding].outcome][extraction.state(finding)] += 1
        table[finding] = StateCounts(said[Outcome.PRESENT], said[Outcome.NOT_PRESENT], said[Outcome.SHORT].total())
    return table
