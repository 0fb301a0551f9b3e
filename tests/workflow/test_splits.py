"""The reports behind a figure, on the votes written out in the conftest."""

from collections.abc import Callable
from pathlib import Path

import pytest

from workbench.domain.actors import Actor, Role
from workbench.domain.annotations import Mark
from workbench.domain.findings import State
from workbench.domain.references import Outcome
from workbench.errors import InputError, RightsError
from workbench.workflow import annotate, splits
from workbench.workflow.agreed import View
from workbench.workflow.ingest import import_labels
from workbench.workflow.reference import freeze
from workbench.workflow.rounds import open_round, reopen_round
from workbench.workflow.study import Study

EFFUSION = ["pleural_effusion"]


def test_the_most_split_report_comes_first_with_what_everybody_said(rated: Study, lead: Actor) -> None:
    found = splits.split_among_all(rated, lead, freeze(rated, lead, "development"), EFFUSION)
    # 3-3 on r3, then 3-2 of five on r5 (2/5 apart), then 4-2 on r2 (2/6); the others are of one mind
    assert [split.report_id for split in found] == ["r3", "r5", "r2"]
    assert [split.outcome for split in found] == [Outcome.NOT_PRESENT, Outcome.SHORT, Outcome.PRESENT]
    said = {rater: word.state for rater, word in found[1].said.items()}
    assert said["rater1"] is State.PRESENT
    assert said["rater4"] is State.ABSENT
    assert said["rater6"] is None  # submitted nothing of r5
    assert splits.reports_of(rated, found)["r5"].text == "FINDINGS: Pleural effusion or thickening."


def test_two_raters_differ_where_their_kappa_says_so(rated: Study, lead: Actor) -> None:
    vote = freeze(rated, lead, "development")
    found = splits.split_between(rated, lead, vote, EFFUSION, ("rater1", "rater4"))
    assert [split.report_id for split in found] == ["r3", "r5"]
    both = splits.split_between(rated, lead, vote, ["pneumothorax", *EFFUSION], ("rater1", "rater6"))
    # on air they differ in r4 alone; on effusion in r2 and r3, and r5 was rated by one of them only
    assert [(split.finding_id, split.report_id) for split in both] == [
        ("pneumothorax", "r4"),
        ("pleural_effusion", "r2"),
        ("pleural_effusion", "r3"),
    ]


def test_a_rater_and_the_vote_of_the_others(rated: Study, lead: Actor) -> None:
    vote = freeze(rated, lead, "development")
    # Others of rater 1 on r3: 2 of 5, not present, and rater 1 says present; r5 is short without rater 1
    assert [s.report_id for s in splits.split_from_others(rated, lead, vote, EFFUSION, "rater1")] == ["r3"]
    # Others of rater 5: r2 4 of 5, r3 3 of 5: present, and rater 5 says no; r5 has 3 of 4 given: present too
    assert [s.report_id for s in splits.split_from_others(rated, lead, vote, EFFUSION, "rater5")] == ["r2", "r3", "r5"]


def test_four_states_split_what_two_states_do_not(rated: Study, lead: Actor, write_labels: Callable[..., Path]) -> None:
    import_labels(rated, lead, write_labels("rater1.csv", ("r4", "1", {"pleural_effusion": "-1"})))
    vote = freeze(rated, lead, "development")  # uncertain is absent by policy, as all others say of r4
    two = splits.split_among_all(rated, lead, vote, EFFUSION)
    four = splits.split_among_all(rated, lead, vote, EFFUSION, view=View.FOUR_STATES)
    assert {s.report_id for s in four} - {s.report_id for s in two} == {"r4"}
    assert next(s for s in four if s.report_id == "r4").said["rater1"].state is State.UNCERTAIN


def test_a_second_reading_and_the_words_it_was_made_on(rated: Study, lead: Actor) -> None:
    open_round(rated, lead, "development", raters=[f"rater{i}" for i in range(1, 7)], twice=2)
    one = Actor("rater1", frozenset({Role.RATER}))
    twice = [e for e in annotate.queue(rated, one, "development").order if e.reading == 2]
    air = {"pneumothorax": State.PRESENT}  # which rater 1 said of r4 alone
    for entry in twice:
        annotate.save(rated, one, "development", entry, air, submitted=True, evidence={"pneumothorax": "Blunted"})
    vote = freeze(rated, lead, "development", incomplete=True)
    found = splits.split_from_themselves(rated, lead, vote, ["pneumothorax"], "rater1")
    assert {s.report_id for s in found} == {e.report_id for e in twice} - {"r4"}
    assert all(s.again is not None and s.again.state is State.PRESENT for s in found)
    assert found[0].evidence == ("Blunted",)
    assert Mark.NONE_OF_THESE not in twice
    assert splits.split_from_themselves(rated, lead, vote, ["pneumothorax"], "rater2") == []


def test_nobody_sees_who_said_what_while_the_round_takes_labels(rated: Study, lead: Actor, rater: Actor) -> None:
    open_round(rated, lead, "development", raters=[f"rater{i}" for i in range(1, 7)])
    vote = freeze(rated, lead, "development", incomplete=True)
    with pytest.raises(RightsError, match="may not see who said what"):
        splits.split_among_all(rated, rater, vote, EFFUSION)
    reopen_round(rated, lead, "development", reason="rater 3 corrects r5")
    with pytest.raises(RightsError, match="takes labels"):
        splits.split_among_all(rated, lead, vote, EFFUSION)


def test_an_unknown_finding_or_rater_is_named(rated: Study, lead: Actor) -> None:
    vote = freeze(rated, lead, "development")
    with pytest.raises(InputError, match="no finding gout"):
        splits.split_among_all(rated, lead, vote, ["gout"])
    with pytest.raises(InputError, match="Dr. Nobody is no rater of the reference development-1"):
        splits.split_between(rated, lead, vote, EFFUSION, ("rater1", "Dr. Nobody"))
