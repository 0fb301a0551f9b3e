"""The accuracy history: what each accepted revision scored on the same reference and cohort."""

from collections.abc import Sequence
from dataclasses import dataclass

from workbench.domain.actors import Actor
from workbench.domain.hashing import short
from workbench.domain.prompts import Decision, Revision, RevisionStatus
from workbench.domain.references import Reference
from workbench.domain.runs import LabelerSettings, Run
from workbench.evaluation.gate import ACCURACY_FLOOR
from workbench.storage import prompts as prompt_store
from workbench.workflow.blindness import require_sighted
from workbench.workflow.prompts import revisions
from workbench.workflow.reference import cohort_of
from workbench.workflow.run import list_records, load
from workbench.workflow.score import Score, find_score
from workbench.workflow.study import Study


@dataclass(frozen=True, slots=True)
class HistoryRow:
    """A revision, its last decision, and its score on the history's reference (None: never scored there)."""

    revision: Revision
    decision: Decision | None
    score: Score | None
    floor: float = ACCURACY_FLOOR  # the study's

    @property
    def below_floor(self) -> tuple[str, ...]:
        """Return the findings whose accuracy is under the floor, none where there is no score."""
        if self.score is None:
            return ()
        return tuple(
            row.finding_id
            for row in self.score.evaluation.findings
            if row.accuracy.value is not None and row.accuracy.value < self.floor
        )


@dataclass(frozen=True, slots=True)
class Series:
    """What one labeler scored on a reference, a row for each revision. ``name`` tells it from the others."""

    name: str
    labeler: LabelerSettings
    rows: tuple[HistoryRow, ...]

    @property
    def scored(self) -> tuple[HistoryRow, ...]:
        """Return the rows that have a score."""
        return tuple(row for row in self.rows if row.score is not None)


def series(study: Study, actor: Actor, reference: Reference) -> list[Series]:
    """Return the history of every labeler that has a score on a reference, the one that ran first being first.

    A labeler that was set otherwise later (another model, another temperature) is a series of its own.

    Raises:
        RightsError: the person rates in an open round.
    """
    require_sighted(study, actor, "see scores")
    cohort = cohort_of(study, reference)
    known = {r.run.labeler.hash: r.run.labeler for r in list_records(study) if r.run.cohort_hash == cohort.hash}
    names = [labeler.name for labeler in known.values()]
    made = []
    for labeler in known.values():
        name = labeler.name if names.count(labeler.name) == 1 else f"{labeler.name} ({short(labeler.hash)})"
        made.append(
            Series(name, labeler, tuple(history(study, actor, reference, labeler=labeler, accepted_only=False)))
        )
    return [each for each in made if each.scored]


def history(
    study: Study,
    actor: Actor,
    reference: Reference,
    *,
    labeler: LabelerSettings | None = None,
    accepted_only: bool = True,
) -> list[HistoryRow]:
    """Return the revisions by number with their scores on one reference under one labeler (rules by default).

    Raises:
        RightsError: the person rates in an open round.
    """
    require_sighted(study, actor, "see scores")
    labeler = labeler or study.labeler("rules")
    cohort = cohort_of(study, reference)
    runs: dict[str, list[Run]] = {}
    for record in list_records(study):
        if record.run.cohort_hash == cohort.hash and record.run.labeler.hash == labeler.hash:
            runs.setdefault(record.run.prompt_hash, []).append(record.run)
    rows = []
    for revision in revisions(study):
        if accepted_only and revision.status is not RevisionStatus.ACCEPTED:
            continue
        with study.database.read() as conn:
            decisions = prompt_store.decisions(conn, revision.prompt_hash)
        score = _score(study, actor, runs.get(revision.prompt_hash, []), reference)
        floor = study.settings.gate.accuracy
        rows.append(HistoryRow(revision, decisions[-1] if decisions else None, score, floor))
    return rows


def _score(study: Study, actor: Actor, runs: Sequence[Run], reference: Reference) -> Score | None:
    """Return the score of the first run that has one, those over the sections that the study reads before others.

    A run with repeats or other sections, or one that nobody has scored, must not hide the score there is.
    """
    for run in sorted(runs, key=lambda run: run.sections != study.settings.sections):
        score = find_score(study, actor, load(study, run.hash), reference)
        if score is not None:
            return score
    return None
