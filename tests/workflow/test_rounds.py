"""Rounds: everything fixed when opened, one at a time, closed and re-opened on record."""

import pytest

from workbench.domain.actors import Actor, Role
from workbench.domain.findings import Policy, State
from workbench.domain.rounds import RoundAction
from workbench.errors import ConflictError, InputError, NotFoundError, RightsError
from workbench.workflow import annotate, people
from workbench.workflow.blindness import blinding_round
from workbench.workflow.browse import rating_progress
from workbench.workflow.cohorts import get_cohort
from workbench.workflow.opening import open_study
from workbench.workflow.reference import freeze
from workbench.workflow.rounds import (
    close_round,
    kept_because,
    open_round,
    reopen_round,
    round_of,
    withdraw_round,
    withdrawn_rounds,
)
from workbench.workflow.study import Study
from workbench.workflow.votes import read_votes

VERSION = 'version: "1"'
SIX = [f"rater{i}" for i in range(1, 7)]


def test_a_round_fixes_rule_policies_guideline_and_raters(rated: Study, lead: Actor) -> None:
    held = open_round(rated, lead, "development", raters=SIX).round
    assert (held.name, held.rule.k, held.rule.n, held.raters) == ("development-round-1", 4, 6, tuple(SIX))
    assert held.label_set_hash == rated.label_set.hash
    assert held.vote_policies == rated.label_set.vote_policies
    view = round_of(rated, get_cohort(rated, "development"))
    assert view is not None
    assert view.round == held


def test_policies_changed_during_a_round_do_not_reach_its_reference(rated: Study, lead: Actor) -> None:
    open_round(rated, lead, "development", raters=SIX)
    toml = rated.folder / "data" / "study.toml"
    toml.write_text(toml.read_text() + '\n[policies.vote]\ndefault = "exclude"\n')
    changed = open_study(rated.folder)
    assert changed.label_set.vote_policies.default is Policy.EXCLUDE
    assert freeze(changed, lead, "development", incomplete=True).vote_policies == rated.label_set.vote_policies


def test_small_cohorts_repeat_at_most_one_report_in_ten(rated: Study, lead: Actor) -> None:
    assert open_round(rated, lead, "development", raters=SIX).round.twice == 0


@pytest.mark.parametrize(
    ("raters", "twice", "told"),
    [
        ([], None, "Name the raters"),
        ([*SIX, "rater7"], None, "7 raters are named and the vote counts 6"),
        (["rater1", "rater1"], None, "rater1 is named twice"),
        (SIX, 4, "4 of 6 reports cannot come twice"),
        (SIX, -1, "cannot come twice"),
    ],
)
def test_what_makes_no_sense_is_refused(
    rated: Study, lead: Actor, raters: list[str], twice: int | None, told: str
) -> None:
    with pytest.raises(InputError, match=told):
        open_round(rated, lead, "development", raters=raters, twice=twice)


def test_a_misspelt_rater_spoils_no_round(rated: Study, lead: Actor) -> None:
    people.add(rated, lead, "Dr. A", roles=[Role.RATER])
    with pytest.raises(InputError, match=r"Dr\. Aa is not one of the study's people"):
        open_round(rated, lead, "development", raters=["Dr. Aa", "Dr. A"])
    assert open_round(rated, lead, "development", raters=["rater1", "Dr. A"]).round.raters == ("rater1", "Dr. A")


def test_who_could_not_label_is_taken_into_no_round_and_the_way_to_mend_it_is_told(
    rated: Study, lead: Actor, rater: Actor
) -> None:
    with pytest.raises(InputError, match=r"Dr\. Lead has not the role rater .* line in \[people\] of data/study\.toml"):
        open_round(rated, lead, "development", raters=["rater1", lead.name])
    people.add(rated, lead, "Jude", roles=[Role.ADJUDICATOR])
    with pytest.raises(
        InputError, match='Jude has not the role rater .*`workbench user role "Jude" rater adjudicator`'
    ):
        open_round(rated, lead, "development", raters=["rater1", "Jude"])
    people.deactivate(rated, lead, "Jude")
    with pytest.raises(InputError, match="Jude was deactivated"):
        open_round(rated, lead, "development", raters=["rater1", "Jude"])
    people.add(rated, lead, "Jude", roles=[Role.ADJUDICATOR])
    people.set_roles(rated, lead, "Jude", [Role.RATER, Role.ADJUDICATOR])
    held = open_round(rated, lead, "development", raters=["rater1", "Jude", rater.name]).round
    assert held.raters == ("rater1", "Jude", rater.name)


def test_a_round_opened_by_mistake_is_withdrawn_on_record_and_another_opened(
    rated: Study, lead: Actor, rater: Actor
) -> None:
    cohort = get_cohort(rated, "development")
    open_round(rated, lead, "development", raters=["rater1", rater.name])
    with pytest.raises(InputError, match="needs a reason"):
        withdraw_round(rated, lead, "development", reason=" ")
    with pytest.raises(RightsError, match="may not withdraw a round"):
        withdraw_round(rated, rater, "development", reason="x")
    back = withdraw_round(rated, lead, "development", reason="rater1 is ill")
    assert (back.state, back.open, back.events[-1].reason) == ("withdrawn", False, "rater1 is ill")
    assert round_of(rated, cohort) is None
    assert blinding_round(rated, rater) == ""
    assert "No round is open" in annotate.queue(rated, rater, "development").closed
    with pytest.raises(NotFoundError, match="No round"):
        withdraw_round(rated, lead, "development", reason="again")
    again = open_round(rated, lead, "development", raters=["rater2", rater.name])
    assert (again.round.name, again.open) == ("development-round-2", True)
    assert [view.round.name for view in withdrawn_rounds(rated, cohort)] == ["development-round-1"]
    assert blinding_round(rated, rater) == "development-round-2"


def test_the_very_same_round_can_be_opened_again_after_it_was_withdrawn(rated: Study, lead: Actor) -> None:
    for raters in (SIX, SIX[:5]):
        open_round(rated, lead, "development", raters=raters)
        withdraw_round(rated, lead, "development", reason="too early")
    view = open_round(rated, lead, "development", raters=SIX)
    assert (view.round.name, view.open) == ("development-round-1", True)
    assert [event.action for event in view.events] == [RoundAction.OPENED, RoundAction.WITHDRAWN, RoundAction.OPENED]
    assert round_of(rated, get_cohort(rated, "development")) == view


@pytest.mark.parametrize("submitted", [True, False])
def test_a_round_in_which_a_label_was_saved_is_not_withdrawn(
    rated: Study, lead: Actor, rater: Actor, *, submitted: bool
) -> None:
    open_round(rated, lead, "development", raters=["rater1", rater.name])
    assert kept_because(rated, lead, "development") == ""
    annotate.save(rated, rater, "development", annotate.Entry("r1"), {"fracture": State.PRESENT}, submitted=submitted)
    with pytest.raises(ConflictError, match="Labels were saved in the round development-round-1.* close it instead"):
        withdraw_round(rated, lead, "development", reason="x")
    close_round(rated, lead, "development")
    assert "Labels were saved" in kept_because(rated, lead, "development")


def test_a_round_whose_votes_were_frozen_is_not_withdrawn(rated: Study, lead: Actor) -> None:
    open_round(rated, lead, "development", raters=SIX)
    made = freeze(rated, lead, "development", incomplete=True)
    with pytest.raises(ConflictError, match=f"The reference {made.name} was frozen in the round"):
        withdraw_round(rated, lead, "development", reason="x")


def test_a_submitted_report_stays_counted_while_it_is_being_changed(rated: Study, lead: Actor, rater: Actor) -> None:
    open_round(rated, lead, "development", raters=["rater1", rater.name])

    def save(*findings: str, submitted: bool, reason: str = "") -> None:
        said = dict.fromkeys(findings, State.PRESENT)
        annotate.save(rated, rater, "development", annotate.Entry("r1"), said, submitted=submitted, reason=reason)

    save("fracture", submitted=True)
    save("fracture", "pneumonia", submitted=False)
    assert rating_progress(rated, lead, "development")[rater.name] == 1
    votes = read_votes(rated, get_cohort(rated, "development"), [rater.name], label_set_hash=rated.label_set.hash)
    assert (
        votes.codes[0, rated.label_set.ids.index("pneumonia"), 0] == State.NOT_MENTIONED.code
    )  # the submitted ones vote
    save("fracture", "pneumonia", submitted=True, reason="seen again")
    assert rating_progress(rated, lead, "development")[rater.name] == 1


def test_a_round_frozen_again_unchanged_names_the_reference_there_is(rated: Study, lead: Actor) -> None:
    open_round(rated, lead, "development", raters=SIX)
    made = freeze(rated, lead, "development", incomplete=True)
    reopen_round(rated, lead, "development", reason="to look again")
    assert freeze(rated, lead, "development", incomplete=True).name == made.name
    view = round_of(rated, get_cohort(rated, "development"))
    assert view is not None
    assert view.events[-1].reason == f"frozen as {made.name}"


def test_one_round_at_a_time_and_one_per_guideline(rated: Study, lead: Actor) -> None:
    open_round(rated, lead, "development", raters=SIX)
    with pytest.raises(ConflictError, match="development-round-1 is open"):
        open_round(rated, lead, "development", raters=SIX)
    close_round(rated, lead, "development")
    with pytest.raises(ConflictError, match="re-open it with a reason"):
        open_round(rated, lead, "development", raters=SIX)


def test_a_changed_guideline_opens_a_new_round(rated: Study, lead: Actor) -> None:
    open_round(rated, lead, "development", raters=SIX)
    close_round(rated, lead, "development")
    path = rated.folder / "data" / "cxr21.yaml"
    text = path.read_text(encoding="utf-8")
    assert text.count(VERSION) == 1
    path.write_text(text.replace(VERSION, 'version: "2"'), encoding="utf-8")
    changed = open_study(rated.folder)
    assert changed.label_set.hash != rated.label_set.hash
    with pytest.raises(ConflictError, match="guideline has changed"):
        reopen_round(changed, lead, "development", reason="x")
    assert open_round(changed, lead, "development", raters=SIX).round.name == "development-round-2"


def test_every_opening_and_closing_is_on_record(rated: Study, lead: Actor) -> None:
    open_round(rated, lead, "development", raters=SIX)
    close_round(rated, lead, "development", reason="all done")
    view = reopen_round(rated, lead, "development", reason="rater3 was ill")
    assert [(e.action, e.reason) for e in view.events] == [
        (RoundAction.OPENED, ""),
        (RoundAction.CLOSED, "all done"),
        (RoundAction.REOPENED, "rater3 was ill"),
    ]
    with pytest.raises(InputError, match="needs a reason"):
        reopen_round(rated, lead, "development", reason=" ")
    with pytest.raises(ConflictError, match="open already"):
        reopen_round(rated, lead, "development", reason="again")


def test_only_a_lead_opens_closes_and_reopens(rated: Study, lead: Actor, rater: Actor) -> None:
    with pytest.raises(RightsError):
        open_round(rated, rater, "development", raters=SIX)
    open_round(rated, lead, "development", raters=SIX)
    with pytest.raises(RightsError):
        close_round(rated, rater, "development")
    close_round(rated, lead, "development")
    with pytest.raises(RightsError):
        reopen_round(rated, rater, "development", reason="x")
    with pytest.raises(NotFoundError, match="No round is open"):
        close_round(rated, lead, "development")
