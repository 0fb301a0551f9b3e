"""Counts of a vote reach nobody, by whichever call, before the first look at them is on record (method 3)."""

from collections.abc import Callable

import pytest

from workbench.domain.actors import Actor, Role
from workbench.domain.references import Reference
from workbench.errors import ConflictError, RightsError
from workbench.workflow import adjudicate, errors, raters, reference, splits, versions
from workbench.workflow.prompts import save_candidate
from workbench.workflow.run import execute, prepare
from workbench.workflow.score import score_run
from workbench.workflow.study import Study

JUDGE = Actor("Dr. Judge", frozenset({Role.ADJUDICATOR}))
SEALED = "Outcomes and counts of development-1 are kept back until somebody looks at them on record"


@pytest.fixture
def vote(rated: Study, lead: Actor) -> Reference:
    """The frozen vote, at which nobody has looked yet; it holds a tie and a short vote."""
    return reference.freeze(rated, lead, "development")


def test_reading_a_reference_before_the_first_look_shows_nobody_an_outcome_or_a_count(
    rated: Study, lead: Actor, rater: Actor, vote: Reference
) -> None:
    handed_out = [vote, reference.freeze(rated, lead, "development")]
    handed_out += [reference.get_reference(rated, who, "development-1") for who in (lead, rater, JUDGE)]
    for each in handed_out:
        for read in (lambda r: r.items["r3", "pleural_effusion"], lambda r: list(r.items), lambda r: len(r.items)):
            with pytest.raises(RightsError, match=SEALED):
                read(each)
        assert "ReferenceItem" not in repr(each)
        assert (each.hash, each.raters) == (vote.hash, vote.raters), "it is known by its hash all the same"
    assert len(adjudicate.open_items(rated, JUDGE, handed_out[-1])) == 2, "and adjudication is still open"


SHOWN: dict[str, Callable[[Study, Reference], object]] = {
    "votes": lambda study, vote: reference.votes_of(study, JUDGE, vote),
    "summary": lambda study, vote: reference.summarize(study, JUDGE, vote),
    "raters": lambda study, vote: raters.rater_statistics(study, JUDGE, vote, resamples=0),
    "benchmark": lambda study, vote: raters.benchmark_of(study, JUDGE, vote),
    "split": lambda study, vote: splits.split_among_all(study, JUDGE, vote, ["pleural_effusion"]),
    "versions": lambda study, vote: versions.compare(study, JUDGE, vote.name, vote.name),
}


@pytest.mark.parametrize("how", SHOWN)
def test_whatever_shows_votes_is_a_look_on_record_and_ends_adjudication(
    rated: Study, vote: Reference, how: str
) -> None:
    SHOWN[how](rated, vote)
    with pytest.raises(ConflictError, match="Dr. Judge looked at the counts of development-1"):
        adjudicate.open_items(rated, JUDGE, vote)
    assert reference.get_reference(rated, JUDGE, "development-1").items["r3", "pleural_effusion"].tie


def test_a_score_on_a_sealed_reference_is_counted_on_its_outcomes(
    rated: Study, lead: Actor, vote: Reference, make_prompt: Callable[..., object]
) -> None:
    saved = save_candidate(rated, lead, make_prompt(), message="first", parent=None)  # type: ignore[arg-type]
    prepared = prepare(rated, lead, cohort="development", revision=saved.prompt_hash)
    execute(rated, prepared)
    made = score_run(rated, lead, prepared.run.hash, vote)
    effusion = made.evaluation.of("pleural_effusion")
    assert (effusion.tp, effusion.fn, effusion.fp) == (1, 1, 0)  # r1 found, r2 says "fluid"; r5 is short
    assert {m.report.id for m in errors.mistakes(rated, lead, made, "pleural_effusion")} == {"r2"}
    assert "A run was scored on development-1" in adjudicate.closed_because(rated, vote)
