"""Every public call of the workflow, tried by everybody, while a round takes labels and once it is closed.

A call that is in none of the tables below fails the test: whoever adds one decides here who may make it.
"""

import ast
import importlib
import inspect
import pkgutil
import shutil
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import pytest

import workbench.workflow as rooms
from workbench.domain.actors import Actor, Role
from workbench.domain.annotations import Annotation
from workbench.domain.cohorts import Cohort, Purpose
from workbench.domain.data_use import Basis
from workbench.domain.error_kinds import ErrorKind
from workbench.domain.findings import State
from workbench.domain.judging import JudgePrompt
from workbench.domain.prompts import Decision, Prompt, RevisionStatus
from workbench.domain.references import Reference
from workbench.domain.reviews import Judgement
from workbench.domain.runs import Extraction, ExtractionStatus, LabelerSettings
from workbench.errors import RightsError, WorkbenchError
from workbench.evaluation.mistakes import MistakeKind
from workbench.formats.chexpert import OBSERVATIONS
from workbench.formats.pairs import read_pairs
from workbench.labelers.error_kinds import Cause
from workbench.prompting.files import parse_prompt, prompt_text
from workbench.running import process
from workbench.storage import annotations
from workbench.storage import leaderboard as leaderboard_store
from workbench.storage.database import Database
from workbench.storage.leaderboard import DataSetRecord
from workbench.workflow import (
    accept,
    adjudicate,
    annotate,
    backup,
    baseline,
    batches,
    blindness,
    browse,
    changes,
    chexpert,
    cohorts,
    compare,
    data_use,
    doubted,
    doubts,
    drafts,
    errors,
    export,
    extractor,
    first_look,
    highlighting,
    history,
    ingest,
    judged,
    labelers,
    languages,
    leaderboard,
    looks,
    methods,
    metrics,
    people,
    practice,
    prompts,
    propose,
    ran_score,
    raters,
    reference,
    review,
    review_files,
    review_results,
    reviewing,
    revise,
    rounds,
    run,
    score,
    splits,
    stability,
    study_pairs,
    suggest,
    systems,
    trust,
    unsubmitted,
    validation,
    versions,
)
from workbench.workflow.judging import Bench
from workbench.workflow.opening import NewStudy, init_study, read_study
from workbench.workflow.score import Score
from workbench.workflow.study import Study

MUTE = LabelerSettings("mute", "scripted", file="none.jsonl")
# Who tries. Rita and Lara rate in the round; Lara is everything else besides. Otto rates, but not in this round, and so
# does Reva, who takes part in an open review of generated reports.
ROLES = {
    "Rita": {Role.RATER},
    "Lara": {Role.RATER, Role.LEAD, Role.ADMIN, Role.ADJUDICATOR},
    "Lena": {Role.LEAD},
    "Adam": {Role.ADMIN},
    "Jude": {Role.ADJUDICATOR},
    "Otto": {Role.RATER},
    "Reva": {Role.RATER},
    "Nobody": set[Role](),
}
ACTORS = {name: Actor(name, frozenset(roles)) for name, roles in ROLES.items()}
IN_ROUND = ("Rita", "Lara", "Otto", "Reva")  # who must see nothing of the results while it is open: two only rate
SIX = ["Rita", "Lara", "rater3", "rater4", "rater5", "rater6"]
EVERYBODY = set(ROLES) - {"Nobody"}
RATERS = {"Rita", "Lara", "Otto", "Reva"}
EDITORS = {"Lena", "Adam", "Lara"}  # leads and admins
JUDGES = {"Jude", "Lara"}
LEADS = {"Lena", "Lara"}
ADMINS = {"Adam", "Lara"}

PROMPT = """---
format: 1
label_set: cxr21
language: en
title: {title}
reply: mentioned
instructions: Label the report.
findings:
  pneumothorax:
    definition: air
    synonyms: [{phrase}]
---
{{{{ instructions }}}}
"""


@dataclass
class World:
    """A study in which one cohort is rated, scored and frozen, another is frozen with a tie, and a third is fresh."""

    study: Study
    folder: Path
    development: Cohort
    vote: Reference
    tied: Reference
    score: Score
    candidate: Prompt

    def out(self, ending: str) -> Path:
        """A file to write to, beside the study."""
        return self.folder.parent / f"out.{ending}"

    @property
    def first(self) -> annotate.Entry:
        """A report of the open round."""
        return annotate.Entry("r1")


def _prompt(study: Study, title: str, phrase: str) -> Prompt:
    return parse_prompt(PROMPT.format(title=title, phrase=phrase), label_set=study.label_set)


def _labels(study: Study, folder: Path, name: str, present: list[str]) -> None:
    path = folder / f"{name}.csv"
    rows = [f"{report},1,{'1' if report in present else ''}" for report in ("r1", "r2", "t1")]
    path.write_text("report_id,reviewed,pneumothorax\n" + "\n".join(rows) + "\n")
    rest = [f for f in study.label_set.ids if f != "pneumothorax"]
    text = path.read_text().replace("pneumothorax\n", f"pneumothorax,{','.join(rest)}\n", 1)
    lines = text.splitlines()
    path.write_text("\n".join([lines[0], *(line + "," * len(rest) for line in lines[1:])]) + "\n")
    ingest.import_labels(study, ACTORS["Lara"], path, rater=name)


def _scored(study: Study, prompt: Prompt, vote: Reference) -> Score:
    lara = ACTORS["Lara"]
    saved = prompts.save_candidate(study, lara, prompt, message=prompt.guidance.title, parent=None)
    prepared = run.prepare(study, lara, cohort="development", revision=saved.prompt_hash)
    run.execute(study, prepared)
    return score.score_run(study, lara, prepared.run.hash, vote)


def _ratings(folder: Path) -> Path:
    path = folder / "ratings.csv"
    path.write_text("study_id,system,reviewer,rating\ns1,a,Elsewhere,1\n")
    return path


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> World:
    """The world with its round closed; tests work on copies."""
    aside = tmp_path_factory.mktemp("rights")
    lara = ACTORS["Lara"]
    known = {name: sorted(roles) for name, roles in ROLES.items() if roles}
    study = init_study(aside / "study", NewStudy("Rights", known, with_prompts=False))
    texts = {
        "r1": "Pneumothorax.",
        "r2": "Clear lungs.",
        "t1": "Perhaps air.",
        "n1": "Normal.",
        "n2": "Fine chest.",
        "n3": "Well.",
    }
    csv = "id,patient_id,text\n" + "".join(f'{r},p-{r},"FINDINGS: {text}"\n' for r, text in texts.items())
    (aside / "reports.csv").write_text(csv)
    ingest.import_reports(study, lara, aside / "reports.csv")
    development = cohorts.define(study, lara, "development", Purpose.DEVELOPMENT, ["r1", "r2"])
    cohorts.define(study, lara, "tied", Purpose.TAXONOMY, ["t1"])
    cohorts.define(study, lara, "fresh", Purpose.EXTERNAL, ["n1"])
    cohorts.define(study, lara, "idle", Purpose.EXTERNAL, ["n3"])
    rounds.open_round(study, lara, "idle", raters=["Otto"])
    rounds.close_round(study, lara, "idle", reason="a mistake")
    rounds.open_round(study, lara, "development", raters=SIX)
    for i, name in enumerate(SIX):
        _labels(study, aside, name, ["r1", *(["t1"] if i < 3 else [])])
    vote, tied = reference.freeze(study, lara, "development"), reference.freeze(study, lara, "tied")
    accepted = _scored(study, _prompt(study, "first", "pneumothorax"), vote)
    accept.accept(
        study,
        lara,
        accept.open_gate(study, lara, accepted),
        reason="first",
        signed=[c.name for c in accept.open_gate(study, lara, accepted).to_sign],
        override="small",
    )
    candidate = _prompt(study, "second", "pneumothoraces")
    scored = _scored(study, candidate, vote)
    pairs = aside / "a.csv"
    pairs.write_text("study_id,reference,generated\ns1,Pneumothorax.,Clear.\n")
    known_pairs = systems.add_data_set(study, lara, pairs)
    systems.add_systems(study, lara, known_pairs, [systems.System(pairs)])
    review_files.import_ratings(study, lara, known_pairs, _ratings(aside))
    more = aside / "b.csv"
    more.write_text("study_id,reference,generated\ns2,Clear.,Clear lungs.\n")
    reviewed = systems.add_data_set(study, lara, more)
    systems.add_systems(study, lara, reviewed, [systems.System(more)])
    review.open_review(study, lara, reviewed, reviewers=["Reva"])
    people.add(study, ACTORS["Lara"], "Rita")  # has an account; the others act by study.toml
    study.database.close()
    return World(study, aside / "study", development, vote, tied, scored, candidate)


def _world(made: World, folder: Path, *, taking_labels: bool) -> World:
    shutil.copytree(made.folder, folder)
    study = read_study(folder)
    if taking_labels:
        rounds.reopen_round(study, ACTORS["Lena"], "development", reason="corrections")
    prepared = run.load(study, made.score.prepared.run.hash)
    # What somebody got hold of before the round was opened again: a stale tab has it, and so has a notebook.
    return World(study, folder, made.development, made.vote, made.tied, made.score, prepared.prompt)


@dataclass(frozen=True)
class Call:
    """How a call is made, by whom it may be made while a round takes labels, and by whom else once it is closed.

    ``fails`` says that it cannot succeed in this world although somebody may make it.
    """

    make: Callable[[World, Actor], object]
    open: set[str]
    closed: set[str] | None = None  # None: the same
    fails: bool = False


def _results(who: set[str]) -> dict[str, set[str]]:
    """What shows labels of others, agreement, a reference or a labeler's output."""
    return {"open": who - set(IN_ROUND), "closed": who}


def _system_scores() -> dict[str, set[str]]:
    """What shows scores of generated reports, or which system wrote them: kept from who reviews them besides."""
    return _results(EVERYBODY - {"Reva"})


def _accept(world: World, actor: Actor) -> object:
    gate = accept.Gate(world.score, None, ())
    signed = ("replies", "accuracy", "recall", "assessable", "newly_missed", "macro_f1")
    missed = {("r1", "pneumothorax"): "small"}
    return accept.accept(world.study, actor, gate, reason="better", signed=signed, missed=missed, override="small")


def _decision(world: World, actor: Actor) -> object:
    revision = prompts.find_revision(world.study, world.candidate.hash).revision
    decision = Decision(world.candidate.hash, RevisionStatus.REJECTED, actor.name, revision.created_at, "no")
    return prompts.decide(world.study, actor, revision, decision)


def _import(world: World, actor: Actor) -> object:
    path = world.out("md")
    path.write_text(prompt_text(_prompt(world.study, "third", "air")))
    return prompts.import_prompt(world.study, actor, path)


def _reports(world: World, actor: Actor) -> object:
    world.out("csv").write_text("id,text\nx1,FINDINGS: Normal.\n")
    return ingest.import_reports(world.study, actor, world.out("csv"))


def _save(world: World, actor: Actor) -> object:
    said = {"pneumothorax": State.PRESENT}
    return annotate.save(world.study, actor, "development", world.first, said, submitted=False)


def _error(world: World) -> errors.Mistake:
    """An error as a stale tab would still hold it; only its report and finding matter here."""
    report = world.score.prepared.reports[0]
    item, reply = world.score.reference.items[report.id, "pneumothorax"], Extraction(ExtractionStatus.OK)
    cause = Cause(ErrorKind.SYNONYM)
    return errors.Mistake(report, "pneumothorax", MistakeKind.MISSED, 0.0, item, None, "", {}, reply, cause)


def _pairs(world: World) -> Path:
    path = world.out("csv")
    path.write_text("study_id,reference,generated\ns1,Pneumothorax.,Clear.\n")
    return path


def _edited(world: World) -> Path:
    path = world.out("csv")
    path.write_text("pair_id,significant,reference,generated\n1,1,Pneumothorax.,Clear.\n2,0,Clear.,All clear.\n")
    return path


def _scores(world: World) -> Path:
    path = world.out("csv")
    path.write_text("study_id,system,metric,value\ns1,a,green,0.5\n")
    return path


def _chexpert(world: World) -> Path:
    path = world.out("csv")
    path.write_text(",".join(["report_id", *OBSERVATIONS]) + "\nr1" + "," * len(OBSERVATIONS) + "\n")
    return path


def _data_set(world: World) -> DataSetRecord:
    """A data set with one system, as somebody got hold of it when they might."""
    with world.study.database.read() as conn:
        return leaderboard_store.data_sets(conn)[0]


def _in_review(world: World) -> DataSetRecord:
    """The data set whose review is open."""
    with world.study.database.read() as conn:
        return leaderboard_store.data_sets(conn)[1]


def _scoring(world: World) -> ran_score.Scoring:
    return ran_score.score_systems(world.study, ACTORS["Lena"], _data_set(world))


FINDINGS = ["pneumothorax"]
UNLOCK = {"revision": "1", "labeler": "rules", "policies": "present", "endpoint": "macro-F1"}

CALLS = {
    "accept.accept": Call(_accept, **_results(LEADS)),
    "accept.open_gate": Call(lambda w, a: accept.open_gate(w.study, a, w.score), **_results(EVERYBODY)),
    "accept.reject": Call(
        lambda w, a: accept.reject(w.study, a, prompts.find_revision(w.study, w.candidate.hash).revision, reason="no"),
        LEADS,
    ),
    "accept.sign_second": Call(lambda w, a: accept.sign_second(w.study, a, w.score), **_results(EDITORS | JUDGES)),
    "adjudicate.decide": Call(
        lambda w, a: adjudicate.decide(w.study, a, w.tied, "t1", "pneumothorax", present=True, reason="seen"),
        **_results(JUDGES),
    ),
    "adjudicate.finish": Call(
        lambda w, a: adjudicate.finish(w.study, a, w.tied), **_results(JUDGES | {"Lena"}), fails=True
    ),
    "adjudicate.open_items": Call(lambda w, a: adjudicate.open_items(w.study, a, w.tied), **_results(JUDGES)),
    "annotate.heard": Call(lambda w, a: annotate.heard(w.study, a, "tab"), RATERS),
    "annotate.open_report": Call(
        lambda w, a: annotate.open_report(w.study, a, "development", w.first), {"Rita", "Lara"}
    ),
    "annotate.queue": Call(lambda w, a: annotate.queue(w.study, a, "development"), RATERS),
    "annotate.save": Call(_save, RATERS, fails=True),  # Otto, and anybody once it is closed, is refused as too late
    "backup.back_up": Call(lambda w, a: backup.back_up(w.study, a, w.out("zip")), EDITORS),
    "baseline.rules_beside": Call(lambda w, a: baseline.rules_beside(w.study, a, w.score), **_results(EDITORS)),
    "batches.cancel": Call(lambda w, a: batches.cancel(w.study, a, w.score.prepared), EDITORS, fails=True),
    "batches.collect": Call(lambda w, a: batches.collect(w.study, a, w.score.prepared), EDITORS, fails=True),
    "batches.submit": Call(lambda w, a: batches.submit(w.study, a, w.score.prepared), EDITORS, fails=True),
    "batches.take_results": Call(
        lambda w, a: batches.take_results(w.study, a, w.score.prepared, w.out("jsonl")), EDITORS, fails=True
    ),
    "batches.wait": Call(lambda w, a: batches.wait(w.study, a, w.score.prepared), EDITORS),
    "batches.write_requests": Call(
        lambda w, a: batches.write_requests(w.study, a, w.score.prepared, w.out("jsonl")), EDITORS, fails=True
    ),
    "blindness.blinding_round": Call(lambda w, a: blindness.blinding_round(w.study, a), set(ROLES)),
    "blindness.require_no_review": Call(
        lambda w, a: blindness.require_no_review(w.study, a, "see"), set(ROLES) - {"Reva"}
    ),
    "blindness.reviewing": Call(lambda w, a: blindness.reviewing(w.study, a), set(ROLES)),
    "blindness.reviews_ever": Call(lambda w, a: blindness.reviews_ever(w.study, a), set(ROLES)),
    "blindness.require_sighted": Call(lambda w, a: blindness.require_sighted(w.study, a, "see"), **_results(EVERYBODY)),
    "browse.list_reports": Call(lambda w, a: browse.list_reports(w.study, a), EVERYBODY),
    "browse.rating_progress": Call(lambda w, a: browse.rating_progress(w.study, a, "development"), EDITORS | JUDGES),
    "browse.read_report": Call(lambda w, a: browse.read_report(w.study, a, "r1"), EVERYBODY),
    "browse.rendered": Call(lambda w, a: browse.rendered(w.study, a, w.candidate, "r1"), EVERYBODY),
    "browse.state_counts": Call(lambda w, a: browse.state_counts(w.study, a, w.score), **_results(EDITORS | JUDGES)),
    "changes.to_take_back": Call(
        lambda w, a: changes.to_take_back(w.study, a, "development", w.first), {"Rita", "Lara"}
    ),
    "chexpert.chexpert_benchmark": Call(
        lambda w, a: chexpert.chexpert_benchmark(w.study, a, w.score, _chexpert(w)), **_results(EDITORS)
    ),
    "cohorts.allocate": Call(
        lambda w, a: cohorts.allocate(w.study, a, "more", Purpose.TAXONOMY, size=1, preview=True), EDITORS
    ),
    "cohorts.define": Call(lambda w, a: cohorts.define(w.study, a, "more", Purpose.TAXONOMY, ["n2"]), EDITORS),
    "cohorts.expected_positives": Call(
        lambda w, a: cohorts.expected_positives(w.study, a, w.development), **_results(EDITORS)
    ),
    "cohorts.unlock": Call(
        lambda w, a: cohorts.unlock(w.study, a, "tied", reason="now", details=UNLOCK), LEADS, fails=True
    ),
    "compare.compare": Call(lambda w, a: compare.compare(w.study, a, w.score, w.score), **_results(EVERYBODY)),
    "compare.point": Call(lambda w, a: compare.point(w.study, a, "1", w.vote), **_results(EVERYBODY)),
    "data_use.close_host": Call(lambda w, a: data_use.close_host(w.study, a, "a.org"), EDITORS, fails=True),
    "data_use.open_host": Call(
        lambda w, a: data_use.open_host(w.study, a, "a.org", Basis("agreement", zero_retention=True)), LEADS
    ),
    "doubts.doubts": Call(lambda w, a: doubts.doubts(w.study, a, w.score.prepared), **_results(EVERYBODY)),
    "drafts.drop": Call(lambda w, a: drafts.drop(w.study, a, w.candidate.hash, "tab"), EDITORS),
    "drafts.keep": Call(
        lambda w, a: drafts.keep(w.study, a, w.candidate.hash, w.candidate, tab="tab", seen=None), EDITORS
    ),
    "drafts.unsaved": Call(lambda w, a: drafts.unsaved(w.study, a), EDITORS),
    "errors.mistakes": Call(
        lambda w, a: errors.mistakes(w.study, a, w.score), set(), EDITORS | JUDGES
    ),  # each mistake tells who voted how
    "errors.raters_words": Call(
        lambda w, a: errors.raters_words(w.study, a, w.score, _error(w)), set(), EDITORS | JUDGES
    ),
    "errors.tag": Call(
        lambda w, a: errors.tag(w.study, a, w.score, ("r1", FINDINGS[0]), kind=ErrorKind.DOUBTFUL, comment="split"),
        set(),
        EDITORS | JUDGES,
    ),
    "doubted.judge": Call(
        lambda w, a: doubted.judge(w.study, a, w.vote, "r1", "pneumothorax", present=True, reason="seen"),
        set(),
        {"Jude"},  # Lara edits prompts
        fails=True,
    ),
    "doubted.open_doubts": Call(lambda w, a: doubted.open_doubts(w.study, a, w.vote), set(), {"Jude"}),
    "doubted.verdicts": Call(lambda w, a: doubted.verdicts(w.study, a, w.vote), set(), EDITORS),
    "export.export_agreement": Call(
        lambda w, a: export.export_agreement(w.study, a, w.out("csv"), name="development"), set(), EDITORS
    ),
    "export.export_audit": Call(lambda w, a: export.export_audit(w.study, a, w.out("csv")), **_results(EDITORS)),
    "export.export_reference": Call(
        lambda w, a: export.export_reference(w.study, a, w.out("csv"), name="development"), set(), EDITORS
    ),
    "export.export_votes": Call(
        lambda w, a: export.export_votes(w.study, a, "development", w.out("csv")), set(), EDITORS
    ),
    "extractor.labeler_errors": Call(
        lambda w, a: extractor.labeler_errors(w.study, a, _scoring(w)), **_results(EVERYBODY)
    ),
    "extractor.take_in_generated": Call(
        lambda w, a: extractor.take_in_generated(w.study, a, _data_set(w), "machine"), **_results(EDITORS)
    ),
    "extractor.write_blinded": Call(
        lambda w, a: extractor.write_blinded(w.study, a, _data_set(w), w.out("csv")), **_results(EDITORS)
    ),
    "highlighting.phrases": Call(lambda w, a: highlighting.phrases(w.study, a), RATERS),
    "history.history": Call(lambda w, a: history.history(w.study, a, w.vote), **_results(EVERYBODY)),
    "history.series": Call(lambda w, a: history.series(w.study, a, w.vote), **_results(EVERYBODY)),
    "ingest.import_labels": Call(lambda w, a: ingest.import_labels(w.study, a, w.out("none")), EDITORS, fails=True),
    "ingest.import_reports": Call(_reports, EDITORS),
    "judged.judge_systems": Call(
        lambda w, a: judged.judge_systems(w.study, a, _data_set(w), Bench(w.study, JudgePrompt("j", "Judge."), MUTE)),
        **_results(EDITORS),
        fails=True,  # its file of answers is missing
    ),
    "labelers.say_hello": Call(lambda w, a: labelers.say_hello(w.study, a, "none"), EDITORS, fails=True),
    "leaderboard.leaderboard": Call(lambda w, a: leaderboard.leaderboard(w.study, a, _data_set(w)), **_system_scores()),
    "looks.record_look": Call(lambda w, a: looks.record_look(w.study, a, w.development, "try", "0" * 64), EDITORS),
    "metrics.import_scores": Call(
        lambda w, a: metrics.import_scores(w.study, a, _data_set(w), _scores(w)), **_results(EDITORS)
    ),
    "metrics.run_metric": Call(
        lambda w, a: metrics.run_metric(w.study, a, _data_set(w), "bertscore", weights=w.folder / "weights"),
        **_results(EDITORS),
        fails=True,  # there are no weights
    ),
    "metrics.imported": Call(lambda w, a: metrics.imported(w.study, a, _data_set(w)), **_system_scores()),
    "methods.export_methods": Call(
        lambda w, a: methods.export_methods(w.study, a, w.score, w.out(a.name)), set(), EDITORS
    ),
    "methods.methods": Call(lambda w, a: methods.methods(w.study, a, w.score), set(), EDITORS),
    "people.accounts": Call(lambda w, a: people.accounts(w.study, a), EDITORS),
    "people.add": Call(lambda w, a: people.add(w.study, a, f"New {a.name}", [Role.RATER]), EDITORS),
    "people.deactivate": Call(lambda w, a: people.deactivate(w.study, a, "Rita"), EDITORS),
    "people.issue_code": Call(lambda w, a: people.issue_code(w.study, a, "Rita"), EDITORS),
    "people.set_email": Call(lambda w, a: people.set_email(w.study, a, "Rita", "rita@example.org"), EDITORS),
    "people.set_roles": Call(lambda w, a: people.set_roles(w.study, a, "Rita", [Role.RATER]), EDITORS),
    # A study without practice reports: whoever may practise is told that there are none.
    "practice.feedback": Call(lambda w, a: practice.feedback(w.study, a, w.first), RATERS, fails=True),
    "practice.open_report": Call(lambda w, a: practice.open_report(w.study, a, w.first), RATERS, fails=True),
    "practice.progress": Call(lambda w, a: practice.progress(w.study, a), EDITORS, fails=True),
    "practice.queue": Call(lambda w, a: practice.queue(w.study, a), RATERS, fails=True),
    "practice.result": Call(lambda w, a: practice.result(w.study, a), RATERS, fails=True),
    "practice.save": Call(lambda w, a: practice.save(w.study, a, w.first, {}, submitted=False), RATERS, fails=True),
    "prompts.decide": Call(_decision, LEADS),
    "prompts.import_prompt": Call(_import, EDITORS),
    "prompts.save_candidate": Call(
        lambda w, a: prompts.save_candidate(w.study, a, w.candidate, message="again", parent=None), EDITORS
    ),
    "ran_score.label_systems": Call(
        lambda w, a: ran_score.label_systems(w.study, a, _data_set(w)), **_results(EDITORS)
    ),
    "ran_score.score_systems": Call(lambda w, a: ran_score.score_systems(w.study, a, _data_set(w)), **_system_scores()),
    "raters.benchmark_of": Call(lambda w, a: raters.benchmark_of(w.study, a, w.vote), set(), EDITORS | JUDGES),
    "raters.rater_statistics": Call(
        lambda w, a: raters.rater_statistics(w.study, a, w.vote, resamples=2), set(), EDITORS | JUDGES
    ),
    "reference.freeze": Call(lambda w, a: reference.freeze(w.study, a, "development", reason="again"), LEADS),
    "reference.get_reference": Call(lambda w, a: reference.get_reference(w.study, a), **_results(EVERYBODY)),
    "reference.list_references": Call(lambda w, a: reference.list_references(w.study, a), **_results(EVERYBODY)),
    "first_look.record_view": Call(lambda w, a: first_look.record_view(w.study, a, w.tied), EDITORS | JUDGES),
    "reference.reference_on": Call(
        lambda w, a: reference.reference_on(w.study, a, w.development), **_results(EVERYBODY)
    ),
    "reference.summarize": Call(lambda w, a: reference.summarize(w.study, a, w.vote), set(), EVERYBODY),
    "reference.votes_of": Call(lambda w, a: reference.votes_of(w.study, a, w.vote), set(), EDITORS | JUDGES),
    "review.close_review": Call(lambda w, a: review.close_review(w.study, a, _in_review(w)), LEADS),
    "reviewing.desks": Call(lambda w, a: reviewing.desks(w.study, a), RATERS | JUDGES),
    "reviewing.open_item": Call(lambda w, a: reviewing.open_item(w.study, a, "review-1", 0), {"Reva"}),
    "review.offers": Call(lambda w, a: review.offers(w.study, a), **_results(LEADS)),
    "review.open_review": Call(lambda w, a: review.open_review(w.study, a, _data_set(w), reviewers=["Otto"]), LEADS),
    "review.progress": Call(lambda w, a: review.progress(w.study, a), EDITORS),
    "reviewing.rate": Call(lambda w, a: reviewing.rate(w.study, a, "review-1", 0, Judgement(3)), {"Reva"}),
    "review_files.export_ratings": Call(
        lambda w, a: review_files.export_ratings(w.study, a, _data_set(w), w.out("csv")), **_results(EDITORS)
    ),
    "review_files.import_ratings": Call(
        lambda w, a: review_files.import_ratings(w.study, a, _data_set(w), _ratings(w.folder)), EDITORS
    ),
    "review_results.results": Call(lambda w, a: review_results.results(w.study, a, _data_set(w)), **_system_scores()),
    "revise.try_prompt": Call(lambda w, a: revise.try_prompt(w.study, a, w.candidate, w.score), **_results(EDITORS)),
    "rounds.close_round": Call(lambda w, a: rounds.close_round(w.study, a, "development"), LEADS, fails=True),
    "rounds.kept_because": Call(lambda w, a: rounds.kept_because(w.study, a, "development"), LEADS),
    "rounds.open_round": Call(lambda w, a: rounds.open_round(w.study, a, "fresh", raters=["Otto"]), LEADS),
    "rounds.reopen_round": Call(
        lambda w, a: rounds.reopen_round(w.study, a, "development", reason="x"), LEADS, fails=True
    ),
    "rounds.withdraw_round": Call(
        lambda w, a: rounds.withdraw_round(w.study, a, "idle", reason="the wrong raters"), LEADS
    ),
    "languages.before_run": Call(lambda w, a: languages.before_run(w.study, a, cohort="development"), EVERYBODY),
    "run.extractions": Call(lambda w, a: run.extractions(w.study, a, w.score.prepared), **_results(EVERYBODY)),
    "run.prepare": Call(lambda w, a: run.prepare(w.study, a, cohort="development"), EDITORS),
    "run.prepare_beside": Call(
        lambda w, a: run.prepare_beside(w.study, a, w.score.prepared, w.study.labeler("rules")), EDITORS
    ),
    "run.recorded": Call(lambda w, a: run.recorded(w.study, a, cohort="development"), EDITORS),
    "run.reopen": Call(lambda w, a: run.reopen(w.study, a, w.score.prepared.run.hash), EDITORS),
    "run.tried": Call(lambda w, a: run.tried(w.study, a, w.score.prepared), **_results(EVERYBODY)),
    "run.start": Call(lambda w, a: run.start(w.study, a, w.score.prepared), EDITORS),
    "score.find_score": Call(
        lambda w, a: score.find_score(w.study, a, w.score.prepared, w.vote), **_results(EVERYBODY)
    ),
    "score.policies_table": Call(lambda w, a: score.policies_table(w.study, a, w.score), set(), EDITORS | JUDGES),
    "score.score_run": Call(
        lambda w, a: score.score_run(w.study, a, w.score.prepared.run.hash, w.vote), **_results(EDITORS)
    ),
    "splits.split_among_all": Call(
        lambda w, a: splits.split_among_all(w.study, a, w.vote, FINDINGS), set(), EDITORS | JUDGES
    ),
    "splits.split_between": Call(
        lambda w, a: splits.split_between(w.study, a, w.vote, FINDINGS, ("Rita", "Lara")), set(), EDITORS | JUDGES
    ),
    "splits.split_from_others": Call(
        lambda w, a: splits.split_from_others(w.study, a, w.vote, FINDINGS, "Rita"), set(), EDITORS | JUDGES
    ),
    "splits.split_from_themselves": Call(
        lambda w, a: splits.split_from_themselves(w.study, a, w.vote, FINDINGS, "Rita"), set(), EDITORS | JUDGES
    ),
    "stability.run_stability": Call(  # this run asks each report once
        lambda w, a: stability.run_stability(w.study, a, w.score.prepared), **_results(EVERYBODY), fails=True
    ),
    "systems.add_data_set": Call(lambda w, a: systems.add_data_set(w.study, a, _pairs(w)), **_results(EDITORS)),
    "systems.add_systems": Call(
        lambda w, a: systems.add_systems(w.study, a, _data_set(w), [systems.System(_pairs(w))]), **_results(EDITORS)
    ),
    "systems.add_scored": Call(
        lambda w, a: systems.add_scored(w.study, a, systems.System(_pairs(w)), [systems.System(_pairs(w))]),
        **_results(EDITORS),
    ),
    "systems.data_sets": Call(lambda w, a: systems.data_sets(w.study, a), **_results(EVERYBODY)),
    "systems.find_data_set": Call(lambda w, a: systems.find_data_set(w.study, a), **_results(EVERYBODY)),
    "systems.submissions": Call(lambda w, a: systems.submissions(w.study, a, _data_set(w)), **_system_scores()),
    "propose.proposals": Call(
        lambda w, a: propose.proposals(w.study, a, w.score, FINDINGS[0], by="rules"), set(), EDITORS, fails=True
    ),  # it is shown errors, as errors.mistakes tells them; the rules ask no model
    "suggest.suggestions": Call(lambda w, a: suggest.suggestions(w.study, a, w.score), **_results(EDITORS)),
    "suggest.decide_suggestions": Call(
        lambda w, a: suggest.decide_suggestions(w.study, a, w.score, w.candidate), **_results(EDITORS)
    ),
    "suggest.read_cohort": Call(
        lambda w, a: suggest.read_cohort(w.study, a, w.score, w.candidate, to="try"), **_results(EDITORS)
    ),
    "suggest.search": Call(lambda w, a: suggest.search(w.study, a, w.score), **_results(EDITORS)),
    "trust.measure": Call(
        lambda w, a: trust.measure(w.study, a, read_pairs(_edited(w)), resamples=0), **_results(EVERYBODY)
    ),
    "validation.side_by_side": Call(
        lambda w, a: validation.side_by_side(w.study, a, w.score, w.score), **_results(EVERYBODY)
    ),
    "study_pairs.pair_of": Call(
        lambda w, a: study_pairs.pair_of(w.study, a, _scoring(w), "a", "s1"), **_system_scores()
    ),
    "versions.compare": Call(lambda w, a: versions.compare(w.study, a, w.vote.name, w.vote.name), set(), EVERYBODY),
    "unsubmitted.unsubmitted": Call(lambda w, a: unsubmitted.unsubmitted(w.study, a, "development"), EDITORS | JUDGES),
}

# Calls that ask nobody who they are, and why nothing crosses a right in them.
NAMES_AND_COUNTS = {  # names, counts, states of work and texts of prompts: everybody in a study may know them
    "adjudicate.closed_because", "adjudicate.left_open",
    "annotate.ratable_cohorts", "browse.count_reports", "browse.decisions",
    "data_use.egress", "data_use.egress_of", "data_use.openings", "data_use.permission", "data_use.require_allowed",
    "data_use.egress_to_fetch", "data_use.require_allowed_by",
    "batches.of_run", "batches.under_way",
    "labelers.capability", "labelers.card", "labelers.cards", "labelers.hello", "labelers.labeler_of",
    "labelers.asks_first", "labelers.most_of", "labelers.remembered",
    "judging.bench_of", "judging.by_words", "judging.scripted_words", "judging.took_words", "judging.why_words",
    "labelers.require_ready",
    "cohorts.get_cohort", "cohorts.list_cohorts", "cohorts.locked_report_ids", "cohorts.require_unlocked",
    "practice.practice_file", "prompts.find_record", "prompts.find_revision", "prompts.prompt_file",
    "prompts.revisions", "prompts.stored_text",
    "reference.asked_for", "reference.cohort_of", "reference.require_closed", "roster.account_actor",
    "review_results.rated_data_sets", "roster.read_roster", "rounds.last_round", "rounds.round_of",
    "rounds.withdrawn_rounds", "run.ended", "run.last_words", "run.list_records",
    "run.list_runs", "run.load", "run.progress", "run.unanswered", "sign_in.has_accounts",
}  # fmt: skip
VALUES_ONLY = {  # they tell of nothing but what they are given
    "annotate.require_unchanged", "drafts.new_tab", "languages.of_run",
    "errors.chosen", "errors.costliest_first", "errors.grouped", "errors.phrases_in",
    "agreed.agreed", "agreed.categories", "agreed.seen_as", "annotate.order_of",
    "annotate.said", "browse.changes", "drawing.chances_of", "drawing.draw",
    "drawing.joined", "drawing.weights", "opening.default_people", "passwords.code_fits", "passwords.hash_code",
    "people.may_give",
    "passwords.hash_password", "passwords.new_code", "passwords.password_fits", "passwords.require_password",
    "trust_pairs.make_pairs", "trust_files.judge_words", "trust_files.picture", "trust_files.trust_json",
    "trust_files.words", "trust_files.write_trust",
    "reference.truth_codes", "review_texts.shown", "review_texts.text_hash",
    "votes.items_of", "revise.with_finding", "revise.with_guidance", "roster.told",
    "run.key_of", "metrics.told_direction",
    "score.arrays", "score.prediction_codes", "slow_down.wait_after", "study.current_user",
    "study.with_policies", "export.refuse_own_file", "versions.difference",
    "leaderboard_words.apart_words", "leaderboard_words.counted", "leaderboard_words.coverage_words",
    "leaderboard_words.direction", "leaderboard_words.figure_words", "leaderboard_words.policy_words",
    "leaderboard_words.rank_numbers", "leaderboard_words.rank_words", "leaderboard_words.tie_words",
    "leaderboard_words.unranked_words",
    "leaderboard_files.facts_of", "leaderboard_files.page_of",
    "leaderboard_files.write_leaderboard", "leaderboard_json.board_json",
    "leaderboard_json.facts_json", "extractor.blinded_text", "extractor.order_words", "extractor.rates_by_finding",
    "leaderboard_files.error_rows",
    "leaderboard.metric_correlations", "metrics.list_metrics",
    "judged.record_words", "judged.source_words", "leaderboard_json.score_json", "study_pairs.studies_with",
}  # fmt: skip
THE_DOOR = {  # they find out who somebody is, and are refused by password, code, address or token
    "sign_in.change_password", "sign_in.first_sign_in", "sign_in.person_of_email", "sign_in.sign_in",
    "sign_in.sign_out", "sign_in.signed_in",
}  # fmt: skip
ON_THIS_COMPUTER = {  # they act on files that whoever calls can read or write anyway; ``restore`` asks for a lead
    "backup.restore", "demo.demo", "label.label_file", "label.label_parts", "labelling.labelled", "labelling.labelling",
    "opening.init_study",
    "opening.open_study", "prompts.take_in_files", "prompts.write_copy", "settings.read_settings",
    "study.find_study", "study.labeler_of", "study.read_study",
}  # fmt: skip
PRACTICE = {"practice.check", "practice.load"}  # reports outside the study that hold nobody's labels
AFTER_ASKING = {"run.execute", "splits.reports_of"}  # they go on with what a call that asks has handed out
INNER = {  # parts of the calls above, which ask; nothing outside the workflow uses them
    "annotate.own_report", "cohorts.define_in", "judging.judge_pairs",
    "benchmarks.keep", "review.view_of", "review_pairs.check_closed", "review_pairs.rated_pairs",
    "review_texts.reviewed_texts", "review_texts.task_of", "doubted.put_forward", "extracting.ask", "extracting.unread",
    "extracting.codes_of",
    "extracting.mentions_of", "first_look.first_look_in", "first_look.seal", "first_look.unsealed", "first_look.whole",
    "roster.require_standing", "rounds.close_in", "run.label_texts",
    "ran_score.reading_of", "ran_score.texts_of", "slow_down.count", "slow_down.forgive",
    "suggest.not_declined", "suggest.offer_of", "unsubmitted.unsubmitted_in", "votes.in_order",
    "votes.read_votes", "votes.with_second_readings",
}  # fmt: skip
WITHOUT_ACTOR = NAMES_AND_COUNTS | VALUES_ONLY | THE_DOOR | ON_THIS_COMPUTER | PRACTICE | AFTER_ASKING | INNER


def _public() -> Iterator[str]:
    for found in pkgutil.iter_modules(rooms.__path__):
        module = importlib.import_module(f"{rooms.__name__}.{found.name}")
        for name, value in vars(module).items():
            if inspect.isfunction(value) and value.__module__ == module.__name__ and not name.startswith("_"):
                yield f"{found.name}.{name}"


def test_every_public_call_of_the_workflow_is_in_a_table() -> None:
    known, there = CALLS.keys() | WITHOUT_ACTOR, set(_public())
    undecided, gone = sorted(there - known), sorted(known - there)
    assert undecided == [], "decide who may make these calls, and say so in this file"
    assert gone == [], "these calls are gone; take them out of this file"
    assert not CALLS.keys() & WITHOUT_ACTOR


def test_inner_calls_are_used_by_the_workflow_alone(root: Path) -> None:
    outside = [*(root / "workbench" / "ui").glob("*.py"), *(root / "workbench" / "cli").glob("*.py")]
    outside += (root / "pages").glob("*.py")
    assert len(outside) > 30
    used = set()
    for path in outside:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
                used.add(f"{node.value.id}.{node.attr}")
            elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith(f"{rooms.__name__}."):
                used |= {f"{(node.module or '').rpartition('.')[2]}.{alias.name}" for alias in node.names}
    assert "reference.summarize" in used
    assert not used & INNER


@pytest.mark.parametrize("taking_labels", [True, False], ids=["round open", "round closed"])
@pytest.mark.parametrize("name", sorted(CALLS))
def test_who_may_make_a_call(
    made: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, *, taking_labels: bool
) -> None:
    monkeypatch.setattr(process, "start", lambda *_: 0)
    world = _world(made, tmp_path / "study", taking_labels=taking_labels)
    call = CALLS[name]
    may = call.open if taking_labels or call.closed is None else call.closed
    for person in sorted(set(ROLES) - may):
        with pytest.raises(RightsError):
            call.make(world, ACTORS[person])
    for i, person in enumerate(sorted(may)):
        try:
            call.make(world, ACTORS[person])
        except RightsError as error:
            pytest.fail(f"{person} was refused: {error}")
        except WorkbenchError:
            # After the first has done it there may be nothing left to do; a call that never works proves nothing.
            assert i or call.fails


def test_a_refused_call_writes_nothing(made: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "start", lambda *_: 0)
    world = _world(made, tmp_path / "study", taking_labels=True)
    before = _rows(world.study.database)
    for call in CALLS.values():
        for person in set(ROLES) - call.open:
            with pytest.raises(RightsError):
                call.make(world, ACTORS[person])
    assert _rows(world.study.database) == before


def _rows(database: Database) -> dict[str, int]:
    with database.read() as conn:
        tables = [row[0] for row in conn.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        return {table: conn.execute(f'SELECT COUNT(*) FROM "{table}"').fetchone()[0] for table in tables}


def test_a_deactivated_person_is_nobody(made: World, tmp_path: Path) -> None:
    world = _world(made, tmp_path / "study", taking_labels=False)
    assert world.study.actor("Rita").roles == {Role.RATER}
    people.deactivate(world.study, ACTORS["Lara"], "Rita")
    with pytest.raises(RightsError, match="deactivated"):
        world.study.actor("Rita")


NOBODY_ACTS = {  # writes in which no person of the study acts, or that find out who does
    "benchmarks.keep", "extracting.ask_one", "judging.ask_one", "labelers.hello", "prompts.take_in_files",
    "sign_in._counted", "sign_in.first_sign_in", "sign_in.sign_in", "sign_in.sign_out", "study.read_study",
    "study.writing",
}  # fmt: skip


def test_every_write_by_a_person_looks_up_who_they_are_now(root: Path) -> None:
    found = set()
    for path in (root / "workbench" / "workflow").glob("*.py"):
        for function in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
                written = [
                    n for n in ast.walk(function) if isinstance(n, ast.With) and "database.write()" in ast.unparse(n)
                ]
                found |= {f"{path.stem}.{function.name}"} if written else set()
    within = {"extracting._ask", "judging._ask"}  # ``ask_one`` stands in them
    assert found - within == NOBODY_ACTS, "write through ``study.writing(actor)``"


def test_whoever_was_deactivated_or_lost_a_role_writes_nothing_as_the_actor_they_were(
    made: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(process, "start", lambda *_: 0)
    world = _world(made, tmp_path / "study", taking_labels=True)
    lara = ACTORS["Lara"]
    people.add(world.study, lara, "Root", [Role.ADMIN])
    for name in sorted(EVERYBODY - {"Rita"}):
        people.add(world.study, lara, name)
    root = world.study.actor("Root")
    _save(world, ACTORS["Rita"])  # who is there may
    for name in sorted(EVERYBODY):
        people.deactivate(world.study, root, name)
    before = _rows(world.study.database)
    with pytest.raises(RightsError, match="Rita was deactivated and may not act"):
        _save(world, ACTORS["Rita"])
    for call in CALLS.values():
        for name in sorted(call.open):
            with suppress(WorkbenchError):
                call.make(world, ACTORS.get(name, root))
    assert _rows(world.study.database) == before
    people.add(world.study, root, "Otto", [Role.RATER])
    with pytest.raises(RightsError, match="Otto is no longer lead, so nothing was saved"):
        rounds.close_round(world.study, Actor("Otto", frozenset({Role.LEAD, Role.RATER})), "development")


def test_nobody_is_shown_the_positives_to_expect_by_drawing_a_cohort_while_they_rate(
    made: World, tmp_path: Path
) -> None:
    world = _world(made, tmp_path / "study", taking_labels=True)

    def drawn(name: str) -> object:
        actor = ACTORS[name]
        return cohorts.allocate(world.study, actor, "more", Purpose.TAXONOMY, size=1, preview=True).expected

    assert drawn("Lara") is None
    assert drawn("Lena") is not None


def test_a_reference_on_a_locked_cohort_is_kept_from_whoever_edits_prompts(made: World, tmp_path: Path) -> None:
    world = _world(made, tmp_path / "study", taking_labels=False)
    study, lara = world.study, ACTORS["Lara"]
    locked = cohorts.define(study, lara, "validation", Purpose.VALIDATION, ["n2"])
    with study.database.write() as conn:
        said = {"pneumothorax": State.PRESENT}
        for name in SIX:
            annotations.append(conn, Annotation("n2", name, said, True, datetime.now(UTC), study.label_set.hash))
    frozen, named = reference.freeze(study, lara, "validation"), "see its reference"
    name = frozen.name
    with pytest.raises(RightsError, match="kept back until somebody looks"):
        list(frozen.items)
    calls: list[Callable[[Actor], Reference]] = [
        lambda a: reference.get_reference(study, a, name),
        lambda a: reference.get_reference(study, a, reference.list_references(study, a)[-1].hash[:8]),
        lambda a: reference.reference_on(study, a, locked),
    ]
    for call in calls:
        for person in sorted(EDITORS):
            with pytest.raises(RightsError, match=named):
                call(ACTORS[person])
        for person in sorted(EVERYBODY - EDITORS):
            assert call(ACTORS[person]).name == name
    cohorts.unlock(study, lara, "validation", reason="final", details=UNLOCK)
    reference.summarize(study, lara, frozen)
    for call in calls:
        for person in sorted(EDITORS):
            assert call(ACTORS[person]).items
    assert not hasattr(reference.list_references(study, lara)[-1], "items")
