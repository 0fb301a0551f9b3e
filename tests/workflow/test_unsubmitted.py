"""No vote is counted too early without somebody having said that they know."""

import pytest

from workbench.domain.actors import Actor, Role
from workbench.domain.annotations import Mark
from workbench.domain.findings import State
from workbench.errors import ConflictError, RightsError
from workbench.workflow import annotate
from workbench.workflow.reference import freeze, list_references, summarize
from workbench.workflow.rounds import open_round, round_of
from workbench.workflow.study import Study
from workbench.workflow.unsubmitted import Unsubmitted, unsubmitted

SIX = [f"rater{i}" for i in range(1, 6)]  # who are done but for rater 5, and one who has not begun
AIR = {"pneumothorax": State.PRESENT}


@pytest.fixture
def held(rated: Study, lead: Actor, rater: Actor) -> Study:
    open_round(rated, lead, "development", raters=[*SIX, rater.name])
    return rated


def test_a_silent_rater_of_a_round_is_named_before_anything_is_frozen(held: Study, lead: Actor, rater: Actor) -> None:
    assert unsubmitted(held, lead, "development") == (Unsubmitted(rater.name, 6, 6, 0, 0),)
    with pytest.raises(ConflictError, match=r"Dr. Rater: 6 of 6 reports not submitted.*--incomplete"):
        freeze(held, lead, "development")
    assert list_references(held, lead) == []
    view = round_of(held, _cohort(held))
    assert view is not None
    assert view.open  # a refusal closes nothing


def test_drafts_and_changes_that_were_not_submitted_again_are_told(held: Study, lead: Actor, rater: Actor) -> None:
    entry = annotate.Entry
    annotate.save(held, rater, "development", entry("r1"), AIR, submitted=False)
    annotate.save(held, rater, "development", entry("r2"), AIR, submitted=True)
    annotate.save(held, rater, "development", entry("r2"), {}, submitted=False)
    (left,) = unsubmitted(held, lead, "development")
    assert left == Unsubmitted(rater.name, 6, 5, 1, 1)
    assert left.told == (
        "Dr. Rater: 5 of 6 reports not submitted (1 begun as drafts), 1 changed and not submitted again"
    )


def test_freezing_all_the_same_stays_on_record(held: Study, lead: Actor) -> None:
    frozen = freeze(held, lead, "development", incomplete=True, reason="the sixth is on leave")
    assert frozen.raters == tuple(SIX)
    assert frozen.reason == "the sixth is on leave. Not submitted: Dr. Rater 6 of 6"
    assert all(item.missing >= 1 for item in summarize(held, lead, frozen).reference.items.values())


def test_who_is_done_needs_no_word(held: Study, lead: Actor, rater: Actor) -> None:
    for report in ("r1", "r2", "r3", "r4", "r5", "r6"):
        done = frozenset({Mark.NONE_OF_THESE})
        annotate.save(held, rater, "development", annotate.Entry(report), {}, submitted=True, marks=done)
    assert unsubmitted(held, lead, "development") == ()
    assert freeze(held, lead, "development").reason == ""


def test_without_a_round_nobody_promised_anything_and_it_is_told_all_the_same(rated: Study, lead: Actor) -> None:
    (left,) = unsubmitted(rated, lead, "development")
    assert (left.rater, left.missing) == ("rater6", 1)
    assert freeze(rated, lead, "development").reason == ""


def test_a_rater_does_not_see_how_far_others_are(rated: Study, rater: Actor) -> None:
    with pytest.raises(RightsError, match="may not see how far the raters are"):
        unsubmitted(rated, rater, "development")
    assert unsubmitted(rated, Actor("Ada", frozenset({Role.ADJUDICATOR})), "development")


def _cohort(study: Study) -> object:
    from workbench.workflow.cohorts import get_cohort

    return get_cohort(study, "development")
