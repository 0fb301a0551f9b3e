"""Adjudication: only what the vote left open, blind, before the first look; both references stay."""

import pytest

from workbench.domain.actors import Actor, Role
from workbench.domain.references import Outcome, Reference
from workbench.errors import ConflictError, InputError, NotFoundError, RightsError
from workbench.workflow import adjudicate
from workbench.workflow.reference import freeze, get_reference, summarize
from workbench.workflow.study import Study
from workbench.workflow.versions import compare

JUDGE = Actor("Dr. Judge", frozenset({Role.ADJUDICATOR}))
# Of the votes written out in the conftest: r3 is an even split, r5 is short, both on pleural effusion.
OPEN = [("r3", "pleural_effusion"), ("r5", "pleural_effusion")]


@pytest.fixture
def vote(rated: Study, lead: Actor) -> Reference:
    """The frozen vote, at which nobody has looked yet."""
    return freeze(rated, lead, "development")


def test_ties_and_short_votes_are_the_items_and_nothing_tells_them_apart(rated: Study, vote: Reference) -> None:
    items = adjudicate.open_items(rated, JUDGE, vote)
    assert sorted((i.report.id, i.finding_id) for i in items) == OPEN
    assert set(items[0].__slots__) == {"report", "finding_id", "decision"}


def test_the_adjudicated_reference_stands_beside_the_vote(rated: Study, lead: Actor, vote: Reference) -> None:
    adjudicate.decide(rated, JUDGE, vote, "r3", "pleural_effusion", present=True, reason="a meniscus is described")
    with pytest.raises(InputError, match="1 of 2 open items of development-1 are undecided"):
        adjudicate.finish(rated, lead, vote)
    adjudicate.decide(rated, JUDGE, vote, "r5", "pleural_effusion", present=True, reason="first thought")
    adjudicate.decide(rated, JUDGE, vote, "r5", "pleural_effusion", present=False, reason="or thickening: hedged")
    made = adjudicate.finish(rated, lead, vote)
    with pytest.raises(RightsError, match="kept back until somebody looks"):
        len(made.items)
    with pytest.raises(ConflictError, match="development-1-adjudicated is frozen, so nothing in it changes"):
        adjudicate.decide(rated, JUDGE, vote, "r3", "pleural_effusion", present=False, reason="a stale page")
    assert adjudicate.finish(rated, lead, vote).hash == made.hash
    assert list(compare(rated, lead, made.name).outcomes) == [
        ("r3", "pleural_effusion", Outcome.NOT_PRESENT, Outcome.PRESENT),
        ("r5", "pleural_effusion", Outcome.SHORT, Outcome.NOT_PRESENT),
    ]
    assert (made.name, made.parent_hash, list(made.adjudicated)) == ("development-1-adjudicated", vote.hash, OPEN)
    assert get_reference(rated, lead, "development-1").hash == vote.hash, "the vote stays as it was"
    assert get_reference(rated, lead, made.name).hash == made.hash


def test_the_first_look_at_the_counts_ends_adjudication(rated: Study, lead: Actor, vote: Reference) -> None:
    summarize(rated, lead, vote)
    with pytest.raises(ConflictError, match="Dr. Lead looked at the counts of development-1"):
        adjudicate.open_items(rated, JUDGE, vote)
    with pytest.raises(ConflictError, match="no longer be adjudicated blind"):
        adjudicate.decide(rated, JUDGE, vote, "r3", "pleural_effusion", present=True, reason="x")


def test_a_decided_vote_is_not_adjudicated_and_a_decision_needs_a_reason(rated: Study, vote: Reference) -> None:
    with pytest.raises(NotFoundError, match="was decided and is not adjudicated"):
        adjudicate.decide(rated, JUDGE, vote, "r1", "pleural_effusion", present=False, reason="x")
    with pytest.raises(InputError, match="needs a reason"):
        adjudicate.decide(rated, JUDGE, vote, "r3", "pleural_effusion", present=True, reason="")


def test_only_an_adjudicator_adjudicates(rated: Study, rater: Actor, vote: Reference) -> None:
    with pytest.raises(RightsError, match="may not adjudicate"):
        adjudicate.open_items(rated, rater, vote)
    with pytest.raises(RightsError, match="may not adjudicate"):
        adjudicate.decide(rated, rater, vote, "r3", "pleural_effusion", present=True, reason="x")
