"""Reports in another language than the prompt's phrases: said before a run, failed in it, learned nothing from."""

from collections.abc import Callable
from pathlib import Path

import pytest

from workbench.domain.actors import Actor
from workbench.domain.cohorts import Purpose
from workbench.domain.prompts import Prompt
from workbench.domain.runs import ExtractionStatus
from workbench.errors import InputError, RightsError
from workbench.storage import reports as report_store
from workbench.workflow import languages, revise, run, suggest
from workbench.workflow.cohorts import define
from workbench.workflow.ingest import import_reports
from workbench.workflow.prompts import save_candidate
from workbench.workflow.revise import with_finding, with_guidance
from workbench.workflow.score import Score
from workbench.workflow.settings import LabelerConfig
from workbench.workflow.study import Study

Write = Callable[[str, str], Path]
TEXTS = {
    **{f"e{i:02}": "Small pleural effusion." for i in range(6)},
    **{f"m{i:02}": "Fluid blunts an angle." for i in range(6)},
    **{f"o{i:02}": "Clear lungs." for i in range(8)},
    **{f"z{i:02}": "右侧胸腔少量积液。" for i in range(4)},
}
WITH_EFFUSION = [report for report in TEXTS if report[0] in "emz"]


@pytest.fixture
def score(scored: Callable[..., Score]) -> Score:
    """A scored English revision on twenty English and four Chinese reports, which all show an effusion."""
    return scored(TEXTS, WITH_EFFUSION)


def test_a_report_in_another_language_fails_in_a_run_and_its_findings_are_missed(
    study: Study, lead: Actor, score: Score
) -> None:
    progress = run.progress(study, score.prepared)
    assert (progress.done, dict(progress.failed), progress.unanswered) == (24, {"other_language": 4}, 0)
    said = run.extractions(study, lead, score.prepared)
    assert {report for report, each in said.items() if each.status is ExtractionStatus.OTHER_LANGUAGE} == {
        f"z{i:02}" for i in range(4)
    }
    assert score.evaluation.n_failed == 4
    # Six found, six and the four Chinese ones missed: F1 is 2 * 6 / (2 * 6 + 10).
    assert score.evaluation.of("pleural_effusion").f1.value == pytest.approx(12 / 22)
    assert score.evaluation.macro_f1_answered.value == pytest.approx(12 / 18)


def test_it_is_said_before_the_run(study: Study, lead: Actor, score: Score) -> None:
    found = languages.before_run(study, lead, cohort="development", revision=score.prepared.number)
    assert found == languages.of_run(score.prepared)
    assert found.failing.startswith(
        "4 of 24 reports are in Chinese; this prompt's phrases are in English: the rules labeler will not read them"
    )
    assert found.notes == ()


def test_a_model_may_read_what_the_rules_cannot_so_that_is_a_note(study: Study, lead: Actor, score: Score) -> None:
    study.settings.labelers["asked"] = LabelerConfig(kind="openai", base_url="http://127.0.0.1:9/v1", model="m")
    revision = score.prepared.number
    found = languages.before_run(study, lead, cohort="development", revision=revision, labeler="asked")
    assert found.failing == ""
    assert found.notes[0].startswith("4 of 24 reports are in Chinese and this prompt is in English.")


def test_parts_in_another_language_and_languages_of_the_same_letters_are_named(
    study: Study, lead: Actor, csv_file: Write, make_prompt: Callable[..., Prompt]
) -> None:
    rows = 'a,en,"FINDINGS: Small pleural effusion on the right. 双肺清晰。"\nb,es,FINDINGS: Derrame pleural.\n'
    import_reports(study, lead, csv_file("r.csv", f"id,language,text\n{rows}c,en,FINDINGS: Clear.\n"))
    define(study, lead, "development", Purpose.DEVELOPMENT, ["a", "b", "c"])
    made = save_candidate(study, lead, make_prompt(), message="m", parent=None)
    found = languages.before_run(study, lead, cohort="development", revision=made.prompt_hash)
    assert found.failing == ""
    assert found.notes == (
        "1 of 3 reports is partly in Chinese: the rules labeler will not read that part.",
        (
            "1 of 3 reports is marked as in Spanish and this prompt is in English: what its phrases do not name comes "
            'out as "not mentioned".'
        ),
    )


def test_a_locked_cohort_tells_nothing_of_its_reports(
    study: Study, lead: Actor, csv_file: Write, make_prompt: Callable[..., Prompt]
) -> None:
    import_reports(study, lead, csv_file("r.csv", "id,text\na,FINDINGS: 双肺清晰。\n"))
    define(study, lead, "validation", Purpose.VALIDATION, ["a"])
    made = save_candidate(study, lead, make_prompt(), message="m", parent=None)
    with pytest.raises(RightsError, match="see in which languages its reports are"):
        languages.before_run(study, lead, cohort="validation", revision=made.prompt_hash)


def test_phrases_in_the_language_of_the_reports_mend_it_and_the_trial_shows_so(
    study: Study, lead: Actor, score: Score
) -> None:
    prompt = score.prepared.prompt
    guidance = prompt.guidance.findings["pleural_effusion"]
    chinese = type(guidance)(guidance.definition, (*guidance.synonyms, "积液"))
    bilingual = with_guidance(with_finding(prompt, "pleural_effusion", chinese), language="en, zh")
    tried = revise.try_prompt(study, lead, bilingual, score)
    fixed = {flip.report_id for flip in tried.flips if flip.fixed and flip.finding_id == "pleural_effusion"}
    assert fixed == {f"z{i:02}" for i in range(4)}
    again = revise.try_prompt(study, lead, with_guidance(prompt, title="The same"), score)
    assert again.flips == ()  # what failed in the run fails in the trial, and is no change


def test_nothing_is_learned_from_reports_that_cannot_be_read(study: Study, lead: Actor, score: Score) -> None:
    found = suggest.suggestions(study, lead, score)
    assert found.told == ("4 reports in a language that the prompt's phrases are not in teach nothing here.",)
    answered = {report for offer in found.offers for report, _ in offer.answers}
    assert answered == {f"m{i:02}" for i in range(6)}


def test_where_no_report_can_be_read_suggestions_say_so(
    study: Study, lead: Actor, scored: Callable[..., Score]
) -> None:
    chinese = {f"z{i}": "右侧胸腔少量积液。" for i in range(3)}
    score = scored(chinese, list(chinese))
    with pytest.raises(InputError, match="No report of development is in English, as the prompt's phrases are"):
        suggest.suggestions(study, lead, score)


def test_a_report_that_says_no_language_is_taken_in_with_the_one_its_letters_tell(
    study: Study, lead: Actor, csv_file: Write
) -> None:
    import_reports(study, lead, csv_file("a.csv", "id,text\na,FINDINGS: 双肺清晰。\nb,FINDINGS: Clear.\nc,12\n"))
    import_reports(study, lead, csv_file("b.csv", "id,language,text\nd,zh,FINDINGS: Clear.\ne,,FINDINGS: 清晰。\n"))
    with study.database.read() as conn:
        found = {report.id: report.language for report in report_store.list_all(conn)}
    assert found == {"a": "zh", "b": "en", "c": "en", "d": "zh", "e": "zh"}
