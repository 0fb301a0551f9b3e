"""Raters compared on the votes written out in the conftest."""

import pytest

from workbench.domain.actors import Actor, Role
from workbench.domain.annotations import Mark
from workbench.errors import InputError, RightsError
from workbench.workflow import adjudicate, annotate
from workbench.workflow.raters import rater_statistics
from workbench.workflow.reference import freeze, summarize
from workbench.workflow.rounds import open_round, reopen_round
from workbench.workflow.study import Study


def test_pairs_rates_and_benchmark_are_those_counted_by_hand(rated: Study, lead: Actor) -> None:
    found = rater_statistics(rated, lead, freeze(rated, lead, "development"), resamples=50)
    at = rated.label_set.ids.index("pleural_effusion")
    # Rater 1 says effusion in r1 r2 r3 r5 of six, rater 4 in r1 r2: they differ on r3 and r5.
    pair = found.pairs.of("rater1", "rater4").findings[at]
    assert (pair.reports, pair.differ) == (6, 2)
    # Cohen: agreement 4/6; by chance (4/6)(2/6) + (2/6)(4/6) = 4/9; kappa = (2/3 - 4/9) / (1 - 4/9) = 2/5.
    assert pair.kappa.value == pytest.approx(2 / 5)
    assert found.rates.of("rater1").findings[at].rate.value == pytest.approx(4 / 6)
    assert found.benchmark is not None
    # Rater 1 against 3 of the other 5: effusion r1 (5 of 5) and r2 (3 of 5) present, r3 (2 of 5) not, r4 r6 not; r5 has
    # two votes and one missing, which could make three: short. So TP r1 r2, FP r3, TN r4 r6.
    scores = found.benchmark.of("rater1").scores.of("pleural_effusion")
    assert (scores.tp, scores.fp, scores.fn, scores.tn, scores.short) == (2, 1, 0, 2, 1)


def test_a_rater_is_compared_with_themselves_on_reports_that_came_twice(rated: Study, lead: Actor) -> None:
    six = [f"rater{i}" for i in range(1, 7)]
    open_round(rated, lead, "development", raters=six, twice=2)
    one = Actor("rater1", frozenset({Role.RATER}))
    for entry in annotate.queue(rated, one, "development").order:
        if entry.reading == 2:
            marks = frozenset({Mark.NONE_OF_THESE})
            annotate.save(rated, one, "development", entry, {}, submitted=True, marks=marks)
    vote = freeze(rated, lead, "development", incomplete=True)
    again = rater_statistics(rated, lead, vote, resamples=50).again
    assert again.of("rater1").overall.reports == 2
    assert again.of("rater2").overall.reports == 0


def test_looking_at_the_raters_ends_adjudication_and_is_for_the_lead(rated: Study, lead: Actor, rater: Actor) -> None:
    vote = freeze(rated, lead, "development")
    with pytest.raises(RightsError, match="may not compare the raters"):
        rater_statistics(rated, rater, vote)
    assert adjudicate.closed_because(rated, vote) == ""
    rater_statistics(rated, lead, vote, resamples=10)
    assert "Dr. Lead looked at the counts" in adjudicate.closed_because(rated, vote)


def test_a_single_rater_cannot_be_compared(rated: Study, lead: Actor) -> None:
    from workbench.domain.references import VoteRule

    alone = freeze(rated, lead, "development", raters=["rater1"], rule=VoteRule(1, 1))
    with pytest.raises(InputError, match="at least two raters"):
        rater_statistics(rated, lead, alone)


def test_while_a_round_takes_labels_again_nobody_sees_counts(rated: Study, lead: Actor) -> None:
    open_round(rated, lead, "development", raters=[f"rater{i}" for i in range(1, 7)])
    vote = freeze(rated, lead, "development", incomplete=True)
    summarize(rated, lead, vote)
    reopen_round(rated, lead, "development", reason="rater 3 corrects r5")
    for look in (summarize, rater_statistics):
        with pytest.raises(RightsError, match="development-round-1 takes labels"):
            look(rated, lead, vote)
