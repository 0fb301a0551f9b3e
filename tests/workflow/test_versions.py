"""What a later version of a reference decides otherwise."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from workbench.domain.actors import Actor
from workbench.domain.references import Outcome, VoteRule
from workbench.errors import InputError
from workbench.workflow import adjudicate
from workbench.workflow.ingest import import_labels
from workbench.workflow.reference import freeze, summarize
from workbench.workflow.study import Study
from workbench.workflow.versions import compare, difference


def test_a_correction_makes_a_version_and_the_difference_is_what_was_corrected(
    rated: Study, lead: Actor, write_labels: Callable[..., Path]
) -> None:
    first = freeze(rated, lead, "development")
    # Rater 4 now says effusion in r3 (3-3 becomes 4-2: present) and in r1 nothing new but air (0 becomes 1 of 6)
    corrected = write_labels(
        "rater4.csv",
        ("r3", "1", {"pleural_effusion": "1"}),
        ("r1", "1", {"pleural_effusion": "1", "pneumothorax": "1"}),
    )
    import_labels(rated, lead, corrected)
    second = freeze(rated, lead, "development", reason="rater 4 read r3 again")
    assert (second.name, second.parent_hash) == ("development-2", first.hash)
    found = compare(rated, lead, "development-2")
    assert found.outcomes == (("r3", "pleural_effusion", Outcome.NOT_PRESENT, Outcome.PRESENT),)
    assert found.recounted == 1
    (told,) = found.told
    assert told.startswith("1 item is decided differently in development-2 than in development-1; 1 more item has ")
    assert compare(rated, lead, "development-1", "development-2").outcomes[0][2:] == (
        Outcome.PRESENT,
        Outcome.NOT_PRESENT,
    )


def test_other_raters_or_another_rule_are_told(rated: Study, lead: Actor) -> None:
    first = summarize(rated, lead, freeze(rated, lead, "development")).reference
    other = replace(first, raters=("rater1", "Dr. New"), rule=VoteRule(2, 2), adjudicated=(("r3", "edema"),))
    told = " ".join(difference(first, other).settings)
    for part in ("joined: Dr. New", "left: rater2, rater3", "2 of 2 and was 4 of 6", "1 ties and short votes were"):
        assert part in told


def test_a_first_version_has_nothing_before_it(rated: Study, lead: Actor) -> None:
    freeze(rated, lead, "development")
    with pytest.raises(InputError, match="development-1 is a first version"):
        compare(rated, lead, "development-1")


def test_whoever_saw_the_first_versions_counts_cannot_adjudicate_the_second_blind(
    rated: Study, lead: Actor, write_labels: Callable[..., Path]
) -> None:
    first = freeze(rated, lead, "development")
    import_labels(rated, lead, write_labels("rater6.csv", ("r5", "1", {"pneumothorax": "1"})))
    second = freeze(rated, lead, "development", reason="rater 6 had left r5 out")
    assert adjudicate.closed_because(rated, second) == ""
    assert "can be adjudicated blind until somebody looks" in adjudicate.left_open(rated, second).told
    summarize(rated, lead, first)
    told = adjudicate.closed_because(rated, second)
    assert "Dr. Lead looked at the counts of development-1" in told
    assert "so development-2 can no longer be adjudicated blind" in told
    left = adjudicate.left_open(rated, second)
    assert left.items > 0
    assert left.told.endswith(told)
