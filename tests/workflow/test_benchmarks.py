"""The benchmark is kept with the reference when it is frozen, and read back without scoring anybody again."""

import pytest

from workbench.domain.actors import Actor, Role
from workbench.domain.references import VoteRule
from workbench.errors import RightsError
from workbench.evaluation.benchmark import single_rater_benchmark
from workbench.evaluation.consensus import per_finding
from workbench.workflow import benchmarks
from workbench.workflow.raters import benchmark_of, rater_statistics
from workbench.workflow.reference import freeze, votes_of
from workbench.workflow.study import Study

PATIENTS = ["p1", "p1", "p3", "p4", "p5", "p6"]  # of r1 to r6 in the conftest


def never(*_: object, **__: object) -> None:
    raise AssertionError("a rater was scored again")


def test_freezing_keeps_the_benchmark_and_readers_score_nothing(
    rated: Study, lead: Actor, monkeypatch: pytest.MonkeyPatch
) -> None:
    vote = freeze(rated, lead, "development")
    votes = votes_of(rated, lead, vote)
    policies = per_finding(vote.vote_policies, rated.label_set.ids)
    expected = single_rater_benchmark(rated.label_set.ids, votes.raters, votes.codes, policies, PATIENTS)
    monkeypatch.setattr(benchmarks, "single_rater_benchmark", never)
    assert benchmark_of(rated, lead, vote) == expected
    assert rater_statistics(rated, lead, vote, resamples=10).benchmark == expected


def test_one_that_was_never_kept_is_made_up_for_once(
    rated: Study, lead: Actor, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as older:  # a reference frozen by a version that kept none
        older.setattr(benchmarks, "keep", lambda *_: None)
        vote = freeze(rated, lead, "development")
    first = benchmark_of(rated, lead, vote)
    monkeypatch.setattr(benchmarks, "single_rater_benchmark", never)
    assert benchmark_of(rated, lead, vote) == first
    assert first is not None


def test_votes_that_come_later_leave_it_as_it_was(rated: Study, lead: Actor) -> None:
    vote = freeze(rated, lead, "development")
    before = benchmark_of(rated, lead, vote)
    with rated.database.read() as conn:
        assert conn.execute("SELECT COUNT(*) FROM benchmarks").fetchone()[0] == 1
        last = conn.execute("SELECT MAX(id) FROM annotations").fetchone()[0]
    assert vote.last_annotation == last
    with rated.database.write() as conn:
        conn.execute(
            "INSERT INTO annotations (report_id, rater, label_set_hash, submitted, at, states, evidence, comment, "
            "source, simulated) SELECT report_id, rater, label_set_hash, 1, at, '{}', '{}', '', '', 0 "
            "FROM annotations WHERE rater = 'rater1'"
        )
    assert benchmark_of(rated, lead, vote) == before


def test_two_raters_have_none(rated: Study, lead: Actor) -> None:
    pair = freeze(rated, lead, "development", raters=["rater1", "rater2"], rule=VoteRule(2, 2))
    assert benchmark_of(rated, lead, pair) is None


def test_whoever_only_rates_does_not_see_it(rated: Study, lead: Actor, rater: Actor) -> None:
    vote = freeze(rated, lead, "development")
    with pytest.raises(RightsError, match="may not compare the raters"):
        benchmark_of(rated, rater, vote)
    assert benchmark_of(rated, Actor("Dr. Judge", frozenset({Role.ADJUDICATOR})), vote) is not None
