"""What a paper needs of a scored revision, written from the records: methods, numbers, prompts and a picture."""

import csv
import io
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from sqlite3 import Connection
from tempfile import TemporaryDirectory

from workbench.domain.actors import Actor, Role
from workbench.domain.cohorts import Cohort, Purpose
from workbench.domain.findings import Policies
from workbench.domain.prompts import Decision, RevisionStatus
from workbench.domain.rounds import RoundAction
from workbench.errors import ConflictError, InputError
from workbench.evaluation.numbers import Figure
from workbench.formats.line_svg import Point, line_svg
from workbench.formats.writing import guard
from workbench.storage import cohorts as cohort_store
from workbench.storage import prompts as prompt_store
from workbench.storage import reports as report_store
from workbench.storage.cohorts import Unlock
from workbench.workflow.blindness import require_sighted
from workbench.workflow.export import refuse_own_file
from workbench.workflow.history import HistoryRow, history
from workbench.workflow.prompts import stored_text
from workbench.workflow.raters import benchmark_of
from workbench.workflow.reference import ReferenceSummary, summarize
from workbench.workflow.rounds import last_round
from workbench.workflow.score import Score
from workbench.workflow.study import Study

UNKNOWN = "**to be filled in**"
_OVERALL = ("macro_f1", "macro_f1_answered", "micro_f1", "macro_accuracy")
_FIGURES = ("f1", "recall", "precision", "specificity", "accuracy", "always_absent_accuracy")


@dataclass(frozen=True, slots=True)
class Written:
    """The folder that was written and the files in it, by name."""

    folder: Path
    files: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Facts:
    """What the records say of a score."""

    score: Score
    summary: ReferenceSummary
    rows: tuple[HistoryRow, ...]
    single: Figure | None  # macro-F1 of one radiologist alone
    cohorts: tuple[str, ...]  # "validation: 120 reports of 110 patients, locked"
    reports: int
    patients: int
    deviations: tuple[str, ...]


def methods(study: Study, actor: Actor, score: Score) -> str:
    """Return the methods section of a scored revision in Markdown. What no record says is marked to be filled in.

    Raises:
        RightsError: the person is no lead or admin, rates in an open round, or a round of the cohort is open.
    """
    return _text(study, _facts(study, actor, score))


def export_methods(study: Study, actor: Actor, score: Score, folder: Path) -> Written:
    """Write methods.md, numbers.csv, history.svg and the prompts as files into a new folder; all of it or nothing.

    Raises:
        ConflictError: the folder exists, or is a part of the study.
        InputError: it cannot be written.
        RightsError: as ``methods`` does.
    """
    facts = _facts(study, actor, score)
    refuse_own_file(study, folder)
    if folder.exists():
        raise ConflictError(f"{folder} exists already; name a new folder.")
    files = {"methods.md": _text(study, facts), "numbers.csv": _numbers(facts), "history.svg": _picture(study, facts)}
    for row in facts.rows:
        name = f"prompts/{row.revision.number:03}-{row.revision.status}.md"
        files[name] = stored_text(study, row.revision).removeprefix("\ufeff").replace("\r\n", "\n")
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory(prefix=".methods-", dir=folder.parent) as aside:
            made = Path(aside) / "all"
            (made / "prompts").mkdir(parents=True)
            for name, text in files.items():
                (made / name).write_text(text, encoding="utf-8", newline="\n")
            made.rename(folder)
    except OSError as error:
        raise InputError(f"{folder} cannot be written: {error.strerror}.") from None
    return Written(folder, tuple(files))


def _facts(study: Study, actor: Actor, score: Score) -> _Facts:
    actor.require(Role.LEAD, Role.ADMIN, to="export the methods")
    require_sighted(study, actor, "export the methods")
    summary = summarize(study, actor, score.reference)
    labeler = score.prepared.run.labeler
    rows = history(study, actor, score.reference, labeler=labeler, accepted_only=False)
    alone = benchmark_of(study, actor, score.reference)
    with study.database.read() as conn:
        patients = report_store.patients(conn)
        cohorts = []
        deviations = []
        for cohort in cohort_store.list_all(conn):
            unlocks = cohort_store.unlocks(conn, cohort.name)
            locked = ", locked" if cohort.purpose is Purpose.VALIDATION and not unlocks else ""
            members = len({patients[report] for report in cohort.members})
            cohorts.append(
                f"{cohort.name} ({cohort.purpose}): {len(cohort.members)} reports of {members} patients{locked}"
            )
            deviations += [_unlocked(each) for each in unlocks]
            deviations += _reopened(conn, cohort)
        for row in rows:
            decisions = prompt_store.decisions(conn, row.revision.prompt_hash)
            deviations += [told for each in decisions for told in _passed_over(row.revision.number, each)]
    if score.reference.reason:
        of = score.reference
        deviations.append(f"{of.name} was frozen {of.created_at:%Y-%m-%d} by {of.author}: {of.reason}")
    if score.exploratory:
        deviations.append(
            "This score is exploratory: another revision or labeler was named when the cohort was unlocked"
        )
    return _Facts(
        score,
        summary,
        tuple(rows),
        alone.mean_rater if alone else None,
        tuple(cohorts),
        len(patients),
        len(set(patients.values())),
        tuple(deviations),
    )


def _passed_over(number: int, decision: Decision) -> Iterator[str]:
    if decision.override:
        yield f"Revision {number} was accepted over closed checks by {decision.actor}: {decision.override}"
    missed = sum(" in report " in each for each in decision.signed)
    if missed:
        yield (
            f"Revision {number} was accepted by {decision.actor} although it newly missed {missed} "
            f"{'positive' if missed == 1 else 'positives'} of critical findings, each signed with a reason"
        )


def _unlocked(each: Unlock) -> str:
    declared = ", ".join(f"{key} {value}" for key, value in each.details.items())
    told = f"The cohort {each.cohort} was unlocked {each.at:%Y-%m-%d} by {each.actor}: {each.reason.rstrip('.')}"
    return f"{told}. Declared beforehand: {declared}" if declared else told


def _reopened(conn: Connection, cohort: Cohort) -> list[str]:
    held = last_round(conn, cohort)
    return [
        f"The round {held.round.name} on the cohort {cohort.name} was re-opened {event.at:%Y-%m-%d} by {event.actor}: "
        f"{event.reason}"
        for event in (held.events if held else ())
        if event.action is RoundAction.REOPENED and held
    ]


def _text(study: Study, facts: _Facts) -> str:
    parts = [f"# Methods: {study.settings.title}", *_simulated(study, facts), *_data(facts), *_raters(facts)]
    parts += [*_labeler(study, facts), *_scores(study, facts), *_course(facts)]
    return "\n\n".join(parts) + "\n"


def _simulated(study: Study, facts: _Facts) -> Iterator[str]:
    if study.settings.simulated or facts.score.reference.simulated:
        yield f"> {study.settings.simulated or 'Some votes are simulated.'} Do not report these numbers as findings."


def _data(facts: _Facts) -> Iterator[str]:
    prepared, it = facts.score.prepared, facts.score.evaluation
    yield "## Reports"
    boxes = [f'    all["{facts.reports} reports of {facts.patients} patients"]']
    boxes += [f'    all --> c{i}["{told}"]' for i, told in enumerate(facts.cohorts)]
    boxes.append(f'    scored["scored: {it.n_reports} reports of {it.n_patients} patients"]')
    at = next(i for i, told in enumerate(facts.cohorts) if told.startswith(f"{prepared.cohort.name} ("))
    boxes.append(f"    c{at} --> scored")
    yield "```mermaid\nflowchart TD\n" + "\n".join(boxes) + "\n```"
    languages = ", ".join(sorted({report.language for report in prepared.reports}))
    left = f"{len(facts.score.left_out)} reports quoted in the prompt's worked examples were left out of its scores."
    yield (
        f"Cohorts are fixed, and no patient is in cohorts of two purposes. "
        f"Scores are on {prepared.cohort.name} (languages: {languages}; sections read: "
        f"{', '.join(prepared.run.sections)}). {left} How the reports were selected, and over which time: {UNKNOWN}."
    )


def _raters(facts: _Facts) -> Iterator[str]:
    reference = facts.score.reference
    rule = reference.rule
    yield "## Reference standard"
    yield (
        f"{len(reference.raters)} raters labelled the reports. Those who did so in this workbench were kept blind "
        f"to each other and to any labeler's output; of labels brought in from files that is {UNKNOWN}. "
        f"Their experience in years: {UNKNOWN}. A finding is present by {rule.k} of {rule.n} votes; an even split "
        f"becomes {str(rule.tie).replace('_', ' ')}. An uncertain vote counts as {_policy(reference.vote_policies)}. "
        f"Votes too few to decide leave a report out for that finding. {len(reference.adjudicated)} items were "
        f"adjudicated. Frozen {reference.created_at:%Y-%m-%d} by {reference.author} as {reference.name}, "
        f"`{reference.hash}`."
    )
    agreement = facts.summary.agreement
    if agreement is not None:
        alpha, ac1 = agreement.overall.alpha, agreement.overall.ac1
        yield (
            f"Agreement on present or not, mean over findings: Krippendorff's alpha {_figure(alpha)} ({alpha.n} "
            f"findings), Gwet's AC1 {_figure(ac1)} ({ac1.n} findings)."
        )
    if facts.single is not None:
        yield f"One radiologist against the vote of the others reaches macro-F1 {_figure(facts.single)}."


def _labeler(study: Study, facts: _Facts) -> Iterator[str]:
    score, run = facts.score, facts.score.prepared.run
    yield "## Labeler and prompt"
    settings = ", ".join(f"{key} {value}" for key, value in run.labeler.identity.items() if value not in (None, {}))
    asked = "once" if run.repeats == 1 else f"{run.repeats} times, the first reply being scored"
    exposure = (
        "The labeler is a set of rules and was not trained on any report."
        if run.labeler.kind == "rules"
        else "Whether the model saw these reports when it was trained (are they public, and since when; when does its "
        f"training end?): {UNKNOWN}."
    )
    yield (
        f"Revision {score.prepared.number} of the prompt (`{run.prompt_hash}`), labeler {run.labeler.name} "
        f"({settings}; `{run.labeler.hash}`), each report asked {asked}; scored {score.at:%Y-%m-%d}. {exposure}"
    )
    yield (
        f"An uncertain label counts as {_policy(score.prediction_policies)}. A reply that could not be used is wrong "
        f"on every finding and a miss on each positive: {score.evaluation.n_failed} of {score.evaluation.n_reports} "
        "reports."
    )
    floors = study.settings.gate
    yield (
        f"The gate for accepting a revision asked for accuracy of at least {floors.accuracy:.2f} and recall "
        f"of at least {floors.recall:.2f} per finding, no failed reply, and macro-F1 not below that of the revision "
        "before."
    )


def _scores(study: Study, facts: _Facts) -> Iterator[str]:
    it = facts.score.evaluation
    yield "## Results"
    yield (
        f"Macro-F1 {_figure(it.macro_f1)} over {it.macro_f1.n} findings with a positive in the reference; over "
        f"answered reports {_figure(it.macro_f1_answered)}. Intervals are 95 %: bootstrap over {it.n_patients} "
        f"patients ({it.resamples:,} draws, seed {it.seed}) for F1, Wilson for the others. Under {it.few} positives "
        "a finding is too few to assess (*)."
    )
    lines = ["| Finding | Positives | n | F1 | Recall | Specificity | Accuracy |", "|---|---:|---:|---|---|---|---|"]
    for row in it.findings:
        name = study.label_set.get(row.finding_id).name + ("*" if row.too_few else "")
        shown = " | ".join(_figure(f) for f in (row.f1, row.recall, row.specificity, row.accuracy))
        lines.append(f"| {name} | {row.support} | {row.n} | {shown} |")
    yield "\n".join(lines)


def _course(facts: _Facts) -> Iterator[str]:
    yield "## Course and deviations"
    lines = ["| Revision | Status | Macro-F1 | What changed |", "|---:|---|---|---|"]
    for row in facts.rows:
        value = _figure(row.score.evaluation.macro_f1) if row.score else "not scored by this labeler"
        message = row.revision.message.replace("|", "/").replace("\n", " ")
        lines.append(f"| {row.revision.number} | {row.revision.status} | {value} | {message} |")
    yield "\n".join(lines)
    yield (
        f"The cohort {facts.score.prepared.cohort.name} was looked at {facts.score.looks} times (scored runs, tries "
        "and scored suggestions), so figures on a development cohort are optimistic."
    )
    told = [f"- {each.rstrip('.')}." for each in facts.deviations] or ["- None on record."]
    yield "Deviations on record:\n\n" + "\n".join(told)


def _numbers(facts: _Facts) -> str:
    """Return every number as CSV, a row for each revision, finding and figure; an empty finding is over findings."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(["revision", "status", "finding", "figure", "value", "low", "high", "n", "why undefined"])
    for row in facts.rows:
        if row.score is None:
            continue
        it = row.score.evaluation
        figures = [("", name, getattr(it, name)) for name in _OVERALL]
        figures += [(f.finding_id, name, getattr(f, name)) for f in it.findings for name in _FIGURES]
        for finding, name, value in figures:
            numbers = ["" if number is None else repr(number) for number in (value.value, value.low, value.high)]
            start = [str(row.revision.number), str(row.revision.status), finding, name]
            writer.writerow([*start, *numbers, str(value.n), guard(value.reason)])
        for f in it.findings:
            for name in ("tp", "fp", "fn", "tn", "failed", "support", "short", "excluded"):
                start = [str(row.revision.number), str(row.revision.status), f.finding_id, name]
                writer.writerow([*start, str(getattr(f, name)), "", "", str(f.n), ""])
    return out.getvalue()


def _picture(study: Study, facts: _Facts) -> str:
    points = [
        Point(str(row.revision.number), value.value, value.low, value.high)
        for row in facts.rows
        if row.score and row.revision.status is RevisionStatus.ACCEPTED
        for value in [row.score.evaluation.macro_f1]
        if value.value is not None
    ]
    floor = study.settings.gate.accuracy
    levels = [(f"accuracy floor {floor:.0%}", floor)]
    if facts.single is not None and facts.single.value is not None:
        levels.append((f"one radiologist alone {facts.single.value:.3f}", facts.single.value))
    return line_svg(points, levels, title="macro-F1 with 95 % interval", below="revision")


def _figure(value: Figure) -> str:
    if value.value is None:
        return f"undefined ({value.reason})"
    interval = "" if value.low is None or value.high is None else f" ({value.low:.3f} to {value.high:.3f})"
    return f"{value.value:.3f}{interval}"


def _policy(policies: Policies) -> str:
    other = ", ".join(f"{finding}: {policy}" for finding, policy in policies.overrides.items())
    return f"{policies.default}{f' ({other})' if other else ''}"
