"""Suggestions as a person meets them: offered, accepted or declined on record, searched unattended; and trials."""

from collections.abc import Callable
from pathlib import Path

import pytest

from workbench.domain.actors import Actor
from workbench.domain.cohorts import Purpose
from workbench.domain.error_kinds import ErrorKind
from workbench.domain.prompts import RevisionStatus
from workbench.errors import InputError, RightsError
from workbench.prompting.edits import edited
from workbench.storage import suggestions as store
from workbench.workflow import cohorts, reference, revise, run, suggest
from workbench.workflow.cohorts import define
from workbench.workflow.ingest import import_labels, import_reports
from workbench.workflow.prompts import find_revision, revisions
from workbench.workflow.revise import Scope, Wish
from workbench.workflow.score import Score, score_run
from workbench.workflow.study import Study

# Twelve say effusion as the prompt does not, six deny it as the prompt does not know, twelve have nothing of it.
TEXTS = {
    **{f"m{i:02}": "Fluid blunts an angle." for i in range(12)},
    **{f"n{i:02}": "Never a pleural effusion. Never a pneumothorax." for i in range(6)},
    **{f"o{i:02}": "Clear lungs." for i in range(12)},
}


@pytest.fixture
def score(scored: Callable[..., Score]) -> Score:
    """A scored first revision that misses twelve effusions and invents six, and six pneumothoraces."""
    return scored(TEXTS, [report for report in TEXTS if report[0] == "m"])


def test_what_would_answer_the_errors_is_offered_with_its_score_out_of_fold_and_counts_as_a_look(
    study: Study, lead: Actor, score: Score
) -> None:
    found = suggest.suggestions(study, lead, score)
    assert {offer.edit.finding_id for offer in found.offers} == {"pleural_effusion", ""}
    by_part = {offer.edit.part.value: offer for offer in found.offers}
    assert {report for report, _ in by_part["synonyms"].answers} == {f"m{i:02}" for i in range(12)}
    assert (by_part["synonyms"].held_out_fixed, by_part["synonyms"].held_out_broken) == (12, 0)
    assert "never" in by_part["negation.before"].edit.phrase
    assert len(by_part["negation.before"].answers) == 12  # six of each finding
    assert found.looks == score.looks + 1
    assert suggest.suggestions(study, lead, score).looks == found.looks  # the same look twice is one
    for more, finding in enumerate(score.evaluation.supported[:2], 1):
        assert suggest.suggestions(study, lead, score, finding_id=finding).looks == found.looks + more


def test_accepted_edits_are_in_the_prompt_that_comes_back_and_nothing_is_saved(
    study: Study, lead: Actor, score: Score
) -> None:
    offers, before = suggest.suggestions(study, lead, score).offers, revisions(study)
    mended = suggest.decide_suggestions(study, lead, score, score.prepared.prompt, accepted=offers)
    assert mended == edited(score.prepared.prompt, [offer.edit for offer in offers])
    assert mended.hash != score.prepared.prompt.hash
    assert revisions(study) == before
    with study.database.read() as conn:
        kept = store.list_all(conn)
    assert [(each.accepted, each.actor, each.evaluation_hash) for each in kept] == [
        (True, lead.name, score.hash)
    ] * len(offers)
    assert revise.try_prompt(study, lead, mended, score).after.value == 1.0


def test_a_declined_edit_is_not_offered_again(study: Study, lead: Actor, score: Score) -> None:
    first, *rest = suggest.suggestions(study, lead, score).offers
    suggest.decide_suggestions(study, lead, score, score.prepared.prompt, declined=[first])
    again = suggest.suggestions(study, lead, score)
    assert [offer.edit for offer in again.offers] == [offer.edit for offer in rest]
    assert again.declined == 1


def test_an_unattended_search_leaves_scored_candidates_and_accepts_none(
    study: Study, lead: Actor, score: Score
) -> None:
    told: list[int] = []
    done = suggest.search(study, lead, score, tell=lambda made: told.append(made.revision.number))
    assert [made.revision.number for made in done] == told == [2]
    assert done[-1].score.evaluation.macro_f1.value == 1.0
    assert {r.status for r in revisions(study)} == {RevisionStatus.CANDIDATE}
    assert find_revision(study, 2).revision.parent_hash == score.prepared.run.prompt_hash


def test_nothing_is_learned_from_a_validation_cohort_even_when_it_is_unlocked(
    study: Study, lead: Actor, score: Score, csv_file: Callable[[str, str], Path]
) -> None:
    import_reports(study, lead, csv_file("more.csv", 'id,patient_id,text\nv1,pv1,"FINDINGS: Pleural effusion."\n'))
    define(study, lead, "validation", Purpose.VALIDATION, ["v1"])
    with pytest.raises(RightsError, match="locked"):
        run.prepare(study, lead, cohort="validation", revision=1)
    named = {"revision": "1", "labeler": "rules", "policies": "as set", "endpoint": "macro-F1"}
    cohorts.unlock(study, lead, "validation", reason="final", details=named)
    ids = study.label_set.ids
    rows = [
        ",".join(["report_id", "reviewed", *ids]),
        ",".join(["v1", "1", *("1" if f == "pleural_effusion" else "" for f in ids)]),
    ]
    for i in range(6):
        import_labels(study, lead, csv_file(f"rater{i}.csv", "\n".join(rows) + "\n"))
    frozen = reference.freeze(study, lead, "validation")
    prepared = run.prepare(study, lead, cohort="validation", revision=1)
    run.execute(study, prepared)
    validated = score_run(study, lead, prepared.run.hash, frozen)
    with pytest.raises(InputError, match="nothing is learned from it"):
        suggest.suggestions(study, lead, validated)


@pytest.mark.parametrize(
    ("wish", "reports"),
    [
        (Wish(Scope.COHORT), 30),
        (Wish(Scope.REPORT, report="m03"), 1),
        (Wish(Scope.ERRORS), 30),  # 18 with an error and the 12 without
        (Wish(Scope.ERRORS, finding="pneumothorax"), 12),  # six with one, and six of the 24 others
    ],
)
def test_an_edit_is_tried_on_the_reports_that_were_asked_for(
    study: Study, lead: Actor, score: Score, wish: Wish, reports: int
) -> None:
    trial = revise.try_prompt(study, lead, score.prepared.prompt, score, wish)
    assert len(trial.reports) == reports
    assert trial.flips == ()
    assert trial.still_right + trial.still_wrong == reports * len(study.label_set.ids)
    assert (trial.after.value is None) is (wish.scope is not Scope.COHORT)


def test_the_reports_without_error_are_drawn_by_the_seed(study: Study, lead: Actor, score: Score) -> None:
    def drawn(seed: int) -> tuple[str, ...]:
        wish = Wish(Scope.ERRORS, finding="pneumothorax", seed=seed)
        return revise.try_prompt(study, lead, score.prepared.prompt, score, wish).reports

    assert drawn(1) == drawn(1)
    assert len({drawn(seed) for seed in range(5)}) > 1
    assert all({f"n{i:02}" for i in range(6)} <= set(drawn(seed)) for seed in range(5))


def test_an_edit_is_tried_on_one_kind_of_error(study: Study, lead: Actor, score: Score) -> None:
    wish = Wish(Scope.KIND, finding="pleural_effusion", kind=ErrorKind.SYNONYM)
    trial = revise.try_prompt(study, lead, score.prepared.prompt, score, wish)
    assert set(trial.reports) == {f"m{i:02}" for i in range(12)}
    nothing = Wish(Scope.KIND, finding="fracture", kind=ErrorKind.SYNONYM)
    with pytest.raises(InputError, match="No report is left"):
        revise.try_prompt(study, lead, score.prepared.prompt, score, nothing)
