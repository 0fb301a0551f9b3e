"""Development and validation side by side."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from workbench.domain.actors import Actor
from workbench.domain.prompts import Prompt
from workbench.workflow import prompts, run
from workbench.workflow.reference import freeze
from workbench.workflow.score import score_run
from workbench.workflow.study import Study
from workbench.workflow.validation import side_by_side


def test_each_language_is_scored_on_its_own_reports(
    rated: Study, lead: Actor, make_prompt: Callable[..., Prompt]
) -> None:
    made = prompts.save_candidate(rated, lead, make_prompt(), message="first", parent=None)
    prepared = run.prepare(rated, lead, cohort="development", revision=made.prompt_hash)
    run.execute(rated, prepared)
    score = score_run(rated, lead, prepared.run.hash, freeze(rated, lead, "development"))
    # r2, the missed effusion, is said to be in German: English has r1 (found) and the pneumothorax of r4 (found).
    reports = tuple(replace(r, language="de") if r.id == "r2" else r for r in score.prepared.reports)
    other = replace(score, prepared=replace(score.prepared, reports=reports))
    whole, german, english = side_by_side(rated, lead, score, other)
    assert (whole.language, whole.development, whole.validation) == ("", *[score.evaluation.macro_f1] * 2)
    assert (german.language, german.validation.value, german.reports) == ("de", 0, (0, 1))
    assert german.development.reason == "no report in this language"
    assert (english.language, english.validation.value, english.reports) == ("en", 1, (6, 5))
    assert english.development.value == pytest.approx((2 / 3 + 1) / 2)
