"""Comparing two scored runs on six reports whose labels are worked out by hand (see conftest)."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from types import MappingProxyType

import pytest

from workbench.domain.actors import Actor
from workbench.domain.findings import State
from workbench.domain.prompts import Example, Prompt
from workbench.domain.references import Reference
from workbench.domain.runs import Extraction, ExtractionStatus
from workbench.errors import InputError, NotFoundError
from workbench.storage import runs as run_store
from workbench.workflow import prompts, run
from workbench.workflow.compare import Flip, compare, point
from workbench.workflow.reference import freeze
from workbench.workflow.score import Score, score_run
from workbench.workflow.study import Study

Make = Callable[..., Prompt]
WIDER = "pleural effusion, fluid in the pleural space, blunted angle"


@pytest.fixture
def vote(rated: Study, lead: Actor) -> Reference:
    """The reference of the six reports."""
    return freeze(rated, lead, "development")


def scored(
    study: Study,
    lead: Actor,
    prompt: Prompt,
    vote: Reference,
    *,
    repeats: int = 1,
    said: Mapping[tuple[str, int], Extraction] = MappingProxyType({}),
) -> Score:
    """Run and score a prompt; ``said`` by report and repeat stands there before the labeler is asked."""
    revision = prompts.save_candidate(study, lead, prompt, message=prompt.guidance.title, parent=None)
    prepared = run.prepare(study, lead, cohort="development", revision=revision.prompt_hash, repeats=repeats)
    texts = dict(prepared.texts)
    with study.database.write() as conn:
        rows = [(run.key_of(prepared.run, texts[report], repeat), reply) for (report, repeat), reply in said.items()]
        run_store.save_extractions(conn, rows)
    run.execute(study, prepared)
    return score_run(study, lead, prepared.run.hash, vote)


def test_a_wider_prompt_is_compared_finding_by_finding(
    rated: Study, lead: Actor, make_prompt: Make, vote: Reference
) -> None:
    before = scored(rated, lead, make_prompt(), vote)
    after = scored(rated, lead, make_prompt("wider", WIDER), vote)
    found = compare(rated, lead, before, after)
    # Effusion: r2 was missed and is found, r3 (a tie, so not present) becomes a false positive. F1 2/3 -> 2*2/(4+1).
    assert found.flips == (
        Flip("r3", "pleural_effusion", False, State.NOT_MENTIONED, State.PRESENT, False, False, "", "Blunted angle."),
        Flip(
            "r2",
            "pleural_effusion",
            True,
            State.NOT_MENTIONED,
            State.PRESENT,
            True,
            False,
            "",
            "Fluid in the pleural space.",
        ),
    )
    effusion = next(f for f in found.findings if f.finding_id == "pleural_effusion")
    assert effusion.change.f1_change.value == pytest.approx(4 / 5 - 2 / 3)
    assert not effusion.worse
    # Two findings have a positive; pneumothorax stays at 1.
    assert found.change.macro_f1_change.value == pytest.approx((4 / 5 - 2 / 3) / 2)
    assert (found.old.macro_f1.value, found.new.macro_f1.value) == (
        before.evaluation.macro_f1.value,
        after.evaluation.macro_f1.value,
    )
    assert found.answered == found.change.macro_f1_change
    assert found.differing == 2  # r2 and r3; r5 reads present in both
    assert found.wobble_before.reason == "it asks each report once"


def test_what_got_worse_stands_first(rated: Study, lead: Actor, make_prompt: Make, vote: Reference) -> None:
    better = scored(rated, lead, make_prompt("wider", WIDER), vote)
    worse = scored(rated, lead, make_prompt(), vote)
    found = compare(rated, lead, better, worse)
    assert found.findings[0].finding_id == "pleural_effusion"
    assert found.worse == found.findings[:1]
    assert [f.fixed for f in found.flips] == [False, True]


def test_a_run_against_itself_is_no_change(rated: Study, lead: Actor, make_prompt: Make, vote: Reference) -> None:
    score = scored(rated, lead, make_prompt(), vote)
    found = compare(rated, lead, score, score)
    assert (found.unchanged, found.flips, found.worse, found.moved.value) == (True, (), (), 0)
    assert (found.change.macro_f1_change.value, found.change.macro_f1_change.low) == (0, 0)


def test_a_failed_reply_is_wrong_and_the_answered_reports_stand_beside(
    rated: Study, lead: Actor, make_prompt: Make, vote: Reference
) -> None:
    before = scored(rated, lead, make_prompt(), vote)
    failed = Extraction(ExtractionStatus.MALFORMED, detail="no JSON")
    after = scored(rated, lead, make_prompt("again"), vote, said={("r4", 1): failed})
    found = compare(rated, lead, before, after)
    assert found.new.n_failed == 1
    # The one pneumothorax is missed: F1 from 1 to 0 in one of two findings.
    assert found.change.macro_f1_change.value == pytest.approx(-1 / 2)
    # Without r4 there is no pneumothorax left, and effusion is as it was.
    assert (found.answered.value, found.answered.n) == (0, 1)
    assert found.findings[0].finding_id == "pneumothorax"
    assert Flip("r4", "pneumothorax", True, State.PRESENT, None, False, False, "Large pneumothorax.") in found.flips


def test_a_flip_that_a_repeat_takes_back_is_told_apart(
    rated: Study, lead: Actor, make_prompt: Make, vote: Reference
) -> None:
    before = scored(rated, lead, make_prompt(), vote)
    nothing = Extraction(ExtractionStatus.OK)
    after = scored(rated, lead, make_prompt("wider", WIDER), vote, repeats=2, said={("r2", 2): nothing})
    found = compare(rated, lead, before, after)
    assert {flip.report_id: flip.unsteady for flip in found.flips} == {"r2": True, "r3": False}
    assert found.wobble_after.value == pytest.approx(1 / (6 * len(rated.label_set.ids)))


def test_reports_that_either_prompt_quotes_are_left_out(
    rated: Study, lead: Actor, make_prompt: Make, vote: Reference
) -> None:
    before = scored(rated, lead, make_prompt(), vote)
    plain = make_prompt("wider", WIDER)
    quoting = replace(
        plain,
        guidance=replace(
            plain.guidance, examples=(Example("Blunted angle.", {"pleural_effusion": State.ABSENT}, report_id="r3"),)
        ),
    )
    found = compare(rated, lead, before, scored(rated, lead, quoting, vote))
    assert (found.left_out, found.old.n_reports, found.new.n_reports) == (("r3",), 5, 5)
    assert [flip.report_id for flip in found.flips] == ["r2"]


def test_points_are_named_by_revision_or_run(rated: Study, lead: Actor, make_prompt: Make, vote: Reference) -> None:
    score = scored(rated, lead, make_prompt(), vote)
    assert point(rated, lead, "1", vote).hash == score.hash
    assert point(rated, lead, score.prepared.run.hash[:8], vote).hash == score.hash
    prompts.save_candidate(rated, lead, make_prompt("second"), message="second", parent=None)
    with pytest.raises(InputError, match=r"Revision 2 has no score on development-1 with rules yet; run and score"):
        point(rated, lead, "2", vote)
    with pytest.raises(NotFoundError, match="A run is named by the first six"):
        point(rated, lead, "9", vote)


def test_two_references_are_not_compared(rated: Study, lead: Actor, make_prompt: Make, vote: Reference) -> None:
    score = scored(rated, lead, make_prompt(), vote)
    other = replace(score, reference=replace(score.reference, name="other", cohort_hash="0" * 64))
    with pytest.raises(InputError, match="different references, development-1 and other"):
        compare(rated, lead, score, other)
