"""From six raters' votes to a frozen reference; the votes are written out in the conftest."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from workbench.domain.actors import Actor
from workbench.domain.cohorts import Purpose
from workbench.domain.references import Outcome, VoteRule
from workbench.errors import InputError, NotFoundError, RightsError
from workbench.workflow import reference
from workbench.workflow.cohorts import define, get_cohort
from workbench.workflow.ingest import import_labels, import_reports
from workbench.workflow.study import Study


def test_votes_come_out_as_counted_by_hand(rated: Study, lead: Actor) -> None:
    frozen = reference.summarize(rated, lead, reference.freeze(rated, lead, "development")).reference
    effusion = {r: frozen.items[r, "pleural_effusion"] for r in ("r1", "r2", "r3", "r4", "r5", "r6")}
    assert [i.outcome for i in effusion.values()] == [
        Outcome.PRESENT,  # 6 of 6
        Outcome.PRESENT,  # 4 of 6
        Outcome.NOT_PRESENT,  # 3 of 6 with nothing missing: an even split
        Outcome.NOT_PRESENT,
        Outcome.SHORT,  # 3 of 5, the missing vote could make it 4
        Outcome.NOT_PRESENT,
    ]
    assert [i.present for i in effusion.values()] == [6, 4, 3, 0, 3, 0]
    assert [i.missing for i in effusion.values()] == [0, 0, 0, 0, 1, 0]
    assert [r for r, i in effusion.items() if i.tie] == ["r3"]
    air = [frozen.items[r, "pneumothorax"].outcome for r in ("r1", "r2", "r3", "r4", "r5", "r6")]
    assert air == [Outcome.NOT_PRESENT] * 3 + [Outcome.PRESENT] + [Outcome.NOT_PRESENT] * 2  # r5: 0 + 1 < 4


def test_the_summary_counts_what_the_items_say(rated: Study, lead: Actor) -> None:
    summary = reference.summarize(rated, lead, reference.freeze(rated, lead, "development"))
    effusion = next(f for f in summary.findings if f.finding_id == "pleural_effusion")
    assert (effusion.present, effusion.not_present, effusion.short, effusion.ties) == (2, 3, 1, 1)
    assert summary.agreement is not None


def test_freezing_the_same_votes_again_gives_the_same_reference(rated: Study, lead: Actor) -> None:
    first = reference.freeze(rated, lead, "development")
    second = reference.freeze(rated, lead, "development")
    assert (second.name, second.hash) == (first.name, first.hash)
    assert len(reference.list_references(rated, lead)) == 1


def test_what_is_read_back_has_the_hash_it_was_frozen_with(rated: Study, lead: Actor) -> None:
    frozen = reference.freeze(rated, lead, "development")
    assert reference.get_reference(rated, lead, "development-1").hash == frozen.hash
    assert reference.get_reference(rated, lead, frozen.hash[:10]).name == "development-1"


def test_a_single_rater_reference_is_allowed_and_says_so(rated: Study, lead: Actor) -> None:
    frozen = reference.freeze(rated, lead, "development", raters=["rater5"], rule=VoteRule(1, 1))
    assert frozen.rule.single_rater
    summary = reference.summarize(rated, lead, frozen)
    assert summary.reference.items["r4", "pneumothorax"].outcome is Outcome.PRESENT
    assert summary.agreement is None


def test_more_raters_than_votes_are_refused_until_six_are_named(
    rated: Study, lead: Actor, write_labels: Callable[..., Path]
) -> None:
    import_labels(rated, lead, write_labels("rater7.csv", ("r1", "1", {})))
    with pytest.raises(InputError, match="7 raters submitted labels for development, the vote is 4 of 6: name the 6"):
        reference.freeze(rated, lead, "development")
    six = [f"rater{i}" for i in range(1, 7)]
    assert reference.freeze(rated, lead, "development", raters=six).raters == tuple(six)


def test_a_rater_without_labels_cannot_be_named(rated: Study, lead: Actor) -> None:
    with pytest.raises(InputError, match="Dr. Nobody has submitted no label"):
        reference.freeze(rated, lead, "development", raters=["Dr. Nobody"], rule=VoteRule(1, 1))


def test_nobody_but_a_lead_freezes(rated: Study, rater: Actor) -> None:
    with pytest.raises(RightsError, match="may not freeze a reference"):
        reference.freeze(rated, rater, "development")
    assert reference.list_references(rated, rated.actor("Dr. Lead")) == []


def test_without_a_reference_the_message_says_how_to_make_one(rated: Study, lead: Actor) -> None:
    with pytest.raises(NotFoundError, match="workbench reference freeze"):
        reference.get_reference(rated, lead)
    with pytest.raises(NotFoundError, match="workbench reference freeze development"):
        reference.reference_on(rated, lead, get_cohort(rated, "development"))


def test_labels_that_come_after_the_freeze_change_nothing_of_the_reference(
    rated: Study, lead: Actor, write_labels: Callable[..., Path]
) -> None:
    frozen = reference.freeze(rated, lead, "development")
    before, votes = reference.summarize(rated, lead, frozen), reference.votes_of(rated, lead, frozen)
    everything = dict.fromkeys(rated.label_set.ids, "1")
    import_labels(rated, lead, write_labels("late.csv", *((r, "1", everything) for r in ("r1", "r4"))), rater="rater1")
    again = reference.get_reference(rated, lead, "development-1")
    assert (again.hash, reference.summarize(rated, lead, again)) == (frozen.hash, before)
    assert (reference.votes_of(rated, lead, again).codes == votes.codes).all()
    # A new reference counts them: rater1's old labels are superseded, not the reference.
    second = reference.get_reference(rated, lead, reference.freeze(rated, lead, "development").name)
    assert (second.name, second.items["r4", "pleural_effusion"].present) == ("development-2", 1)
    assert reference.get_reference(rated, lead).name == "development-1"


def test_a_label_set_that_changed_since_leaves_the_votes_of_a_reference(rated: Study, lead: Actor) -> None:
    frozen = reference.freeze(rated, lead, "development")
    before = reference.summarize(rated, lead, frozen).agreement
    changed = replace(rated, label_set=replace(rated.label_set, version="2"))
    assert reference.summarize(changed, lead, frozen).agreement == before


def test_the_primary_reference_is_the_first_of_a_development_cohort(
    rated: Study, lead: Actor, csv_file: Callable[[str, str], Path], write_labels: Callable[..., Path]
) -> None:
    import_reports(rated, lead, csv_file("more.csv", 'id,patient_id,text\nv1,p9,"FINDINGS: Normal."\n'))
    define(rated, lead, "abroad", Purpose.EXTERNAL, ["v1"])
    import_labels(rated, lead, write_labels("v.csv", ("v1", "1", {})))
    reference.freeze(rated, lead, "abroad", rule=VoteRule(1, 1))
    assert reference.get_reference(rated, lead).name == "abroad-1"
    six = [f"rater{i}" for i in range(1, 7)]
    reference.freeze(rated, lead, "development", raters=six)
    reference.freeze(rated, lead, "development", raters=["rater1"], rule=VoteRule(1, 1))
    assert reference.get_reference(rated, lead).name == "development-1"


def test_names_are_told_apart(rated: Study, lead: Actor) -> None:
    with pytest.raises(InputError, match="needs a name"):
        reference.freeze(rated, lead, "development", name=" ")
    reference.freeze(rated, lead, "development", name="development-2", raters=["rater1"], rule=VoteRule(1, 1))
    assert reference.freeze(rated, lead, "development").name == "development-1"
    both = reference.freeze(rated, lead, "development", raters=["rater1", "rater1"], rule=VoteRule(1, 1))
    assert (both.name, both.raters) == ("development-2", ("rater1",))


def test_fewer_raters_than_the_vote_needs_are_refused_since_nothing_could_be_present(rated: Study, lead: Actor) -> None:
    three = ["rater1", "rater2", "rater3"]
    with pytest.raises(InputError, match=r"3 of the 4 raters that the vote needs.*freeze by another rule"):
        reference.freeze(rated, lead, "development", raters=three)
    assert reference.freeze(rated, lead, "development", raters=three, rule=VoteRule(2, 3)).raters == tuple(three)
