"""Rounds: everything fixed when opened, one at a time, closed and re-opened on record."""

import pytest

from workbench.domain.actors import Actor, Role
from workbench.domain.findings import Policy
from workbench.domain.rounds import RoundAction
from workbench.errors import ConflictError, InputError, NotFoundError, RightsError
from workbench.workflow import people
from workbench.workflow.cohorts import get_cohort
from workbench.workflow.opening import open_study
from workbench.workflow.reference import freeze
from workbench.workflow.rounds import close_round, open_round, reopen_round, round_of
from workbench.workflow.study import Study

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
