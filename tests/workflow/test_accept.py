"""What the gate lists one by one is signed one by one."""

from collections.abc import Callable

import pytest

from workbench.domain.actors import Actor
from workbench.domain.prompts import Prompt
from workbench.errors import InputError
from workbench.storage import prompts as prompt_store
from workbench.workflow import accept, prompts, run
from workbench.workflow.methods import methods
from workbench.workflow.reference import freeze
from workbench.workflow.score import Score, score_run
from workbench.workflow.study import Study

CHECKS = ("replies", "accuracy", "recall", "assessable", "newly_missed", "macro_f1")
PAIR = ("r1", "pleural_effusion")


def scored(study: Study, lead: Actor, prompt: Prompt, parent: str | None = None) -> Score:
    saved = prompts.save_candidate(study, lead, prompt, message=prompt.guidance.title, parent=parent)
    prepared = run.prepare(study, lead, cohort="development", revision=saved.prompt_hash)
    run.execute(study, prepared)
    return score_run(study, lead, prepared.run.hash, freeze(study, lead, "development"))


def test_each_newly_missed_critical_positive_is_signed_by_itself_with_a_reason(
    rated: Study, lead: Actor, make_prompt: Callable[..., Prompt]
) -> None:
    def accepts(score: Score, missed: dict[tuple[str, str], str]) -> None:
        gate = accept.open_gate(rated, lead, score)
        accept.accept(rated, lead, gate, reason="try", signed=CHECKS, missed=missed, override="test")

    first = scored(rated, lead, make_prompt("first", "pleural effusion"))
    accepts(first, {})
    worse = scored(rated, lead, make_prompt("worse", "fluid in the pleural space"), first.prepared.run.prompt_hash)
    gate = accept.open_gate(rated, lead, worse)
    assert "pleural_effusion in r1" in next(c for c in gate.checks if c.name == "newly_missed").sentence
    assert gate.missed == (PAIR,)
    # The check's name alone signs none of them, nor does a tick without a word.
    for given in ({}, {PAIR: " "}, {("r2", "pleural_effusion"): "another"}):
        with pytest.raises(InputError, match="newly misses pleural_effusion in report r1: read the report, sign it by"):
            accepts(worse, given)
    accepts(worse, {PAIR: "too small to matter"})
    with rated.database.read() as conn:
        (decision,) = prompt_store.decisions(conn, worse.prepared.run.prompt_hash)
    assert decision.signed[-2:] == ("newly_missed", "pleural_effusion in report r1: too small to matter")
    told = "Revision 2 was accepted by Dr. Lead although it newly missed 1 positive of critical findings, each signed"
    assert f"- {told} with a reason." in methods(rated, lead, worse).splitlines()
