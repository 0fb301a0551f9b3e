"""The demo study: invented reports, simulated raters, and the whole loop run on them for real."""

import csv
import shutil
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from workbench.domain.actors import Actor, Role
from workbench.domain.cohorts import Purpose
from workbench.domain.references import Reference
from workbench.errors import ConflictError
from workbench.prompting.files import read_prompt
from workbench.workflow.accept import accept, open_gate
from workbench.workflow.cohorts import define, get_cohort
from workbench.workflow.history import HistoryRow, history
from workbench.workflow.ingest import import_labels, import_reports
from workbench.workflow.opening import NewStudy, init_study, open_study
from workbench.workflow.prompts import save_candidate
from workbench.workflow.reference import freeze, get_reference
from workbench.workflow.rounds import open_round
from workbench.workflow.run import execute, prepare
from workbench.workflow.score import Score, score_run
from workbench.workflow.settings import SignIn
from workbench.workflow.study import HOME, Study

FOLDER = HOME / "data" / "demo-study"
LEAD = "Demo lead"
RATER = "Demo rater"
_SOURCE = HOME / "data" / "demo"
_TOLD = "Demo study: the reports are invented and every rater but you is simulated."
_OVERRIDE = "Demo: kept as a step of the accuracy history, not for use."
_SCRIPTED = """
# Replies from a file, simulated: it shows how replies of a language model fail and mislead. No model is asked.
[labelers.simulated-replies]
kind = "scripted"
file = "data/replies.jsonl"
concurrency = 4
delay = 0.05
"""


@dataclass(frozen=True, slots=True)
class Demo:
    """The demo study with what its revisions scored."""

    study: Study
    reference: Reference
    rows: tuple[HistoryRow, ...]
    made: bool  # False: it was there already


def demo(folder: Path = FOLDER, *, tell: Callable[[str], None] = lambda _: None, revisions: int | None = None) -> Demo:
    """Open the demo study, making it first where it is not there yet.

    It is made aside and renamed, so that an interrupted making leaves nothing half done.

    Args:
        folder: where it is, or is made.
        tell: told what is being made.
        revisions: make the first so many of the shipped ones, for going on from there oneself; all when left out.

    Raises:
        ConflictError: the folder holds something else.
    """
    made = not (folder / "data" / "study.toml").exists()
    if made:
        if folder.exists() and not (folder.is_dir() and not any(folder.iterdir())):
            raise ConflictError(f"{folder} holds something else than the demo study; name another folder.")
        _make_aside(folder, tell, revisions)
    study = open_study(folder)
    # Not the demo's lead, who may rate in it by now and must see nothing: this is what the command prints.
    lead = Actor("workbench demo", frozenset({Role.LEAD}))
    reference = get_reference(study, lead, "development-1")
    return Demo(study, reference, tuple(history(study, lead, reference)), made)


def _make_aside(folder: Path, tell: Callable[[str], None], revisions: int | None) -> None:
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".demo-", dir=folder.parent) as aside:
        target = Path(aside) / "study"
        _make(target, tell, revisions)
        if folder.exists():
            folder.rmdir()  # it is empty; moved into it, the study would stand one folder too deep
        shutil.move(target, folder)


def _make(folder: Path, tell: Callable[[str], None], revisions: int | None) -> None:
    people = {LEAD: [Role.LEAD, Role.ADMIN, Role.ADJUDICATOR], RATER: [Role.RATER]}
    new = NewStudy("Demo study", people, simulated=_TOLD, with_prompts=False, sign_in=SignIn.PICK)
    init_study(folder, new)
    study = _with_scripted(folder)
    lead = study.actor(LEAD)
    tell("Taking in 420 invented reports")
    _cohorts(study, lead)
    tell("Holding a round with six simulated raters")
    _labels(study, lead)
    reference = freeze(study, lead, "development", incomplete=True)  # one of the simulated raters skips reports
    for path in sorted((HOME / "prompts" / study.label_set.id).glob("[0-9][0-9][0-9][0-9].md"))[:revisions]:
        score = _revision(study, lead, path, reference)
        value = score.evaluation.macro_f1.value
        tell(f"Revision {score.prepared.number}: macro-F1 {value:.3f}" if value is not None else "no score")


def _with_scripted(folder: Path) -> Study:
    """Give the study a labeler whose replies are simulated, to see without any model how replies fail and mislead."""
    shutil.copyfile(_SOURCE / "replies.jsonl", folder / "data" / "replies.jsonl")
    with (folder / "data" / "study.toml").open("a", encoding="utf-8") as settings:
        settings.write(_SCRIPTED)
    return open_study(folder)


def _cohorts(study: Study, lead: Actor) -> None:
    reports = _SOURCE / "reports.csv"
    import_reports(study, lead, reports, columns={"id": "id", "patient": "patient_id", "text": "text"})
    with reports.open(encoding="utf-8", newline="") as file:
        rows = [(row["id"], row["cohort"]) for row in csv.DictReader(file)]
    for purpose in (Purpose.DEVELOPMENT, Purpose.VALIDATION):
        define(study, lead, purpose.value, purpose, [report for report, cohort in rows if cohort == purpose.value])


def _labels(study: Study, lead: Actor) -> None:
    """Open both rounds and import the raters' labels; whoever tries the demo takes the sixth seat on validation."""
    files = sorted((_SOURCE / "labels").glob("*.csv"))
    development, validation = get_cohort(study, "development"), get_cohort(study, "validation")
    raters = [path.stem for path in files]
    open_round(study, lead, development.name, raters=raters)
    open_round(study, lead, validation.name, raters=[*raters[:-1], RATER])
    for path in files:
        import_labels(study, lead, path, cohort=development, simulated=True)
    for path in files[:-1]:
        import_labels(study, lead, path, cohort=validation, simulated=True)


def _revision(study: Study, lead: Actor, path: Path, reference: Reference) -> Score:
    prompt = read_prompt(path, label_set=study.label_set)
    rows = history(study, lead, reference)
    parent = rows[-1].revision.prompt_hash if rows else None
    revision = save_candidate(study, lead, prompt, message=prompt.guidance.title, parent=parent, number=int(path.stem))
    prepared = prepare(study, lead, cohort="development", revision=revision.prompt_hash)
    execute(study, prepared)
    score = score_run(study, lead, prepared.run.hash, reference)
    gate = open_gate(study, lead, score)
    accept(
        study,
        lead,
        gate,
        reason=f"Shipped revision: {prompt.guidance.title}",
        signed=[check.name for check in gate.to_sign],
        override=_OVERRIDE,
    )
    return score
