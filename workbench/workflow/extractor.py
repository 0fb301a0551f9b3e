"""How the labeler's own errors bear on a leaderboard: where raters have labelled what it reads too (method 22)."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from workbench.domain.actors import Actor, Role
from workbench.domain.cohorts import Cohort, Purpose
from workbench.domain.hashing import content_hash, text_hash
from workbench.domain.references import Reference
from workbench.domain.reports import Report
from workbench.errors import InputError, NotFoundError, RightsError
from workbench.evaluation.confusion import Confusion, confusion
from workbench.evaluation.consensus import per_finding
from workbench.evaluation.extractor import ExtractorFinding, ExtractorSpread, extractor_spread
from workbench.formats.exports import Column, write_table
from workbench.storage import imports as import_store
from workbench.storage import leaderboard as store
from workbench.storage import reports as report_store
from workbench.storage.leaderboard import DataSetRecord
from workbench.text.sections import split_sections
from workbench.workflow.blindness import require_sighted
from workbench.workflow.cohorts import define_in
from workbench.workflow.export import refuse_own_file
from workbench.workflow.ran_score import Scoring
from workbench.workflow.reference import get_reference, list_references
from workbench.workflow.review_texts import shown
from workbench.workflow.run import extractions, list_records, load
from workbench.workflow.score import Score, arrays, find_score
from workbench.workflow.study import Study

BLINDED = (Column("report_id"), Column("patient_id"), Column("text"))


@dataclass(frozen=True, slots=True)
class LabelerErrors:
    """What the labeler's errors do to the systems, and the references that tell of them.

    ``human`` is the reference on reports of radiologists, ``machine`` the one on generated reports, empty where raters
    have labelled none: then its errors there are taken to be those on human ones.
    """

    spread: ExtractorSpread
    human: str
    machine: str
    simulated: bool


def labeler_errors(study: Study, actor: Actor, scoring: Scoring) -> LabelerErrors | None:
    """Return how far each system's score could move for the labeler's errors; None where nobody knows them.

    They are known where the revision and labeler that read the systems have a score on a reference of the study. A
    reference on generated reports (see ``take_in_generated``) tells of those.

    Raises:
        RightsError: the person rates in an open round.
    """
    require_sighted(study, actor, "see how a labeler errs")
    human, machine = None, None
    for score in _scores(study, actor, scoring):
        if _is_generated(study, score.prepared.reports):
            machine = machine or score
        else:
            human = human or score
    if human is None or not scoring.systems:
        return None
    spread = extractor_spread(
        scoring.finding_ids,
        [system.name for system in scoring.systems],
        scoring.truth[scoring.common],  # what the systems are ranked on
        scoring.given[:, scoring.common],
        human=_confusion(study, actor, human),
        machine=_confusion(study, actor, machine) if machine else None,
    )
    told = [score.reference for score in (human, machine) if score]
    return LabelerErrors(
        spread,
        human.reference.name,
        machine.reference.name if machine else "",
        any(reference.simulated for reference in told),
    )


def take_in_generated(
    study: Study,
    actor: Actor,
    data_set: DataSetRecord,
    cohort: str,
    *,
    size: int | None = None,
    purpose: Purpose = Purpose.EXTERNAL,
) -> Cohort:
    """Take generated reports into the study, blinded to the system, and fix them as a cohort to be rated.

    The cohort goes through the same round as any other, and its reference tells how the labeler errs on generated
    reports. What is taken in is what ``write_blinded`` writes.

    Args:
        study: the study.
        actor: a lead or admin.
        data_set: whose systems' reports.
        cohort: the name of the cohort.
        size: how many at most, drawn by their texts; all when None.
        purpose: of the cohort. A patient's reports stay in cohorts of one purpose, generated ones too.

    Raises:
        InputError: there is no generated report, or the study's sections read nothing of one.
        ConflictError: the name is taken, or a patient is in a cohort of another purpose. Nothing is taken in then.
        RightsError: the person is no lead or admin, or rates in an open round.
    """
    rows = _blinded(study, actor, data_set, size)
    source = f"generated reports of {data_set.name}"
    reports = [Report(id_, patient, text, split_sections(text), source=source) for id_, patient, text in rows]
    with study.writing(actor) as conn:
        import_id = import_store.add(
            conn,
            "reports",
            source,
            file_hash=content_hash("generated", [report.hash for report in reports]),
            actor=actor.name,
            at=datetime.now(UTC),
            rows=len(reports),
        )
        report_store.add(conn, reports, import_id)
        ids = [report.id for report in reports]
        return define_in(conn, study, actor, cohort, purpose=purpose, report_ids=ids)


def write_blinded(study: Study, actor: Actor, data_set: DataSetRecord, path: Path, *, size: int | None = None) -> int:
    """Write generated reports as reports to be rated, blinded to the system, in a shuffled order; return how many.

    Each is written as the data set's task reads it, under headings of our own, so that neither a heading nor another
    section tells the systems apart; each different text is there once, and its id tells nothing but the text. The same
    call writes the same file. ``take_in_generated`` takes the same reports into the study at once.

    Args:
        study: the study.
        actor: a lead or admin.
        data_set: whose systems' reports.
        path: where to.
        size: how many at most; all when None.

    Raises:
        InputError: there is no generated report, or it cannot be written there.
        RightsError: the person is no lead or admin, or rates in an open round.
    """
    rows = _blinded(study, actor, data_set, size)
    refuse_own_file(study, path)
    return write_table(path, BLINDED, rows)


def _blinded(study: Study, actor: Actor, data_set: DataSetRecord, size: int | None) -> list[tuple[str, str, str]]:
    """Return (id, patient, text) of generated reports in a shuffled order, for whoever may take them out."""
    actor.require(Role.LEAD, Role.ADMIN, to="take generated reports out")
    require_sighted(study, actor, "take generated reports out")
    with study.database.snapshot() as conn:
        patient_of = {s.id: s.patient_id for s in store.studies(conn, data_set.hash)}
        written = [store.texts(conn, submission.id) for submission in store.submissions(conn, data_set.hash)]
    texts: dict[str, str] = {}
    for of_system in written:
        for study_id, raw in of_system.items():
            if text := blinded_text(raw or "", data_set.task):
                texts.setdefault(text, patient_of.get(study_id, study_id))
    if not texts:
        raise InputError(f"No system has submitted a report for {data_set.name} yet.")
    # By hash, so that the order and the ids follow from the texts alone.
    return sorted((_blinded_id(text), patient, text) for text, patient in texts.items())[:size]


def blinded_text(text: str, task: str) -> str:
    """Return what raters read of a generated report; a task and a labeler read the same in it as in the whole one."""
    return "\n\n".join(f"{heading.upper()}: {part}" if heading else part for heading, part in shown(text, task))


def _blinded_id(text: str) -> str:
    return f"g-{content_hash('blinded', text)[:12]}"


def _scores(study: Study, actor: Actor, scoring: Scoring) -> Iterator[Score]:
    """Yield the recorded scores of what reads the systems, on every reference that this person may see."""
    reading = scoring.reading
    runs = [
        record.run
        for record in list_records(study)
        if (record.run.prompt_hash, record.run.labeler.hash) == (reading.prompt.hash, reading.labeler.hash)
    ]
    for reference in _references(study, actor):
        for run in runs:
            if run.cohort_hash == reference.cohort_hash and reference.label_set_hash == study.label_set.hash:
                score = find_score(study, actor, load(study, run.hash), reference)
                if score is not None:
                    yield score


def _references(study: Study, actor: Actor) -> Iterator[Reference]:
    """Yield the references this person may see, the primary one first."""
    heads = list_references(study, actor)
    try:
        primary = get_reference(study, actor)
    except (NotFoundError, RightsError):
        primary = None
    if primary is not None:
        yield primary
    for head in heads:
        if primary is None or head.hash != primary.hash:
            try:
                yield get_reference(study, actor, head.name)
            except RightsError:  # on a locked cohort
                continue


def _is_generated(study: Study, reports: Sequence[Report]) -> bool:
    """Return whether a cohort is of generated reports alone: blinded ones, or verbatim ones by other ways."""
    others = {report.hash for report in reports if report.id != _blinded_id(report.text)}
    if not others:
        return True
    with study.database.snapshot() as conn:
        every = [s.id for d in store.data_sets(conn) for s in store.submissions(conn, d.hash)]
        return others <= {text_hash(text) for one in every for text in store.texts(conn, one).values() if text}


def _confusion(study: Study, actor: Actor, score: Score) -> Confusion:
    data = arrays(study, score.prepared, score.reference, extractions(study, actor, score.prepared))
    policies = per_finding(score.prediction_policies, study.label_set.ids)
    return confusion(data.truth, data.predictions, policies)


def rates_by_finding(errors: LabelerErrors) -> list[tuple[str, ExtractorFinding, ExtractorFinding | None]]:
    """Return how the labeler reads each finding in people's reports and in generated ones, None where none is labelled.

    Left out is a finding that no labelled text has and in which the labeler made no error: nothing is known of it but
    that.
    """
    machine = {one.finding_id: one for one in errors.spread.findings if one.source == "machine"}
    rows = [
        (one.finding_id, one, machine.get(one.finding_id)) for one in errors.spread.findings if one.source == "human"
    ]

    def telling(one: ExtractorFinding | None) -> bool:
        return one is not None and (one.sensitivity.defined or one.specificity.value != 1)

    return [row for row in rows if telling(row[1]) or telling(row[2])]


def order_words(errors: LabelerErrors) -> Sequence[str]:
    """Return in sentences what the labeler's errors leave open (nothing for one system), and whence they are."""
    source = (
        f"They are those on the reference {errors.machine} for generated reports and {errors.human} for the others."
        if errors.machine
        else f"They are those on the reference {errors.human}; raters have labelled no generated report, so they are "
        "taken to be the same there."
    )
    pairs, why = errors.spread.pairs, {one.system: one.corrected.reason for one in errors.spread.systems}
    open_pairs = [f"{p.first} and {p.second}" for p in pairs if p.share is not None and not p.settled]
    unknown = [f"{p.first} and {p.second} ({why[p.first] or why[p.second]})" for p in pairs if p.share is None]
    order = (
        f"The labeler's errors leave the order open of: {'; '.join(open_pairs)}."
        if open_pairs
        else "The labeler's errors leave no order of two systems open."
        if len(unknown) < len(pairs)
        else ""
    )
    untold = f"What the labeler's errors do to the order cannot be told of: {'; '.join(unknown)}." if unknown else ""
    order = " ".join(part for part in (order, untold) if part)
    simulated = " Votes of that reference are simulated." if errors.simulated else ""
    return order, f"{source}{simulated}"
