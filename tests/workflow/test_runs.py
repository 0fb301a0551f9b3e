"""Runs whose calls fail, heal, are capped or repeated: what is scored, and what is told of it."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from workbench.domain.actors import Actor
from workbench.domain.prompts import Prompt
from workbench.domain.runs import Extraction, ExtractionStatus
from workbench.errors import InputError, NotFoundError, WorkbenchError
from workbench.labelers.rules import RulesLabeler
from workbench.running.spending import Cap
from workbench.workflow import prompts, run
from workbench.workflow.reference import freeze
from workbench.workflow.run import PreparedRun
from workbench.workflow.score import find_score, score_run
from workbench.workflow.stability import run_stability
from workbench.workflow.study import Study

Make = Callable[..., Prompt]


def prepared(study: Study, lead: Actor, prompt: Prompt, *, repeats: int = 1) -> PreparedRun:
    revision = prompts.save_candidate(study, lead, prompt, message="first", parent=None)
    return run.prepare(study, lead, cohort="development", revision=revision.prompt_hash, repeats=repeats)


@pytest.fixture
def server_down_for(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Let the labeler get no reply for the texts that hold some words; "" heals it."""
    label = RulesLabeler.label

    def down_for(words: str) -> None:
        async def failing(self: RulesLabeler, text: str, repeat: int = 1) -> Extraction:
            if words and words in text:
                raise WorkbenchError("The server was not there.")
            return await label(self, text, repeat)

        monkeypatch.setattr(RulesLabeler, "label", failing)

    return down_for


def test_a_report_without_a_reply_counts_as_failed_until_it_is_healed_which_is_another_evaluation(
    rated: Study, lead: Actor, make_prompt: Make, server_down_for: Callable[[str], None]
) -> None:
    work = prepared(rated, lead, make_prompt())
    missing = work.reports[0]
    reference = freeze(rated, lead, "development")
    server_down_for(missing.select(work.run.sections))
    progress = run.execute(rated, work)
    assert (progress.finished, progress.unanswered) == (True, 1)
    labels = run.extractions(rated, lead, work)
    assert (labels[missing.id].status, labels[missing.id].detail) == (
        ExtractionStatus.FAILED,
        "The server was not there.",
    )
    assert run.unanswered(rated, work) == (missing.id,)

    before = score_run(rated, lead, work.run.hash, reference)
    assert (before.evaluation.n_failed, before.looks) == (1, 1)
    assert score_run(rated, lead, work.run.hash, reference).hash == before.hash

    server_down_for("")
    assert run.execute(rated, work).unanswered == 0
    assert find_score(rated, lead, work, reference) is None  # the figures from before are not the run's any more
    after = score_run(rated, lead, work.run.hash, reference)
    assert (after.evaluation.n_failed, after.looks) == (0, 2)
    assert after.hash != before.hash


def test_a_run_that_never_failed_keeps_its_evaluation(rated: Study, lead: Actor, make_prompt: Make) -> None:
    work = prepared(rated, lead, make_prompt())
    run.execute(rated, work)
    reference = freeze(rated, lead, "development")
    first = score_run(rated, lead, work.run.hash, reference)
    run.execute(rated, work)
    assert find_score(rated, lead, work, reference) == first


def test_no_cost_is_capped_that_nobody_can_tell(rated: Study, lead: Actor, make_prompt: Make) -> None:
    work = prepared(rated, lead, make_prompt())
    for refused in (
        lambda: run.execute(rated, work, cap=Cap(cost=1.0)),
        lambda: run.start(rated, lead, work, cap=Cap(cost=1.0)),
    ):
        with pytest.raises(InputError, match="Labeler rules has no price, so its cost cannot be capped"):
            refused()


def test_caps_travel_to_the_process_that_runs(
    rated: Study, lead: Actor, make_prompt: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    work = prepared(rated, lead, make_prompt())
    given: list[list[str]] = []
    monkeypatch.setattr("workbench.running.process.start", lambda folder, args: given.append(list(args)) or 1)
    run.start(rated, lead, work, cap=Cap(tokens=5000))
    run.start(rated, lead, work)
    usual = ["--as", lead.name, "--resume", work.run.hash]
    assert given == [[*usual, "--max-tokens", "5000"], usual]


def test_repeats_tell_how_stable_the_labeler_is(
    rated: Study, lead: Actor, make_prompt: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    label = RulesLabeler.label

    async def wavering(self: RulesLabeler, text: str, repeat: int = 1) -> Extraction:
        extraction = await label(self, text, repeat)
        return replace(extraction, mentions={}) if repeat == 2 else extraction

    monkeypatch.setattr(RulesLabeler, "label", wavering)
    work = prepared(rated, lead, make_prompt(), repeats=2)
    run.execute(rated, work)
    labels = run.extractions(rated, lead, work)
    found = run_stability(rated, lead, work)
    assert (found.repeats, found.n_reports, found.answered) == (2, 6, 6)
    air = next(f for f in found.findings if f.finding_id == "pneumothorax")
    assert air.states.value == sum("pneumothorax" not in e.mentions for e in labels.values()) / 6 < 1
    assert found.reports.value == sum(not e.mentions for e in labels.values()) / 6


def test_a_run_without_repeats_has_no_stability(rated: Study, lead: Actor, make_prompt: Make) -> None:
    work = prepared(rated, lead, make_prompt())
    with pytest.raises(InputError, match="--repeats 3"):
        run_stability(rated, lead, work)


def test_what_another_setting_of_a_labeler_has_run_is_told_from_what_was_never_run(
    rated: Study, lead: Actor, make_prompt: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = prompts.save_candidate(rated, lead, make_prompt(), message="first", parent=None)
    with pytest.raises(NotFoundError, match="Revision 1 has not been run on development with rules yet; run it"):
        run.recorded(rated, lead, cohort="development", revision=1)
    run.prepare(rated, lead, cohort="development", revision=made.prompt_hash)
    assert run.recorded(rated, lead, cohort="development", revision=1).number == 1
    monkeypatch.setattr("workbench.labelers.rules.ENGINE_VERSION", "later")
    with pytest.raises(NotFoundError, match="with rules as it is now, only with rules as it was before; run it"):
        run.recorded(rated, lead, cohort="development", revision=1)
