"""Once round the loop on six reports whose scores are worked out by hand."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from workbench.domain.actors import Actor, Role
from workbench.domain.cohorts import Purpose
from workbench.domain.error_kinds import ErrorKind
from workbench.domain.findings import State
from workbench.domain.prompts import Example, FindingGuidance, Prompt, RevisionStatus
from workbench.domain.references import VoteRule
from workbench.errors import ConflictError, InputError, NotFoundError, RightsError
from workbench.evaluation.gate import GateStatus
from workbench.evaluation.mistakes import MistakeKind
from workbench.prompting.files import prompt_text, read_prompt
from workbench.workflow import accept, errors, history, prompts, revise, run
from workbench.workflow.cohorts import define, unlock
from workbench.workflow.ingest import import_labels, import_reports
from workbench.workflow.opening import open_study
from workbench.workflow.reference import freeze
from workbench.workflow.score import Score, score_run
from workbench.workflow.settings import GateSettings
from workbench.workflow.study import Study

Make = Callable[..., Prompt]
ALL_CHECKS = ("replies", "accuracy", "recall", "assessable", "newly_missed", "macro_f1")


def scored(study: Study, lead: Actor, prompt: Prompt, parent: str | None = None) -> Score:
    """Save, run and score a prompt on the development cohort."""
    revision = prompts.save_candidate(study, lead, prompt, message=prompt.guidance.title, parent=parent)
    prepared = run.prepare(study, lead, cohort="development", revision=revision.prompt_hash)
    run.execute(study, prepared)
    return score_run(study, lead, prepared.run.hash, freeze(study, lead, "development"))


def accepted(study: Study, lead: Actor, score: Score) -> None:
    accept.accept(
        study, lead, accept.open_gate(study, lead, score), reason="better", signed=ALL_CHECKS, override="test"
    )


def test_the_score_is_the_one_worked_out_by_hand(rated: Study, lead: Actor, make_prompt: Make) -> None:
    evaluation = scored(rated, lead, make_prompt()).evaluation
    effusion, air = evaluation.of("pleural_effusion"), evaluation.of("pneumothorax")
    # Reference: r1 r2 present, r3 r4 r6 not, r5 short. "pleural effusion" finds r1 (and r5, left out); r2 is missed.
    assert (effusion.tp, effusion.fp, effusion.fn, effusion.tn, effusion.short) == (1, 0, 1, 3, 1)
    assert effusion.f1.value == pytest.approx(2 / 3)
    # Reference: r4 present, the other five not. "pneumothorax" finds r4, and not the negated one of r6.
    assert (air.tp, air.fp, air.fn, air.tn, air.short) == (1, 0, 0, 5, 0)
    assert evaluation.macro_f1.value == pytest.approx((2 / 3 + 1) / 2)
    assert evaluation.macro_f1.n == 2
    assert (evaluation.n_reports, evaluation.n_patients) == (6, 5)


def test_scoring_again_gives_the_recorded_figures_and_is_no_new_look(
    rated: Study, lead: Actor, make_prompt: Make
) -> None:
    first = scored(rated, lead, make_prompt())
    second = score_run(rated, lead, first.prepared.run.hash, first.reference)
    assert second.evaluation == first.evaluation
    assert (first.looks, second.looks) == (1, 1)


def test_errors_show_the_missed_report_with_its_votes(rated: Study, lead: Actor, make_prompt: Make) -> None:
    found = errors.mistakes(rated, lead, scored(rated, lead, make_prompt()))
    (missed,) = found
    assert (missed.report.id, missed.finding_id, missed.kind) == ("r2", "pleural_effusion", MistakeKind.MISSED)
    assert [missed.votes[f"rater{i}"] for i in range(1, 7)] == [State.PRESENT] * 4 + [State.ABSENT] * 2
    assert missed.predicted is State.NOT_MENTIONED
    # F1 would go from 2/3 to 1 in one of two findings.
    assert missed.cost == pytest.approx((1 - 2 / 3) / 2)


def test_a_trial_shows_what_the_edit_mends_and_breaks_and_counts_as_a_look(
    rated: Study, lead: Actor, make_prompt: Make
) -> None:
    score = scored(rated, lead, make_prompt())
    wider = FindingGuidance("fluid", ("pleural effusion", "fluid in the pleural space", "blunted angle"))
    trial = revise.try_prompt(rated, lead, revise.with_finding(score.prepared.prompt, "pleural_effusion", wider), score)
    assert [(f.report_id, f.fixed) for f in trial.flips] == [("r3", False), ("r2", True)]
    assert (trial.fixed, trial.broken, trial.looks) == (1, 1, 2)
    # Effusion: TP r1 r2, FP r3, TN r4 r6: F1 = 4 / 5.
    assert trial.after.value == pytest.approx((0.8 + 1) / 2)
    assert prompts.revisions(rated)[-1].number == 1, "a trial saves nothing"


def test_the_gate_compares_with_the_accepted_revision_and_history_keeps_both(
    rated: Study, lead: Actor, make_prompt: Make
) -> None:
    first = scored(rated, lead, make_prompt("first", "pleural fluid"))
    accepted(rated, lead, first)
    second = scored(
        rated,
        lead,
        make_prompt("second", "pleural effusion, fluid in the pleural space"),
        first.prepared.run.prompt_hash,
    )
    gate = accept.open_gate(rated, lead, second)
    assert gate.parent is not None
    assert gate.parent.hash == first.hash
    accepted(rated, lead, second)
    rows = history.history(rated, lead, first.reference)
    assert [row.revision.number for row in rows] == [1, 2]
    # First: effusion never found, F1 0, so macro 1/2. Second: r1 and r2 found, nothing wrong: 1.
    assert [row.score.evaluation.macro_f1.value for row in rows if row.score] == [
        pytest.approx(0.5),
        pytest.approx(1.0),
    ]
    decision = rows[-1].decision
    assert decision is not None
    assert (decision.reason, decision.actor, decision.evaluation_hash) == ("better", "Dr. Lead", second.hash)


def test_the_gate_asks_for_a_score_of_the_accepted_revision(rated: Study, lead: Actor, make_prompt: Make) -> None:
    folder = rated.prompts_folder
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "0001.md").write_text(prompt_text(make_prompt("shipped")), encoding="utf-8")
    prompts.take_in_files(rated)
    score = scored(rated, lead, make_prompt("second", "fluid"))
    with pytest.raises(InputError, match="Revision 1 is accepted and has no score on development-1"):
        accept.open_gate(rated, lead, score)


def test_macro_f1_is_compared_on_the_reports_that_neither_prompt_quotes(
    rated: Study, lead: Actor, make_prompt: Make
) -> None:
    quoting = Example("Fluid in the pleural space.", {"pleural_effusion": State.PRESENT}, report_id="r2")
    first = scored(rated, lead, revise.with_guidance(make_prompt("quotes"), examples=(quoting,)))
    accepted(rated, lead, first)
    # The second misses r2, which the first never had to find: 5/6 over all six reports, 1 like the first's over five.
    check = accept.open_gate(rated, lead, scored(rated, lead, make_prompt("plain"))).checks[-1]
    assert (check.name, check.status) == ("macro_f1", GateStatus.PASSED)
    assert "Macro-F1 1.000 over 2 findings is not below accepted revision 1's 1.000" in check.sentence


def test_acceptance_needs_a_reason_and_a_closed_gate_an_override(rated: Study, lead: Actor, make_prompt: Make) -> None:
    gate = accept.open_gate(rated, lead, scored(rated, lead, make_prompt()))
    with pytest.raises(InputError, match="needs a reason"):
        accept.accept(rated, lead, gate, reason=" ", signed=ALL_CHECKS)
    with pytest.raises(InputError, match=r"gate is closed for revision 1: Accuracy is under 0.90"):
        accept.accept(rated, lead, gate, reason="fine", signed=ALL_CHECKS)
    assert prompts.revisions(rated)[0].status is RevisionStatus.CANDIDATE
    assert not prompts.prompt_file(rated, 1).exists()


def test_an_accepted_file_reads_back_to_the_same_hash_and_is_never_overwritten(
    rated: Study, lead: Actor, make_prompt: Make
) -> None:
    score = scored(rated, lead, make_prompt())
    path = prompts.prompt_file(rated, 1)
    path.parent.mkdir(parents=True, exist_ok=True)
    accepted(rated, lead, score)
    assert read_prompt(path, label_set=rated.label_set).hash == score.prepared.run.prompt_hash
    with pytest.raises(ConflictError, match="accepted already"):
        accepted(rated, lead, score)


def test_a_file_in_the_way_stops_the_acceptance_before_it_is_recorded(
    rated: Study, lead: Actor, make_prompt: Make
) -> None:
    score = scored(rated, lead, make_prompt())
    other = prompts.prompt_file(rated, 1)
    other.parent.mkdir(parents=True, exist_ok=True)
    other.write_text(prompt_text(make_prompt("another")), encoding="utf-8")
    with pytest.raises(ConflictError, match="never overwritten"):
        accepted(rated, lead, score)
    assert prompts.revisions(rated)[0].status is RevisionStatus.CANDIDATE


def test_files_of_an_empty_study_are_accepted_and_later_ones_are_candidates(
    rated: Study, lead: Actor, make_prompt: Make
) -> None:
    folder = rated.prompts_folder
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "0001.md").write_text(prompt_text(make_prompt("one")), encoding="utf-8")
    (folder / "0003.md").write_text(prompt_text(make_prompt("three", "fluid")), encoding="utf-8")
    first = prompts.take_in_files(rated).new
    assert [r.number for r in first] == [1, 3]
    assert {r.status for r in prompts.revisions(rated)} == {RevisionStatus.ACCEPTED}
    (folder / "0004.md").write_text(prompt_text(make_prompt("four", "water")), encoding="utf-8")
    later = prompts.take_in_files(rated).new
    assert [(r.number, r.status) for r in later] == [(4, RevisionStatus.CANDIDATE)]
    assert prompts.take_in_files(rated) == prompts.TakenIn((), ())


def test_a_changed_copy_becomes_a_candidate_and_an_unreadable_one_stops_nobody(
    rated: Study, lead: Actor, make_prompt: Make
) -> None:
    accepted(rated, lead, scored(rated, lead, make_prompt()))
    path = prompts.prompt_file(rated, 1)
    path.write_text(
        path.read_text(encoding="utf-8").replace("title: first", "title: changed by hand"), encoding="utf-8"
    )
    (rated.prompts_folder / "0007.md").write_text("no front matter", encoding="utf-8")
    opened = open_study(rated.folder)
    numbers = [(r.number, r.status) for r in prompts.revisions(opened)]
    assert numbers == [(1, RevisionStatus.ACCEPTED), (2, RevisionStatus.CANDIDATE)]
    (refused,) = prompts.take_in_files(opened).refused
    assert "0007.md" in refused


def test_a_run_that_is_not_finished_has_no_score(rated: Study, lead: Actor, make_prompt: Make) -> None:
    revision = prompts.save_candidate(rated, lead, make_prompt(), message="x", parent=None)
    prepared = run.prepare(rated, lead, cohort="development", revision=revision.number)
    with pytest.raises(InputError, match="labelled 0 of 6 reports"):
        score_run(rated, lead, prepared.run.hash, freeze(rated, lead, "development"))


def test_the_same_run_is_prepared_once(rated: Study, lead: Actor, make_prompt: Make) -> None:
    revision = prompts.save_candidate(rated, lead, make_prompt(), message="x", parent=None)
    hashes = {run.prepare(rated, lead, cohort="development", revision=revision.number).run.hash for _ in range(2)}
    assert len(hashes) == 1
    assert len(run.list_runs(rated)) == 1


def test_reports_quoted_in_worked_examples_are_left_out_of_the_score(
    rated: Study, lead: Actor, make_prompt: Make
) -> None:
    example = Example("Fluid in the pleural space.", {"pleural_effusion": State.PRESENT}, report_id="r2")
    score = scored(rated, lead, revise.with_guidance(make_prompt(), examples=(example,)))
    assert score.left_out == ("r2",)
    assert score.evaluation.n_reports == 5
    assert score.evaluation.of("pleural_effusion").f1.value == pytest.approx(1.0)  # the missed r2 is out


def test_a_rater_may_do_none_of_it(rated: Study, lead: Actor, rater: Actor, make_prompt: Make) -> None:
    score = scored(rated, lead, make_prompt())
    with pytest.raises(RightsError):
        prompts.save_candidate(rated, rater, make_prompt("x"), message="x", parent=None)
    with pytest.raises(RightsError):
        run.prepare(rated, rater, cohort="development", revision=1)
    with pytest.raises(RightsError):
        score_run(rated, rater, score.prepared.run.hash, score.reference)
    with pytest.raises(RightsError):
        errors.mistakes(rated, rater, score)
    with pytest.raises(RightsError):
        revise.try_prompt(rated, rater, make_prompt("x"), score)
    with pytest.raises(RightsError):
        accept.accept(rated, rater, accept.open_gate(rated, lead, score), reason="x", signed=ALL_CHECKS, override="x")
    assert prompts.revisions(rated)[0].status is RevisionStatus.CANDIDATE


def test_rejecting_keeps_the_revision_and_needs_a_reason(rated: Study, lead: Actor, make_prompt: Make) -> None:
    revision = prompts.save_candidate(rated, lead, make_prompt(), message="x", parent=None)
    with pytest.raises(InputError, match="needs a reason"):
        accept.reject(rated, lead, revision, reason="")
    assert accept.reject(rated, lead, revision, reason="breaks r3").status is RevisionStatus.REJECTED
    with pytest.raises(ConflictError, match="only a candidate"):
        accept.reject(rated, lead, revision, reason="again")
    with pytest.raises(NotFoundError, match="No revision has been accepted yet"):
        prompts.find_revision(rated)


def test_a_run_with_repeats_or_other_sections_does_not_hide_a_score_from_the_history(
    rated: Study, lead: Actor, make_prompt: Make
) -> None:
    score = scored(rated, lead, make_prompt())
    accepted(rated, lead, score)
    run.execute(rated, run.prepare(rated, lead, cohort="development", revision=1, repeats=3))
    other = run.prepare(rated, lead, cohort="development", revision=1, sections=("impression",))
    run.execute(rated, other)
    for _ in range(2):
        (row,) = history.history(rated, lead, score.reference)
        assert row.score is not None
        assert row.score.hash == score.hash
        score_run(rated, lead, other.run.hash, score.reference)


def test_asking_for_a_run_that_was_never_made_makes_none(
    rated: Study, lead: Actor, rater: Actor, make_prompt: Make
) -> None:
    prompts.save_candidate(rated, lead, make_prompt(), message="first", parent=None)
    with pytest.raises(NotFoundError, match="workbench run --prompt 1 --cohort development"):
        run.recorded(rated, lead, cohort="development", revision=1)
    assert run.list_records(rated) == []
    made = run.prepare(rated, lead, cohort="development", revision=1)
    assert run.recorded(rated, lead, cohort="development", revision=1) == made
    with pytest.raises(RightsError):
        run.recorded(rated, rater, cohort="development", revision=1)


def test_a_run_is_named_by_enough_of_its_hash(rated: Study, lead: Actor, make_prompt: Make) -> None:
    score = scored(rated, lead, make_prompt())
    for repeats in range(2, 19):  # of more than 16 hashes two begin alike
        run.prepare(rated, lead, cohort="development", revision=1, repeats=repeats)
    firsts = [record.run.hash[0] for record in run.list_records(rated)]
    twice = next(first for first in firsts if firsts.count(first) > 1)
    with pytest.raises(NotFoundError, match=f"runs begin with {twice}; see the runs"):
        run.load(rated, twice)
    with pytest.raises(NotFoundError, match="There is no run; see"):
        run.load(rated, "")
    assert run.load(rated, score.prepared.run.hash).run == score.prepared.run


@pytest.mark.parametrize("named", ["1 rules", "hash rules", "2 rules", "1 gpt"])
def test_only_what_was_named_at_the_unlocking_is_not_exploratory(
    rated: Study, lead: Actor, make_prompt: Make, csv_file: Callable[[str, str], Path], named: str
) -> None:
    assert not scored(rated, lead, make_prompt()).exploratory
    import_reports(rated, lead, csv_file("v.csv", 'id,patient_id,text\nv1,p9,"FINDINGS: Pleural effusion."\n'))
    define(rated, lead, "validation", Purpose.VALIDATION, ["v1"])
    everything = labels_of(rated, "v1")
    import_labels(rated, lead, csv_file("v-labels.csv", everything), rater="rater1")
    reference = freeze(rated, lead, "validation", rule=VoteRule(1, 1))
    revision, labeler = named.replace("hash", make_prompt().hash[:8]).split()
    details = {"revision": revision, "labeler": labeler, "policies": "as they are", "endpoint": "macro-F1"}
    unlock(rated, lead, "validation", reason="final", details=details)
    prepared = run.prepare(rated, lead, cohort="validation", revision=1)
    run.execute(rated, prepared)
    assert score_run(rated, lead, prepared.run.hash, reference).exploratory is (named in {"2 rules", "1 gpt"})


def labels_of(study: Study, report: str) -> str:
    ids = study.label_set.ids
    return f"report_id,{','.join(ids)}\n{report},{','.join('1' for _ in ids)}\n"


def test_a_second_person_signs_before_somebody_else_accepts(rated: Study, lead: Actor, make_prompt: Make) -> None:
    study = with_gate(rated, second_person=True)
    score = scored(study, lead, make_prompt())
    other = Actor("Dr. Second", frozenset({Role.LEAD}))
    with pytest.raises(InputError, match="wrote revision 1; a second person has to sign"):
        accept.sign_second(study, lead, score)
    with pytest.raises(InputError, match="needs a second person's signature before Dr. Lead can accept"):
        accepted(study, lead, score)
    accept.sign_second(study, other, score, comment="read all")
    with pytest.raises(ConflictError, match="has signed revision 1 already"):
        accept.sign_second(study, other, score)
    with pytest.raises(InputError, match="needs a second person's signature before Dr. Second can accept"):
        accepted(study, other, score)
    accepted(study, lead, score)
    assert prompts.find_revision(study, 1).revision.status is RevisionStatus.ACCEPTED
    with pytest.raises(ConflictError, match="only a candidate can be signed"):
        accept.sign_second(study, Actor("Dr. Third", frozenset({Role.ADMIN})), score)


def test_every_trial_on_other_reports_is_a_look_and_the_same_one_twice_is_one(
    rated: Study, lead: Actor, make_prompt: Make
) -> None:
    score = scored(rated, lead, make_prompt())
    edited = make_prompt("edited", "fluid")
    wishes = [
        revise.WHOLE,
        revise.Wish(revise.Scope.REPORT, report="r1"),
        revise.Wish(revise.Scope.REPORT, report="r2"),
        revise.Wish(revise.Scope.ERRORS),
        revise.Wish(revise.Scope.ERRORS, seed=1),
        revise.Wish(revise.Scope.ERRORS, finding="pleural_effusion"),
        revise.Wish(revise.Scope.KIND, finding="pleural_effusion", kind=ErrorKind.SYNONYM),
    ]
    counted = [revise.try_prompt(rated, lead, edited, score, wish).looks for wish in wishes]
    assert counted == [score.looks + n for n in range(1, 8)]
    again = [revise.try_prompt(rated, lead, edited, score, wish).looks for wish in wishes]
    assert set(again) == {counted[-1]}


def test_a_rejected_revision_is_not_accepted(rated: Study, lead: Actor, make_prompt: Make) -> None:
    score = scored(rated, lead, make_prompt())
    gate = accept.open_gate(rated, lead, score)
    accept.reject(rated, lead, prompts.find_record(rated, 1), reason="no")
    with pytest.raises(ConflictError, match="Revision 1 is rejected, and only a candidate can be accepted"):
        accept.accept(rated, lead, gate, reason="yes", signed=ALL_CHECKS, override="test")
    assert prompts.find_record(rated, 1).status is RevisionStatus.REJECTED
    assert not prompts.prompt_file(rated, 1).exists()
    again = scored(rated, lead, make_prompt("proposed anew"))
    accepted(rated, lead, again)
    assert prompts.find_record(rated, 2).status is RevisionStatus.ACCEPTED


def test_the_gates_floors_are_the_studys(rated: Study, lead: Actor, make_prompt: Make) -> None:
    score = scored(rated, lead, make_prompt())
    # Pleural effusion is right in 4 of 5 reports, every other finding in all of them.
    assert status(accept.open_gate(rated, lead, score), "accuracy") is GateStatus.BLOCKED
    lower = with_gate(rated, accuracy=0.8)
    assert status(accept.open_gate(lower, lead, score), "accuracy") is GateStatus.PASSED
    rows = [history.history(study, lead, score.reference, accepted_only=False)[0] for study in (rated, lower)]
    assert [row.below_floor for row in rows] == [("pleural_effusion",), ()]


def with_gate(study: Study, **settings: object) -> Study:
    return replace(study, settings=study.settings.model_copy(update={"gate": GateSettings.model_validate(settings)}))


def status(gate: accept.Gate, name: str) -> GateStatus:
    return next(check.status for check in gate.checks if check.name == name)
